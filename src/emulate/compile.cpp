#include "emulate/compile.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
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
const words kDeviceFlags{"-O1",
                         "-g",
                         "-w",
                         "-falign-functions=64",
                         "-fsanitize=thread",
                         "--param=tsan-instrument-func-entry-exit=0",
                         "--param=tsan-distinguish-volatile=1",
                         "-fsanitize=bounds",
                         "-fsanitize-coverage=trace-pc",
                         "-fno-var-tracking",
                         "-fno-tree-sra",
                         "-fno-thread-jumps",
                         "-fno-crossjumping",
                         "-fno-tree-tail-merge",
                         "-fno-reorder-blocks",
                         "-fno-builtin-printf",
                         "-fno-strict-aliasing",
                         "-fno-stack-protector",
                         "-U_FORTIFY_SOURCE"};
// Of both passes: what the emulator knows of a program's code.
const words kCommonFlags{"-ftls-model=local-exec", "-fno-gnu-unique", "-fcf-protection=none"};

bool has_suffix(const std::string& path, const std::set<std::string>& all) {
    return all.count(fs::path(path).extension().string()) != 0;
}
bool is_cuda(const std::string& path) { return has_suffix(path, {".cu"}); }
bool is_source(const std::string& path) { return has_suffix(path, {".cu", ".cpp", ".cc", ".cxx", ".c", ".C"}); }
bool is_object(const std::string& path) { return has_suffix(path, {".o", ".a", ".so", ".obj"}); }

// Words of nvcc's that mean nothing here: how code for a GPU is made. nvcc takes one dash before them, or two.
const std::set<std::string> kIgnoredWithValue{"arch",
                                              "gpu-architecture",
                                              "code",
                                              "gpu-code",
                                              "gencode",
                                              "generate-code",
                                              "maxrregcount",
                                              "Xptxas",
                                              "ptxas-options",
                                              "Xcudafe",
                                              "cudafe",
                                              "Xnvlink",
                                              "t",
                                              "threads",
                                              "ccbin",
                                              "compiler-bindir",
                                              "cudart",
                                              "diag-suppress",
                                              "default-stream",
                                              "Xfatbin",
                                              "fatbin-options",
                                              "cudadevrt",
                                              "fmad",
                                              "ftz",
                                              "prec-div",
                                              "prec-sqrt",
                                              "x"};
const std::set<std::string> kIgnored{"expt-relaxed-constexpr",
                                     "expt-extended-lambda",
                                     "extended-lambda",
                                     "lineinfo",
                                     "generate-line-info",
                                     "G",
                                     "device-debug",
                                     "use_fast_math",
                                     "restrict",
                                     "m64",
                                     "machine=64",
                                     "keep",
                                     "extra-device-vectorization",
                                     "forward-unknown-to-host-compiler",
                                     "Wno-deprecated-gpu-targets",
                                     "res-usage",
                                     "resource-usage"};
// Libraries that the emulator is itself, or that are nothing here.
const std::set<std::string> kLibrariesHere{
    "cudart",    "cudart_static", "cudadevrt",       "cuda",    "cublas", "cublasLt", "curand",   "nvToolsExt",
    "nvidia-ml", "cublas_static", "cublasLt_static", "culibos", "nvrtc",  "cusparse", "cusolver", "cufft"};

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

// One source on its way to an object.
class source_compiler {
public:
    source_compiler(const compilation& what, const installation& here, std::string source)
        : what_(what), here_(here), source_(std::move(source)) {}

    // Both passes' text: what the object depends on, beside the flags.
    void preprocess() {
        if (!is_cuda(source_)) {
            host_text_ = preprocessed({}, what_.dependency_flags);
            return;
        }
        host_text_ = preprocessed({}, what_.dependency_flags);
        device_text_ = preprocessed({"-D__CUDA_ARCH__=900"}, {});
    }

    std::uint64_t hash() const {
        std::uint64_t value = mix(mix(mix(kNoHash, host_text_), device_text_), source_);
        for (const words& all : {what_.flags, what_.host_flags, kDeviceFlags, kCommonFlags})
            value = mix(value, joined(all));
        return mix(value, what_.relocatable ? "rdc" : "");
    }

