// All kernels in this program. Kernel files register themselves (device/rung.hpp); there is no list to maintain.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace cornerturn {

enum class backend { emulator, cuda, host };

class operation;  // device/operation.hpp

// The fields that open every rung's file. Plain text, one or two sentences each.
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

// What a kernel needs that some CUDA GPUs lack. `feature` is null if it needs nothing. Otherwise the emulator cannot
// run it.
struct hardware_needs {
    const char* feature = nullptr;
    int compute_capability = 0;  // 90 for 9.0
};

// What the registry knows of a kernel, whatever its operation.
struct kernel_facts {
    const char* name;        // after the @ of its id; "" for none
    const char* origin;      // in the notes, such as "000 v2"
    unsigned element_sizes;  // powers of two that it takes, combined by |; or kAnyElementSize
    hardware_needs needs = {};
    bool whole_only = false;    // the emulator runs all of its blocks, however many
    double published_rate = 0;  // in the published notes, in the operation's unit; 0 if they give none
    bool is_rung = true;        // false: no ladder runs it; it is measured by name, and in a bench
};

// What kernels of one type of work can differ in. Each type of work has a specialisation beside it, with a member
//     static const char kType;
// The address of this member tells types apart. It is defined in one file that is not compiled for the emulator.
template <class Work>
struct kernel_traits;

// One kernel of a rung's file. Work describes its task.
template <class Work>
struct variant {
    kernel_facts facts;
    void (*run)(const Work& work);  // null if this build has no function
    kernel_traits<Work> traits = {};
};

struct kernel {
    std::string id;  // family/rung@variant
    std::string file;
    int order;  // of the variant within its file
    const rung_notes* notes;
    const operation* op;
    kernel_facts facts;
    const char* work_type;
    const void* described;                  // a variant for that type of work; it need not have a function
    std::array<const void*, 3> variants{};  // with a function, by backend; null if this build has none

    bool takes(int element_size) const {
        if (element_size < 1) return false;
        const auto size = static_cast<unsigned>(element_size);
        return facts.element_sizes == kAnyElementSize ||
               (std::has_single_bit(size) && (facts.element_sizes & size) != 0);
    }
    bool is_built_for(backend on) const { return variants[static_cast<std::size_t>(on)] != nullptr; }

    template <class Work>
    bool takes_work() const {
        return work_type == &kernel_traits<Work>::kType;
    }
    // Null if this build has no function, or if the kernel takes other work.
    template <class Work>
    const variant<Work>* built_for(backend on) const {
        return takes_work<Work>() ? static_cast<const variant<Work>*>(variants[static_cast<std::size_t>(on)]) : nullptr;
    }
    // The defaults if the kernel takes other work. Functions among the traits come from any build that has the kernel.
    template <class Work>
    kernel_traits<Work> traits() const {
        return takes_work<Work>() ? static_cast<const variant<Work>*>(described)->traits : kernel_traits<Work>{};
    }
};

// Kernel files call this before main. `of_work` is a variant<Work>, and `runs` says whether it has a function. What the
// arguments point to must live as long as the program.
void register_kernel(const rung_notes& notes, const operation& op, backend built_for, const char* file,
                     const char* id_suffix, int order, const kernel_facts& facts, const void* of_work, bool runs,
                     const char* work_type);

// Registers all variants of a file of host code.
template <class Work, int kCount>
bool register_rung(const rung_notes& notes, const operation& op, backend built_for, const char* file,
                   const variant<Work> (&variants)[kCount]) {
    for (int i = 0; i < kCount; ++i) {
        register_kernel(notes, op, built_for, file, "", i, variants[i].facts, &variants[i], variants[i].run != nullptr,
                        &kernel_traits<Work>::kType);
    }
    return true;
}

// Throw unsupported. Kernel files call them, because they are compiled without exceptions.
[[noreturn]] void decline(const char* why);
[[noreturn]] void decline_element_size(int element_size);

// All kernels, in the order of the number at the start of their file's name.
const std::vector<kernel>& kernels();

// Throws an invalid_argument that names the nearest id.
const kernel& find_kernel(std::string_view id);

}  // namespace cornerturn
