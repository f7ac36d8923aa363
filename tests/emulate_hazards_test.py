"""Hazards in programs that the emulator runs: their reports, and the errors that the program sees."""

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

    def test_a_race_is_reported_and_the_program_continues(self):
        name = self.write("race.cu", self.RACE)
        found, kernels = self.counters(name, "-DBARRIER=;")
        self.assertEqual(found.returncode, 0)
        self.assert_line_names(found.stderr, "cornerturn", "race", "neighbours", "(0, 0, 0)", "(32, 0, 0)", "'shared'",
                               "race.cu:5", "(0, 0, 0)", "race.cu:7")
        self.assertIn("race", [h["kind"] for h in kernels["neighbours"]["hazards"]])
        self.assertEqual(self.run_program("emulate", name, "-DBARRIER=;", "--budget", "*: hazards == 0").returncode, 1)
        found, kernels = self.counters(name, "-DBARRIER=__syncthreads();")
        self.assertEqual((found.returncode, found.stderr, kernels["neighbours"]["hazards"]), (0, "", []))

    def test_an_access_out_of_bounds_is_an_error_of_cuda(self):
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
        self.assert_line_names(found.stderr, "cornerturn", "out_of_bounds", "beyond", 4, "bounds.cu:3",
                               0, "cudaMalloc #1", 128)

    def test_a_thread_that_waits_for_nobody_is_reported(self):
        name = self.write("spin.cu", """
            __global__ void spin(volatile int* flag) { while (*flag == 0) {} }
            int main() { int* p; cudaMalloc(&p, 4); spin<<<1, 1>>>(p); return cudaDeviceSynchronize() == cudaErrorLaunchTimeout ? 0 : 1; }
        """)
        found = self.run_program("emulate", name, "--timeout", "1")
        self.assertEqual(found.returncode, 0, found.stderr)
        self.assert_line_names(found.stderr, "cornerturn", "endless_loop", "spin", "(0, 0, 0)", "(0, 0, 0)",
                               "spin.cu:2")

    def test_divisions_by_zero_are_reported_and_the_kernel_continues(self):
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
        self.assert_line_names(found.stderr, "cornerturn", "division_by_zero", "divide_by_local", "(0, 0, 0)", "(0, 0, 0)",
                               "divide.cu:11")

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
            self.assertEqual(found.stderr.count("\n"), 1, found.stderr)
            self.assert_names(found.stderr, "cornerturn", "trap", "traps", "(0, 0, 0)", "(3, 0, 0)", "trap.cu:3")

    def test_a_stray_access_names_the_memory_at_its_address(self):
        name = self.write("stray.cu", """
            #include <cstdlib>
            #include <vector>
            __device__ int table[10];
            int of_the_host[100];
            __global__ void touch(int* p) { *p = 1; }
            int main(int, char** arguments) {
                int local = 0, *device, *large, *gone;
                std::vector<int> some(100), many(10000000);
                cudaMalloc(&device, 400);
                cudaMalloc(&large, 4 << 20);
                cudaMalloc(&gone, 2 << 20);
                cudaFree(gone);
                int* const all[] = {nullptr, (int*)nullptr + 5, &local, some.data(), many.data() + 1000000, of_the_host + 3, device + 100,
                                    device - 1, large + (64 << 20), gone + 1000, (int*)0xdead00000000};
                touch<<<1, 1>>>(all[atoi(arguments[1])]);
                return cudaDeviceSynchronize() == cudaErrorIllegalAddress ? 0 : 1;
            }
        """)
        program = self.compiled(name)
        advice = ["cudaMalloc", "cudaMallocManaged", "cudaMallocHost"]
        for pointer, values in enumerate((["0x0"], ["0x14"], advice, [], advice, ["of_the_host", *advice],
                                          [0, "cudaMalloc #1", 400], [4, "cudaMalloc #1", 400],
                                          [264241152, "cudaMalloc #2", 4194304], ["cudaMalloc #3", 2097152],
                                          ["0xdead00000000"])):
            found = self.run_program("emulate", program, "--", str(pointer))
            self.assertEqual((found.returncode, found.stderr.count("\n")), (0, 1), found.stderr)
            self.assert_names(found.stderr, "cornerturn", "out_of_bounds", "touch", "(0, 0, 0)", "(0, 0, 0)",
                              4, "stray.cu:6", *values)
            if pointer == 3:  # a small allocation of the host may be beside one of the device
                self.assertTrue(script.names(found.stderr, *advice) or
                                script.names(found.stderr, "cudaMalloc #1", 400), found.stderr)
            if values == advice:
                self.assertNotIn("#", found.stderr)

    def test_local_variables_of_any_size_are_reported(self):
        name = self.write("locals.cu", """
            #include <cstdio>
            #include <cstdlib>
            __global__ void holds(int* out, int i) {
                char local[BYTES];
                for (int k = 0; k < BYTES; k += 1024) local[k + i] = k;
                if (threadIdx.x + blockIdx.x == 0) *out = local[i * 2] + local[BYTES - 1 - i];
            }
            int main(int, char** arguments) {
                int* p;
                cudaMalloc(&p, 4);
                holds<<<2, atoi(arguments[1])>>>(p, 5);
                printf("%s\\n", cudaGetErrorName(cudaDeviceSynchronize()));
            }
        """)
        for size in (100 << 10, 1100 << 10, 30 << 20, 200 << 20):
            program = self.compiled(name, f"-DBYTES={size}")
            for threads in ("1", "1024"):
                found = self.run_program("emulate", program, "--", threads)
                self.assertEqual((found.returncode, found.stdout.splitlines()[0]), (0, "cudaErrorIllegalAddress"), (size, found.stderr))
                self.assertEqual(found.stderr.count("\n"), 1, found.stderr)
                self.assert_names(found.stderr, "cornerturn", "stack_overflow", "holds", 16, "locals.cu:", "--stack")
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
        self.assert_line_names(found.stderr, "cornerturn", "unsupported_feature", "in_shared", "atomicAdd", "float2", "float4",
                               "vectors.cu:5")

    def test_a_grid_whose_blocks_do_not_all_wait_is_reported(self):
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
        self.assert_line_names(found.stderr, "divergent_barrier", "k", "(0, 0, 0)", "(0, 0, 0)", "grid.cu:7", 1)
        self.assert_line_names(found.stderr, "divergent_barrier", "k", "grid.cu:7", "cudaLaunchCooperativeKernel")
        self.assert_line_names(found.stderr, "out_of_bounds", "k", "(3, 0, 0)", "(0, 0, 0)", "grid.cu:6")

    def test_calls_of_cublas_are_not_captured(self):
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

    def test_an_object_constructed_in_shared_memory_is_written(self):
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

    def test_an_atomic_exchange_initialises_shared_memory(self):
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
