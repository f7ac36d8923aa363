// Compiles CUDA programs for the emulator: takes nvcc's options and runs g++.
#pragma once

#include <string>
#include <vector>

namespace cornerturn::emulate {

// The folders of the emulator's headers, and its libraries.
struct installation {
    std::string headers;                 // our replacement of CUDA's headers
    std::string include;                 // holds cornerturn/...
    std::vector<std::string> libraries;  // linked to each program
    std::string compiler = "g++";
};
installation find_installation();

// Whether --version or -V is among the arguments.
bool asks_version(const std::vector<std::string>& arguments);
std::string version_text();

struct compilation {
    std::vector<std::string> sources;     // .cu, .cpp, .cc, .c ...
    std::vector<std::string> objects;     // .o, .a and .so
    std::vector<std::string> flags;       // for the preprocessor and the compiler, in both passes
    std::vector<std::string> host_flags;  // for the host pass and the link
    std::vector<std::string> link_flags;
    std::vector<std::string> dependency_flags;  // -M, -MD and the like
    std::string output;
    std::string output_folder;  // for outputs without a given name
    std::string language;       // of all sources (-x); "": by the suffix of each
    enum class output_kind {
        program,
        objects,       // -c
        text,          // -E
        dependencies,  // -M
        archive,       // -lib
        device_link    // -dlink
    } makes = output_kind::program;
    bool relocatable = false;
    bool verbose = false;  // -v: prints each command

    bool is_cuda(const std::string& source) const;
    bool is_c(const std::string& source) const;

    // From the arguments of nvcc's command line. Throws invalid_argument for a file or an option that cannot be used.
    static compilation from_arguments(const std::vector<std::string>& arguments);
};

// Writes the outputs that the command line asks for. Throws error. Messages of the compiler go to standard error.
void compile(const compilation& job);

// The path of the program of these sources. Compiles and links it, unless the cache holds it.
std::string compiled_program(compilation job);

}  // namespace cornerturn::emulate
