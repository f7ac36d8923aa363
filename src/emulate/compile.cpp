#include "emulate/compile.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <sstream>
#include <thread>

#include "cornerturn/error.hpp"
#include "emulate/objects.hpp"
#include "emulate/process.hpp"
#include "emulate/rewrite.hpp"

namespace cornerturn::emulate {
namespace {

namespace fs = std::filesystem;
using words = std::vector<std::string>;

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
// Of both passes: what the emulator knows of a program's code.
const words kCommonFlags{"-ftls-model=local-exec", "-fno-gnu-unique", "-fcf-protection=none"};

std::uint64_t mix(std::uint64_t hash, std::string_view text) {
    for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ull;
    return (hash ^ 0xff) * 0x100000001b3ull;
}
constexpr std::uint64_t kNoHash = 0xcbf29ce484222325ull;

std::string joined(const words& all) { return fmt::format("{}", fmt::join(all, " ")); }

words operator+(words a, const words& b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
}

// A folder of its own for what is in the making, gone at the end.
class workshop {
public:
    workshop() {
        std::string name = (fs::temp_directory_path() / "cornerturn-XXXXXX").string();
        if (mkdtemp(name.data()) == nullptr)
            throw error("no folder can be made in " + fs::temp_directory_path().string());
        path_ = name;
    }
    ~workshop() {
        std::error_code ignored;
        fs::remove_all(path_, ignored);
    }
    workshop(const workshop&) = delete;
    workshop& operator=(const workshop&) = delete;
    std::string file(const std::string& name) const { return (path_ / name).string(); }

private:
    fs::path path_;
};

void write_file(const std::string& path, const std::string& text) {
    std::ofstream file(path, std::ios::binary);
    file << text;
    if (!file.flush()) throw error(path + " cannot be written");
}

// Also to another file system; whole or not at all.
void move_file(const std::string& from, const std::string& to) {
    const std::string fresh = fmt::format("{}.{}", to, getpid());
    fs::copy_file(from, fresh, fs::copy_options::overwrite_existing);
    fs::rename(fresh, to);
}

void say(const std::string& text) { std::fwrite(text.data(), 1, text.size(), stderr); }

// Keeps a toolkit's own headers behind ours, in whatever folder a Makefile or the environment names: such folders are
// searched last, for what else lies there. While one is alive, CPATH names none.
class toolkit_behind {
public:
    toolkit_behind(const installation& here, const words& flags) : here_(here) {
        for (std::size_t i = 0; i < flags.size(); ++i) {
            const std::string& word = flags[i];
            const auto option =
                std::find_if(kOptions.begin(), kOptions.end(), [&](const char* o) { return word.starts_with(o); });
            const bool apart = option != kOptions.end() && word == *option && i + 1 < flags.size();
            const std::string folder = option == kOptions.end() ? ""
                                       : apart                  ? flags[i + 1]
                                                                : word.substr(std::strlen(*option));
            if (!is_toolkit(folder)) {
                flags_.push_back(word);
                if (apart) flags_.push_back(folder);
            } else {
                behind_.insert(behind_.end(), {"-idirafter", folder});
            }
            i += apart;
        }
        const char* const path = std::getenv("CPATH");
        if (path == nullptr) return;
        before_ = path;
        std::string others;
        std::stringstream folders(before_);
        for (std::string folder; std::getline(folders, folder, ':');) {
            if (is_toolkit(folder))
                behind_.insert(behind_.end(), {"-idirafter", folder});
            else
                others += (others.empty() ? "" : ":") + (folder.empty() ? "." : folder);
        }
        others.empty() ? unsetenv("CPATH") : setenv("CPATH", others.c_str(), 1);
    }
    ~toolkit_behind() {
        if (!before_.empty()) setenv("CPATH", before_.c_str(), 1);
    }
    toolkit_behind(const toolkit_behind&) = delete;
    toolkit_behind& operator=(const toolkit_behind&) = delete;
    words flags() const { return flags_ + behind_; }

private:
    static constexpr std::array<const char*, 2> kOptions{"-I", "-isystem"};

