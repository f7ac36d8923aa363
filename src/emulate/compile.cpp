#include "emulate/compile.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <initializer_list>
#include <thread>

#include "cornerturn/error.hpp"
#include "emulate/files.hpp"
#include "emulate/objects.hpp"
#include "emulate/process.hpp"
#include "emulate/rewrite.hpp"
#include "emulate/toolkit.hpp"

namespace cornerturn::emulate {
namespace {

namespace fs = std::filesystem;
using words = std::vector<std::string>;
using product = compilation::product;

// What makes g++ report each memory access at its full width and keep one call site an access, as for the library's own
// kernels (cmake/Kernels.cmake).
// Device functions are inlined, as by nvcc: g++ reports nothing of a vector that it hands over by value, and lanes
// inside a function do not meet those that wait behind the call.
const words kDeviceFlags{"-O1",
                         "-g",
                         "-w",
                         "-falign-functions=64",
                         "-fsanitize=thread",
                         "--param=tsan-distinguish-volatile=1",
                         "-fsanitize=bounds",
                         "-fsanitize-coverage=trace-pc",
                         "-fno-var-tracking",
                         "-finline-functions",
                         "-finline-small-functions",
                         "--param=max-inline-insns-auto=2000",
                         "--param=large-function-insns=1000000",
                         "--param=inline-unit-growth=100000",
                         "-fno-tree-sra",
                         "-fno-thread-jumps",
                         "-fno-crossjumping",
                         "-fno-tree-tail-merge",
                         "-fno-reorder-blocks",
                         "-fno-builtin-printf",
                         "-fno-strict-aliasing",
                         "-fno-stack-protector",
                         "-fstack-clash-protection",
                         "-U_FORTIFY_SOURCE"};
// Of both passes: what the emulator knows of a program's code. Symbols of kernels are renamed in objects, which must
// hold code for that.
const words kCommonFlags{"-fno-lto", "-ftls-model=local-exec", "-fno-gnu-unique", "-fcf-protection=none"};

words operator+(words a, const words& b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
}

// Of the device's pass. One of g++ 16's passes would count loads that the GPU does not make: see cmake/Kernels.cmake.
const words& device_flags(const installation& here) {
    static const words all = [&] {
        std::string version;
        const bool is_late =
            run_program_for(version, {here.compiler, "-dumpversion"}) == 0 && std::atoi(version.c_str()) >= 15;
        return kDeviceFlags + (is_late ? words{"-fno-tree-forwprop"} : words{});
    }();
    return all;
}

std::uint64_t mix(std::uint64_t hash, std::string_view text) {
    for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ull;
    return (hash ^ 0xff) * 0x100000001b3ull;
}
constexpr std::uint64_t kNoHash = 0xcbf29ce484222325ull;

std::string joined(const words& all) { return fmt::format("{}", fmt::join(all, " ")); }

void say(const std::string& text) { std::fwrite(text.data(), 1, text.size(), stderr); }

// Where what is made of a source goes that has no name given: "a.o" for "dir/a.cu".
std::string own_path(const compilation& what, const std::string& source, const char* suffix) {
    return (fs::path(what.output_folder) / (fs::path(source).stem().string() + suffix)).string();
}

// Of one source: where its object goes, or would go, were there one.
std::string object_path(const compilation& what, const std::string& source) {
    return what.makes == product::objects && !what.output.empty() ? what.output : own_path(what, source, ".o");
}

// One source on its way to an object.
class source_compiler {
public:
    source_compiler(const compilation& what, const installation& here, std::string source)
        : what_(what), here_(here), source_(std::move(source)) {}

