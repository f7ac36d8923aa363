#include "emulate/runtime/strays.hpp"

#include <fmt/format.h>
#include <link.h>

#include <fstream>
#include <limits>
#include <sstream>

#include "emulate/runtime/kernels.hpp"
#include "emulate/runtime/memory.hpp"
#include "emulator/symbols.hpp"

namespace cornerturn::emulator {
namespace {

constexpr std::uintptr_t kNearNull = 64 << 10;  // the system gives no program memory there
// Small allocations lie between the host's own, so there only what is very near is theirs.
constexpr std::uintptr_t kVeryNear = 512, kNear = 64 << 10, kFar = std::uintptr_t{1} << 30;

struct nearest_memory {
    std::uintptr_t distance = std::numeric_limits<std::uintptr_t>::max();
    bool before = false;
    std::string name;

    void consider(std::uintptr_t address, std::uintptr_t begin, std::size_t size, const std::string& called) {
        const bool below = address < begin;
        const std::uintptr_t gap = below ? begin - address : address - begin - size;
        if (gap < distance) *this = {gap, below, called};
    }
    std::string where() const {
        return fmt::format("{} bytes {} '{}'", distance, before ? "before" : "past the end of", name);
    }
};

nearest_memory nearest_to(std::uintptr_t address) {
    nearest_memory found;
    for (const allocation& one : allocations()) found.consider(address, one.begin, one.bytes, one.name());
    for (const device_variable& one : device_variables())
        found.consider(address, one.begin, one.bytes, fmt::format("{} ({} bytes)", one.name, one.bytes));
    return found;
}

bool is_of_program(std::uintptr_t address) {
    std::pair<std::uintptr_t, bool> asked{address, false};
    dl_iterate_phdr(
        [](dl_phdr_info* info, std::size_t, void* result) {
            auto& [at, found] = *static_cast<std::pair<std::uintptr_t, bool>*>(result);
            for (int i = 0; i < info->dlpi_phnum; ++i) {
                const auto& part = info->dlpi_phdr[i];
                found = found || (part.p_type == PT_LOAD && at - (info->dlpi_addr + part.p_vaddr) < part.p_memsz);
            }
            return 1;  // the first object is the program itself
        },
        &asked);
    return asked.second;
}

// "" where none is.
std::string describe_variable(std::uintptr_t address) {
    const std::string name = data_name(reinterpret_cast<const void*>(address));
    return name.empty() ? "" : fmt::format("of the host's variable '{}'", name);
}

// The host's memory at an address, but for the program's variables; "" where none is.
std::string describe_host(std::uintptr_t address) {
    std::ifstream maps("/proc/self/maps");
    for (std::string line; std::getline(maps, line);) {
        std::uintptr_t begin = 0, end = 0;
        char dash = 0;
        std::string rights, offset, device, inode, path;
        std::stringstream words(line);
        words >> std::hex >> begin >> dash >> end >> rights >> offset >> device >> inode >> path;
        if (address < begin || address >= end || rights.starts_with("---")) continue;
        if (path == "[stack]") return "of the host's stack, where its local variables are";
        return path.empty() || path == "[heap]" ? "of the host's memory, as malloc and new give it"
                                                : "of the host's code or data";
    }
    return "";
}

}  // namespace

std::string describe_stray(std::uintptr_t address) {
    if (address < kNearNull) return fmt::format("through a null pointer, at address {:#x}", address);
    const void* const pointer = reinterpret_cast<const void*>(address);
    if (const std::optional<allocation> freed = freed_at(pointer))
        return fmt::format("of '{}', which the program has freed", freed->name());
    const nearest_memory nearest = nearest_to(address);
    const std::string out_of_bounds = "out of bounds: " + nearest.where();
    const bool is_program = is_of_program(address);
    if (nearest.distance < kVeryNear && !is_program) return out_of_bounds;
    if (const std::string host = is_program ? describe_variable(address) : describe_host(address); !host.empty()) {
        return fmt::format("{}{}: a kernel needs memory of cudaMalloc, cudaMallocManaged or cudaMallocHost", host,
                           nearest.distance < kNear ? ", " + nearest.where() : "");
    }
    if (nearest.distance < kFar) return out_of_bounds;
    return fmt::format("of address {:#x}, where there is no memory", address);
}

}  // namespace cornerturn::emulator