    bool is_toolkit(const std::string& folder) const {
        std::error_code none;
        return !folder.empty() && fs::exists(fs::path(folder) / "cuda_runtime.h", none) &&
               !fs::equivalent(folder, here_.headers, none);
    }

    const installation& here_;
    words flags_, behind_;
    std::string before_;  // what CPATH was
};

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
        if (what_.is_cuda(source_) && what_.makes != compilation::product::text &&
            what_.makes != compilation::product::dependencies)
            if (!preprocess_to(device_text_, {"-D__CUDA_ARCH__=900"}, {})) throw error(source_ + " does not compile");
    }
    // Of the host's pass.
    const std::string& text() const { return host_text_; }

    std::uint64_t hash() const {
        std::uint64_t value = mix(mix(mix(kNoHash, host_text_), device_text_), source_);
        for (const words& all : {what_.flags, what_.host_flags, kDeviceFlags, kCommonFlags})
            value = mix(value, joined(all));
        return mix(mix(value, what_.relocatable ? "rdc" : ""), language());
    }

    void make(const std::string& object) const {
        const workshop shop;
        if (!what_.is_cuda(source_)) {
            const std::string text = shop.file("host.ii");
            write_file(text, host_text_);
            run(words{here_.compiler, "-fpreprocessed", "-x", language(), "-O2"} + host_flags() +
                words{"-c", text, "-o", object});
            return;
        }
        const rewritten host = rewrite(host_text_, pass::host), device = rewrite(device_text_, pass::device);
        write_file(shop.file("host.ii"), host.text);
        write_file(shop.file("device.ii"), device.text);
        const words host_words = words{here_.compiler, "-fpreprocessed", "-x", "c++", "-O2"} + host_flags() +
                                 kCommonFlags +
                                 words{"-Wno-unused-parameter", "-Wno-unknown-pragmas", "-Wno-attributes"} +
                                 words{"-c", shop.file("host.ii"), "-o", shop.file("host.o")};
        const words device_words = words{here_.compiler, "-fpreprocessed", "-x", "c++"} + what_.flags + kDeviceFlags +
                                   kCommonFlags + words{"-c", shop.file("device.ii"), "-o", shop.file("device.o")};
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
    const words all = words{here.compiler, "-o", output} + objects + what.objects + what.link_flags + here.libraries;
    if (what.says) say(joined(all) + "\n");
    if (run_program(all) != 0) throw error("the program does not link");
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

}  // namespace

namespace {

using product = compilation::product;

// Where what is made of a source goes that has no name given: "a.o" for "dir/a.cu".
std::string own_path(const compilation& what, const std::string& source, const char* suffix) {
    return (fs::path(what.output_folder) / (fs::path(source).stem().string() + suffix)).string();
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
    if (run_program(all) != 0) throw error("no object can be made");
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
        throw invalid_argument("-o names one file, but -c makes one of each source");
    const workshop shop;
    words objects;
    std::string text;
    for (const std::string& source : what.sources) {
        source_compiler one(what, here, source);
        one.preprocess(dependencies_of(what, source));
        text += one.text();
        if (what.makes == product::text || what.makes == product::dependencies) continue;
        const std::string own = fs::path(source).stem().string() + ".o";
        const std::string object = links                 ? shop.file(fmt::format("{}-{}", objects.size(), own))
                                   : what.output.empty() ? own_path(what, source, ".o")
                                                         : what.output;
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
        throw invalid_argument("emulate runs a program, and these options make none: use `cornerturn cc`");
    require_files(what.sources);
    require_files(what.objects);
    std::vector<source_compiler> all;
    std::uint64_t key = mix(mix(kNoHash, stamp(here)), joined(what.objects + what.link_flags));
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
