#include "emulate/compile.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <future>
#include <initializer_list>

#include "cornerturn/error.hpp"
#include "emulate/files.hpp"
#include "emulate/objects.hpp"
#include "emulate/process.hpp"
#include "emulate/rewrite.hpp"
#include "emulate/toolkit.hpp"

namespace cornerturn::emulate {
namespace {

namespace fs = std::filesystem;
using strings = std::vector<std::string>;
using output_kind = compilation::output_kind;

// With these flags g++ reports each memory access at its full width, from one call site for each access.
// cmake/Kernels.cmake does the same for the library's own kernels.
// Device functions are inlined, as nvcc does. Otherwise g++ would not report accesses to a vector passed by value, and
// lanes inside a function would not converge with lanes that wait after the call.
const strings kDeviceFlags{"-O1",
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
// Flags of both passes: the emulator relies on them. It renames kernels' symbols in object files, so these must contain
// code (no LTO).
const strings kCommonFlags{"-fno-lto", "-ftls-model=local-exec", "-fno-gnu-unique", "-fcf-protection=none"};

strings operator+(strings a, const strings& b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
}

// Flags of the device pass. A pass of g++ 16 adds loads that the GPU does not make: see cmake/Kernels.cmake.
const strings& device_flags(const installation& here) {
    static const strings all = [&] {
        std::string version;
        const bool is_late =
            run_program_for(version, {here.compiler, "-dumpversion"}) == 0 && std::atoi(version.c_str()) >= 15;
        return kDeviceFlags + (is_late ? strings{"-fno-tree-forwprop"} : strings{});
    }();
    return all;
}

std::uint64_t mix(std::uint64_t hash, std::string_view text) {
    for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ull;
    return (hash ^ 0xff) * 0x100000001b3ull;
}
constexpr std::uint64_t kNoHash = 0xcbf29ce484222325ull;

std::string joined(const strings& all) { return fmt::format("{}", fmt::join(all, " ")); }

void say(const std::string& text) { std::fwrite(text.data(), 1, text.size(), stderr); }

// The default path of an output of this source: "a.o" for "dir/a.cu".
std::string default_path(const compilation& job, const std::string& source, const char* suffix) {
    return (fs::path(job.output_folder) / (fs::path(source).stem().string() + suffix)).string();
}

// The path of the source's object file, even if none is written.
std::string object_path(const compilation& job, const std::string& source) {
    return job.makes == output_kind::objects && !job.output.empty() ? job.output : default_path(job, source, ".o");
}

// Compiles one source to an object file.
class source_compiler {
public:
    source_compiler(const compilation& job, const installation& here, std::string source)
        : job_(job), here_(here), source_(std::move(source)) {}

    // Preprocesses for both passes. The object file depends on these texts and the flags alone.
    void preprocess(const strings& dependencies) {
        if (!fs::is_regular_file(source_)) throw error(source_ + ": no such file");
        // Our headers are C++, so a C file that includes them is compiled as C++.
        is_c_ = job_.is_c(source_);
        if (is_c_) {
            std::string ignored;
            is_c_ = preprocess_to(host_text_, {}, dependencies, &ignored) &&
                    host_text_.find(here_.headers) == host_text_.npos;
        }
        if (!is_c_ && !preprocess_to(host_text_, {}, dependencies)) throw error(source_ + " does not compile");
        if (job_.is_cuda(source_) && job_.makes != output_kind::text && job_.makes != output_kind::dependencies)
            // On some systems g++ replaces printf, memcpy and others by fortified functions. Device code has none of
            // them.
            if (!preprocess_to(device_text_, {"-D__CUDA_ARCH__=900", "-U_FORTIFY_SOURCE"}, {}))
                throw error(source_ + " does not compile");
    }
    // The preprocessed text of the host pass.
    const std::string& text() const { return host_text_; }

    std::uint64_t hash() const {
        std::uint64_t value = mix(mix(mix(kNoHash, host_text_), device_text_), source_);
        for (const strings& all : {job_.flags, job_.host_flags, device_flags(here_), kCommonFlags})
            value = mix(value, joined(all));
        return mix(mix(value, job_.relocatable ? "rdc" : ""), language());
    }

    void make(const std::string& object) const {
        const temporary_folder scratch;
        if (!job_.is_cuda(source_)) {
            const std::string text = scratch.file("host.ii");
            write_file(text, host_text_);
            run(strings{here_.compiler, "-fpreprocessed", "-x", language(), "-O2"} + host_flags() +
                auxiliary_file_flags() + strings{"-c", text, "-o", object});
            return;
        }
        const rewritten host = rewrite(host_text_, pass::host), device = rewrite(device_text_, pass::device);
        write_file(scratch.file("host.ii"), host.text);
        write_file(scratch.file("device.ii"), device.text);
        const strings host_command = strings{here_.compiler, "-fpreprocessed", "-x", "c++", "-O2"} + host_flags() +
                                     auxiliary_file_flags() + kCommonFlags +
                                     strings{"-Wno-unused-parameter", "-Wno-unknown-pragmas", "-Wno-attributes"} +
                                     strings{"-c", scratch.file("host.ii"), "-o", scratch.file("host.o")};
        const strings device_command = strings{here_.compiler, "-fpreprocessed", "-x", "c++"} + job_.flags +
                                       device_flags(here_) + kCommonFlags +
                                       strings{"-c", scratch.file("device.ii"), "-o", scratch.file("device.o")};
        if (job_.verbose) say(joined(host_command) + "\n" + joined(device_command) + "\n");
        std::string host_messages, device_messages;
        std::future<int> device_pass =
            std::async(std::launch::async, [&] { return run_program(device_command, &device_messages); });
        const int host_status = run_program(host_command, &host_messages), device_status = device_pass.get();
        say(host_messages);
        if (host_status == 0) say(device_messages);  // otherwise they repeat the host pass's errors
        if (host_status != 0 || device_status != 0) throw error(source_ + " does not compile");
        const std::string tag = job_.relocatable ? "program" : fmt::format("{:x}", hash());
        join_objects(scratch.file("host.o"), scratch.file("device.o"), host, tag, scratch.file("joined.o"));
        install_file(scratch.file("joined.o"), object);
    }

private:
    std::string language() const { return is_c_ ? "c" : "c++"; }

    strings host_flags() const {
        strings all = job_.flags + job_.host_flags;
        if (is_c_) std::erase_if(all, [](const std::string& flag) { return flag.starts_with("-std="); });
        return all;
    }

    // Names g++'s other outputs, such as those of --coverage, after the object file.
    strings auxiliary_file_flags() const { return {"-dumpbase", object_path(job_, source_), "-dumpbase-ext", ".o"}; }

    void run(const strings& all) const {
        if (job_.verbose) say(joined(all) + "\n");
        if (run_program(all) != 0) throw error(source_ + " does not compile");
    }

    // False on failure. Messages of the compiler go to standard error, or to `errors`.
    bool preprocess_to(std::string& text, const strings& more, const strings& dependencies,
                       std::string* errors = nullptr) const {
        strings all{here_.compiler, "-E", "-x", language()};
        if (job_.is_cuda(source_)) {
            all = all + strings{"-D__CUDACC__",
                                "-D__NVCC__",
                                "-D__CUDACC_VER_MAJOR__=13",
                                "-D__CUDACC_VER_MINOR__=0",
                                "-D__CUDACC_VER_BUILD__=0",
                                "-D__CUDACC_EXTENDED_LAMBDA__",
                                "-D__CUDACC_RELAXED_CONSTEXPR__"};
            if (job_.relocatable) all.push_back("-D__CUDACC_RDC__");
        }
        const toolkit_headers_last ours_first(here_, host_flags());
        all = all + strings{"-DCORNERTURN_EMULATED_PROGRAM"} + ours_first.flags() + more + dependencies +
              strings{"-isystem", here_.headers, "-isystem", here_.include};
        if (job_.is_cuda(source_)) all = all + strings{"-include", "cuda_runtime.h"};
        all.push_back(source_);
        if (job_.verbose) say(joined(all) + "\n");
        text.clear();
        return run_program_for(text, all, errors) == 0;
    }

    const compilation& job_;
    const installation& here_;
    std::string source_;
    bool is_c_ = false;
    std::string host_text_, device_text_;
};

void link(const compilation& job, const installation& here, const strings& objects, const std::string& output) {
    // Some options of the host compiler are options of the linker, too. Like nvcc, pass all of them to both.
    const strings all =
        strings{here.compiler, "-o", output} + job.host_flags + objects + job.objects + job.link_flags + here.libraries;
    if (job.verbose) say(joined(all) + "\n");
    if (run_program(all) != 0) throw error("the program does not link");
}

// Hashes the other linked files by content, because a file may change under the same name.
std::uint64_t mix_linked(std::uint64_t hash, const compilation& job) {
    hash = mix(hash, joined(job.objects + job.link_flags));
    for (const std::string& object : job.objects) hash = mix(hash, read_file(object));
    const auto mix_file = [&](const fs::path& path) {
        std::error_code none;
        if (fs::is_regular_file(path, none)) hash = mix(hash, read_file(path.string()));
    };
    for (const std::string& flag : job.link_flags) {
        if (!flag.starts_with("-l")) mix_file(flag);  // a linker script, after -T
        for (const std::string& folder : job.link_flags) {
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

// Differs between builds of the emulator.
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

// The dependency options for g++, with nvcc's defaults: the dependency file is named after the output, with suffix .d.
strings dependencies_of(const compilation& job, const std::string& source) {
    strings flags = job.dependency_flags;
    const auto has = [&](std::initializer_list<const char*> names) {
        return std::any_of(names.begin(), names.end(), [&](const char* name) {
            return std::find(flags.begin(), flags.end(), name) != flags.end();
        });
    };
    const bool lists = job.makes == output_kind::dependencies, compiles_too = !lists && has({"-MD", "-MMD"});
    if (!lists && !compiles_too) return {};
    // nvcc's documentation forbids this.
    if (job.sources.size() > 1 && (has({"-MF"}) || (compiles_too && !job.output.empty())))
        throw invalid_argument("-MF and -o name one dependency file, but there are several source files");
    const std::string object = job.output.empty() || lists ? default_path(job, source, ".o") : job.output;
    if (compiles_too && !has({"-MF"}))
        flags.insert(flags.end(), {"-MF", fs::path(object).replace_extension(".d").string()});
    if (!has({"-MT", "-MQ"})) flags.insert(flags.end(), {"-MT", object});
    return flags;
}

void write_out(const compilation& job, const std::string& text) {
    if (!job.output.empty()) return write_file(job.output, text);
    std::fwrite(text.data(), 1, text.size(), stdout);
    if (std::fflush(stdout) != 0) throw error("cannot write standard output");
}

void require_files(const strings& files) {
    for (const std::string& file : files)
        if (!fs::exists(file)) throw error(file + ": no such file");
}

void archive(const compilation& job, const strings& objects) {
    const std::string output = job.output.empty() ? default_path(job, "a", ".a") : job.output;
    std::error_code none;
    fs::remove(output, none);  // ar would keep its members
    const strings all = strings{"ar", "qcs", output} + objects + job.objects;
    if (job.verbose) say(joined(all) + "\n");
    if (run_program(all) != 0) throw error(output + ": ar cannot create this library");
}

// nvcc links device code in a separate step (-dlink). Here the normal link does that, so the output of this step is an
// empty object file.
void link_device(const compilation& job, const installation& here) {
    const strings all{here.compiler,
                      "-x",
                      "c",
                      "-c",
                      "/dev/null",
                      "-o",
                      job.output.empty() ? default_path(job, "a_dlink", ".o") : job.output};
    if (run_program(all) != 0) throw error("-dlink: g++ cannot write an empty object file");
}

}  // namespace

void compile(const compilation& job) {
    const installation here = find_installation();
    const bool links = job.makes == output_kind::program || job.makes == output_kind::archive;
    require_files(job.sources);
    require_files(job.objects);
    if (job.makes == output_kind::device_link) return link_device(job, here);
    if (job.sources.empty() && (job.objects.empty() || !links)) throw invalid_argument("no file to compile");
    if (job.makes == output_kind::objects && job.sources.size() > 1 && !job.output.empty())
        throw invalid_argument("-o names one file, but -c writes an object file for each source file");
    const temporary_folder scratch;
    strings objects;
    std::string text;
    for (const std::string& source : job.sources) {
        source_compiler one(job, here, source);
        one.preprocess(dependencies_of(job, source));
        text += one.text();
        if (job.makes == output_kind::text || job.makes == output_kind::dependencies) continue;
        const std::string own = object_path(job, source);
        const std::string object =
            links ? scratch.file(fmt::format("{}-{}", objects.size(), fs::path(own).filename().string())) : own;
        one.make(object);
        objects.push_back(object);
    }
    if (job.makes == output_kind::program)
        link(job, here, objects, job.output.empty() ? default_path(job, "a", ".out") : job.output);
    else if (job.makes == output_kind::archive)
        archive(job, objects);
    else if (job.makes != output_kind::objects)
        write_out(job, text);
}

std::string compiled_program(compilation job) {
    const installation here = find_installation();
    if (job.sources.empty()) throw invalid_argument("no file to compile");
    if (job.makes != output_kind::program)
        throw invalid_argument("emulate needs a program to run, but these options produce none: use `cornerturn cc`");
    require_files(job.sources);
    require_files(job.objects);
    std::vector<source_compiler> all;
    std::uint64_t key = mix_linked(mix(kNoHash, stamp(here)), job);
    for (const std::string& source : job.sources) {
        all.emplace_back(job, here, source).preprocess(dependencies_of(job, source));
        key = mix(key, fmt::format("{:x}", all.back().hash()));
    }
    const fs::path folder = cache_folder();
    const std::string program = (folder / fmt::format("{:016x}", key) / fs::path(job.sources[0]).stem()).string();
    if (fs::exists(program)) return program;
    fs::create_directories(fs::path(program).parent_path());
    const temporary_folder scratch;
    strings objects;
    for (const source_compiler& one : all) {
        objects.push_back(scratch.file(fmt::format("{}.o", objects.size())));
        one.make(objects.back());
    }
    const std::string fresh = fmt::format("{}.{}", program, getpid());
    link(job, here, objects, fresh);
    fs::rename(fresh, program);
    return program;
}

}  // namespace cornerturn::emulate
