"""cornerturn emulate: g++ compiles CUDA programs with our headers; the emulator runs and counts them without a GPU."""

import concurrent.futures
import json
import os
import re
import subprocess
import tempfile
import textwrap
import unittest
from pathlib import Path

import script

CORNERTURN = os.environ["CORNERTURN"]
PROGRAMS = Path(os.environ["CORNERTURN_SOURCE_DIR"]) / "tests/programs"

# The kinds of hazard that these programs contain on purpose.
EXPECTED_HAZARDS = {"errors": {"out_of_bounds"}, "session": {"out_of_bounds"}}

TRANSPOSE = """
    #include <cstdio>
    template <int kPad>
    __global__ void transpose(const float* in, float* out, int n) {
        __shared__ float tile[32][32 + kPad];
        int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
        for (int i = 0; i < 32; i += 8) tile[threadIdx.y + i][threadIdx.x] = in[(y + i) * n + x];
        __syncthreads();
        x = blockIdx.y * 32 + threadIdx.x, y = blockIdx.x * 32 + threadIdx.y;
        for (int i = 0; i < 32; i += 8) out[(y + i) * n + x] = tile[threadIdx.x][threadIdx.y + i];
    }
    int main() {
        const int n = 64;
        float *in, *out;
        cudaMalloc(&in, n * n * 4);
        cudaMalloc(&out, n * n * 4);
        transpose<0><<<dim3(2, 2), dim3(32, 8)>>>(in, out, n);
        transpose<1><<<dim3(2, 2), dim3(32, 8)>>>(in, out, n);
        transpose<1><<<dim3(2, 2), dim3(32, 8)>>>(in, out, n);
        printf("done\\n");
        return cudaDeviceSynchronize() == cudaSuccess ? 7 : 1;
    }
"""


