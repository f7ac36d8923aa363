// Every kernel that this program holds. Kernel files add themselves (device/rung.hpp); nobody keeps a list.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/work.hpp"

namespace cornerturn {

enum class backend { emulator, cuda, host };

// The fields that open every rung's file. Plain text, one sentence or two each.
struct rung_notes {
    const char* id;        // family/rung
    const char* idea;      // what it does, in a line
    const char* change;    // what differs from the rung before
    const char* contract;  // shapes, alignment, aliasing
    const char* bytes;     // moved for a rows x cols matrix of elements of size e
    const char* limit;     // what holds it back
    const char* source;    // where the idea comes from
};

inline constexpr unsigned kAnyElementSize = ~0u;

// What a kernel needs beyond any CUDA GPU. `feature` is null where it needs nothing; otherwise the emulator cannot
// run it.
struct hardware_needs {
    const char* feature = nullptr;
    int compute_capability = 0;  // 90 for 9.0
};

struct variant {
    const char* name;        // behind the @ of its id; "" for none
    const char* origin;      // in the notes, such as "000 v2"
    unsigned element_sizes;  // powers of two that it takes, or'ed together; or kAnyElementSize
    void (*run)(const matrix_work& work);
    hardware_needs needs = {};
    bool batches = false;     // takes work of more than one matrix
    bool in_place = false;    // takes square matrices that are their own destination
    bool arithmetic = false;  // takes elements for numbers: a NaN, infinity or denormal may come back altered
    // How it would do the work on a GPU of that compute capability (90 for 9.0), and why, in a line; null where it has
    // but one way.
    std::string (*explain)(const matrix_work& work, int compute_capability) = nullptr;
    void (*multiply)(const gemm_work& work) = nullptr;  // in place of run, where that is what it does
    bool whole_only = false;                            // the emulator runs every block of it, however many
    // The same for a product, on a GPU of so many multiprocessors.
    std::string (*explain_product)(const gemm_work& work, int compute_capability, int multiprocessors) = nullptr;
    // GFLOP/s in note 002, of an RTX 3060 Laptop at 4096 x 4096 x 4096; 0 where it has none.
    double noted_gflops = 0;
    // How many floats of workspace it takes to multiply matrices so large, wherever they lie; null for none.
    std::int64_t (*workspace)(const gemm_work& work) = nullptr;
};

struct kernel {
    std::string id;  // family/rung@variant
    std::string file;
    int order;  // of the variant within its file
    const rung_notes* notes;
    operation does;
    std::string origin;
    unsigned element_sizes;
    hardware_needs needs;
    bool batches, in_place, arithmetic, whole_only;
    std::string (*explain)(const matrix_work& work, int compute_capability);
    std::string (*explain_product)(const gemm_work& work, int compute_capability, int multiprocessors);
    double noted_gflops;
    std::array<void (*)(const matrix_work&), 3> runs{};      // by backend; null where this build has none
    std::array<void (*)(const gemm_work&), 3> multiplies{};  // likewise
    std::array<std::int64_t (*)(const gemm_work&), 3> workspaces{};

    bool takes(int element_size) const {
        if (element_size < 1) return false;
        const auto size = static_cast<unsigned>(element_size);
        return element_sizes == kAnyElementSize || (std::has_single_bit(size) && (element_sizes & size) != 0);
    }
    auto run(backend on) const { return runs[static_cast<int>(on)]; }
    auto multiply(backend on) const { return multiplies[static_cast<int>(on)]; }
    std::int64_t workspace(backend on, const gemm_work& work) const {  // floats
        const auto floats = workspaces[static_cast<int>(on)];
        return floats == nullptr ? 0 : floats(work);
    }
    bool is_built_for(backend on) const { return run(on) != nullptr || multiply(on) != nullptr; }
};

// Called before main by the kernel files. The text behind the pointers must live as long as the program.
void register_rung(const rung_notes& notes, operation does, backend built_for, const char* file, const char* id_suffix,
                   const variant* variants, int variant_count);

// Throw unsupported: kernel files, which are compiled without exceptions, call them.
[[noreturn]] void refuse(const char* why);
void refuse_gaps(const matrix_work& work);  // unless it is one matrix, without gaps behind its rows
[[noreturn]] void refuse_element_size(int element_size);

// All kernels, by the number that their file's name begins with.
const std::vector<kernel>& kernels();

// Throws invalid_argument that names the nearest id.
const kernel& find_kernel(std::string_view id);

// Has this program's kernel of that id, which there must be, move the work, as a step of another kernel's.
void run_step(const char* id, backend on, const matrix_work& work);

}  // namespace cornerturn
