"""Host assembly, unusual variable names and compiler warnings in CUDA sources."""

import script
from emulate_test import Emulate


class Sources(Emulate, script.NamesValues):
    def test_assembly_of_the_host(self):
        """Also compiler barriers in kernels. The host cannot call a device function that uses PTX."""
        name = self.write("host.cu", r"""
            #include <cstdio>
            asm(".text\n.globl two\ntwo: movl $2, %eax\nret");
            extern "C" int two();
            __host__ __device__ int three() {
            #ifdef __CUDA_ARCH__
                int lane;
                asm("mov.u32 %0, %laneid;" : "=r"(lane));
                return lane;
            #else
                int x;
                asm volatile("movl $3, %0" : "=r"(x) :: "memory");
                return x;
            #endif
            }
            __device__ int ptx(int x) { asm("abs.s32 %0, %0;" : "+r"(x)); return x; }
            __host__ __device__ int of_both(int x) { return ptx(x); }
            __global__ void k(int* out) {
                int x = three();
                asm volatile("" ::: "memory");
                asm volatile("" : "+r"(x));
                out[threadIdx.x] = x;
            }
            int main(int count, char**) {
                int* p;
                cudaMallocManaged(&p, 128);
                k<<<1, 32>>>(p);
                asm volatile("" ::: "memory");
                printf("%d %d %d\n", two(), three(), p[31]);
                return cudaDeviceSynchronize() != cudaSuccess || (count > 1 && of_both(-1));
            }
        """)
        found = self.run_program("emulate", name)
        self.assertEqual((found.returncode, found.stderr, found.stdout.splitlines()[0]), (0, "", "2 3 31"))
        found = self.run_program("emulate", name, "--", "calls")
        self.assertEqual(found.returncode, 134)
        self.assert_names(found.stderr.splitlines()[0], "cornerturn", "PTX", 'asm("abs.s32 %0, %0;")')

    def test_variables_with_one_letter_names(self):
        """Also variables whose type is defined in their declaration. "c" is also the mangled name of a type."""
        name = self.write("letters.cu", """
            #include <cstdio>
            __constant__ int c;
            __device__ int d = 2;
            __constant__ struct parameters { int a; } p;
            __managed__ struct managed { int a; } m;
            __device__ struct { int a; } s = {1};
            extern "C" __global__ void k() { d += c + p.a + m.a + s.a - 1; }
            int main() {
                int c3 = 3, p4 = 4, all;
                cudaMemcpyToSymbol(c, &c3, sizeof c3);
                cudaMemcpyToSymbol(p, &p4, sizeof p4);
                m.a = 5;
                k<<<1, 1>>>();
                cudaMemcpyFromSymbol(&all, d, sizeof all);
                return all;
            }
        """)
        found = self.run_program("emulate", name, "--budget", "k: launches == 1")
        self.assertEqual((found.returncode, found.stderr), (14, ""))

    def test_only_host_code_is_warned_about(self):
        """nvcc's host compiler does not see device code, so -Werror does not apply to it."""
        name = self.write("warned.cu", """
            static __device__ int of_kernels(int x) { int unused; return x; }
            __global__ void k(int* out) { *out = of_kernels(1); }
            struct s { int a; __device__ s(int x) : a{x} { int unused; } };
            int main() { int x = 1; k<<<1, 1>>>(nullptr); WARNED }
        """)
        options = ("-Xcompiler", "-Wall,-Wextra,-Werror")
        made = self.run_program("cc", "-c", name, *options, "-DWARNED=return x;")
        self.assertEqual((made.returncode, made.stderr), (0, ""))
        made = self.run_program("cc", "-c", name, *options, "-DWARNED=")
        self.assertEqual(made.returncode, 1)
        self.assert_names(made.stderr, "warned.cu:5:", "x", "-Werror=unused-variable")


if __name__ == "__main__":
    script.main()
