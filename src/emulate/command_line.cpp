// Translates the arguments of nvcc's command line.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>

#include "cornerturn/error.hpp"
#include "emulate/compile.hpp"
#include "emulate/options.hpp"

namespace cornerturn::emulate {
namespace {

namespace fs = std::filesystem;
using strings = std::vector<std::string>;
using output_kind = compilation::output_kind;

bool has_suffix(const std::string& path, const std::set<std::string>& all) {
    return all.count(fs::path(path).extension().string()) != 0;
}
bool is_source(const std::string& path) { return has_suffix(path, {".cu", ".cpp", ".cc", ".cxx", ".c", ".C"}); }
bool is_object(const std::string& path) {
    return has_suffix(path, {".o", ".a", ".so", ".obj"}) || path.find(".so.") != path.npos;
}

std::string without_dashes(const std::string& argument) {
    return argument.substr(std::min(argument.find_first_not_of('-'), argument.size()));
}

// A separator inside quotes or after a backslash does not split.
strings split(std::string_view list, std::string_view separators) {
    strings all{""};
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

class command_line_reader {
public:
    explicit command_line_reader(const strings& all) : all_(all) {}

    compilation operator()() {
        for (at_ = 0; at_ < all_.size(); ++at_) read(all_[at_]);
        for (const std::string& file : files_) classify(file);
        found_.flags.push_back("-std=" + standard_);
        return std::move(found_);
    }

private:
    std::string value_of(const std::string& argument) {
        if (at_ + 1 == all_.size()) throw invalid_argument(argument + " needs a value");
        return all_[++at_];
    }
    // Matches "-o out", "-oout" and "-o=out"; for long names "--output-file out" and "--output-file=out".
    bool matches(const std::string& argument, std::initializer_list<std::string_view> names, std::string& value) {
        for (const std::string_view name : names) {
            if (argument == name) {
                value = value_of(argument);
                return true;
            }
            const bool is_long = name.size() > 2;
            if (is_long && argument.starts_with(std::string(name) + "=")) {
                value = argument.substr(name.size() + 1);
                return true;
            }
            if (!is_long && argument.starts_with(name)) {
                value = argument.substr(name.size() + (argument[name.size()] == '=' ? 1 : 0));
                return true;
            }
        }
        return false;
    }
    static bool is_one_of(const std::string& argument, std::initializer_list<std::string_view> names) {
        return std::find(names.begin(), names.end(), argument) != names.end();
    }
    void standard(std::string value) {
        static const std::set<std::string> older{"c++98",   "c++03",   "c++11",   "c++14", "gnu++98",
                                                 "gnu++03", "gnu++11", "gnu++14", "c++0x", "c++1y"};
        if (older.count(value) != 0) value = "gnu++17";  // CUDA 13's minimum
        if (value.starts_with("c++")) value = "gnu" + value.substr(1);
        standard_ = value;
    }

    // Called after all options are read, because -x sets the language of all files.
    void classify(const std::string& file) {
        if (is_object(file))
            found_.objects.push_back(file);
        else if (is_source(file) || !found_.language.empty())
            found_.sources.push_back(file);
        else
            throw invalid_argument(fmt::format(
                "'{}' is neither a source file (.cu, .cpp, .cc, .c) nor an object file or library (.o, .a, .so)",
                file));
    }

    void read_file_of_options(const std::string& path) {
        std::ifstream file(path, std::ios::binary);
        if (!file) throw invalid_argument(path + ": cannot read this options file");
        const strings inside = split(std::string(std::istreambuf_iterator<char>(file), {}), " \t\r\n");
        command_line_reader reader(inside);
        reader.found_ = std::move(found_);
        reader.standard_ = standard_;
        for (; reader.at_ < inside.size(); ++reader.at_) reader.read(inside[reader.at_]);
        files_.insert(files_.end(), reader.files_.begin(), reader.files_.end());
        found_ = std::move(reader.found_);
        standard_ = reader.standard_;
    }

    // Whether the option chooses the kind of output. The last such option counts.
    bool read_output_kind(const std::string& argument) {
        const bool relocatable = found_.relocatable || is_one_of(argument, {"-dc", "--device-c"});
        if (is_one_of(argument, {"-c", "--compile", "-dc", "--device-c", "-dw", "--device-w"})) {
            found_.makes = output_kind::objects;
            found_.relocatable = relocatable;
        } else if (is_one_of(argument, {"-E", "--preprocess"})) {
            found_.makes = output_kind::text;
        } else if (is_one_of(argument, {"-M", "--generate-dependencies"})) {
            found_.makes = output_kind::dependencies;
            found_.dependency_flags.push_back("-M");
        } else if (is_one_of(argument, {"-MM", "--generate-nonsystem-dependencies"})) {
            found_.makes = output_kind::dependencies;
            found_.dependency_flags.push_back("-MM");
        } else if (is_one_of(argument, {"-lib", "--lib"})) {
            found_.makes = output_kind::archive;
        } else if (is_one_of(argument, {"-dlink", "--device-link"})) {
            found_.makes = output_kind::device_link;
        } else {
            return false;
        }
        return true;
    }

    bool read_dependency_option(const std::string& argument) {
        strings& flags = found_.dependency_flags;
        std::string value;
        if (is_one_of(argument, {"-MD", "--generate-dependencies-with-compile"})) {
            flags.push_back("-MD");
        } else if (is_one_of(argument, {"-MMD", "--generate-nonsystem-dependencies-with-compile"})) {
            flags.push_back("-MMD");
        } else if (is_one_of(argument, {"-MP", "--generate-dependency-targets"})) {
            flags.push_back("-MP");
        } else if (argument == "-MG") {
            flags.push_back(argument);
        } else if (matches(argument, {"-MF", "--dependency-output"}, value)) {
            flags.insert(flags.end(), {"-MF", value});
        } else if (matches(argument, {"-MT", "--dependency-target-name"}, value)) {
            flags.insert(flags.end(), {"-MT", value});
        } else if (matches(argument, {"-MQ"}, value)) {
            flags.insert(flags.end(), {"-MQ", value});
        } else {
            return false;
        }
        return true;
    }

    // Whether nvcc has this option and it has no effect on this compiler. Throws for refused options.
    bool is_ignored(const std::string& argument) {
        const std::string name = argument.substr(0, argument.find('=')), bare = without_dashes(name);
        std::string value;
        if (const auto refused = kRefused.find(bare); refused != kRefused.end())
            throw invalid_argument(fmt::format("{}: {}", name, refused->second));
        if (kIgnoredWithValue.count(bare) != 0) {
            if (argument == name) value_of(argument);
        } else if (kIgnored.count(without_dashes(argument)) != 0) {
            if (argument.find("fast_math") != argument.npos) found_.flags.push_back("-D__FAST_MATH__");
        } else if (argument.starts_with("-t") && argument.size() > 2 &&
                   argument.find_first_not_of("0123456789", 2) == argument.npos) {  // -t4
        } else if (bare == "Werror" && argument == name) {
            // g++'s own -Werror has no value.
            if (at_ + 1 < all_.size() && are_kinds_of_errors(all_[at_ + 1]))
                ++at_;
            else
                return false;
        } else if (bare == "Werror") {
            return are_kinds_of_errors(argument.substr(name.size() + 1));
        } else {
            return false;
        }
        return true;
    }
    static bool are_kinds_of_errors(const std::string& list) {
        const strings kinds = split(list, ",");
        return !kinds.empty() && std::all_of(kinds.begin(), kinds.end(),
                                             [](const std::string& kind) { return kKindsOfErrors.count(kind) != 0; });
    }

    void read(const std::string& argument) {
        std::string value;
        const auto each = [&](auto body) {
            for (const std::string& part : split(value, ",")) body(part);
        };
        if (argument.empty() || argument[0] != '-') {
            files_.push_back(argument);
        } else if (read_output_kind(argument) || read_dependency_option(argument)) {
        } else if (matches(argument, {"-rdc", "--relocatable-device-code"}, value)) {
            found_.relocatable = value == "true";
        } else if (is_one_of(argument, {"-v", "--verbose"})) {
            found_.verbose = true;
        } else if (matches(argument, {"-optf", "--options-file"}, value)) {
            each([&](const std::string& part) { read_file_of_options(part); });
        } else if (matches(argument, {"-odir", "--output-directory"}, value)) {
            found_.output_folder = value;
        } else if (matches(argument, {"-Xcompiler", "--compiler-options"}, value)) {
            const strings all = split(value, ", ");
            for (std::size_t i = 0; i < all.size(); ++i) {
                if (kHostWithValue.count(all[i]) != 0 && i + 1 < all.size()) {
                    found_.flags.insert(found_.flags.end(), {all[i], all[i + 1]});
                    ++i;
                } else {
                    host_option(all[i]);
                }
            }
        } else if (matches(argument, {"-Xlinker", "--linker-options"}, value)) {
            for (const std::string& part : split(value, ", ")) found_.link_flags.push_back("-Wl," + part);
        } else if (matches(argument, {"-ftemplate-depth", "--ftemplate-depth"}, value)) {
            found_.flags.push_back("-ftemplate-depth=" + value);
        } else if (matches(argument, {"-ftemplate-backtrace-limit", "--ftemplate-backtrace-limit"}, value)) {
            found_.flags.push_back("-ftemplate-backtrace-limit=" + value);
        } else if (is_ignored(argument)) {
        } else if (matches(argument, {"-std", "--std"}, value)) {
            standard(value);
        } else if (matches(argument, {"--output-file", "-o"}, value)) {
            found_.output = value;
        } else if (matches(argument, {"--define-macro", "-D"}, value)) {
            found_.flags.push_back("-D" + value);
        } else if (matches(argument, {"--undefine-macro", "-U"}, value)) {
            found_.flags.push_back("-U" + value);
        } else if (matches(argument, {"--include-path", "-I"}, value)) {
            each([&](const std::string& part) { found_.flags.push_back("-I" + part); });
        } else if (matches(argument, {"-isystem", "--system-include"}, value)) {
            each([&](const std::string& part) { found_.flags.insert(found_.flags.end(), {"-isystem", part}); });
        } else if (matches(argument, {"-include", "--pre-include"}, value)) {
            each([&](const std::string& part) { found_.flags.insert(found_.flags.end(), {"-include", part}); });
        } else if (matches(argument, {"--library-path", "-L"}, value)) {
            each([&](const std::string& part) { found_.link_flags.push_back("-L" + part); });
        } else if (matches(argument, {"--library", "-l"}, value)) {
            each([&](const std::string& part) {
                if (kReplacedLibraries.count(part) == 0) found_.link_flags.push_back("-l" + part);
            });
        } else if (matches(argument, {"--optimize", "-O"}, value)) {
            found_.host_flags.push_back("-O" + value);
        } else if (matches(argument, {"--x", "-x"}, value)) {
            if (!is_one_of(value, {"c", "c++", "cu"}))
                throw invalid_argument(fmt::format("-x {}: the language must be c, c++ or cu", value));
            found_.language = value;
        } else if (kHostWithValue.count(argument) != 0) {
            found_.flags.insert(found_.flags.end(), {argument, value_of(argument)});
        } else if (kLinkerWithValue.count(argument) != 0) {
            found_.link_flags.insert(found_.link_flags.end(), {argument, value_of(argument)});
        } else {
            const auto known = kHostSynonyms.find(argument);
            host_option(known != kHostSynonyms.end()  ? known->second
                        : argument.starts_with("--W") ? argument.substr(1)
                                                      : argument);
        }
    }

    // An option for g++.
    void host_option(const std::string& argument) {
        if (argument.starts_with("-std=")) return standard(argument.substr(5));
        if (argument == "-shared") throw invalid_argument(fmt::format("-shared: {}", kRefused.at("shared")));
        if (argument == "-fsanitize=thread")
            throw invalid_argument(argument +
                                   " cannot be used: the emulator needs the calls that g++ inserts for this option");
        if (argument.starts_with("-l") && kReplacedLibraries.count(argument.substr(2)) != 0) return;
        if (argument.starts_with("-Wl,") || argument == "-static" || argument == "-rdynamic" ||
            argument.starts_with("-l") || argument.starts_with("-L"))
            found_.link_flags.push_back(argument);
        else if (argument.starts_with("-D") || argument.starts_with("-I"))
            found_.flags.push_back(argument);
        else
            found_.host_flags.push_back(argument);
    }

    const strings& all_;
    std::size_t at_ = 0;
    strings files_;
    std::string standard_ = "gnu++17";
    compilation found_;
};

}  // namespace

bool compilation::is_cuda(const std::string& source) const {
    return language.empty() ? fs::path(source).extension() == ".cu" : language == "cu";
}

bool compilation::is_c(const std::string& source) const {
    return language.empty() ? fs::path(source).extension() == ".c" : language == "c";
}

compilation compilation::from_arguments(const strings& all) { return command_line_reader(all)(); }

}  // namespace cornerturn::emulate
