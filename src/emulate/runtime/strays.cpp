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

constexpr std::uintptr_t kNearNull = 64 << 10;  // the system never maps memory there
// Small allocations lie between other memory of the host. So only an address within kVeryNear bytes of an allocation
// counts as out of its bounds, unless no memory is there: then the limit is kFar.
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

// The host variable at the address. "": there is none.
std::string describe_variable(std::uintptr_t address) {
    const std::string name = data_name(reinterpret_cast<const void*>(address));
    return name.empty() ? "" : fmt::format("variable '{}'", name);
}

// Host memory at the address that is no variable of the program. "": there is none.
std::string describe_host(std::uintptr_t address) {
    std::ifstream maps("/proc/self/maps");
    for (std::string line; std::getline(maps, line);) {
        std::uintptr_t begin = 0, end = 0;
        char dash = 0;
        std::string rights, offset, device, inode, path;
        std::stringstream fields(line);
        fields >> std::hex >> begin >> dash >> end >> rights >> offset >> device >> inode >> path;
        if (address < begin || address >= end || rights.starts_with("---")) continue;
        if (path == "[stack]") return "a local variable on the stack";
        return path.empty() || path == "[heap]" ? "memory from malloc or new" : "code or data";
    }
    return "";
}

}  // namespace

std::string describe_stray(std::uintptr_t address) {
    if (address < kNearNull) return fmt::format("through a null pointer: the address is {:#x}", address);
    const void* const pointer = reinterpret_cast<const void*>(address);
    if (const std::optional<allocation> freed = freed_at(pointer))
        return fmt::format("in freed memory: '{}'", freed->name());
    const nearest_memory nearest = nearest_to(address);
    const std::string out_of_bounds = "out of bounds: " + nearest.where();
    const bool is_program = is_of_program(address);
    if (nearest.distance < kVeryNear && !is_program) return out_of_bounds;
    if (const std::string host = is_program ? describe_variable(address) : describe_host(address); !host.empty()) {
        return fmt::format(
            "in host memory: {}{}; a kernel needs memory from cudaMalloc, cudaMallocManaged or cudaMallocHost", host,
            nearest.distance < kNear ? ", " + nearest.where() : "");
    }
    if (nearest.distance < kFar) return out_of_bounds;
    return fmt::format("in unmapped memory: the address is {:#x}", address);
}

}  // namespace cornerturn::emulator
