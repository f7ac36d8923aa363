"""cornerturn cc, and how cornerturn emulate compiles: what nvcc's words do, which headers are found, and what is kept."""

import subprocess
from pathlib import Path

import script
from emulate_test import CORNERTURN, Emulate


class Compiler(Emulate):
    def test_its_own_lines_are_shown(self):
        name = self.write("wrong.cu", "__global__ void k() {}\nint main() { k<<<1, 1>>>(3); }\n")
        found = self.run_program("emulate", name)
        self.assertEqual((found.returncode, found.stdout), (1, ""))
        self.assertIn("wrong.cu:2:", found.stderr)
        self.assertIn("cornerturn: wrong.cu does not compile", found.stderr)
        for command in ("emulate", "cc"):
            found = self.run_program(command, name, "absent.cu")
            self.assertEqual((found.returncode, found.stdout, found.stderr), (1, "", "cornerturn: absent.cu: no such file\n"))
        found = self.run_program("emulate")
        self.assertEqual(found.returncode, 2)

    def test_without_a_compiler_says_so(self):
        name = self.write("one.cu", "int main() {}\n")
        found = self.run_program("emulate", name, environment={"PATH": str(self.folder)})
        self.assertEqual(found.returncode, 1)
        self.assertIn("g++ cannot be run", found.stderr)

    def test_several_files_as_a_makefile_compiles_them(self):
        self.write("kernel.cuh", "__device__ int twice(int x);\nextern __constant__ int offset;\nvoid launch(int* out);\n")
        self.write("kernel.cu", """
            #include "kernel.cuh"
            static __global__ void k(int* out) { out[threadIdx.x] = twice(threadIdx.x) + offset; }
            void launch(int* out) { k<<<1, 32>>>(out); }
        """)
        self.write("device.cu", '#include "kernel.cuh"\n__constant__ int offset = 5;\n__device__ int twice(int x) { return 2 * x; }\n')
        self.write("main.cpp", """
            #include <cuda_runtime.h>
            #include <cstdio>
            void launch(int* out);
            int main() {
                int *p, h[32];
                cudaMalloc(&p, sizeof h);
                launch(p);
                cudaMemcpy(h, p, sizeof h, cudaMemcpyDeviceToHost);
                printf("%d %d\\n", h[0], h[31]);
            }
        """)
        for words in (["-arch=sm_90", "-O3", "-dc", "kernel.cu", "-o", "kernel.o"], ["-arch=sm_90", "-O3", "-dc", "device.cu"],
                      ["-O2", "-c", "main.cpp"], ["-o", "program", "main.o", "kernel.o", "device.o", "-lcudart"]):
            made = self.run_program("cc", *words)
            self.assertEqual((made.returncode, made.stdout), (0, ""), made.stderr)
        found = self.run_program("emulate", "./program", "--budget", "k: load.requests == 0, store.requests == 1")
        self.assertEqual((found.returncode, found.stdout.splitlines()[0]), (0, "5 67"), found.stderr)

    def test_files_may_have_kernels_and_variables_of_one_name(self):
        for name, value in (("a", 1), ("b", 2)):
            self.write(f"{name}.cu", f"""
                static __device__ int value = {value};
                static __global__ void k(int* out) {{ *out = value; }}
                void launch_{name}(int* out) {{ k<<<1, 1>>>(out); }}
            """)
        self.write("main.cu", """
            #include <cstdio>
            void launch_a(int*); void launch_b(int*);
            int main() {
                int* p; cudaMallocManaged(&p, 8);
                launch_a(p); launch_b(p + 1);
                cudaDeviceSynchronize();
                printf("%d %d\\n", p[0], p[1]);
            }
        """)
        found = self.run_program("emulate", "main.cu", "a.cu", "b.cu")
        self.assertEqual((found.returncode, found.stdout.splitlines()[0]), (0, "1 2"), found.stderr)

    def test_a_toolkits_headers_lie_behind_ours(self):
        """A Makefile, or CPATH, names the toolkit's folder: ours are found first, and what else lies there is found."""
        for folder in ("toolkit", "other toolkit"):
            (self.folder / folder).mkdir()
            for header in ("cuda_runtime.h", "cuda_fp16.h"):
                self.write(f"{folder}/{header}", "#error not this one\n")
        self.write("toolkit/helper_cuda.h", "inline int helped() { return 4; }\n")
        self.write("own.h", "inline int own() { return 3; }\n")
        name = self.write("one.cu", """
            #include <cuda_runtime.h>
            #include <cuda_fp16.h>
            #include <helper_cuda.h>
            #include <own.h>
            #ifdef CCCL
            #include <cuda/atomic>
            #include <helper_cccl.h>
            #endif
            int main() { return helped() + own(); }
        """)
        # CUDA 13 has CCCL in a folder of its own below, and some of ours stand for that.
        (self.folder / "toolkit/cccl/cuda").mkdir(parents=True)
        self.write("toolkit/cccl/cuda/atomic", "#error not this one\n")
        self.write("toolkit/cccl/helper_cccl.h", "")
        for words in (["-Itoolkit"], ["-I", "toolkit", "-I", "other toolkit"], ["-isystem", "toolkit"], ["-Xcompiler", "-Itoolkit"],
                      ["-Itoolkit", "-Itoolkit/cccl", "-DCCCL"], ["-Itoolkit", "-isystem", "toolkit/cccl/", "-DCCCL"]):
            found = self.run_program("emulate", name, "-I.", *words)
            self.assertEqual(found.returncode, 7, (words, found.stderr))
        found = self.run_program("emulate", name, environment={"CPATH": f"other toolkit:{self.folder}/toolkit:."})
        self.assertEqual(found.returncode, 7, found.stderr)

    def test_c_is_compiled_as_c(self):
        """What includes CUDA's headers is C++, as these are."""
        self.write("kernel.cu", '__global__ void k() {}\nextern "C" int launch(int* values) { k<<<1, 1>>>(); return values[1]; }\n')
        self.write("main.c", """
            #include <stdlib.h>
            int launch(int*);
            int api(void);
            int main(void) {
                int* new = malloc(8);
                new[1] = 3;
                return launch(new) + api();
            }
        """)
        self.write("api.c", """
            #include <cuda_runtime_api.h>
            #ifdef __cplusplus
            extern "C"
            #endif
            int api(void) { int count; return cudaGetDeviceCount(&count) == cudaSuccess ? count : 100; }
        """)
        found = self.run_program("emulate", "kernel.cu", "main.c", "api.c", "--budget", "k: launches == 1")
        self.assertEqual((found.returncode, found.stderr), (4, ""))

    def test_what_a_makefile_asks_of_nvcc(self):
        self.write("one.cuh", "#define VALUE 5\n")
        self.write("one.cu", '#include "one.cuh"\n__global__ void k() {}\nint value() { k<<<1, 1>>>(); return VALUE; }\n')
        self.write("main.cpp", "int value();\nint main() { return value(); }\n")
        (self.folder / "made").mkdir()

        def cc(*words):
            made = self.run_program("cc", *words)
            self.assertEqual((made.returncode, made.stderr), (0, ""), words)
            return made.stdout

        self.assertIn("return 5;", cc("-E", "one.cu"))
        self.assertEqual(cc("-E", "one.cu", "-o", "made/one.ii"), "")
        self.assertIn("return 5;", (self.folder / "made/one.ii").read_text())
        self.assertEqual(cc("-MM", "one.cu").split(), ["one.o:", "one.cu", "one.cuh"])
        self.assertEqual(cc("-MM", "-odir", "made", "one.cu").split(), ["made/one.o:", "one.cu", "one.cuh"])
        self.assertIn("cuda_runtime.h", cc("-M", "one.cu"))
        self.assertEqual(cc("-MM", "-MF", "made/list.d", "-MT", "x", "one.cu"), "")
        self.assertEqual((self.folder / "made/list.d").read_text().split(), ["x:", "one.cu", "one.cuh"])
        cc("-c", "-MMD", "-MP", "one.cu", "-o", "made/one.o")
        self.assertEqual((self.folder / "made/one.d").read_text().split(), ["made/one.o:", "one.cu", "one.cuh", "one.cuh:"])
        cc("-dc", "-odir", "made", "main.cpp", "-t", "2", "-keep", "-keep-dir", "made", "-lineinfo", "-ccbin", "g++", "-Werror", "all-warnings")
        cc("-dlink", "made/one.o", "-o", "made/link.o")
        cc("made/one.o", "made/main.o", "made/link.o", "-o", "program", "-allow-unsupported-compiler", "--default-stream", "legacy")
        cc("-lib", "one.cu", "-o", "made/libone.a")
        cc("main.cpp", "-Lmade", "-lone", "-o", "program2")
        (self.folder / "kernel.inl").write_text((self.folder / "one.cu").read_text() + "int main() { return value(); }\n")
        cc("-x", "cu", "kernel.inl", "-o", "program3")
        for program in ("program", "program2", "program3"):
            found = self.run_program("emulate", "./" + program, "--budget", "k: launches == 1")
            self.assertEqual(found.returncode, 5, found.stderr)
        for words in (["-c"], ["-E"], ["-lib"]):
            self.assertEqual(self.run_program("emulate", "one.cu", *words).returncode, 2)

    def test_files_of_dependencies_are_of_one_source(self):
        """As nvcc documents it, where -MF or -o names the file."""
        self.write("one.cu", "int main() {}\n")
        self.write("two.cu", "void two() {}\n")
        for words in (["cc", "-MD", "-o", "program"], ["cc", "-c", "-MMD", "-MF", "all.d"], ["cc", "-M", "-MF", "all.d"], ["emulate", "-MD", "-o", "p"]):
            found = self.run_program(*words, "one.cu", "two.cu")
            self.assertEqual((found.returncode, found.stdout, found.stderr),
                             (2, "", "cornerturn: -MF and -o name one file of dependencies, and there are several sources\n"))
        self.assertEqual(sorted(path.name for path in self.folder.glob("*")), ["one.cu", "two.cu"])
        self.assertEqual(self.run_program("cc", "-MMD", "one.cu", "two.cu").returncode, 0)
        for name in ("one", "two"):
            self.assertEqual((self.folder / f"{name}.d").read_text().split(), [f"{name}.o:", f"{name}.cu"])

    def test_options_of_the_hosts_compiler_are_the_links_too(self):
        name = self.write("options.cu", """
            #include <cstdio>
            template <class T> __global__ void k(T* p) { *p += 5; }
            int main(int count, char**) {
                int *p, *all = new int[count];
                cudaMallocManaged(&p, 4);
                k<<<1, 1>>>(p);
                cudaDeviceSynchronize();
                printf("%d\\n", *p);
                if (count > 1) *const_cast<volatile int*>(all + count) = 1;
                delete[] all;
            }
        """)
        (self.folder / "made").mkdir()
        for options in ("-fsanitize=address", "-fno-pie,-no-pie", "-flto"):
            made = self.run_program("cc", name, "-Xcompiler", options, "-o", "program")
            self.assertEqual((made.returncode, made.stderr), (0, ""), options)
            found = subprocess.run([self.folder / "program"], cwd=self.folder, capture_output=True, text=True, timeout=100)
            self.assertEqual((found.returncode, found.stdout, found.stderr), (0, "5\n", ""), options)
            if options == "-fsanitize=address":
                found = subprocess.run([self.folder / "program", "over"], cwd=self.folder, capture_output=True, text=True, timeout=100)
                self.assertIn("heap-buffer-overflow", found.stderr)
        # What is counted lies beside the object, in the folder that the options name.
        for words in (["-c", name, "-o", "made/options.o", "-Xcompiler", "--coverage"], ["made/options.o", "-Xcompiler", "--coverage", "-o", "program"]):
            made = self.run_program("cc", *words)
            self.assertEqual((made.returncode, made.stderr), (0, ""))
        self.assertEqual(subprocess.run([self.folder / "program"], cwd=self.folder, capture_output=True, text=True, timeout=100).stdout, "5\n")
        self.assertEqual({path.name for path in (self.folder / "made").iterdir()}, {"options.o", "options.gcno", "options.gcda"})

    def test_relocatable_code_has_its_macro(self):
        name = self.write("macro.cu", """
            #ifdef __CUDACC_RDC__
            int macro = 1;
            #else
            int no_macro = 1;
            #endif
        """)
        for words, there in (([], False), (["-rdc=false"], False), (["-rdc=true"], True), (["-dc"], True)):
            text = self.run_program("cc", *words, name, "-E").stdout
            self.assertEqual("int macro" in text, there, words)

    def test_tells_its_version_as_nvcc_does(self):
        alone = Path(CORNERTURN).with_name("cornerturn-cc")
        of_all = self.run_program("cc", "--version").stdout
        self.assertRegex(of_all, r"^cornerturn \d+\.\d+\.\d+, .* release 13\.0, V13\.0\.0\n$")
        for word, text in (("--version", of_all), ("-V", of_all), ("--help", "cornerturn-cc FILE.cu..."), ("-h", "cornerturn-cc FILE.cu...")):
            found = subprocess.run([alone, word], capture_output=True, text=True, timeout=100)
            self.assertEqual((found.returncode, found.stdout[:len(text)], found.stderr), (0, text, ""), word)

    def test_what_is_linked_may_be_made_anew(self):
        """A program is kept as long as all that it is made of is the same, not its names alone."""
        self.write("main.cu", "int value();\nint main() { return value(); }\n")
        (self.folder / "libraries").mkdir()
        for value in (3, 4):
            self.write("value.cpp", f"int value() {{ return {value}; }}\n")
            for words in (["-c", "value.cpp"], ["-lib", "value.cpp", "-o", "libraries/libvalue.a"]):
                self.assertEqual(self.run_program("cc", *words).returncode, 0)
            for words in (["value.o"], ["-Llibraries", "-lvalue"], ["-L", "libraries", "-l:libvalue.a"]):
                self.assertEqual(self.run_program("emulate", "main.cu", *words).returncode, value, words)
        self.assertEqual(len(list((self.folder / "cache").iterdir())), 6)

    def test_keeps_what_it_made(self):
        name = self.write("one.cu", '#include <cstdio>\nint main(int count, char** words) { printf("%d %s\\n", count, words[count - 1]); return 3; }\n')
        for words in (["a", "--b"], ["c"]):
            found = self.run_program("emulate", name, "--", *words)
            self.assertEqual((found.returncode, found.stdout.splitlines()[0]), (3, f"{len(words) + 1} {words[-1]}"), found.stderr)
        self.assertEqual(len(list((self.folder / "cache").iterdir())), 1)
        self.run_program("emulate", name, "-DOTHER")
        self.assertEqual(len(list((self.folder / "cache").iterdir())), 2)


if __name__ == "__main__":
    script.main()
