// From a launch in the program to the emulator: finds the kernel and its arguments, runs the grid, and reports the
// result.
#include "emulator/launch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "cornerturn/emulator/fiber.hpp"
#include "emulate/runtime/errors.hpp"
#include "emulate/runtime/graph.hpp"
#include "emulate/runtime/kernel_arguments.hpp"
#include "emulate/runtime/memory.hpp"
#include "emulate/runtime/record.hpp"
#include "emulate/runtime/strays.hpp"
#include "emulator/emulation.hpp"
#include "emulator/races.hpp"
#include "emulator/symbols.hpp"
#include "emulator/worker.hpp"

// A row of the tables that src/emulate/objects.cpp adds to object files.
struct ct_variable_row {
    const void* host;  // null: host code does not contain the variable
    void* device;
    std::uint64_t bytes, kind;  // 0: __device__, 1: __constant__, 2: __managed__
};
// The memory of all `extern __shared__` arrays in the block that this OS thread runs.
alignas(1024) thread_local constinit std::byte dynamic_shared_memory[cornerturn::emulator::kMaxShared] asm(
    "cornerturn_dynamic_shared"){};
extern "C" {
[[gnu::weak]] extern const ct_variable_row __start_ct_variables[], __stop_ct_variables[];
}

// A kernel in host code is a jump to cornerturn_launch_from_host, with the kernel's address in r11. The arguments are
// in registers and on the stack, as for any function. cornerturn_call_kernel calls the device function with the same
// arguments on a fiber.
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

    .globl cornerturn_launch_from_kernel
    .type cornerturn_launch_from_kernel, @function
cornerturn_launch_from_kernel:
    xorl %r11d, %r11d
    jmp cornerturn_launch_from_host
    .size cornerturn_launch_from_kernel, .-cornerturn_launch_from_kernel

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
#error "the emulator runs CUDA programs only on x86-64"
#endif

// `stack_bytes`: a multiple of 16.
extern "C" void cornerturn_call_kernel(const cornerturn::emulator::saved_registers* registers, const void* stack,
                                       std::size_t stack_bytes, const void* function);