class Emulate(script.NamesValues, unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def write(self, name, text):
        path = self.folder / name
        path.write_text(textwrap.dedent(text), encoding="utf-8")
        return name

    def run_program(self, *arguments, cwd=None, environment=None):
        return subprocess.run([CORNERTURN, *arguments], cwd=cwd or self.folder, capture_output=True, text=True, timeout=500,
                              env=os.environ | {"CORNERTURN_CACHE": str(self.folder / "cache")} | (environment or {}))

    def compiled(self, *arguments):
        """Compiles a program for a test that runs it often: `emulate` would preprocess its sources in each run."""
        made = self.run_program("cc", *arguments, "-o", "program")
        self.assertEqual((made.returncode, made.stderr), (0, ""))
        return "./program"

    def counters(self, *arguments):
        """Runs the program, and returns each kernel of its JSON report by name."""
        report = self.folder / "counters.json"
        report.unlink(missing_ok=True)
        found = self.run_program("emulate", "--format", "json", "--output", report.name, *arguments)
        return found, {k["kernel"]: k for k in json.loads(report.read_text())["kernels"]}

    def assert_line_names(self, text, *values):
        """Some line of the text contains all values, in this order."""
        self.assertTrue(any(script.names(line, *values) for line in text.splitlines()),
                        f"no line has all of {values}, in this order:\n{text}")


class OurPrograms(Emulate):
    def test_each_is_right(self):
        """One program for each feature of CUDA. The same programs pass on a GPU."""
        programs = sorted(PROGRAMS.glob("*.cu"))
        self.assertGreater(len(programs), 25)

        def run(program):
            flags = re.match(r"// flags: (.*)\n", program.read_text(encoding="utf-8"))
            return self.run_program("emulate", str(program), *(flags[1].split() if flags else []), "--format", "csv", cwd=PROGRAMS)

        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            for program, found in zip(programs, pool.map(run, programs)):
                with self.subTest(program=program.name):
                    self.assertEqual(found.returncode, 0, found.stdout[-2000:] + found.stderr[-2000:])
                    self.assertIn("ok\n", found.stdout)
                    reported = set(re.findall(r"^cornerturn: (\w+): ", found.stderr, re.M))
                    self.assertEqual(reported, EXPECTED_HAZARDS.get(program.stem, set()), found.stderr)


class Counters(Emulate):
    def test_of_each_kernel(self):
        found, kernels = self.counters(self.write("transpose.cu", TRANSPOSE))
        self.assertEqual((found.returncode, found.stdout), (7, "done\n"), found.stderr)
        self.assertEqual(list(kernels), ["transpose<0>", "transpose<1>"])
        warps = 4 * 8 * 4  # 4 blocks of 8 warps, 4 rows each
        for name, launches in (("transpose<0>", 1), ("transpose<1>", 2)):
            k, m = kernels[name], kernels[name]["metrics"]
            self.assertEqual(k["launches"], launches)
            self.assertEqual(m["l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"], launches * warps)
            self.assertEqual(m["l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum"], launches * warps * 4)
            self.assertEqual(m["shared_conflicts_ld"], 31 * warps if name == "transpose<0>" else 0)

    def test_of_lines_are_those_of_the_kernel(self):
        self.write("helper.cuh", "__device__ float helped(const float* at) { return *at; }\n")
        name = self.write("lines.cu", """
            #include "helper.cuh"
            __global__ void k(const float* in, float* out) {
                float x = helped(in + threadIdx.x);
                out[threadIdx.x] = __shfl_xor_sync(~0u, x, 1);
                atomicAdd(out, 1.f);
            }
            int main() { float* p; cudaMalloc(&p, 256); k<<<1, 32>>>(p, p + 32); }
        """)
        found = self.run_program("emulate", name, "--lines", "--format", "csv")
        self.assertEqual(found.returncode, 0, found.stderr)
        self.assertEqual([line.split(",")[1] for line in found.stdout.splitlines()[1:]], ["lines.cu:4", "lines.cu:5", "lines.cu:6"])

    def test_lanes_reconverge_after_a_loop(self):
        """Lanes run different numbers of iterations of two loops. The store after the loops is one instruction."""
        name = self.write("loops.cu", """
            __global__ void k(const int* in, int* out) {
                for (int j = 0; j < 3; ++j) {
                    int sum = 0;
                    for (int i = 0; i <= (int)threadIdx.x; ++i) if ((i & 1) == (threadIdx.x & 1)) sum += in[i];
                    out[j * 32 + threadIdx.x] = sum;
                }
            }
            int main() { int* p; cudaMalloc(&p, 4096); k<<<1, 32>>>(p, p + 128); }
        """)
        found, kernels = self.counters(name)
        m = kernels["k"]["metrics"]
        self.assertEqual(found.returncode, 0, found.stderr)
        self.assertEqual(m["l1tex__t_requests_pipe_lsu_mem_global_op_st.sum"], 3)
        self.assertEqual(m["l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"], 3 * 32)

    def test_of_lanes_that_store_in_a_late_iteration(self):
        """The first lane cannot predict the others: in `each` another quarter of the lanes stores in each iteration."""
        name = self.write("late.cu", """
            __global__ void late(int* out, int n) {
                for (int i = 0; i < n; ++i) if (i == 3) out[threadIdx.x] = i;
            }
            __global__ void each(int* out, int n) {
                for (int i = 0; i < n; ++i) if ((threadIdx.x & 3) == 3 - i) out[threadIdx.x] = i;
            }
            int main() { int* p; cudaMalloc(&p, 256); late<<<8, 64>>>(p, 4); each<<<8, 64>>>(p, 4); }
        """)
        found, kernels = self.counters(name)
        self.assertEqual(found.returncode, 0, found.stderr)
        for kernel, stores in (("late", 16), ("each", 64)):
            m = kernels[kernel]["metrics"]
            self.assertEqual((m["l1tex__t_requests_pipe_lsu_mem_global_op_st.sum"], m["l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum"]), (stores, 4 * stores))

    def test_lanes_reconverge_after_a_warp_function_of_some(self):
        """They reconverge at the end of the branch or loop, as on a GPU."""
        name = self.write("some.cu", """
            __global__ void branch(int* out) {
                int x = threadIdx.x;
                if (x < 16) x = __shfl_xor_sync(0xffff, x, 1);
                out[threadIdx.x] = x;
            }
            __global__ void both(int* out) {
                int x = threadIdx.x;
                if (x < 16) { x += __shfl_xor_sync(0xffff, x, 1); x += __shfl_xor_sync(0xffff, x, 2); }
                else x -= __shfl_xor_sync(0xffff0000, x, 1);
                out[threadIdx.x] = x;
                out[threadIdx.x + 32] = x;
            }
            __global__ void loop(int* out) {
                int x = threadIdx.x;
                for (int i = 0; i < (threadIdx.x & 3); ++i) {
                    x += __ballot_sync(__activemask(), x > i);
                    atomicAdd(&out[64], 1);
                }
                out[threadIdx.x] = x;
            }
            __global__ void ended(int* out) {
                if (threadIdx.x >= 20) return;
                int x = threadIdx.x;
                for (int i = 1; i < 4; i *= 2) { x += __shfl_xor_sync(0xfffff, x, i); out[threadIdx.x + 32 * i] = x; }
                if (threadIdx.x < 4) { x += __shfl_xor_sync(0xf, x, 1); }
                out[threadIdx.x] = x;
            }
            __global__ void hazards(int* out) {
                __shared__ int tile[32];
                int x = threadIdx.x;
                tile[x] = x;
                if (x < 16) { __syncwarp(0xffff); x = tile[x ^ 1]; __syncwarp(0xffff); tile[x] = 1; }
                out[threadIdx.x] = x;
            }
            int main() {
                int* p;
                cudaMalloc(&p, 1024);
                branch<<<1, 64>>>(p); both<<<1, 32>>>(p); loop<<<1, 32>>>(p); ended<<<1, 32>>>(p); hazards<<<1, 32>>>(p);
            }
        """)
        found, kernels = self.counters(name)
        self.assertEqual(found.returncode, 0, found.stderr)
        stores = {k: m["metrics"]["l1tex__t_requests_pipe_lsu_mem_global_op_st.sum"] for k, m in kernels.items()}
        self.assertEqual(stores, {"branch": 2, "both": 2, "loop": 1, "ended": 3, "hazards": 1})
        self.assertEqual(kernels["loop"]["metrics"]["l1tex__t_requests_pipe_lsu_mem_global_op_red.sum"], 3)
        self.assertEqual([m["hazards"] for m in kernels.values() if m["hazards"]], [])

    def test_lanes_reconverge_after_a_call(self):
        """The position of the function in the code and the depth of the calls do not matter."""
        name = self.write("calls.cu", """
            template <int K> __device__ __noinline__ int late(const int* in, int x) { if (x & 8) return x; return in[x & 31]; }
            __device__ __noinline__ int early(const int* in, int x) { return x % 5 == 0 ? in[x] : late<3>(in, x) + 1; }
            __device__ int deep(const int* in, int x) { return x < 4 ? in[x] : deep(in, x / 2) + in[x]; }
            __global__ void one(const int* in, int* out) { int x = threadIdx.x; if (x % 3 == 2) x = late<1>(in, x); out[threadIdx.x] = x; }
            __global__ void two(const int* in, int* out) {
                int x = threadIdx.x;
                for (int i = 0; i < 3; ++i) if (x % 3 == i) x = early(in, x); else x += late<2>(in, x);
                out[threadIdx.x] = x;
            }
            __global__ void recursive(const int* in, int* out) { out[threadIdx.x] = deep(in, threadIdx.x); }
            int main() {
                int* p;
                cudaMalloc(&p, 4096);
                one<<<1, 32>>>(p, p + 512); two<<<1, 32>>>(p, p + 512); recursive<<<1, 32>>>(p, p + 512);
                return cudaDeviceSynchronize();
            }
        """)
        found, kernels = self.counters(name)
        self.assertEqual((found.returncode, found.stderr), (0, ""))
        stores = {k: m["metrics"]["l1tex__t_requests_pipe_lsu_mem_global_op_st.sum"] for k, m in kernels.items()}
        self.assertEqual(stores, {"one": 1, "two": 1, "recursive": 1})

    def test_of_structs_that_are_used_several_times(self):
        """Each struct is loaded once, as with nvcc. g++ 16 would load a member again at each use."""
        name = self.write("structs.cu", """
            struct alignas(16) record { int a, b, c, d; };
            __global__ void use(const float4* in, float* out, const record* from, record* to) {
                const int i = threadIdx.x;
                const float4 v = in[i];
                out[i] = v.x, out[i + 32] = v.y, out[i + 64] = v.z, out[i + 96] = v.w;
                const record one = from[i];
                record other = one;
                other.a += one.b;
                to[i] = other, to[i + 32] = one;
            }
            int main() {
                float4* in; float* out; record *from, *to;
                cudaMalloc(&in, 32 * 16), cudaMalloc(&out, 32 * 16), cudaMalloc(&from, 32 * 16), cudaMalloc(&to, 64 * 16);
                cudaMemset(in, 0, 32 * 16), cudaMemset(from, 0, 32 * 16);
                use<<<1, 32>>>(in, out, from, to);
                return cudaDeviceSynchronize();
            }
        """)
        found, kernels = self.counters(name)
        self.assertEqual(found.returncode, 0, found.stderr)
        m = kernels["use"]["metrics"]
        self.assertEqual(m["l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"], 2)
        self.assertEqual(m["l1tex__t_requests_pipe_lsu_mem_global_op_st.sum"], 6)

    def test_of_vectors(self):
        """One instruction for each vector, in dynamic shared memory and as an argument by value."""
        name = self.write("vectors.cu", """
            template <class T> __device__ float total(T v) { return v.x + v.y + v.z + v.w; }
            __global__ void k(const float4* in, float* out) {
                extern __shared__ float4 tile[];
                tile[threadIdx.x] = in[threadIdx.x];
                __syncthreads();
                out[threadIdx.x] = total(tile[threadIdx.x ^ 1]) + total(in[threadIdx.x + 32]) + total(in[threadIdx.x + 64]);
            }
            int main() { float4* p; float* q; cudaMalloc(&p, 2048); cudaMalloc(&q, 128); k<<<1, 32, 512>>>(p, q); }
        """)
        found, kernels = self.counters(name)
        m = kernels["k"]["metrics"]
        self.assertEqual((found.returncode, found.stderr), (0, ""))
        self.assertEqual([m[f"smsp__sass_inst_executed_op_shared_{op}.sum"] for op in ("ld", "st")], [1, 1])
        self.assertEqual([m[f"l1tex__t_{what}_pipe_lsu_mem_global_op_ld.sum"] for what in ("requests", "sectors")], [3, 48])


class Endings(Emulate):
    def test_of_all_kinds_write_the_counters(self):
        name = self.write("ends.cu", """
            #include <cassert>
            #include <cstdlib>
            #include <cstring>
            #include <stdexcept>
            #include <sys/wait.h>
            #include <unistd.h>
            __global__ void k(int* out) { out[threadIdx.x] = 1; }
            int main(int, char** arguments) {
                int* p;
                cudaMalloc(&p, 128);
                k<<<1, 32>>>(p);
                const char* const ending = arguments[1];
                if (fork() == 0) _exit(0);  // the end of a child writes no report
                wait(nullptr);
                k<<<1, 32>>>(p);
                if (!strcmp(ending, "return")) return 9;
                if (!strcmp(ending, "exit")) exit(9);
                if (!strcmp(ending, "quick_exit")) quick_exit(9);
                if (!strcmp(ending, "_exit")) _exit(9);
                if (!strcmp(ending, "_Exit")) _Exit(9);
                if (!strcmp(ending, "abort")) abort();
                if (!strcmp(ending, "throw")) throw std::runtime_error("nobody catches it");
                assert(ending == nullptr);
            }
        """)
        program = self.compiled(name)
        for ending, status in (("return", 9), ("exit", 9), ("quick_exit", 9), ("_exit", 9), ("_Exit", 9), ("abort", 134), ("throw", 134),
                               ("assert", 134)):
            found = self.run_program("emulate", program, "--kernel", "k", "--format", "csv", "--", ending)
            self.assertEqual((found.returncode, found.stdout.splitlines()[-1]), (status, "k,2,0,-,2,4.00,0,-,0,-,0,0,0"), (ending, found.stderr))
            self.assertEqual(script.names(found.stderr, "ending == nullptr"), ending == "assert", found.stderr)


class Names(Emulate):
    def test_of_one_kernel_filter_each_format(self):
        name = self.compiled(self.write("transpose.cu", TRANSPOSE.replace("? 7 : 1", "? 0 : 1").replace("n = 64", "n = 512").replace("dim3(2, 2)", "dim3(16, 16)")))
        found, kernels = self.counters(name, "--kernel", "transpose<1>")
        self.assertEqual((found.returncode, list(kernels), found.stderr), (0, ["transpose<1>"], ""))
        found, kernels = self.counters(name)
        self.assertEqual(list(kernels), ["transpose<0>", "transpose<1>"])
        found = self.run_program("emulate", name, "--kernel", "transpose<0>", "--format", "csv")
        self.assertEqual(len(found.stdout.splitlines()), 3, found.stdout)  # the program's own line, the heading and one kernel
        self.assertRegex(found.stdout, r"\ntranspose<0>,1,8192,4.00,8192,")
        for format in ("json", "csv", "table"):
            found = self.run_program("emulate", name, "--kernel", "transpose<1>", "--kernel", "absent", "--format", format)
            self.assertEqual((found.returncode, found.stderr.count("\n")), (0, 1), found.stderr)
            self.assert_names(found.stderr, "--kernel", "absent", "transpose<0>", "transpose<1>")

    def test_are_unique(self):
        """A name has only the parts that it needs to be unique: namespaces, then arguments, then the file."""
        kernels = {"a.cu": "static __global__ void same() {}", "b.cu": "static __global__ void same() {}"}
        for file, text in kernels.items():
            self.write(file, text + f"\nvoid launch_{file[0]}() {{ same<<<1, 1>>>(); }}\n")
        self.write("main.cu", """
            void launch_a(); void launch_b();
            namespace one { template <int n> __global__ void k(int*) {} }
            namespace two { namespace { template <int n> __global__ void k(int*) {} } }
            __global__ void over(int) {}
            __global__ void over(float) {}
            namespace three { __global__ void alone() {} }
            int main() {
                one::k<4><<<1, 1>>>(nullptr); two::k<4><<<1, 1>>>(nullptr); two::k<4><<<1, 1>>>(nullptr);
                over<<<1, 1>>>(1); over<<<1, 1>>>(1.f);
                three::alone<<<1, 1>>>();
                launch_a(); launch_b();
            }
        """)
        program = self.compiled("main.cu", "a.cu", "b.cu")
        found, kernels = self.counters(program)
        self.assertEqual(list(kernels), ["one::k<4>", "two::(anonymous namespace)::k<4>", "over(int)", "over(float)", "alone",
                                         "same() in a.cu", "same() in b.cu"], found.stderr)
        for name, count in (("k", 3), ("k<4>", 3), ("one::k", 1), ("two::k<4>", 2), ("two::(anonymous namespace)::k", 2), ("over", 2),
                             ("over(int)", 1), ("three::alone", 1), ("alone", 1), ("same", 2), ("same() in a.cu", 1)):
            found = self.run_program("emulate", program, "--budget", f"{name}: launches == {count}")
            self.assertEqual((found.returncode, found.stderr), (0, ""), name)


class Sample(Emulate):
    SOURCE = """
        __global__ void add(const float* a, float* b, int n) {
            const int i = blockIdx.x * blockDim.x + threadIdx.x;
            if (i < n) b[i] += a[i];
        }
        __global__ void triangle(float* m, int n) {
            if (blockIdx.x <= blockIdx.y) m[(blockIdx.y * 16 + threadIdx.y) * n + blockIdx.x * 16 + threadIdx.x] = 1;
        }
        __global__ void pitched(float* m, int pitch) { m[blockIdx.x * pitch + threadIdx.x] = 1; }
        __global__ void histogram(int* counts) { atomicAdd(&counts[threadIdx.x % 16], 1); }
        int main() {
            float* a;
            cudaMalloc(&a, 8 << 20);
            add<<<2048, 256>>>(a, a + (1 << 20), 2048 * 256 - 100);
            triangle<<<dim3(32, 32), dim3(16, 16)>>>(a, 512);
            pitched<<<1024, 100>>>(a, 103);
            histogram<<<1024, 128>>>(reinterpret_cast<int*>(a));
            add<<<20, 256>>>(a, a + (1 << 20), 20 * 256);
            return cudaDeviceSynchronize();
        }
    """

    def test_counts_the_same_as_a_whole_run(self):
        name = self.write("sample.cu", self.SOURCE)
        whole, expected = self.counters(name)
        found, counted = self.counters(name, "--sample")
        self.assertEqual((whole.returncode, whole.stderr), (0, ""))
        for kernel, one in expected.items():
            self.assertEqual(counted[kernel]["metrics"], one["metrics"], kernel)
            self.assertEqual(one["blocks_run"], one["blocks"])
        self.assertEqual(found.stderr.count("\n"), 1, found.stderr)
        self.assert_names(found.stderr, "--sample", "add", counted["add"]["blocks_run"], 2068)
        self.assertLess(counted["add"]["blocks_run"], 200)
        # All blocks of a kernel run if they differ, or if a block may see results of another.
        for kernel in ("triangle", "pitched", "histogram"):
            self.assertEqual(counted[kernel]["blocks_run"], counted[kernel]["blocks"], kernel)


class Budgets(Emulate):
    def test_of_all_kinds(self):
        name = self.compiled(self.write("transpose.cu", TRANSPOSE.replace("? 7 : 1", "? 0 : 1")))
        kept = ["transpose<1>: shared.conflicts == 0, launches == 2", "transpose: load.sectors_per_request <= 4", "*: hazards == 0, store.requests < 1e6"]
        found = self.run_program("emulate", name, *[argument for budget in kept for argument in ("--budget", budget)])
        self.assertEqual(found.returncode, 0, found.stderr)
        found = self.run_program("emulate", name, "--budget", "transpose<0>: shared.conflicts == 0")
        self.assertEqual(found.returncode, 1)
        self.assert_names(found.stderr, "transpose<0>", "shared.conflicts", 3968, 3968, "== 0")
        found = self.run_program("emulate", name, "--budget", "absent: launches > 0")
        self.assertEqual(found.returncode, 1)
        self.assert_names(found.stderr, "absent", "transpose<0>", "transpose<1>")

    def test_invalid_ones_are_refused_before_anything_runs(self):
        name = self.write("transpose.cu", TRANSPOSE)
        example = "my_kernel: load.sectors_per_request <= 4"
        for budget, values in (("transpose", ["transpose", example]), ("transpose: loads <= 4", ["loads", "load.requests", "store.requests"]),
                               ("transpose: load.requests = 4", ["=", "<=", "<", "==", ">=", ">"]),
                               ("transpose: load.requests <= many", ["many", "load.requests <= many"]), ("transpose: ", [example])):
            found = self.run_program("emulate", name, "--budget", budget)
            self.assertEqual((found.returncode, found.stdout), (2, ""), budget)
            self.assert_names(found.stderr, "--budget", *values)


if __name__ == "__main__":
    script.main()
