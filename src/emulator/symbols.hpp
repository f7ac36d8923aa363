// Names and source lines of the running program's own code, from its symbol table and debug information (libdw).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace cornerturn::emulator {

struct source_line {
    std::string file;  // as compiled, without directories
    int line = 0;      // 0: unknown (the program has no debug information)
    std::string path;  // of the file; relative to the source folder for this project's files
};

// A function's `static thread_local` variable: its offset in the program's thread-local segment.
struct shared_variable {
    std::string name;
    std::size_t offset, bytes;
    bool is_initialisation_flag = false;  // g++'s flag of a variable: whether it is initialised
};

// A variable at namespace scope.
struct global_variable {
    std::string name;
    std::uintptr_t begin;
    std::size_t bytes;
    bool writable;
};

inline constexpr int kAddressBits = 56;  // of an address in a program; the emulator uses the bits above

// The line of the call that returns to `return_address`.
source_line line_of(std::uintptr_t return_address);

// "file.cu:12", or "unknown line".
std::string to_string(const source_line& line);

// "transpose_padded<unsigned int, 32, 8>" for the address of that function, without its namespaces and parameters;
// "kernel" if the program is stripped.
std::string function_name(const void* function);

// The name of the variable that begins at this address.
std::string data_name(const void* address);

// How a parameter of a function is passed, by x86-64's rules.
struct parameter {
    std::size_t bytes = 0;
    std::size_t alignment = 8;  // on the stack
    // The register of each of its one or two eightbytes. Empty: it is on the stack.
    enum register_kind : std::uint8_t { integer, vector };
    std::vector<register_kind> eightbytes;
    bool is_empty_struct = false;
    bool by_reference = false;  // its address is passed
};
std::vector<parameter> parameters_of(const void* function);

// Empty if it is unknown.
std::string mangled_name(const void* function);

// The shared arrays that the kernel declares.
std::vector<shared_variable> shared_variables_of(const void* kernel);

// The `__device__` variable that contains `address`, in the file that makes the call that returns to `return_address`.
// Empty if there is none.
std::optional<global_variable> global_variable_at(std::uintptr_t address, std::uintptr_t return_address);

// The shared array at that offset in the program's thread-local segment. Normally it is found only if the call that
// returns to `return_address` is in the function that declares it. With `any_function`, the array of any function is
// found, except a kernel's.
std::optional<shared_variable> shared_variable_at(std::size_t offset, std::uintptr_t return_address, bool any_function);

// Whether the file with the call that returns to `return_address` declares a shared array, such as "float [32][33]",
// whose rows have the bounds of this type, "'float [33]'". An index past the end of such a row may still be valid. Also
// true if the file is unknown.
bool may_index_shared_rows(const char* type, std::uintptr_t return_address);

// True if the program has a symbol table, which shared_variables_of() needs.
bool have_symbols();

struct byte_range {
    std::uintptr_t begin;
    std::size_t bytes;
};

// The code of kernel files, in ascending order. The debug information says which files were compiled with their flags.
std::vector<byte_range> kernel_code_ranges();

// The read-only part of the program's own memory that contains the address; 0 bytes if there is none.
byte_range read_only_at(std::uintptr_t address);

// The calling thread's copy of the program's thread-local segment, which contains its `__shared__` arrays.
byte_range thread_local_segment();

}  // namespace cornerturn::emulator
