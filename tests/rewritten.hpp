// Pieces of CUDA C++ for tests of the rewriter, and programs made of what it says of them.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "emulate/process.hpp"
#include "emulate/rewrite.hpp"

namespace cornerturn::tests {

// Lines of `text` that begin with a number sign, and empty ones for all others.
inline std::string markers(const std::string& text) {
    std::string all;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find('\n', at), text.size());
        if (text[at] == '#') all += text.substr(at, end - at);
        all += '\n';
        at = end + 1;
    }
    return all;
}

// The compiler's messages and the report name lines of the user's file, so no line may move.
inline emulate::rewritten rewrite_in_place(const std::string& text, emulate::pass wanted) {
    emulate::rewritten all = emulate::rewrite(text, wanted);
    EXPECT_EQ(markers(all.text), markers(text)) << all.text;
    return all;
}

// Spaces only where they part two words.
inline std::string normalised(const std::string& text) {
    const auto is_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
    std::string all;
    bool gap = false;
    for (const char c : text) {
        if (std::isspace(static_cast<unsigned char>(c)) != 0) {
            gap = true;
            continue;
        }
        if (gap && !all.empty() && is_word(all.back()) && is_word(c)) all += ' ';
        gap = false;
        all += c;
    }
    return all;
}

inline std::string on_host(const std::string& text) {
    return normalised(rewrite_in_place(text, emulate::pass::host).text);
}
inline std::string on_device(const std::string& text) {
    return normalised(rewrite_in_place(text, emulate::pass::device).text);
}

// What the emulator's header and its library have for a program, in a few lines. A kernel of the pass for the host
// jumps to cornerturn_launch_from_host with its arguments where they were; in the device's pass it is a function. All
// kernels of these tests show their one argument, so both passes print the same.
inline constexpr const char* kEmulatorInShort = R"cu(
    extern "C" int printf(const char*, ...);
    extern "C" void show(int x) { printf("%d\n", x); }
    struct dim3 {
        unsigned x, y, z;
        dim3(unsigned a = 1, unsigned b = 1, unsigned c = 1) : x(a), y(b), z(c) {}
    };
    bool ct_fails = false;
    bool ct_push_launch(dim3 grid, dim3 block, unsigned long shared = 0, void* = nullptr) {
        printf("%u,%u %u,%u %lu: ", grid.x, grid.y, block.x, block.y, shared);
        return ct_fails;
    }
    extern "C" void cornerturn_launch_from_host(int x) { show(x); }
    alignas(1024) __thread unsigned char ct_storage[1024] __asm__("cornerturn_dynamic_shared");
    extern __thread unsigned char ct_dynamic_shared[] __asm__("cornerturn_dynamic_shared");
)cu";

// A folder that is gone at the end.
class folder {
public:
    folder() {
        std::string name = (std::filesystem::temp_directory_path() / "rewritten-XXXXXX").string();
        if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no folder can be made");
        path_ = name;
    }
    ~folder() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    folder(const folder&) = delete;
    folder& operator=(const folder&) = delete;
    std::string file(const std::string& name) const { return (path_ / name).string(); }

private:
    std::filesystem::path path_;
};

inline bool compiles(const folder& in, const std::string& text, const std::vector<std::string>& options) {
    std::ofstream(in.file("text.ii")) << text;
    std::vector<std::string> words{"g++", "-std=gnu++20", "-w", "-fpreprocessed", in.file("text.ii")};
    words.insert(words.end(), options.begin(), options.end());
    std::string errors;
    if (emulate::run_program(words, &errors) == 0) return true;
    ADD_FAILURE() << errors << text;
    return false;
}

// Whether g++ takes what both passes make of the text.
inline void expect_compiles(const std::string& text) {
    const folder in;
    for (const emulate::pass one : {emulate::pass::host, emulate::pass::device})
        compiles(in, kEmulatorInShort + rewrite_in_place(text, one).text, {"-fsyntax-only"});
}

// What the program prints.
inline std::string printed(const std::string& text, emulate::pass wanted) {
    const folder in;
    std::string output;
    if (!compiles(in, kEmulatorInShort + rewrite_in_place(text, wanted).text, {"-o", in.file("program")})) return "";
    EXPECT_EQ(emulate::run_program_for(output, {in.file("program")}), 0);
    return output;
}
inline void expect_prints(const std::string& text, const std::string& wanted) {
    EXPECT_EQ(printed(text, emulate::pass::host), wanted);
    EXPECT_EQ(printed(text, emulate::pass::device), wanted);
}

}  // namespace cornerturn::tests
