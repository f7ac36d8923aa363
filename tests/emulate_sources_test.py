"""What sources may hold that is no business of a GPU's: assembly of the host, names of all kinds, warnings."""

import script
from emulate_test import Emulate


class Sources(Emulate):
    def test_assembly_of_the_host(self):
        """And in kernels what only the compiler sees. What the device has of PTX, the host cannot call."""
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
        self.assertEqual((found.returncode, found.stderr.splitlines()[0]),
                         (134, 'cornerturn: the host calls a function of the device that uses inline PTX: asm("abs.s32 %0, %0;"), '
                          "which the emulator lacks"))

    def test_variables_whose_names_are_a_letter(self):
        """Or whose type is defined with them. "c" would be a type, were it the mangled name of something."""
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

    def test_warnings_are_of_the_host_alone(self):
        """nvcc's host compiler sees no device code, and -Werror refuses nothing of it."""
        name = self.write("warned.cu", """
            static __device__ int of_kernels(int x) { int unused; return x; }
            __global__ void k(int* out) { *out = of_kernels(1); }
            struct s { int a; __device__ s(int x) : a{x} { int unused; } };
            int main() { int x = 1; k<<<1, 1>>>(nullptr); WARNED }
        """)
        words = ("-Xcompiler", "-Wall,-Wextra,-Werror")
        made = self.run_program("cc", "-c", name, *words, "-DWARNED=return x;")
        self.assertEqual((made.returncode, made.stderr), (0, ""))
        made = self.run_program("cc", "-c", name, *words, "-DWARNED=")
        self.assertIn("warned.cu:5:", made.stderr)
        self.assertIn("unused variable 'x'", made.stderr.replace("‘", "'").replace("’", "'"))
        self.assertEqual(made.returncode, 1)


if __name__ == "__main__":
    script.main()