    // Both passes' text: what the object depends on, beside the flags.
    void preprocess(const words& dependencies) {
        if (!fs::is_regular_file(source_)) throw error(source_ + ": no such file");
        // Our headers are C++, so what includes them is, too.
        is_c_ = what_.is_c(source_);
        if (is_c_) {
            std::string unsaid;
            is_c_ = preprocess_to(host_text_, {}, dependencies, &unsaid) &&
                    host_text_.find(here_.headers) == host_text_.npos;
        }
        if (!is_c_ && !preprocess_to(host_text_, {}, dependencies)) throw error(source_ + " does not compile");
        if (what_.is_cuda(source_) && what_.makes != product::text && what_.makes != product::dependencies)
            // Some systems' g++ replaces printf, memcpy and others by fortified functions. A GPU has none of these.
            if (!preprocess_to(device_text_, {"-D__CUDA_ARCH__=900", "-U_FORTIFY_SOURCE"}, {}))
                throw error(source_ + " does not compile");
    }
    // Of the host's pass.
    const std::string& text() const { return host_text_; }

    std::uint64_t hash() const {
        std::uint64_t value = mix(mix(mix(kNoHash, host_text_), device_text_), source_);
        for (const words& all : {what_.flags, what_.host_flags, device_flags(here_), kCommonFlags})
            value = mix(value, joined(all));
        return mix(mix(value, what_.relocatable ? "rdc" : ""), language());
    }

    void make(const std::string& object) const {
        const workshop shop;
        if (!what_.is_cuda(source_)) {
            const std::string text = shop.file("host.ii");
            write_file(text, host_text_);
            run(words{here_.compiler, "-fpreprocessed", "-x", language(), "-O2"} + host_flags() + beside_object() +
                words{"-c", text, "-o", object});
            return;
        }
        const rewritten host = rewrite(host_text_, pass::host), device = rewrite(device_text_, pass::device);
        write_file(shop.file("host.ii"), host.text);
        write_file(shop.file("device.ii"), device.text);
        const words host_words = words{here_.compiler, "-fpreprocessed", "-x", "c++", "-O2"} + host_flags() +
                                 beside_object() + kCommonFlags +
                                 words{"-Wno-unused-parameter", "-Wno-unknown-pragmas", "-Wno-attributes"} +
                                 words{"-c", shop.file("host.ii"), "-o", shop.file("host.o")};
        const words device_words = words{here_.compiler, "-fpreprocessed", "-x", "c++"} + what_.flags +
                                   device_flags(here_) + kCommonFlags +
                                   words{"-c", shop.file("device.ii"), "-o", shop.file("device.o")};
        if (what_.says) say(joined(host_words) + "\n" + joined(device_words) + "\n");
        std::string of_host, of_device;
        int host_status = 0, device_status = 0;
        std::thread other([&] { device_status = run_program(device_words, &of_device); });
        host_status = run_program(host_words, &of_host);
        other.join();
        say(of_host);
        if (host_status == 0) say(of_device);  // else the same again
        if (host_status != 0 || device_status != 0) throw error(source_ + " does not compile");
        const std::string tag = what_.relocatable ? "program" : fmt::format("{:x}", hash());
        join_objects(shop.file("host.o"), shop.file("device.o"), host, tag, shop.file("joined.o"));
        move_file(shop.file("joined.o"), object);
    }

private:
    std::string language() const { return is_c_ ? "c" : "c++"; }

    words host_flags() const {
        words all = what_.flags + what_.host_flags;
        if (is_c_) std::erase_if(all, [](const std::string& word) { return word.starts_with("-std="); });
        return all;
    }

    // What else g++ writes, as for --coverage, is called as the object is.
    words beside_object() const { return {"-dumpbase", object_path(what_, source_), "-dumpbase-ext", ".o"}; }

    void run(const words& all) const {
        if (what_.says) say(joined(all) + "\n");
        if (run_program(all) != 0) throw error(source_ + " does not compile");
    }

    // False where it cannot be; what the compiler says goes to standard error, or to `errors`.
    bool preprocess_to(std::string& text, const words& more, const words& dependencies,
                       std::string* errors = nullptr) const {
        words all{here_.compiler, "-E", "-x", language()};
        if (what_.is_cuda(source_)) {
            all = all + words{"-D__CUDACC__",
                              "-D__NVCC__",
                              "-D__CUDACC_VER_MAJOR__=13",
                              "-D__CUDACC_VER_MINOR__=0",
                              "-D__CUDACC_VER_BUILD__=0",
                              "-D__CUDACC_EXTENDED_LAMBDA__",
                              "-D__CUDACC_RELAXED_CONSTEXPR__"};
            if (what_.relocatable) all.push_back("-D__CUDACC_RDC__");
        }
        const toolkit_behind ours_first(here_, host_flags());
        all = all + words{"-DCORNERTURN_EMULATED_PROGRAM"} + ours_first.flags() + more + dependencies +
              words{"-isystem", here_.headers, "-isystem", here_.include};
        if (what_.is_cuda(source_)) all = all + words{"-include", "cuda_runtime.h"};
        all.push_back(source_);
        if (what_.says) say(joined(all) + "\n");
        text.clear();
        return run_program_for(text, all, errors) == 0;
    }

