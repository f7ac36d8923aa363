// What the words of nvcc's command line mean here.
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
using words = std::vector<std::string>;
using product = compilation::product;

bool has_suffix(const std::string& path, const std::set<std::string>& all) {
    return all.count(fs::path(path).extension().string()) != 0;
}
bool is_source(const std::string& path) { return has_suffix(path, {".cu", ".cpp", ".cc", ".cxx", ".c", ".C"}); }
bool is_object(const std::string& path) {
    return has_suffix(path, {".o", ".a", ".so", ".obj"}) || path.find(".so.") != path.npos;
}

std::string without_dashes(const std::string& word) {
    return word.substr(std::min(word.find_first_not_of('-'), word.size()));
}

// What is quoted, or stands behind a backslash, separates nothing.
words parts(std::string_view list, std::string_view separators) {
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

class reader_of_words {
public:
    explicit reader_of_words(const words& all) : all_(all) {}

    compilation operator()() {
        for (at_ = 0; at_ < all_.size(); ++at_) read(all_[at_]);
        for (const std::string& file : files_) sort(file);
        found_.flags.push_back("-std=" + standard_);
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
    static bool is_one_of(const std::string& word, std::initializer_list<std::string_view> names) {
        return std::find(names.begin(), names.end(), word) != names.end();
    }
    void standard(std::string value) {
        static const std::set<std::string> older{"c++98",   "c++03",   "c++11",   "c++14", "gnu++98",
                                                 "gnu++03", "gnu++11", "gnu++14", "c++0x", "c++1y"};
        if (older.count(value) != 0) value = "gnu++17";  // CUDA 13's least
        if (value.starts_with("c++")) value = "gnu" + value.substr(1);
        standard_ = value;
    }

    // A file, once it is known whether -x says what all files are.
    void sort(const std::string& file) {
        if (is_object(file))
            found_.objects.push_back(file);
        else if (is_source(file) || !found_.language.empty())
            found_.sources.push_back(file);
        else
            throw invalid_argument(
                fmt::format("'{}' is neither a source (.cu, .cpp, .cc, .c) nor an object (.o, .a, .so)", file));
    }

    void read_file_of_options(const std::string& path) {
        std::ifstream file(path, std::ios::binary);
        if (!file) throw invalid_argument(path + ": no such file of options");
        const words inside = parts(std::string(std::istreambuf_iterator<char>(file), {}), " \t\r\n");
        reader_of_words reader(inside);
        reader.found_ = std::move(found_);
        reader.standard_ = standard_;
        for (; reader.at_ < inside.size(); ++reader.at_) reader.read(inside[reader.at_]);
        files_.insert(files_.end(), reader.files_.begin(), reader.files_.end());
        found_ = std::move(reader.found_);
        standard_ = reader.standard_;
    }

    // Whether the word says what is made. The last one counts.
    bool read_product(const std::string& word) {
        const bool relocatable = found_.relocatable || is_one_of(word, {"-dc", "--device-c"});
        if (is_one_of(word, {"-c", "--compile", "-dc", "--device-c", "-dw", "--device-w"})) {
            found_.makes = product::objects;
            found_.relocatable = relocatable;
        } else if (is_one_of(word, {"-E", "--preprocess"})) {
            found_.makes = product::text;
        } else if (is_one_of(word, {"-M", "--generate-dependencies"})) {
            found_.makes = product::dependencies;
            found_.dependency_flags.push_back("-M");
        } else if (is_one_of(word, {"-MM", "--generate-nonsystem-dependencies"})) {
            found_.makes = product::dependencies;
            found_.dependency_flags.push_back("-MM");
        } else if (is_one_of(word, {"-lib", "--lib"})) {
            found_.makes = product::archive;
        } else if (is_one_of(word, {"-dlink", "--device-link"})) {
            found_.makes = product::device_link;
        } else {
            return false;
        }
        return true;
    }

    bool read_dependency_word(const std::string& word) {
        words& flags = found_.dependency_flags;
        std::string value;
        if (is_one_of(word, {"-MD", "--generate-dependencies-with-compile"})) {
            flags.push_back("-MD");
        } else if (is_one_of(word, {"-MMD", "--generate-nonsystem-dependencies-with-compile"})) {
            flags.push_back("-MMD");
        } else if (is_one_of(word, {"-MP", "--generate-dependency-targets"})) {
            flags.push_back("-MP");
        } else if (word == "-MG") {
            flags.push_back(word);
        } else if (is(word, {"-MF", "--dependency-output"}, value)) {
            flags.insert(flags.end(), {"-MF", value});
        } else if (is(word, {"-MT", "--dependency-target-name"}, value)) {
            flags.insert(flags.end(), {"-MT", value});
        } else if (is(word, {"-MQ"}, value)) {
            flags.insert(flags.end(), {"-MQ", value});
        } else {
            return false;
        }
        return true;
    }

    // Of nvcc's, and nothing here.
    bool is_ignored(const std::string& word) {
        const std::string name = word.substr(0, word.find('=')), bare = without_dashes(name);
        std::string value;
        if (const auto refused = kRefused.find(bare); refused != kRefused.end())
            throw invalid_argument(fmt::format("{}: {}", name, refused->second));
        if (kIgnoredWithValue.count(bare) != 0) {
            if (word == name) value_of(word);
        } else if (kIgnored.count(without_dashes(word)) != 0) {
            if (word.find("fast_math") != word.npos) found_.flags.push_back("-D__FAST_MATH__");
        } else if (word.starts_with("-t") && word.size() > 2 &&
                   word.find_first_not_of("0123456789", 2) == word.npos) {  // -t4
        } else if (bare == "Werror" && word == name) {
            // g++ has a word without a value.
            if (at_ + 1 < all_.size() && are_kinds_of_errors(all_[at_ + 1]))
                ++at_;
            else
                return false;
        } else if (bare == "Werror") {
            return are_kinds_of_errors(word.substr(name.size() + 1));
        } else {
            return false;
        }
        return true;
    }
    static bool are_kinds_of_errors(const std::string& list) {
        const words kinds = parts(list, ",");
        return !kinds.empty() && std::all_of(kinds.begin(), kinds.end(),
                                             [](const std::string& kind) { return kKindsOfErrors.count(kind) != 0; });
    }

    void read(const std::string& word) {
        std::string value;
        const auto each = [&](auto body) {
            for (const std::string& part : parts(value, ",")) body(part);
        };
        if (word.empty() || word[0] != '-') {
            files_.push_back(word);
        } else if (read_product(word) || read_dependency_word(word)) {
        } else if (is(word, {"-rdc", "--relocatable-device-code"}, value)) {
            found_.relocatable = value == "true";
        } else if (is_one_of(word, {"-v", "--verbose"})) {
            found_.says = true;
        } else if (is(word, {"-optf", "--options-file"}, value)) {
            each([&](const std::string& part) { read_file_of_options(part); });
        } else if (is(word, {"-odir", "--output-directory"}, value)) {
            found_.output_folder = value;
        } else if (is(word, {"-Xcompiler", "--compiler-options"}, value)) {
            const words all = parts(value, ", ");
            for (std::size_t i = 0; i < all.size(); ++i) {
                if (kHostWithValue.count(all[i]) != 0 && i + 1 < all.size()) {
                    found_.flags.insert(found_.flags.end(), {all[i], all[i + 1]});
                    ++i;
                } else {
                    host_word(all[i]);
                }
            }
        } else if (is(word, {"-Xlinker", "--linker-options"}, value)) {
            for (const std::string& part : parts(value, ", ")) found_.link_flags.push_back("-Wl," + part);
        } else if (is(word, {"-ftemplate-depth", "--ftemplate-depth"}, value)) {
            found_.flags.push_back("-ftemplate-depth=" + value);
        } else if (is(word, {"-ftemplate-backtrace-limit", "--ftemplate-backtrace-limit"}, value)) {
            found_.flags.push_back("-ftemplate-backtrace-limit=" + value);
        } else if (is_ignored(word)) {
        } else if (is(word, {"-std", "--std"}, value)) {
            standard(value);
        } else if (is(word, {"--output-file", "-o"}, value)) {
            found_.output = value;
        } else if (is(word, {"--define-macro", "-D"}, value)) {
            found_.flags.push_back("-D" + value);
        } else if (is(word, {"--undefine-macro", "-U"}, value)) {
            found_.flags.push_back("-U" + value);
        } else if (is(word, {"--include-path", "-I"}, value)) {
            each([&](const std::string& part) { found_.flags.push_back("-I" + part); });
        } else if (is(word, {"-isystem", "--system-include"}, value)) {
            each([&](const std::string& part) { found_.flags.insert(found_.flags.end(), {"-isystem", part}); });
        } else if (is(word, {"-include", "--pre-include"}, value)) {
            each([&](const std::string& part) { found_.flags.insert(found_.flags.end(), {"-include", part}); });
        } else if (is(word, {"--library-path", "-L"}, value)) {
            each([&](const std::string& part) { found_.link_flags.push_back("-L" + part); });
        } else if (is(word, {"--library", "-l"}, value)) {
            each([&](const std::string& part) {
                if (kLibrariesHere.count(part) == 0) found_.link_flags.push_back("-l" + part);
            });
        } else if (is(word, {"--optimize", "-O"}, value)) {
            found_.host_flags.push_back("-O" + value);
        } else if (is(word, {"--x", "-x"}, value)) {
            if (!is_one_of(value, {"c", "c++", "cu"}))
                throw invalid_argument(fmt::format("-x {}: the languages are c, c++ and cu", value));
            found_.language = value;
        } else if (kHostWithValue.count(word) != 0) {
            found_.flags.insert(found_.flags.end(), {word, value_of(word)});
        } else if (kLinkerWithValue.count(word) != 0) {
            found_.link_flags.insert(found_.link_flags.end(), {word, value_of(word)});
        } else {
            const auto known = kHostWords.find(word);
            host_word(known != kHostWords.end() ? known->second : word.starts_with("--W") ? word.substr(1) : word);
        }
    }

    // A word of g++'s own.
    void host_word(const std::string& word) {
        if (word.starts_with("-std=")) return standard(word.substr(5));
        if (word == "-shared") throw invalid_argument(fmt::format("-shared: {}", kRefused.at("shared")));
        if (word == "-fsanitize=thread")
            throw invalid_argument(word + ": the emulator uses the same calls that g++ inserts for it");
        if (word.starts_with("-l") && kLibrariesHere.count(word.substr(2)) != 0) return;
        if (word.starts_with("-Wl,") || word == "-static" || word == "-rdynamic" || word.starts_with("-l") ||
            word.starts_with("-L"))
            found_.link_flags.push_back(word);
        else if (word.starts_with("-D") || word.starts_with("-I"))
            found_.flags.push_back(word);
        else
            found_.host_flags.push_back(word);
    }

    const words& all_;
    std::size_t at_ = 0;
    words files_;
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

compilation compilation::from_words(const words& all) { return reader_of_words(all)(); }

}  // namespace cornerturn::emulate
