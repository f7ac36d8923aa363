// Helpers for tests of the rewriter: normalise, compile and run the C++ that it writes.
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

// The lines of `text` that begin with #; all others become empty lines.
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

// Messages of the compiler and the report name lines of the user's file, so the rewriter must not move any line.
inline emulate::rewritten rewrite_in_place(const std::string& text, emulate::pass wanted) {
    emulate::rewritten all = emulate::rewrite(text, wanted);
    EXPECT_EQ(markers(all.text), markers(text)) << all.text;
    return all;
}

// Keeps white space only between two identifiers or numbers, as one space.
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

// A short replacement of the emulator's header and library. In the host pass, a kernel jumps to
// cornerturn_launch_from_host with its arguments unchanged; in the device pass it is a function. Each kernel of these
// tests shows its one argument, so programs of both passes print the same.
inline constexpr const char* kTinyEmulator = R"cu(
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

// A new empty folder. The destructor deletes it.
class folder {
public:
    folder() {
        std::string name = (std::filesystem::temp_directory_path() / "rewritten-XXXXXX").string();
        if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("cannot create a folder");
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
    std::vector<std::string> command{"g++", "-std=gnu++20", "-w", "-fpreprocessed", in.file("text.ii")};
    command.insert(command.end(), options.begin(), options.end());
    std::string errors;
    if (emulate::run_program(command, &errors) == 0) return true;
    ADD_FAILURE() << errors << text;
    return false;
}

// g++ must compile the rewritten text of both passes.
inline void expect_compiles(const std::string& text) {
    const folder in;
    for (const emulate::pass one : {emulate::pass::host, emulate::pass::device})
        compiles(in, kTinyEmulator + rewrite_in_place(text, one).text, {"-fsyntax-only"});
}

// The output of the program.
inline std::string printed(const std::string& text, emulate::pass wanted) {
    const folder in;
    std::string output;
    if (!compiles(in, kTinyEmulator + rewrite_in_place(text, wanted).text, {"-o", in.file("program")})) return "";
    EXPECT_EQ(emulate::run_program_for(output, {in.file("program")}), 0);
    return output;
}
inline void expect_prints(const std::string& text, const std::string& wanted) {
    EXPECT_EQ(printed(text, emulate::pass::host), wanted);
    EXPECT_EQ(printed(text, emulate::pass::device), wanted);
}

}  // namespace cornerturn::tests