namespace cornerturn::emulator {
namespace {

// For each thread of the host: the launches whose arguments it is still evaluating, the innermost last. Not
// thread_local: destructors of global objects launch kernels too, after thread_local objects are destroyed.
class pending_launches {
public:
    static pending_launches& instance() {
        static auto* const one = new pending_launches;
        return *one;
    }
    void push(const launch_shape& shape) {
        std::lock_guard lock(mutex_);
        by_thread_[std::this_thread::get_id()].push_back(shape);
    }
    std::optional<launch_shape> pop() {
        std::lock_guard lock(mutex_);
        const auto own = by_thread_.find(std::this_thread::get_id());
        if (own == by_thread_.end()) return {};
        const launch_shape last = own->second.back();
        own->second.pop_back();
        if (own->second.empty()) by_thread_.erase(own);
        return last;
    }

private:
    std::mutex mutex_;
    std::map<std::thread::id, std::vector<launch_shape>> by_thread_;
};

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

void run_lanes(const void* argument) {
    const call& c = *static_cast<const call*>(argument);
    for (const void* next_call = c.device;;) {
        cornerturn_call_kernel(c.registers, c.stack, c.stack_bytes, next_call);
        next_call = end_lane() ? c.device : reinterpret_cast<const void*>(&leave);
    }
}

std::optional<found_memory> find_memory(std::uintptr_t address) {
    for (const ct_variable_row* v = __start_ct_variables; v < __stop_ct_variables; ++v) {
        const auto begin = reinterpret_cast<std::uintptr_t>(v->device);
        if (address - begin < v->bytes)
            return found_memory{fmt::format("{} ({} bytes)", data_name(v->device), v->bytes), begin, v->bytes,
                                v->kind == 1};
    }
    // Virtual function tables and other constants of device code.
    if (const byte_range constants = read_only_at(address); constants.bytes > 0)
        return found_memory{"constants of the program", constants.begin, constants.bytes, true};
    const std::optional<allocation> found = allocation_at(reinterpret_cast<const void*>(address));
    if (!found) return {};
    return found_memory{found->name(), found->begin, found->bytes, false, found->kind == allocation::kernel_heap};
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

cudaError_t run_grid(const kernel& which, const void* host, const launch_shape& shape, const saved_registers* registers,
                     const void* stack) {
    if (shape.shared_bytes > dynamic_shared_limit(host)) return cudaErrorInvalidValue;
    options chosen;
    chosen.keep_going = true;
    chosen.prints_to_output = true;
    chosen.find_memory = &find_memory;
    chosen.describe_stray = &describe_stray;
    chosen.dynamic_shared = [] { return static_cast<void*>(dynamic_shared_memory); };
    static auto* const races = new race_search;
    chosen.races = races;
    const run_options& wanted = run_options::from_environment();
    chosen.lines = record::wants_lines();
    chosen.every_block = !wanted.sample;
    chosen.guess_classes = wanted.sample;
    chosen.workers = wanted.workers;
    chosen.block_seconds = wanted.block_seconds;
    chosen.stack_bytes = std::max<std::size_t>(wanted.stack_bytes, stack_limit()) + which.stack_bytes;
    emulation emulated(chosen);
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

// A launch from a kernel. It starts when the parent grid has ended, and the parent's launch ends after it. A GPU may
// use this order too.
struct child_launch {
    bool is_tail;         // runs after all other children of its grid
    std::uint64_t block;  // index in the grid of the block that launched it
    const void* kernel;
    launch_shape shape;
    std::vector<std::vector<std::byte>> arguments;
};
std::mutex children_mutex;
auto& children = *new std::vector<child_launch>;  // never destroyed: destructors of global objects launch kernels

cudaError_t run_with(const kernel& which, const void* host, const launch_shape& shape, void** arguments) {
    saved_registers registers{};
    std::vector<std::byte> stack(which.stack_bytes);
    store_arguments(which, arguments, registers, stack.data());
    return run_grid(which, host, shape, &registers, stack.data());
}

// Runs the children of the grid that has just ended, and their children.
cudaError_t run_children() {
    std::vector<child_launch> ready;
    ready.swap(children);
    std::stable_sort(ready.begin(), ready.end(), [](const child_launch& a, const child_launch& b) {
        return std::pair(a.is_tail, a.block) < std::pair(b.is_tail, b.block);
    });
    for (child_launch& child : ready) {
        if (const cudaError_t error =
                run_with(*find_kernel(child.kernel), child.kernel, child.shape, addresses_of(child.arguments).data()))
            return error;
        if (const cudaError_t error = run_children()) return error;
    }
    return cudaSuccess;
}

// Runs a grid with run(), and then its child launches.
template <class Run>
cudaError_t run_whole(Run&& run) {
    static std::mutex one_at_a_time;
    std::lock_guard lock(one_at_a_time);
    cudaError_t error = run();
    if (error == cudaSuccess) error = run_children();
    children.clear();
    return error;
}

cudaError_t run(const kernel& which, const void* host, const launch_shape& shape, const saved_registers* registers,
                const void* stack) {
    return run_whole([&] { return run_grid(which, host, shape, registers, stack); });
}

// The launch that a lane has pushed. While the lane evaluates the arguments, other lanes may run and push too.
struct lane_launch {
    index3 thread;
    launch_shape shape;
    const void* device = nullptr;
};
// The launches pushed by lanes of the block that this worker runs.
std::vector<lane_launch>& pushed_by_lanes() {
    static auto* const by_worker = new std::map<const worker*, std::vector<lane_launch>>;
    static std::mutex mutex;
    std::lock_guard lock(mutex);
    return (*by_worker)[current_worker];
}

lane_launch& last_of_lane() {
    const index3 own = current_worker->running_thread();
    auto found = pushed_by_lanes().end();
    do --found;
    while (found->thread.x != own.x || found->thread.y != own.y || found->thread.z != own.z);
    return *found;
}

void launch_child(const saved_registers& registers, const void* stack) {
    lane_launch& last = last_of_lane();
    const lane_launch made = last;
    std::vector<lane_launch>& pushed = pushed_by_lanes();
    pushed.erase(pushed.begin() + (&last - pushed.data()));
    current_worker->note_communication();
    current_worker->on_large_stack([&] {
        const kernel& which = *find_kernel(made.device);
        const extent3 block = current_worker->running_block();
        const std::uint64_t number =
            index_of(block, {cornerturn_grid_dim.x, cornerturn_grid_dim.y, cornerturn_grid_dim.z});
        child_launch child{made.shape.stream == cudaStreamTailLaunch, number, made.device, made.shape,
                           arguments_of(which, registers, stack)};
        const std::lock_guard lock(children_mutex);
        children.push_back(std::move(child));
    });
}

// Runs the launch, or adds it as a node to the graph that the stream is captured into.
cudaError_t run_or_capture(const kernel& which, const void* host, const launch_shape& shape,
                           const saved_registers* registers, const void* stack) {
    return capture_or_do(
        shape.stream,
        [&] {
            std::vector<std::vector<std::byte>> arguments = arguments_of(which, *registers, stack);
            return submit_launch(host, shape, addresses_of(arguments).data());
        },
        [&] { return run(which, host, shape, registers, stack); });
}

}  // namespace

std::vector<device_variable> device_variables() {
    std::vector<device_variable> all;
    for (const ct_variable_row* v = __start_ct_variables; v < __stop_ct_variables; ++v)
        all.push_back({data_name(v->device), reinterpret_cast<std::uintptr_t>(v->device), v->bytes});
    return all;
}

cudaError_t launch_kernel(const void* host_function, const launch_shape& shape, void** arguments) {
    const kernel* const which = find_kernel(host_function);
    if (which == nullptr) return cudaErrorInvalidDeviceFunction;
    return run_whole([&] { return run_with(*which, host_function, shape, arguments); });
}

const device_symbol* symbol_of(const void* host_address) {
    static const auto* const all = [] {
        auto* const known = new std::map<const void*, device_symbol>;
        for (const ct_variable_row* v = __start_ct_variables; v < __stop_ct_variables; ++v)
            if (v->host != nullptr) (*known)[v->host] = {v->device, v->bytes};
        return known;
    }();
    const auto found = all->find(host_address);
    return found != all->end() ? &found->second : nullptr;
}

}  // namespace cornerturn::emulator

using namespace cornerturn::emulator;

bool ct_push_launch(dim3 grid, dim3 block, std::size_t shared_bytes, cudaStream_t stream) {
    if (current_worker != nullptr) {
        pushed_by_lanes().push_back({current_worker->running_thread(), {grid, block, shared_bytes, stream, false}});
        return false;
    }
    if (const cudaError_t error = sticky_error(); error != cudaSuccess) {
        fail(error);
        return true;
    }
    pending_launches::instance().push({grid, block, shared_bytes, stream, false});
    return false;
}

void ct_note_launched(const void* kernel) noexcept { last_of_lane().device = kernel; }

// `host`: the kernel's address in host code. Null: a kernel makes the launch.
extern "C" void cornerturn_launch(const saved_registers* registers, const void* stack, const void* host) {
    if (host == nullptr) return launch_child(*registers, stack);
    const kernel* const which = find_kernel(host);
    if (which == nullptr) {
        std::fprintf(stderr,
                     "cornerturn: kernel %s has no device code: its definition, and for a template the code that "
                     "instantiates it, must also be compiled if __CUDA_ARCH__ is defined\n",
                     function_name(host).c_str());
        std::abort();
    }
    const std::optional<launch_shape> shape = pending_launches::instance().pop();
    // No shape: the program called the kernel as a function, without <<<...>>>.
    fail(shape ? run_or_capture(*which, host, *shape, registers, stack) : cudaErrorMissingConfiguration);
}