    const compilation& what_;
    const installation& here_;
    std::string source_;
    bool is_c_ = false;
    std::string host_text_, device_text_;
};

void link(const compilation& what, const installation& here, const words& objects, const std::string& output) {
    // Of the host's compiler's options some are the linker's, too: nvcc gives it all of them.
    const words all = words{here.compiler, "-o", output} + what.host_flags + objects + what.objects + what.link_flags +
                      here.libraries;
    if (what.says) say(joined(all) + "\n");
    if (run_program(all) != 0) throw error("the program does not link");
}

// What is linked beside the sources' objects: by what is in the files, since those may be made anew.
std::uint64_t mix_linked(std::uint64_t hash, const compilation& what) {
    hash = mix(hash, joined(what.objects + what.link_flags));
    for (const std::string& object : what.objects) hash = mix(hash, read_file(object));
    const auto mix_file = [&](const fs::path& path) {
        std::error_code none;
        if (fs::is_regular_file(path, none)) hash = mix(hash, read_file(path.string()));
    };
    for (const std::string& flag : what.link_flags) {
        if (!flag.starts_with("-l")) mix_file(flag);  // a linker's script, behind -T
        for (const std::string& folder : what.link_flags) {
            if (!flag.starts_with("-l") || !folder.starts_with("-L")) continue;
            const std::string name = flag.substr(2);
            for (const std::string& file :
                 {name.substr(name.starts_with(':') ? 1 : 0), "lib" + name + ".so", "lib" + name + ".a"})
                mix_file(fs::path(folder.substr(2)) / file);
        }
    }
    return hash;
}

fs::path cache_folder() {
    const char* const own = std::getenv("CORNERTURN_CACHE");
    if (own != nullptr && *own != 0) return own;
    const char* const xdg = std::getenv("XDG_CACHE_HOME");
    if (xdg != nullptr && *xdg != 0) return fs::path(xdg) / "cornerturn";
    const char* const home = std::getenv("HOME");
    return (home != nullptr && *home != 0 ? fs::path(home) / ".cache" : fs::temp_directory_path()) / "cornerturn";
}

// Tells one build of the emulator from another.
std::string stamp(const installation& here) {
    std::string all;
    for (const std::string& path : here.libraries) {
        std::error_code none;
        const auto time = fs::last_write_time(path, none);
        if (!none) all += fmt::format("{}:{};", path, time.time_since_epoch().count());
    }
    std::error_code none;
    const fs::path self = fs::read_symlink("/proc/self/exe", none);
    const auto time = fs::last_write_time(self, none);
    return all + fmt::format("{}", none ? 0 : time.time_since_epoch().count());
}

// Of -MD and kin, what nvcc means where it is not said: the file is called as what is made is, but for its end.
words dependencies_of(const compilation& what, const std::string& source) {
    words flags = what.dependency_flags;
    const auto has = [&](std::initializer_list<const char*> names) {
        return std::any_of(names.begin(), names.end(), [&](const char* name) {
            return std::find(flags.begin(), flags.end(), name) != flags.end();
        });
    };
    const bool lists = what.makes == product::dependencies, compiles_too = !lists && has({"-MD", "-MMD"});
    if (!lists && !compiles_too) return {};
    // As nvcc's documentation has it.
    if (what.sources.size() > 1 && (has({"-MF"}) || (compiles_too && !what.output.empty())))
        throw invalid_argument("-MF and -o name one file of dependencies, and there are several sources");
    const std::string object = what.output.empty() || lists ? own_path(what, source, ".o") : what.output;
    if (compiles_too && !has({"-MF"}))
        flags.insert(flags.end(), {"-MF", fs::path(object).replace_extension(".d").string()});
    if (!has({"-MT", "-MQ"})) flags.insert(flags.end(), {"-MT", object});
    return flags;
}

void write_out(const compilation& what, const std::string& text) {
    if (!what.output.empty()) return write_file(what.output, text);
    std::fwrite(text.data(), 1, text.size(), stdout);
    if (std::fflush(stdout) != 0) throw error("standard output cannot be written");
}

void require_files(const words& files) {
    for (const std::string& file : files)
        if (!fs::exists(file)) throw error(file + ": no such file");
}

void archive(const compilation& what, const words& objects) {
    const std::string output = what.output.empty() ? own_path(what, "a", ".a") : what.output;
    std::error_code none;
    fs::remove(output, none);  // ar would keep what is in it
    const words all = words{"ar", "qcs", output} + objects + what.objects;
    if (what.says) say(joined(all) + "\n");
    if (run_program(all) != 0) throw error(output + " cannot be made");
}

// Device code is linked with all other, so what nvcc would link here before is an object with nothing in it.
void link_device(const compilation& what, const installation& here) {
    const words all{here.compiler,
                    "-x",
                    "c",
                    "-c",
                    "/dev/null",
                    "-o",
                    what.output.empty() ? own_path(what, "a_dlink", ".o") : what.output};
    if (run_program(all) != 0) throw error("the objects cannot be joined");
}

}  // namespace

void compile(const compilation& what) {
    const installation here = find_installation();
    const bool links = what.makes == product::program || what.makes == product::archive;
    require_files(what.sources);
    require_files(what.objects);
    if (what.makes == product::device_link) return link_device(what, here);
    if (what.sources.empty() && (what.objects.empty() || !links)) throw invalid_argument("no file to compile");
    if (what.makes == product::objects && what.sources.size() > 1 && !what.output.empty())
        throw invalid_argument("-o names one file, but -c makes one for each source");
    const workshop shop;
    words objects;
    std::string text;
    for (const std::string& source : what.sources) {
        source_compiler one(what, here, source);
        one.preprocess(dependencies_of(what, source));
        text += one.text();
        if (what.makes == product::text || what.makes == product::dependencies) continue;
        const std::string own = object_path(what, source);
        const std::string object =
            links ? shop.file(fmt::format("{}-{}", objects.size(), fs::path(own).filename().string())) : own;
        one.make(object);
        objects.push_back(object);
    }
    if (what.makes == product::program)
        link(what, here, objects, what.output.empty() ? own_path(what, "a", ".out") : what.output);
    else if (what.makes == product::archive)
        archive(what, objects);
    else if (what.makes != product::objects)
        write_out(what, text);
}

std::string compiled_program(compilation what) {
    const installation here = find_installation();
    if (what.sources.empty()) throw invalid_argument("no file to compile");
    if (what.makes != product::program)
        throw invalid_argument("emulate needs a program to run, and these options make none: use `cornerturn cc`");
    require_files(what.sources);
    require_files(what.objects);
    std::vector<source_compiler> all;
    std::uint64_t key = mix_linked(mix(kNoHash, stamp(here)), what);
    for (const std::string& source : what.sources) {
        all.emplace_back(what, here, source).preprocess(dependencies_of(what, source));
        key = mix(key, fmt::format("{:x}", all.back().hash()));
    }
    const fs::path folder = cache_folder();
    const std::string program = (folder / fmt::format("{:016x}", key) / fs::path(what.sources[0]).stem()).string();
    if (fs::exists(program)) return program;
    fs::create_directories(fs::path(program).parent_path());
    const workshop shop;
    words objects;
    for (const source_compiler& one : all) {
        objects.push_back(shop.file(fmt::format("{}.o", objects.size())));
        one.make(objects.back());
    }
    const std::string fresh = fmt::format("{}.{}", program, getpid());
    link(what, here, objects, fresh);
    fs::rename(fresh, program);
    return program;
}

}  // namespace cornerturn::emulate