    void make(const std::string& object) const {
        const workshop shop;
        if (!is_cuda(source_)) {
            const std::string text = shop.file("host.ii");
            write_file(text, host_text_);
            run(words{here_.compiler, "-fpreprocessed", "-x", "c++", "-O2"} + host_flags() +
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
    words host_flags() const { return what_.flags + what_.host_flags; }

    void run(const words& all) const {
        if (what_.says) say(joined(all) + "\n");
        if (run_program(all) != 0) throw error(source_ + " does not compile");
    }

    std::string preprocessed(const words& more, const words& dependencies) const {
        words all{here_.compiler, "-E", "-x", "c++"};
        if (is_cuda(source_)) {
            all = all + words{"-D__CUDACC__",
                              "-D__NVCC__",
                              "-D__CUDACC_VER_MAJOR__=13",
                              "-D__CUDACC_VER_MINOR__=0",
                              "-D__CUDACC_VER_BUILD__=0",
                              "-D__CUDACC_EXTENDED_LAMBDA__",
                              "-D__CUDACC_RELAXED_CONSTEXPR__"};
        }
        all = all + words{"-DCORNERTURN_EMULATED_PROGRAM"} + what_.flags + what_.host_flags + more + dependencies +
              words{"-isystem", here_.headers, "-isystem", here_.include};
        if (is_cuda(source_)) all = all + words{"-include", "cuda_runtime.h"};
        all.push_back(source_);
        if (what_.says) say(joined(all) + "\n");
        std::string text;
        if (run_program_for(text, all) != 0) throw error(source_ + " does not compile");
        return text;
    }

    const compilation& what_;
    const installation& here_;
    std::string source_;
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

class reader_of_words {
public:
    explicit reader_of_words(const words& all) : all_(all) {}

    compilation operator()() {
        for (at_ = 0; at_ < all_.size(); ++at_) read(all_[at_]);
        return std::move(found_);
    }

private:
    std::string value_of(const std::string& word) {
        if (at_ + 1 == all_.size()) throw invalid_argument(word + " needs a value");
        return all_[++at_];
    }
    // "-o out", "-oout" or "-o=out"; for the long names "--output-file out" or "--output-file=out".
    bool is(const std::string& word, std::initializer_list<std::string_view> names, std::string& value) {
        for (const std::string_view name : names) {
            if (word == name) {
                value = value_of(word);
                return true;
            }
            const bool is_long = name.size() > 2;
            if (is_long && word.starts_with(std::string(name) + "=")) {
                value = word.substr(name.size() + 1);
                return true;
            }
            if (!is_long && word.starts_with(name)) {
                value = word.substr(name.size() + (word[name.size()] == '=' ? 1 : 0));
                return true;
            }
        }
        return false;
    }
    // What is quoted, or stands behind a backslash, separates nothing.
    static words parts(std::string_view list, std::string_view separators) {
        words all{""};
        char quote = 0;
        for (std::size_t i = 0; i < list.size(); ++i) {
            const char c = list[i];
            if (c == '\\' && i + 1 < list.size())
                all.back() += list[++i];
            else if (c == quote)
                quote = 0;
            else if (quote == 0 && (c == '"' || c == '\''))
                quote = c;
            else if (quote == 0 && separators.find(c) != separators.npos)
                all.emplace_back();
            else
                all.back() += c;
        }
        std::erase(all, "");
        return all;
    }
    void standard(std::string value) {
        static const std::set<std::string> older{"c++98",   "c++03",   "c++11",   "c++14", "gnu++98",
                                                 "gnu++03", "gnu++11", "gnu++14", "c++0x", "c++1y"};
        if (older.count(value) != 0) value = "gnu++17";  // CUDA 13's least
        if (value.starts_with("c++")) value = "gnu" + value.substr(1);
        standard_ = value;
    }

    void read(const std::string& word) {
        std::string value;
        const std::string name = word.substr(0, word.find('='));
        const auto without_dashes = [](const std::string& all) {
            return all.substr(std::min(all.find_first_not_of('-'), all.size()));
        };
        if (word[0] != '-') {
            if (is_source(word))
                found_.sources.push_back(word);
            else if (is_object(word) || word.find(".so.") != word.npos)
                found_.objects.push_back(word);
            else
                throw invalid_argument(
                    fmt::format("'{}' is neither a source (.cu, .cpp, .cc, .c) nor an object (.o, .a, .so)", word));
        } else if (word == "-c" || word == "--compile") {
            found_.links = false;
        } else if (word == "-dc" || word == "--device-c") {
            found_.links = false;
            found_.relocatable = true;
        } else if (name == "-rdc" || name == "--relocatable-device-code") {
            const std::string wanted = word == name ? value_of(word) : word.substr(name.size() + 1);
            found_.relocatable = wanted == "true";
        } else if (word == "-E" || word == "--preprocess") {
            found_.preprocesses = true;
        } else if (word == "-v" || word == "--verbose") {
            found_.says = true;
        } else if (word == "-MD" || word == "-MMD" || word == "-MP" || word == "-MG") {
            found_.dependency_flags.push_back(word);
        } else if (word == "-MF" || word == "-MT" || word == "-MQ") {
            found_.dependency_flags.insert(found_.dependency_flags.end(), {word, value_of(word)});
        } else if (kIgnoredWithValue.count(without_dashes(name)) != 0) {
            if (word == name) value_of(word);
        } else if (kIgnored.count(without_dashes(word)) != 0) {
            if (word.find("fast_math") != word.npos) found_.flags.push_back("-D__FAST_MATH__");
        } else if (is(word, {"-Xcompiler", "--compiler-options"}, value)) {
            for (const std::string& part : parts(value, ", ")) host_word(part);
        } else if (is(word, {"-Xlinker", "--linker-options"}, value)) {
            for (const std::string& part : parts(value, ", ")) found_.link_flags.push_back("-Wl," + part);
        } else if (is(word, {"-std", "--std"}, value)) {
            standard(value);
        } else if (is(word, {"--output-file", "-o"}, value)) {
            found_.output = value;
        } else if (is(word, {"--define-macro", "-D"}, value)) {
            found_.flags.push_back("-D" + value);
        } else if (is(word, {"--undefine-macro", "-U"}, value)) {
            found_.flags.push_back("-U" + value);
        } else if (is(word, {"--include-path", "-I"}, value)) {
            for (const std::string& part : parts(value, ",")) found_.flags.push_back("-I" + part);
        } else if (is(word, {"-isystem", "--system-include"}, value)) {
            found_.flags.insert(found_.flags.end(), {"-isystem", value});
        } else if (is(word, {"-include", "--pre-include"}, value)) {
            found_.flags.insert(found_.flags.end(), {"-include", value});
        } else if (is(word, {"--library-path", "-L"}, value)) {
            for (const std::string& part : parts(value, ",")) found_.link_flags.push_back("-L" + part);
        } else if (is(word, {"--library", "-l"}, value)) {
            for (const std::string& part : parts(value, ","))
                if (kLibrariesHere.count(part) == 0) found_.link_flags.push_back("-l" + part);
        } else if (is(word, {"--optimize", "-O"}, value)) {
            found_.host_flags.push_back("-O" + value);
        } else {
            host_word(word);
        }
    }

    // A word of g++'s own.
    void host_word(const std::string& word) {
        if (word.starts_with("-std=")) return standard(word.substr(5));
        if (word == "-pthread" || word == "-fopenmp") found_.link_flags.push_back(word);
        if (word.starts_with("-Wl,") || word == "-static" || word == "-rdynamic" || word == "-shared")
            found_.link_flags.push_back(word);
        else if (word.starts_with("-D") || word.starts_with("-I"))
            found_.flags.push_back(word);
        else
            found_.host_flags.push_back(word);
    }

public:
    std::string standard_ = "gnu++17";

private:
    const words& all_;
    std::size_t at_ = 0;
    compilation found_;
};

}  // namespace

compilation compilation::from_words(const words& all) {
    reader_of_words reader(all);
    compilation found = reader();
    found.flags.push_back("-std=" + reader.standard_);
    return found;
}

void compile(const compilation& what) {
    const installation here = find_installation();
    if (what.sources.empty() && (what.objects.empty() || !what.links)) throw invalid_argument("no file to compile");
    if (!what.links && what.sources.size() > 1 && !what.output.empty())
        throw invalid_argument("-o names one file, but -c makes one of each source");
    const workshop shop;
    words objects;
    for (const std::string& source : what.sources) {
        source_compiler one(what, here, source);
        one.preprocess();
        const std::string own = fs::path(source).stem().string() + ".o";
        const std::string object = what.links            ? shop.file(fmt::format("{}-{}", objects.size(), own))
                                   : what.output.empty() ? own
                                                         : what.output;
        one.make(object);
        objects.push_back(object);
    }
    if (what.links) link(what, here, objects, what.output.empty() ? "a.out" : what.output);
}

std::string compiled_program(compilation what) {
    const installation here = find_installation();
    if (what.sources.empty()) throw invalid_argument("no file to compile");
    std::vector<source_compiler> all;
    std::uint64_t key = mix(mix(kNoHash, stamp(here)), joined(what.objects + what.link_flags));
    for (const std::string& source : what.sources) {
        all.emplace_back(what, here, source).preprocess();
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
