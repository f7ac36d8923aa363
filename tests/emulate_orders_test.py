"""The order of accesses by fences, atomics and warp barriers of some lanes, in one block and in concurrent blocks. One
launch must have no effect on the race search of the next."""

import script
from emulate_test import Emulate


class Orders(Emulate):
    def hazards(self, source, *arguments):
        """Runs the program, and returns the kinds of hazards of each kernel."""
        found, counted = self.counters(self.write("orders.cu", source), *arguments)
        return found, {name: {hazard["kind"] for hazard in kernel["hazards"]} for name, kernel in counted.items()}

    # Kernels of one block, or of two blocks that run one after the other. The name says whether threads race. `zero`
    # holds zeros.
    KERNELS = {
        # A select between two allocations: one instruction accesses both.
        "sound_two_buffers": (1, 32, "const int* p = threadIdx.x < 16 ? large : small; out[threadIdx.x] = p[threadIdx.x];"),
        "racy_two_buffers": (1, 64, "int* p = threadIdx.x & 1 ? large : small; p[threadIdx.x / 4] = 1;"),
        # Two readers. One executes a fence, and the other writes after its read.
        "sound_reader_with_fence": (1, 64, """
            if (threadIdx.x == 0) *zero = 5;
            __syncthreads();
            if (threadIdx.x == 0) { out[0] = *zero; __threadfence(); atomicAdd(count, 1); }
            if (threadIdx.x == 32) { while (atomicAdd(count, 0) == 0) {} *zero = *zero + 1; }"""),
        "sound_reader_with_fence_shared": (1, 64, """
            __shared__ int d;
            if (threadIdx.x == 0) d = 5;
            __syncthreads();
            if (threadIdx.x == 0) { out[0] = d; __threadfence(); atomicAdd(count, 1); }
            if (threadIdx.x == 32) { while (atomicAdd(count, 0) == 0) {} d = d + 1; }"""),
        "racy_read_before_its_acquire": (2, 32, """
            if (threadIdx.x != 0) return;
            if (blockIdx.x == 0) { *zero = 1; __threadfence(); atomicExch(count, 1); }
            else { int x = *zero; atomicAdd(count, x); }"""),
        "racy_halves": (1, 96, """
            if (threadIdx.x == 0) zero[0] = 1;
            if (threadIdx.x == 32) { zero[1] = 1; __threadfence(); }
            if (threadIdx.x == 64) { __threadfence(); const int2 v = *reinterpret_cast<int2*>(zero); out[0] = v.x + v.y; }"""),
        # A fence in one launch orders nothing in the next.
        "sound_fence_alone": (1, 64, "__threadfence();"),
        "racy_after_a_fence_elsewhere": (1, 64, "large[threadIdx.x] = 1; out[threadIdx.x] = large[63 - threadIdx.x];"),
        # Lanes wait for some lanes, then for others.
        "sound_barriers_of_some": (1, 32, """
            const int l = threadIdx.x;
            if (l < 16) __syncwarp(0xffff);
            if (l < 8 || l >= 16) { __syncwarp(0xffff00ff); out[l] = l; }
            __syncthreads();
            if (l == 0) out[32] = out[31];"""),
        "sound_lanes_that_end": (1, 32, """
            const int l = threadIdx.x;
            if (l < 16) { __syncwarp(0xffff); if (l >= 8) return; }
            __syncwarp(0xffff00ff);
            out[l] = l;
            __syncwarp(0xffff00ff);
            if (l == 0) out[1] = out[31];"""),
    }

    def test_each_rule(self):
        kernels = "".join(f"__global__ void {name}(int* large, int* small, int* out, int* zero, int* count) {{{body}\n}}\n"
                          for name, (_, _, body) in self.KERNELS.items())
        launches = "".join(f"cudaMemset(zero, 0, 16), cudaMemset(count, 0, 4), {name}<<<{blocks}, {threads}>>>(large, small, out, zero, count);\n"
                           for name, (blocks, threads, _) in self.KERNELS.items())
        found, kinds = self.hazards(f"""{kernels}
            int main() {{
                int *large, *small, *out, *zero, *count;
                cudaMalloc(&large, 64 << 20), cudaMalloc(&small, 4096), cudaMalloc(&out, 4096), cudaMalloc(&zero, 16), cudaMalloc(&count, 4);
                {launches}
                return cudaDeviceSynchronize();
            }}""")
        self.assertEqual(found.returncode, 0, found.stderr)
        self.assertEqual(kinds, {name: {"race"} if name.startswith("racy_") else set() for name in self.KERNELS}, found.stderr)

    def test_a_flag_between_blocks_that_run_at_the_same_time(self):
        """The other lanes of the writer's warp run for a long time after its fence."""
        found, kinds = self.hazards("""
            __global__ void pass_on(int* data, int* flag, int* out) {
                const int pair = blockIdx.x / 4;
                if (blockIdx.x % 4 == 0 && threadIdx.x < 32) {
                    if (threadIdx.x == 0) { data[pair] = 42; __threadfence(); atomicExch(&flag[pair], 1); }
                    int sum = 0;
                    for (int i = 0; i < 20000; ++i) sum += out[i & 7];
                    atomicAdd(&out[900], sum);
                } else if (blockIdx.x % 4 == 2 && threadIdx.x == 0) {
                    while (atomicAdd(&flag[pair], 0) == 0) {}
                    out[100 + pair] = data[pair];
                }
            }
            __global__ void in_turn(int* data, volatile int* flag) {
                if (threadIdx.x == 0) {
                    while (*flag != blockIdx.x) {}
                    __threadfence();
                    data[0] += 1;
                    __threadfence();
                    *flag = blockIdx.x + 1;
                }
            }
            int main() {
                int *data, *flag, *out;
                cudaMalloc(&data, 4096), cudaMalloc(&flag, 4096), cudaMalloc(&out, 4096);
                pass_on<<<64, 1024>>>(data, flag, out);
                cudaMemset(data, 0, 4096), cudaMemset(flag, 0, 4096);
                in_turn<<<200, 1024>>>(data, flag);
                int sum = 0;
                cudaMemcpy(&sum, data, 4, cudaMemcpyDeviceToHost);
                return sum == 200 ? 0 : 1;
            }""", "--workers", "2")
        self.assertEqual((found.returncode, kinds), (0, {"pass_on": set(), "in_turn": set()}), found.stderr)

    def test_a_failed_launch_has_no_effect_on_the_next(self):
        found, kinds = self.hazards("""
            #include <cstdio>
            __global__ void volatile_stray() { *reinterpret_cast<volatile int*>(0) = 1; }
            __global__ void racy(int* data, int* out) { data[threadIdx.x] = 1; out[threadIdx.x] = data[63 - threadIdx.x]; }
            __global__ void stray_before_a_barrier() { if (threadIdx.x == 63) *reinterpret_cast<int*>(8) = 1; __syncthreads_count(1); }
            __global__ void counts(int* out) { out[0] = __syncthreads_count(1); }
            int main() {
                int *p, sum = 0;
                volatile_stray<<<1, 1>>>();
                std::printf("%s\\n", cudaGetErrorName(cudaDeviceReset() == cudaSuccess ? cudaSuccess : cudaErrorUnknown));
                cudaMalloc(&p, 4096);
                racy<<<1, 64>>>(p, p + 64);
                stray_before_a_barrier<<<1, 64>>>();
                cudaDeviceReset();
                cudaMalloc(&p, 4096);
                counts<<<1, 32>>>(p);
                cudaMemcpy(&sum, p, 4, cudaMemcpyDeviceToHost);
                std::printf("%d\\n", sum);
                cudaDeviceSetLimit(cudaLimitStackSize, 65001);  // no multiple of the stacks' alignment
                counts<<<1, 64>>>(p);
                cudaMemcpy(&sum, p, 4, cudaMemcpyDeviceToHost);
                std::printf("%d\\n", sum);
            }""")
        self.assertEqual((found.stdout.split()[-2:], kinds["racy"]), (["32", "64"], {"race"}), found.stderr)

    def test_memory_that_is_accessed_in_other_widths_is_searched(self):
        found, kinds = self.hazards("""
            __global__ void wide(float4* p) { p[threadIdx.x] = float4{}; }
            __global__ void narrow(char* p) { p[threadIdx.x] = 1; }
            __global__ void racy(int* p) { p[threadIdx.x / 2] = 1; }
            int main() {
                for (int i = 0; i < 4; ++i) {
                    void* p;
                    cudaMalloc(&p, 4 << 20);
                    wide<<<1, 64>>>((float4*)p), narrow<<<1, 64>>>((char*)p);
                    cudaFree(p);
                }
                int* p;
                cudaMalloc(&p, 2 << 20);
                racy<<<1, 64>>>(p);
                return cudaDeviceSynchronize();
            }""")
        self.assertEqual((found.returncode, found.stderr.count("\n"), kinds), (0, 1, {"wide": set(), "narrow": set(), "racy": {"race"}}), found.stderr)

    def test_blocks_that_wait_for_earlier_blocks_are_not_sampled(self):
        found, counted = self.counters(self.write("chain.cu", """
            __global__ void chain(int* flags) {
                if (threadIdx.x != 0) return;
                if (blockIdx.x > 0) while (atomicAdd(&flags[blockIdx.x - 1], 0) == 0) {}
                atomicExch(&flags[blockIdx.x], 1);
            }
            int main() { int* p; cudaMalloc(&p, 4096); chain<<<256, 32>>>(p); return cudaDeviceSynchronize(); }
        """), "--sample", "--timeout", "20")
        self.assertEqual((found.returncode, found.stderr, counted["chain"]["blocks_run"]), (0, "", 256))

    def test_an_endless_loop_over_the_grids_barrier_is_reported(self):
        found, kinds = self.hazards("""
            #include <cooperative_groups.h>
            __global__ void forever(volatile int* flag) { while (*flag == 0) cooperative_groups::this_grid().sync(); }
            int main() {
                int* p;
                cudaMalloc(&p, 4);
                void* arguments[] = {&p};
                cudaLaunchCooperativeKernel((void*)forever, dim3(2), dim3(32), arguments);
                return cudaDeviceSynchronize() == cudaErrorLaunchTimeout ? 0 : 1;
            }""", "--timeout", "1")
        self.assertEqual((found.returncode, kinds), (0, {"forever": {"endless_loop"}}), found.stderr)

    def test_a_launch_at_the_programs_end(self):
        found, kinds = self.hazards("""
            __global__ void fill(int* p) { p[threadIdx.x] = 1; }
            int* p;
            struct last { ~last() { fill<<<64, 1024>>>(p); } } global;
            int main() { cudaMalloc(&p, 4096); fill<<<1, 32>>>(p); return cudaDeviceSynchronize(); }
        """)
        self.assertEqual(found.returncode, 0, found.stderr)


if __name__ == "__main__":
    script.main()
