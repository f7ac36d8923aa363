// From a launch in the program's own code to the emulator: which kernel it is, with which arguments, and what came of
// it.
#include "emulator/launch.hpp"

#include <fmt/format.h>

#include <array>
#include <cstdio>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "cornerturn/emulator/fiber.hpp"
#include "emulate/runtime/errors.hpp"
#include "emulate/runtime/graph.hpp"
#include "emulate/runtime/kernels.hpp"
#include "emulate/runtime/memory.hpp"
#include "emulate/runtime/record.hpp"
#include "emulate/runtime/strays.hpp"
#include "emulator/emulation.hpp"
#include "emulator/races.hpp"
#include "emulator/symbols.hpp"
#include "emulator/worker.hpp"

// What the objects' tables say (src/emulate/objects.cpp).
struct ct_kernel_row {
    const void* host;
    const void* device;
};
struct ct_variable_row {
    const void* host;  // null: the host's code has none
    void* device;
    std::uint64_t bytes, kind;  // 0: __device__, 1: __constant__, 2: __managed__
};
// What all `extern __shared__` arrays are, of the block that the OS thread runs.
alignas(1024) thread_local constinit std::byte dynamic_shared_memory[cornerturn::emulator::kMaxShared] asm(
    "cornerturn_dynamic_shared"){};
extern "C" {
[[gnu::weak]] extern const ct_kernel_row __start_ct_kernels[], __stop_ct_kernels[];
[[gnu::weak]] extern const ct_variable_row __start_ct_variables[], __stop_ct_variables[];
}

// A kernel in the host's code is a jump to cornerturn_launch_from_host, with its own address in r11: the arguments lie
// in the registers and on the stack as for any function. cornerturn_call_kernel calls the device's function with the
// same, on a fiber.
#if defined(__x86_64__)
asm(R"(
    .text
    .globl cornerturn_launch_from_host
    .type cornerturn_launch_from_host, @function
cornerturn_launch_from_host:
    .cfi_startproc
    pushq %rbp
    .cfi_def_cfa_offset 16
    .cfi_offset %rbp, -16
    movq %rsp, %rbp
    .cfi_def_cfa_register %rbp
    subq $176, %rsp
    movq %rdi, 0(%rsp)
    movq %rsi, 8(%rsp)
    movq %rdx, 16(%rsp)
    movq %rcx, 24(%rsp)
    movq %r8, 32(%rsp)
    movq %r9, 40(%rsp)
    movups %xmm0, 48(%rsp)
    movups %xmm1, 64(%rsp)
    movups %xmm2, 80(%rsp)
    movups %xmm3, 96(%rsp)
    movups %xmm4, 112(%rsp)
    movups %xmm5, 128(%rsp)
    movups %xmm6, 144(%rsp)
    movups %xmm7, 160(%rsp)
    movq %rsp, %rdi
    leaq 16(%rbp), %rsi
    movq %r11, %rdx
    call cornerturn_launch
    leave
    .cfi_def_cfa %rsp, 8
    ret
    .cfi_endproc
    .size cornerturn_launch_from_host, .-cornerturn_launch_from_host

    .globl cornerturn_call_kernel
    .type cornerturn_call_kernel, @function
cornerturn_call_kernel:
    pushq %rbp
    movq %rsp, %rbp
    movq %rdi, %r10
    movq %rcx, %r11
    movq %rdx, %rcx
    subq %rdx, %rsp
    movq %rsp, %rdi
    rep movsb
    movq 0(%r10), %rdi
    movq 8(%r10), %rsi
    movq 16(%r10), %rdx
    movq 24(%r10), %rcx
    movq 32(%r10), %r8
    movq 40(%r10), %r9
    movups 48(%r10), %xmm0
    movups 64(%r10), %xmm1
    movups 80(%r10), %xmm2
    movups 96(%r10), %xmm3
    movups 112(%r10), %xmm4
    movups 128(%r10), %xmm5
    movups 144(%r10), %xmm6
    movups 160(%r10), %xmm7
    call *%r11
    leave
    ret
    .size cornerturn_call_kernel, .-cornerturn_call_kernel
)");
#else
#error "the emulator runs foreign programs on x86-64 alone"
#endif

