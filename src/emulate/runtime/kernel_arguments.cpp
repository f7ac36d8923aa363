#include "emulate/runtime/kernel_arguments.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <mutex>
#include <unordered_map>

// A row of the tables that src/emulate/objects.cpp adds to object files.
struct ct_kernel_row {
    const void* host;  // null: host code does not contain the kernel
    const void* device;
};
extern "C" {
[[gnu::weak]] extern const ct_kernel_row __start_ct_kernels[], __stop_ct_kernels[];
}

namespace cornerturn::emulator {
namespace {

// Where the calling convention passes an argument.
struct location {
    std::array<int, 2> registers{-1, -1};  // 0 to 5: integer; 6 to 13: vector; -1: on the stack
    std::size_t offset = 0;                // on the stack
};
std::vector<location> locations_of(const std::vector<parameter>& parameters, std::size_t& stack_bytes) {
    int integers = 0, vectors = 0;
    stack_bytes = 0;
    std::vector<location> all;
    for (const parameter& p : parameters) {
        location& here = all.emplace_back();
        if (p.is_empty_struct) continue;
        const auto wanted = [&](parameter::register_kind kind) {
            return static_cast<int>(std::count(p.eightbytes.begin(), p.eightbytes.end(), kind));
        };
        const int more_integers = wanted(parameter::integer), more_vectors = wanted(parameter::vector);
        if (p.eightbytes.empty() || integers + more_integers > 6 || vectors + more_vectors > 8) {
            stack_bytes = (stack_bytes + p.alignment - 1) / p.alignment * p.alignment;
            here.offset = stack_bytes;
            stack_bytes += (p.bytes + 7) / 8 * 8;
            continue;
        }
        for (std::size_t i = 0; i < p.eightbytes.size(); ++i)
            here.registers[i] = p.eightbytes[i] == parameter::integer ? integers++ : 6 + vectors++;
    }
    stack_bytes = (stack_bytes + 15) / 16 * 16;
    return all;
}

// Finds the arguments in registers and on the stack. Calls part(argument, offset, where, bytes) for each part of an
// argument, and reference(argument, where) for an argument whose address is passed.
template <class Part, class Reference>
void for_arguments(const kernel& which, saved_registers& registers, std::byte* stack, Part part, Reference reference) {
    std::size_t stack_bytes = 0;
    const std::vector<location> locations = locations_of(which.parameters, stack_bytes);
    const auto slot = [&](int where) -> void* {
        return where < 6 ? &registers.integers[static_cast<std::size_t>(where)]
                         : &registers.vectors[static_cast<std::size_t>(where - 6)][0];
    };
    for (std::size_t i = 0; i < locations.size(); ++i) {
        const parameter& p = which.parameters[i];
        if (p.is_empty_struct) continue;
        const bool in_registers = locations[i].registers[0] >= 0;
        if (p.by_reference) {
            reference(i, in_registers ? slot(locations[i].registers[0]) : stack + locations[i].offset);
        } else if (!in_registers) {
            part(i, 0, stack + locations[i].offset, p.bytes);
        } else {
            for (std::size_t k = 0; k < p.eightbytes.size(); ++k)
                part(i, k * 8, slot(locations[i].registers[k]), std::min<std::size_t>(8, p.bytes - k * 8));
        }
    }
}

}  // namespace

const kernel* find_kernel(const void* address) {
    if (address == nullptr) return nullptr;  // would match a row of a kernel that only kernels launch
    static std::mutex mutex;
    static auto& known = *new std::unordered_map<const void*, std::unique_ptr<kernel>>;
    std::lock_guard lock(mutex);
    const auto found = known.find(address);
    if (found != known.end()) return found->second.get();
    const ct_kernel_row* const row = std::find_if(__start_ct_kernels, __stop_ct_kernels, [&](const ct_kernel_row& r) {
        return r.host == address || r.device == address;
    });
    if (row == __stop_ct_kernels) return nullptr;
    auto made = std::make_unique<kernel>();
    made->device = row->device;
    made->facts.name = function_name(row->device);
    made->name = {mangled_name(row->device), line_of(reinterpret_cast<std::uintptr_t>(row->device) + 1).path};
    for (const shared_variable& array : shared_variables_of(row->device))
        made->facts.static_shared_bytes += array.bytes;
    made->parameters = parameters_of(row->device);
    locations_of(made->parameters, made->stack_bytes);
    return (known[address] = std::move(made)).get();
}

const kernel_facts* facts_of(const void* host_function) {
    const kernel* const found = find_kernel(host_function);
    return found != nullptr ? &found->facts : nullptr;
}

std::vector<std::size_t> argument_bytes(const void* host_function) {
    std::vector<std::size_t> bytes;
    if (const kernel* const which = find_kernel(host_function))
        for (const parameter& p : which->parameters) bytes.push_back(p.is_empty_struct ? 0 : p.bytes);
    return bytes;
}

std::vector<void*> addresses_of(std::vector<std::vector<std::byte>>& arguments) {
    std::vector<void*> all;
    for (std::vector<std::byte>& argument : arguments) all.push_back(argument.data());
    return all;
}

std::vector<std::vector<std::byte>> arguments_of(const kernel& which, const saved_registers& registers,
                                                 const void* stack) {
    saved_registers kept = registers;
    std::vector<std::byte> rest(which.stack_bytes);
    std::memcpy(rest.data(), stack, rest.size());
    std::vector<std::vector<std::byte>> arguments;
    for (const parameter& p : which.parameters) arguments.emplace_back(p.is_empty_struct ? 0 : p.bytes);
    for_arguments(
        which, kept, rest.data(),
        [&](std::size_t i, std::size_t offset, const void* at, std::size_t bytes) {
            std::memcpy(arguments[i].data() + offset, at, bytes);
        },
        [&](std::size_t i, const void* at) {
            const void* object = nullptr;
            std::memcpy(&object, at, sizeof object);
            std::memcpy(arguments[i].data(), object, arguments[i].size());
        });
    return arguments;
}

void store_arguments(const kernel& which, void** arguments, saved_registers& registers, std::byte* stack) {
    for_arguments(
        which, registers, stack,
        [&](std::size_t i, std::size_t offset, void* at, std::size_t bytes) {
            std::memcpy(at, static_cast<const std::byte*>(arguments[i]) + offset, bytes);
        },
        [&](std::size_t i, void* at) { std::memcpy(at, &arguments[i], sizeof(void*)); });
}

}  // namespace cornerturn::emulator
