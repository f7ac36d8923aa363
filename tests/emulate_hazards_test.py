"""What kernels do that no kernel may, in programs that the emulator runs: what is told of it, and what the program sees."""

import script
from emulate_test import Emulate


class Hazards(Emulate):
    RACE = """
        #include <cstdio>
        __global__ void neighbours(int* out) {
            __shared__ int shared[64];
            shared[threadIdx.x] = threadIdx.x;
            BARRIER
            out[threadIdx.x] = shared[threadIdx.x ^ 32];
        }
        int main() {
            int* p;
            cudaMalloc(&p, 256);
            neighbours<<<1, 64>>>(p);
            return cudaDeviceSynchronize();
        }
    """

    def test_a_race_is_told_and_the_program_goes_on(self):
        name = self.write("race.cu", self.RACE)
        found, kernels = self.counters(name, "-DBARRIER=;")
        self.assertEqual(found.returncode, 0)
        self.assertIn("cornerturn: race: neighbours: block (0, 0, 0), thread (32, 0, 0) writes shared memory 'shared' at race.cu:5 and "
                      "thread (0, 0, 0) reads the same bytes at race.cu:7 with no barrier between them", found.stderr)
        self.assertTrue(kernels["neighbours"]["hazards"])
        self.assertEqual(self.run_program("emulate", name, "-DBARRIER=;", "--budget", "*: hazards == 0").returncode, 1)
        found, kernels = self.counters(name, "-DBARRIER=__syncthreads();")
        self.assertEqual((found.returncode, found.stderr, kernels["neighbours"]["hazards"]), (0, "", []))

    def test_an_access_out_of_bounds_is_cudas_error(self):
        name = self.write("bounds.cu", """
            #include <cstdio>
            __global__ void beyond(int* out, int n) { out[threadIdx.x + n] = 1; }
            int main() {
                int* p;
                cudaMalloc(&p, 128);
                beyond<<<1, 32>>>(p, 1);
                printf("%s\\n", cudaGetErrorName(cudaDeviceSynchronize()));
            }
        """)
        found = self.run_program("emulate", name)
        self.assertIn("cudaErrorIllegalAddress", found.stdout)
        self.assertIn("makes a 4-byte write at bounds.cu:3 out of bounds: 0 bytes past the end of 'cudaMalloc #1 (128 bytes)'", found.stderr)

    def test_a_thread_that_waits_for_nobody_is_told(self):
        name = self.write("spin.cu", """
            __global__ void spin(volatile int* flag) { while (*flag == 0) {} }
            int main() { int* p; cudaMalloc(&p, 4); spin<<<1, 1>>>(p); return cudaDeviceSynchronize() == cudaErrorLaunchTimeout ? 0 : 1; }
        """)
        found = self.run_program("emulate", name, "--timeout", "1")
        self.assertEqual(found.returncode, 0, found.stderr)
        self.assertRegex(found.stderr, "endless_loop: spin: block .*spin.cu:2")

    def test_divisions_by_zero_are_told_and_the_kernel_goes_on(self):
        name = self.write("divide.cu", """
            #include <cstdio>
            template <class T>
            __global__ void divide(const T* by, T* quotients, T* rests, T value) {
                quotients[threadIdx.x] = value / by[threadIdx.x];
                rests[threadIdx.x] = value % by[threadIdx.x];
            }
            __global__ void divide_by_local(int* out, int i) {
                int by[8] = {};
                for (int k = 0; k < 4; ++k) by[k] = k;
                out[0] = 100 / by[i & 7];
                out[1] = 100 / by[i + 3];
                out[2] = 100 % (int)(blockDim.y - gridDim.x);
            }
            template <class T> void run() {
                T *by, *q, *r;
                cudaMallocManaged(&by, 64), cudaMallocManaged(&q, 64), cudaMallocManaged(&r, 64);
                by[0] = 0, by[1] = 7, by[2] = T(-1), by[3] = 0;
                divide<<<1, 4>>>(by, q, r, T(100));
                const cudaError_t error = cudaDeviceSynchronize();
                printf("%s:", cudaGetErrorName(error));
                for (int i = 0; i < 4; ++i) printf(" %llx,%llx", (unsigned long long)q[i], (unsigned long long)r[i]);
                printf("\\n");
            }
            int main() {
                run<int>(), run<unsigned>(), run<long long>(), run<unsigned long long>(), run<unsigned char>(), run<short>();
                int* out;
                cudaMallocManaged(&out, 64);
                divide_by_local<<<1, 1>>>(out, 0);
                cudaDeviceSynchronize();
                printf("%d %d %d\\n", out[0], out[1], out[2]);
            }
        """)
        found, kernels = self.counters(name)
        all_of = ("ffffffffffffffff", "ffffffff", "ffffffffffffffff", "ffffffffffffffff", "ff", "ffffffffffffffff")
        by_minus_one = ("ffffffffffffff9c,0", "0,64", "ffffffffffffff9c,0", "0,64", "0,64", "ffffffffffffff9c,0")
        self.assertEqual(found.stdout.splitlines(),
                         [f"cudaSuccess: {bits},64 e,2 {other} {bits},64" for bits, other in zip(all_of, by_minus_one)] + ["-1 33 100"],
                         found.stderr)
        for kernel, counted in (("divide<int>", 4), ("divide<unsigned char>", 4), ("divide_by_local", 2)):
            hazards = kernels[kernel]["hazards"]
            self.assertEqual({h["kind"] for h in hazards}, {"division_by_zero"})
            self.assertEqual(sum(h["times"] for h in hazards), counted, hazards)
        self.assertIn("cornerturn: division_by_zero: divide_by_local: block (0, 0, 0), thread (0, 0, 0) divides an integer by zero at divide.cu:11\n",
                      found.stderr)

    def test_a_trap_ends_the_launch(self):
        name = self.write("trap.cu", """
            #include <cstdio>
            __global__ void traps(int* out) { if (threadIdx.x == 3) TRAP(); *out = 1; }
            int main() {
                int* p;
                cudaMalloc(&p, 4);
                traps<<<1, 32>>>(p);
                printf("%s\\n", cudaGetErrorName(cudaDeviceSynchronize()));
            }
        """)
        for trap in ("__trap", "__builtin_trap"):
            found = self.run_program("emulate", name, f"-DTRAP={trap}")
            self.assertEqual(found.stdout.splitlines()[0], "cudaErrorLaunchFailure", found.stderr)
            self.assertEqual(found.stderr, "cornerturn: trap: traps: block (0, 0, 0), thread (3, 0, 0) ends itself by __trap() at trap.cu:3\n")

    def test_a_stray_access_says_what_is_there(self):
        name = self.write("stray.cu", """
            #include <cstdlib>
            #include <vector>
            __device__ int table[10];
            int of_the_host[100];
            __global__ void touch(int* p) { *p = 1; }
            int main(int, char** words) {
                int local = 0, *device, *large, *gone;
                std::vector<int> some(100), many(10000000);
                cudaMalloc(&device, 400);
                cudaMalloc(&large, 4 << 20);
                cudaMalloc(&gone, 2 << 20);
                cudaFree(gone);
                int* const all[] = {nullptr, (int*)nullptr + 5, &local, some.data(), many.data() + 1000000, of_the_host + 3, device + 100,
                                    device - 1, large + (64 << 20), gone + 1000, (int*)0xdead00000000};
                touch<<<1, 1>>>(all[atoi(words[1])]);
                return cudaDeviceSynchronize() == cudaErrorIllegalAddress ? 0 : 1;
            }
        """)
        program = self.compiled(name)
        advice = ": a kernel needs memory of cudaMalloc, cudaMallocManaged or cudaMallocHost"
        for way, words in enumerate((
                "through a null pointer, at address 0x0", "through a null pointer, at address 0x14",
                "of the host's stack, where its local variables are" + advice,
                r"(of the host's memory, as malloc and new give it.*|out of bounds: \d+ bytes (before|past the end of) 'cudaMalloc #1 .*)",
                "of the host's memory, as malloc and new give it" + advice, r"of the host's variable 'of_the_host'.*" + advice,
                r"out of bounds: 0 bytes past the end of 'cudaMalloc #1 \(400 bytes\)'", r"out of bounds: 4 bytes before 'cudaMalloc #1 \(400 bytes\)'",
                r"out of bounds: 264241152 bytes past the end of 'cudaMalloc #2 \(4194304 bytes\)'",
                r"of 'cudaMalloc #3 \(2097152 bytes\)', which the program has freed", "of address 0xdead00000000, where there is no memory")):
            found = self.run_program("emulate", program, "--", str(way))
            self.assertEqual(found.returncode, 0, found.stderr)
            self.assertRegex(found.stderr, f"^cornerturn: out_of_bounds: touch: block .* makes a 4-byte write at stray.cu:6 {words}\n$")

    def test_local_variables_of_any_size_are_told(self):
        name = self.write("locals.cu", """
            #include <cstdio>
            #include <cstdlib>
            __global__ void holds(int* out, int i) {
                char local[BYTES];
                for (int k = 0; k < BYTES; k += 1024) local[k + i] = k;
                if (threadIdx.x + blockIdx.x == 0) *out = local[i * 2] + local[BYTES - 1 - i];
            }
            int main(int, char** words) {
                int* p;
                cudaMalloc(&p, 4);
                holds<<<2, atoi(words[1])>>>(p, 5);
                printf("%s\\n", cudaGetErrorName(cudaDeviceSynchronize()));
            }
        """)
        for size in (100 << 10, 1100 << 10, 30 << 20, 200 << 20):
            program = self.compiled(name, f"-DBYTES={size}")
            for threads in ("1", "1024"):
                found = self.run_program("emulate", program, "--", threads)
                self.assertEqual((found.returncode, found.stdout.splitlines()[0]), (0, "cudaErrorIllegalAddress"), (size, found.stderr))
                self.assertRegex(found.stderr, r"^cornerturn: stack_overflow: holds: block .* overflows the emulator's stack of 16 KiB a thread with "
                                               r"its local variables at locals.cu:\d+; --stack makes it larger\n$")
            if size == 1100 << 10:
                found = self.run_program("emulate", program, "--stack", "1200", "--", "32")
                self.assertEqual((found.stdout.splitlines()[0], found.stderr), ("cudaSuccess", ""))

    def test_vector_atomics(self):
        name = self.write("vectors.cu", """
            #include <cstdio>
            __global__ void count(float4* p) { atomicAdd(p + threadIdx.x, make_float4(1, 2, 3, 4)); atomicAdd((float2*)p, make_float2(1, 2)); }
            __global__ void misaligned(float4* p) { atomicAdd((float4*)((float2*)p + 1), make_float4(1, 2, 3, 4)); }
            __global__ void in_shared(float2* p) { __shared__ float2 s; s = *p; atomicAdd(&s, make_float2(1, 2)); *p = s; }
            int main(int n, char**) {
                float4* p;
                cudaMalloc(&p, 4096);
                count<<<1, 32>>>(p);
                if (n == 1) misaligned<<<1, 1>>>(p);
                else in_shared<<<1, 1>>>((float2*)p);
                printf("%s\\n", cudaGetErrorName(cudaDeviceSynchronize()));
            }
        """)
        found, kernels = self.counters(name)
        m = kernels["count"]["metrics"]
        self.assertEqual(m["l1tex__t_requests_pipe_lsu_mem_global_op_red.sum"], 2)
        self.assertEqual(m["l1tex__t_sectors_pipe_lsu_mem_global_op_red.sum"], 16 + 32)
        self.assertEqual(found.stdout, "cudaErrorMisalignedAddress\n", found.stderr)
        found = self.run_program("emulate", name, "--", "x")
        self.assertEqual(found.stdout.splitlines()[0], "cudaErrorNotSupported")
        self.assertIn("uses an atomicAdd of float2 or float4 in shared memory at vectors.cu:5, which the emulator lacks", found.stderr)

    def test_a_grid_whose_blocks_do_not_all_wait_is_told(self):
        name = self.write("grid.cu", """
            #include <cooperative_groups.h>
            #include <cstdio>
            __global__ void k(int gone, int wrong) {
                if (blockIdx.x == gone) return;
                if (blockIdx.x == wrong) *(int*)8 = 1;
                cooperative_groups::this_grid().sync();
            }
            void launch(int gone, int wrong) {
                void* arguments[] = {&gone, &wrong};
                printf("%s\\n", cudaGetErrorName(cudaLaunchCooperativeKernel(k, dim3(6), dim3(64), arguments)));
            }
            int main() {
                launch(1, 6);
                k<<<6, 64>>>(6, 6);
                printf("%s\\n", cudaGetErrorName(cudaDeviceReset()));
                launch(6, 3);
            }
        """)
        found = self.run_program("emulate", name)
        self.assertEqual(found.stdout.splitlines()[:3], ["cudaSuccess", "cudaSuccess", "cudaErrorIllegalAddress"])
        self.assertIn("divergent_barrier: k: block (0, 0, 0), thread (0, 0, 0) waits at the grid's barrier of grid.cu:7, "
                      "but block number 1 of the grid has ended", found.stderr)
        self.assertIn("waits at grid.cu:7 for the grid's other blocks, in a launch that is not cooperative", found.stderr)
        self.assertIn("out_of_bounds: k: block (3, 0, 0), thread (0, 0, 0)", found.stderr)

    def test_a_library_that_works_on_the_host_is_not_captured(self):
        name = self.write("captured.cu", """
            #include <cublas_v2.h>
            int main() {
                float *x, alpha = 1;
                cudaStream_t stream;
                cudaGraph_t graph;
                cublasHandle_t handle;
                cudaMalloc(&x, 64);
                cudaStreamCreate(&stream);
                cublasCreate(&handle);
                cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
                if (cublasSetStream(handle, stream) != CUBLAS_STATUS_SUCCESS) return 1;
                if (cublasSaxpy(handle, 4, &alpha, x, 1, x, 1) != CUBLAS_STATUS_NOT_SUPPORTED) return 2;
                return cudaStreamEndCapture(stream, &graph) == cudaErrorStreamCaptureInvalidated ? 0 : 3;
            }
        """)
        self.assertEqual(self.run_program("emulate", name).returncode, 0)

    def test_an_object_made_in_shared_memory_is_written(self):
        name = self.write("object.cu", """
            #include <new>
            struct base {
                int value;
                __device__ base() : value(5) {}
                __device__ virtual int get() { return value; }
            };
            struct derived : base {
                __device__ int get() override { return value + 1; }
            };
            __global__ void k(int* out) {
                __shared__ alignas(16) unsigned char buffer[sizeof(derived)];
                if (threadIdx.x == 0) new (buffer) derived();
                __syncthreads();
                out[threadIdx.x] = reinterpret_cast<base*>(buffer)->get();
            }
            int main() {
                int* p;
                cudaMallocManaged(&p, 256);
                k<<<1, 64>>>(p);
                return cudaDeviceSynchronize() == cudaSuccess && p[63] == 6 ? 0 : 1;
            }
        """)
        found, kernels = self.counters(name)
        self.assertEqual((found.returncode, kernels["k"]["hazards"]), (0, []), found.stderr)

    def test_an_exchange_gives_shared_memory_its_first_value(self):
        name = self.write("first.cu", """
            #include <cuda_fp16.h>
            __global__ void written(unsigned* out) {
                __shared__ unsigned hits;
                __shared__ half2 pairs[64];
                pairs[threadIdx.x] = __float2half2_rn(threadIdx.x);
                atomicExch(&hits, 0);
                __syncthreads();
                while (hits < 50) atomicAdd(&hits, 1);
                if (threadIdx.x == 63) *out = hits + (unsigned)__low2float(pairs[0]);
            }
            __global__ void unwritten(unsigned* out) {
                __shared__ unsigned hits;
                out[threadIdx.x] = atomicExch(&hits, 0);
            }
            int main() {
                unsigned* p;
                cudaMallocManaged(&p, 256);
                written<<<1, 64>>>(p);
                const bool right = cudaDeviceSynchronize() == cudaSuccess && *p == 50;
                unwritten<<<1, 64>>>(p);
                return right ? 0 : 1;
            }
        """)
        found, kernels = self.counters(name)
        self.assertEqual(found.returncode, 0, found.stderr)
        self.assertEqual(kernels["written"]["hazards"], [])
        self.assertEqual([h["kind"] for h in kernels["unwritten"]["hazards"]], ["uninitialised_read"])


if __name__ == "__main__":
    script.main()