namespace cornerturn::emulator {
namespace {

struct saved_registers {
    std::array<std::uint64_t, 6> integers;
    std::array<std::array<std::uint64_t, 2>, 8> vectors;
};
static_assert(sizeof(saved_registers) == 176);

}  // namespace
}  // namespace cornerturn::emulator

// `stack_bytes`: a multiple of 16.
extern "C" void cornerturn_call_kernel(const cornerturn::emulator::saved_registers* registers, const void* stack,
                                       std::size_t stack_bytes, const void* function);

namespace cornerturn::emulator {
namespace {

struct kernel {
    kernel_facts facts;
    record::kernel_name name;
    const void* device = nullptr;
    std::vector<parameter> parameters;
    std::size_t stack_bytes = 0;  // of the arguments that do not fit the registers
};

// Where each argument goes.
struct place {
    std::array<int, 2> registers{-1, -1};  // 0 to 5: an integer's; 6 to 13: a vector's; -1: on the stack
    std::size_t offset = 0;                // there
};
std::vector<place> places_of(const std::vector<parameter>& parameters, std::size_t& stack_bytes) {
    int integers = 0, vectors = 0;
    stack_bytes = 0;
    std::vector<place> all;
    for (const parameter& p : parameters) {
        place& here = all.emplace_back();
        if (p.nothing) continue;
        const auto wanted = [&](parameter::where kind) {
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

// Where the arguments lie in registers and on the stack: calls part(argument, offset in it, where, bytes) for each part
// of each, and reference(argument, where) for one whose address is passed.
template <class Part, class Reference>
void for_arguments(const kernel& which, saved_registers& registers, std::byte* stack, Part part, Reference reference) {
    std::size_t stack_bytes = 0;
    const std::vector<place> places = places_of(which.parameters, stack_bytes);
    const auto slot = [&](int where) -> void* {
        return where < 6 ? &registers.integers[static_cast<std::size_t>(where)]
                         : &registers.vectors[static_cast<std::size_t>(where - 6)][0];
    };
    for (std::size_t i = 0; i < places.size(); ++i) {
        const parameter& p = which.parameters[i];
        if (p.nothing) continue;
        const bool in_registers = places[i].registers[0] >= 0;
        if (p.by_reference) {
            reference(i, in_registers ? slot(places[i].registers[0]) : stack + places[i].offset);
        } else if (!in_registers) {
            part(i, 0, stack + places[i].offset, p.bytes);
        } else {
            for (std::size_t k = 0; k < p.eightbytes.size(); ++k)
                part(i, k * 8, slot(places[i].registers[k]), std::min<std::size_t>(8, p.bytes - k * 8));
        }
    }
}

// `host`: the kernel's address, or one a few instructions behind it (g++ may first store some of the arguments).
const kernel* find_kernel(const void* host) {
    static std::mutex mutex;
    static std::unordered_map<const void*, std::unique_ptr<kernel>> known;
    std::lock_guard lock(mutex);
    const auto found = known.find(host);
    if (found != known.end()) return found->second.get();
    constexpr std::uintptr_t kFew = 64;
    const auto behind = [&](const ct_kernel_row& row) {
        return reinterpret_cast<std::uintptr_t>(host) - reinterpret_cast<std::uintptr_t>(row.host);
    };
    const ct_kernel_row* row = nullptr;
    for (const ct_kernel_row* r = __start_ct_kernels; r < __stop_ct_kernels; ++r)
        if (behind(*r) < (row != nullptr ? behind(*row) : kFew)) row = r;
    if (row == nullptr) return nullptr;
    auto made = std::make_unique<kernel>();
    made->device = row->device;
    made->facts.name = function_name(row->device);
    made->name = {mangled_name(row->device), line_of(reinterpret_cast<std::uintptr_t>(row->device) + 1).path};
    for (const shared_variable& array : shared_variables_of(row->device))
        made->facts.static_shared_bytes += array.bytes;
    made->parameters = parameters_of(row->device);
    places_of(made->parameters, made->stack_bytes);
    return (known[host] = std::move(made)).get();
}

thread_local std::vector<launch_shape> pushed;

struct call {
    const saved_registers* registers;
    const void* stack;
    std::size_t stack_bytes;
    const void* device;
};

[[noreturn]] void leave() {
    resume(leave_fiber());
    __builtin_unreachable();
}

void run_lanes(const void* what) {
    const call& c = *static_cast<const call*>(what);
    for (const void* step = c.device;;) {
        cornerturn_call_kernel(c.registers, c.stack, c.stack_bytes, step);
        step = end_lane() ? c.device : reinterpret_cast<const void*>(&leave);
    }
}

std::optional<found_memory> find_memory(std::uintptr_t address) {
    for (const ct_variable_row* v = __start_ct_variables; v < __stop_ct_variables; ++v) {
        const auto begin = reinterpret_cast<std::uintptr_t>(v->device);
        if (address - begin < v->bytes)
            return found_memory{fmt::format("{} ({} bytes)", data_name(v->device), v->bytes), begin, v->bytes,
                                v->kind == 1};
    }
    // Tables of virtual functions, and what else of the device's code holds constants.
    if (const byte_range constants = read_only_at(address); constants.bytes > 0)
        return found_memory{"constants of the program", constants.begin, constants.bytes, true};
    const std::optional<allocation> found = allocation_at(reinterpret_cast<const void*>(address));
    if (!found) return {};
    return found_memory{found->name(), found->begin, found->bytes, false, found->what == allocation::heap};
}

cudaError_t error_of(hazard_kind kind) {
    switch (kind) {
        case hazard_kind::misaligned: return cudaErrorMisalignedAddress;
        case hazard_kind::out_of_bounds:
        case hazard_kind::read_only:
        case hazard_kind::stack_overflow: return cudaErrorIllegalAddress;
        case hazard_kind::assertion: return cudaErrorAssert;
        case hazard_kind::endless_loop: return cudaErrorLaunchTimeout;
        case hazard_kind::unsupported_feature: return cudaErrorNotSupported;
        default: return cudaErrorLaunchFailure;
    }
}

cudaError_t run(const kernel& which, const void* host, const launch_shape& shape, const saved_registers* registers,
                const void* stack) {
    static std::mutex one_at_a_time;
    std::lock_guard lock(one_at_a_time);
    if (shape.shared_bytes > dynamic_shared_limit(host)) return cudaErrorInvalidValue;
    options how;
    how.keep_going = true;
    how.prints_to_output = true;
    how.find_memory = &find_memory;
    how.describe_stray = &describe_stray;
    how.dynamic_shared = [] { return static_cast<void*>(dynamic_shared_memory); };
    static race_search races;
    how.races = &races;
    const run_options& wanted = run_options::given();
    how.lines = record::wants_lines();
    how.every_block = !wanted.sample;
    how.guess_classes = wanted.sample;
    how.workers = wanted.workers;
    how.block_seconds = wanted.block_seconds;
    how.stack_bytes = std::max<std::size_t>(wanted.stack_bytes, stack_limit()) + which.stack_bytes;
    emulation emulated(how);
    const call made{registers, stack, which.stack_bytes, which.device};
    cudaError_t result = cudaSuccess;
    found_hazard last{};
    try {
        launch({{shape.grid.x, shape.grid.y, shape.grid.z},
                {shape.block.x, shape.block.y, shape.block.z},
                shape.shared_bytes,
                which.device,
                nullptr,
                shape.cooperative},
               &run_lanes, &made);
    } catch (const hazard& found) {
        result = error_of(found.kind());
        last = {found.kind(), found.what()};
        set_sticky_error(result);
    } catch (const invalid_argument& wrong) {
        std::fprintf(stderr, "cornerturn: %s\n", wrong.what());
        return cudaErrorInvalidConfiguration;
    } catch (const error& wrong) {
        last = {hazard_kind::unsupported_feature, which.facts.name + ": " + wrong.what()};
        result = cudaErrorNotSupported;
        set_sticky_error(result);
    }
    record::add(which.name, emulated.report(), result == cudaSuccess ? nullptr : &last);
    return result;
}

// Launches, or adds a node to the graph that the stream is captured into.
cudaError_t give_launch(const kernel& which, const void* host, const launch_shape& shape,
                        const saved_registers* registers, const void* stack) {
    if (!is_capturing(shape.stream)) {
        const cudaError_t error = refuse_in_capture(shape.stream);
        return error ? error : run(which, host, shape, registers, stack);
    }
    saved_registers kept = *registers;
    std::vector<std::byte> rest(which.stack_bytes);
    std::memcpy(rest.data(), stack, rest.size());
    std::vector<std::vector<std::byte>> arguments;
    for (const std::size_t bytes : argument_bytes(host)) arguments.emplace_back(bytes);
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
    std::vector<void*> addresses;
    for (std::vector<std::byte>& argument : arguments) addresses.push_back(argument.data());
    return submit_launch(host, shape, addresses.data());
}

}  // namespace

const kernel_facts* facts_of(const void* host_function) {
    const kernel* const found = find_kernel(host_function);
    return found != nullptr ? &found->facts : nullptr;
}

std::vector<device_variable> device_variables() {
    std::vector<device_variable> all;
    for (const ct_variable_row* v = __start_ct_variables; v < __stop_ct_variables; ++v)
        all.push_back({data_name(v->device), reinterpret_cast<std::uintptr_t>(v->device), v->bytes});
    return all;
}

std::vector<std::size_t> argument_bytes(const void* host_function) {
    std::vector<std::size_t> bytes;
    if (const kernel* const which = find_kernel(host_function))
        for (const parameter& p : which->parameters) bytes.push_back(p.nothing ? 0 : p.bytes);
    return bytes;
}

cudaError_t launch_kernel(const void* host_function, const launch_shape& shape, void** arguments) {
    const kernel* const which = find_kernel(host_function);
    if (which == nullptr) return cudaErrorInvalidDeviceFunction;
    saved_registers registers{};
    std::vector<std::byte> stack(which->stack_bytes);
    for_arguments(
        *which, registers, stack.data(),
        [&](std::size_t i, std::size_t offset, void* at, std::size_t bytes) {
            std::memcpy(at, static_cast<const std::byte*>(arguments[i]) + offset, bytes);
        },
        [&](std::size_t i, void* at) { std::memcpy(at, &arguments[i], sizeof(void*)); });
    return run(*which, host_function, shape, &registers, stack.data());
}

const device_symbol* symbol_of(const void* host_address) {
    static const std::map<const void*, device_symbol> all = [] {
        std::map<const void*, device_symbol> known;
        for (const ct_variable_row* v = __start_ct_variables; v < __stop_ct_variables; ++v)
            if (v->host != nullptr) known[v->host] = {v->device, v->bytes};
        return known;
    }();
    const auto found = all.find(host_address);
    return found != all.end() ? &found->second : nullptr;
}

}  // namespace cornerturn::emulator

using namespace cornerturn::emulator;

bool ct_push_launch(dim3 grid, dim3 block, std::size_t shared_bytes, cudaStream_t stream) {
    if (current_worker != nullptr) unsupported_feature("a launch from a kernel (dynamic parallelism)");
    if (const cudaError_t error = sticky_error(); error != cudaSuccess) {
        fail(error);
        return true;
    }
    pushed.push_back({grid, block, shared_bytes, stream, false});
    return false;
}

extern "C" void cornerturn_launch(const saved_registers* registers, const void* stack, const void* host) {
    const kernel* const which = find_kernel(host);
    if (which == nullptr) {
        std::fprintf(stderr, "cornerturn: %s has no device code\n", function_name(host).c_str());
        std::abort();
    }
    if (pushed.empty()) {  // called as a function, without <<<...>>>
        fail(cudaErrorMissingConfiguration);
        return;
    }
    const launch_shape shape = pushed.back();
    pushed.pop_back();
    fail(give_launch(*which, host, shape, registers, stack));
}
