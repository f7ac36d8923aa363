"""Races in global memory, in programs that the emulator runs: one kernel for each rule, and random kernels."""

import random

import script
from emulate_test import Emulate

SEED = script.seed()


class GlobalRaces(Emulate):
    # One kernel for each rule. Its name says whether its threads race. `n` is the number of threads. `flag` and `count`
    # point to zeros.
    KERNELS = {
        "sound_slots": "data[i] = i; data[i] += 1;",
        "sound_barrier": "data[i] = i; __syncthreads(); out[i] = data[i ^ 1] + data[blockIdx.x * blockDim.x + (threadIdx.x + 32) % blockDim.x];",
        "sound_warp_barrier": "data[i] = i; __syncwarp(); out[i] = data[i ^ 1];",
        "sound_barriers_of_some": """__shared__ int tile[128];
            if (i % 2 == 1) __syncwarp(0xaaaaaaaau);
            data[i] = tile[threadIdx.x] = i;
            __syncwarp();
            out[i] = data[i ^ 1] + tile[threadIdx.x ^ 1];""",
        "sound_atomics": "atomicAdd(&data[i % 7], 1); atomicMax(&data[i % 5], i);",
        "sound_readers": "int sum = 0; for (int k = 0; k < 8; ++k) sum += in[(i + k * 37) % n]; out[i] = sum;",
        "sound_last_block": """__shared__ bool last;
            if (threadIdx.x == 0) { data[blockIdx.x] = blockIdx.x + 1; __threadfence(); last = atomicAdd(count, 1) == gridDim.x - 1; }
            __syncthreads();
            if (last) for (int k = threadIdx.x; k < gridDim.x; k += blockDim.x) out[k] = data[k];""",
        "sound_last_block_of_all_threads": """__shared__ bool last;
            data[i] = i;
            __threadfence();
            __syncthreads();
            if (threadIdx.x == 0) last = atomicInc(count, gridDim.x - 1) == gridDim.x - 1;
            __syncthreads();
            if (last) for (int k = threadIdx.x; k < n; k += blockDim.x) out[k] = data[k];""",
        "sound_lock": """if (threadIdx.x == 0) {
                while (atomicCAS(count, 0, 1) != 0) {}
                __threadfence();
                data[0] += 1;
                __threadfence();
                atomicExch(count, 0);
            }""",
        "sound_flag": """if (threadIdx.x == 0 && blockIdx.x == 0) { data[0] = 5; __threadfence(); *flag = 1; }
            if (threadIdx.x == 0 && blockIdx.x == 1) { while (*flag == 0) {} __threadfence(); out[0] = data[0]; }""",
        "sound_atomic_flag": """cuda::atomic_ref<unsigned, cuda::thread_scope_device> ready(*count);
            if (i == 0) { data[0] = 5; ready.store(1, cuda::memory_order_release); }
            if (i == n - 1) { while (ready.load(cuda::memory_order_acquire) == 0) {} out[0] = data[0]; }""",
        "sound_chain": """if (threadIdx.x == 0) {
                int sum = 1;
                if (blockIdx.x > 0) { while (flag[blockIdx.x - 1] == 0) {} sum += data[blockIdx.x - 1]; }
                data[blockIdx.x] = sum;
                __threadfence();
                flag[blockIdx.x] = 1;
            }""",
        "racy_neighbour": "data[i] = i; __syncthreads(); out[i] = data[(i + 1) % n];",
        "racy_lane": "data[i] = i; out[i] = data[i ^ 1];",
        "racy_warps": "data[i] = i; __syncwarp(); out[i] = data[i ^ 32];",
        "racy_flag": "if (in[i] == 0) *out = 1;",
        "racy_no_fence": """__shared__ bool last;
            if (threadIdx.x == 0) { data[blockIdx.x] = blockIdx.x + 1; last = atomicAdd(count, 1) == gridDim.x - 1; }
            __syncthreads();
            if (last) for (int k = threadIdx.x; k < gridDim.x; k += blockDim.x) out[k] = data[k];""",
        "racy_chain": """if (threadIdx.x == 0) {
                int sum = 1;
                if (blockIdx.x > 0) { while (flag[blockIdx.x - 1] == 0) {} sum += data[blockIdx.x - 1]; }
                data[blockIdx.x] = sum;
                flag[blockIdx.x] = 1;
            }""",
        "racy_relaxed": """cuda::atomic_ref<unsigned, cuda::thread_scope_device> ready(*count);
            if (i == 0) { data[0] = 5; ready.store(1, cuda::memory_order_relaxed); }
            if (i == n - 1) { while (ready.load(cuda::memory_order_acquire) == 0) {} out[0] = data[0]; }""",
        "racy_bytes": "reinterpret_cast<unsigned char*>(data)[i * 3] = 1; reinterpret_cast<unsigned char*>(data)[(n - 1 - i) * 3 + (i == 5)] = 2;",
        "racy_widths": "reinterpret_cast<int2*>(data)[i] = make_int2(1, 2); if (i == 0) data[2 * n - 1] = 3;",
        "racy_readers_beside_atomics": """__shared__ int tile[128];
            tile[threadIdx.x] = i;
            __syncthreads();
            out[i] = tile[threadIdx.x ^ 1];
            tile[threadIdx.x] += 1;
            atomicAdd(count, 1);""",
        "racy_in_place": "const int next = data[(i + 1) % n]; __syncthreads(); data[i] = next;",
    }

    ONE_PAIR = {"racy_relaxed", "racy_widths"}  # only one pair of threads races: several workers may miss it

    def test_each_rule(self):
        kernels = "".join(f"__global__ void {name}(const int* in, int* data, int* out, volatile int* flag, unsigned* count) {{\n"
                          "const int n = gridDim.x * blockDim.x, i = blockIdx.x * blockDim.x + threadIdx.x;\n(void)n; (void)i;\n"
                          f"{body}\n}}\n" for name, body in self.KERNELS.items())
        launches = "".join(f"cudaMemset(p, 0, 5 * bytes);\n{name}<<<blocks, threads>>>(p, p + bytes / 4, p + 2 * bytes / 4, p + 3 * bytes / 4, "
                           "reinterpret_cast<unsigned*>(p) + 4 * bytes / 4);\n" for name in self.KERNELS)
        self.write("races.cu", f"#include <cstdlib>\n#include <cuda/atomic>\n{kernels}int main(int, char** arguments) {{\n"
                          "const int blocks = atoi(arguments[1]), threads = atoi(arguments[2]), bytes = 8 * blocks * threads;\nint* p;\n"
                          f"cudaMalloc(&p, 5 * bytes);\n{launches}return cudaDeviceSynchronize();\n}}\n")
        program = self.compiled("races.cu")
        # The emulator uses a worker for each 2^14 threads: one, one and two.
        for blocks, threads in (random.Random(SEED).choice([(2, 64), (3, 96)]), (8, 128), (512, 128)):
            found, counted = self.counters(program, "--workers", "2", "--", str(blocks), str(threads))
            self.assertEqual(found.returncode, 0, found.stderr)
            for kernel in self.KERNELS:
                kinds = {hazard["kind"] for hazard in counted[kernel]["hazards"]}
                with self.subTest(kernel=kernel, blocks=blocks, threads=threads,
                                  messages=[h["message"] for h in counted[kernel]["hazards"]]):
                    if blocks < 512 or kernel not in self.ONE_PAIR:
                        self.assertEqual(kinds, {"race"} if kernel.startswith("racy_") else set())
            thread = [", 0, 0)"] * 2  # the end of the indices of a block and of a thread
            self.assert_line_names(found.stderr, "cornerturn", "race", "racy_neighbour", *thread,
                                   "cudaMalloc #1", 40 * blocks * threads, "races.cu:", *thread, "races.cu:")

    def test_random_permutations_in_place(self):
        """Each thread moves one element in place. That is sound if no other thread reads the element that it writes."""
        draw = random.Random(SEED)
        kernels, launches, racy = "", "", {}
        for k in range(24):
            threads, blocks = draw.choice([32, 48, 64, 128]), draw.randint(1, 4)
            n = threads * blocks
            source, target = list(range(n)), list(range(n))
            for _ in range(draw.choice([0, 0, 1, 2])):  # two threads exchange their sources or their targets
                a, b = draw.randrange(n), draw.randrange(n)
                which = draw.choice([source, target])
                which[a], which[b] = which[b], which[a]
            barrier = draw.random() < 0.5  # between the loads and the stores
            block = [i // threads for i in range(n)]
            reader = {s: i for i, s in enumerate(source)}
            racy[f"k{k}"] = any(reader[at] != i and not (barrier and block[reader[at]] == block[i]) for i, at in enumerate(target))
            tables = "".join(f"__device__ const int {name}{k}[] = {{{','.join(map(str, values))}}};\n"
                             for name, values in (("source", source), ("target", target)))
            kernels += (f"{tables}__global__ void k{k}(int* data) {{\nconst int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                        f"const int value = data[source{k}[i]];\n{'__syncthreads();' if barrier else ''}\ndata[target{k}[i]] = value;\n}}\n")
            launches += f"k{k}<<<{blocks}, {threads}>>>(p);\n"
        name = self.write("shuffles.cu", f"{kernels}int main() {{\nint* p;\ncudaMalloc(&p, 4096);\n{launches}return cudaDeviceSynchronize();\n}}\n")
        found, counted = self.counters(name)
        self.assertEqual(found.returncode, 0, found.stderr)
        self.assertEqual({kernel: bool(counted[kernel]["hazards"]) for kernel in racy}, racy)


if __name__ == "__main__":
    script.main()
