// Compiling CUDA programs for the emulator: nvcc's command line, g++'s work.
#pragma once

#include <string>
#include <vector>

namespace cornerturn::emulate {

// Where the headers and the libraries of the emulator lie.
struct installation {
    std::string headers;                 // CUDA's, by our own hand
    std::string include;                 // cornerturn/...
    std::vector<std::string> libraries;  // what a program links
    std::string compiler = "g++";
};
installation find_installation();

// What nvcc's --version and -V ask for.
bool asks_version(const std::vector<std::string>& words);
std::string version_text();

struct compilation {
    std::vector<std::string> sources;     // .cu and others that g++ compiles
    std::vector<std::string> objects;     // .o, .a and .so
    std::vector<std::string> flags;       // of the preprocessor and the compiler, for both passes
    std::vector<std::string> host_flags;  // of the host's pass and of the link
    std::vector<std::string> link_flags;
    std::vector<std::string> dependency_flags;  // -M, -MD and kin
    std::string output;
    std::string output_folder;  // of what has no name given
    std::string language;       // of all sources, as -x has it; "": their names tell
    enum class product {
        program,
        objects,       // -c
        text,          // -E
        dependencies,  // -M
        archive,       // -lib
        device_link    // -dlink
    } makes = product::program;
    bool relocatable = false;
    bool says = false;  // -v: prints what it runs

    bool is_cuda(const std::string& source) const;
    bool is_c(const std::string& source) const;

    // What nvcc's words mean. Throws invalid_argument for a word that nobody knows.
    static compilation from_words(const std::vector<std::string>& words);
};

// Makes what the words ask for. Throws error; what the compiler says goes to standard error.
void compile(const compilation& what);

// The program of these sources, compiled and linked, from the cache where it is there already: the path of it.
std::string compiled_program(compilation what);

}  // namespace cornerturn::emulate
