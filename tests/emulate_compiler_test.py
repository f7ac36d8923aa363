"""cornerturn cc, and how cornerturn emulate compiles: which options of nvcc work, which headers are found, what is cached."""

import subprocess
from pathlib import Path

import script
from emulate_test import CORNERTURN, Emulate


class Compiler(Emulate, script.NamesValues):
    def refuse(self, code, values, *arguments):
        """Exits with `code` and prints one line, on standard error, which names the values."""
        found = self.run_program(*arguments)
        self.assertEqual((found.returncode, found.stdout, found.stderr.count("\n")), (code, "", 1), found.stderr)
        self.assert_names(found.stderr, "cornerturn", *values)

    def test_errors_name_the_users_lines(self):
        name = self.write("wrong.cu", "__global__ void k() {}\nint main() { k<<<1, 1>>>(3); }\n")
        found = self.run_program("emulate", name)
        self.assertEqual((found.returncode, found.stdout), (1, ""))
        self.assert_names(found.stderr, "wrong.cu:2:")
        self.assert_names(found.stderr.splitlines()[-1], "cornerturn", "wrong.cu")
        for command in ("emulate", "cc"):
            self.refuse(1, ["absent.cu"], command, name, "absent.cu")
        found = self.run_program("emulate")
        self.assertEqual(found.returncode, 2)

    def test_a_missing_compiler_is_named(self):
        name = self.write("one.cu", "int main() {}\n")
        found = self.run_program("emulate", name, environment={"PATH": str(self.folder)})
        self.assertEqual(found.returncode, 1)
        self.assert_names(found.stderr, "cornerturn", "g++")

    def test_separate_compilation(self):
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
        for arguments in (["-arch=sm_90", "-O3", "-dc", "kernel.cu", "-o", "kernel.o"], ["-arch=sm_90", "-O3", "-dc", "device.cu"],
                          ["-O2", "-c", "main.cpp"], ["-o", "program", "main.o", "kernel.o", "device.o", "-lcudart"]):
            made = self.run_program("cc", *arguments)
            self.assertEqual((made.returncode, made.stdout), (0, ""), made.stderr)
        found = self.run_program("emulate", "./program", "--budget", "k: load.requests == 0, store.requests == 1")
        self.assertEqual((found.returncode, found.stdout.splitlines()[0]), (0, "5 67"), found.stderr)

    def test_two_files_may_define_kernels_and_variables_of_the_same_name(self):
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

    def test_our_headers_win_over_a_toolkits(self):
        """A Makefile, or CPATH, names the toolkit's folder. Our headers are found first; the toolkit's other headers are found, too."""
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
        # CUDA 13 has CCCL in the subfolder cccl, and we replace some of its headers.
        (self.folder / "toolkit/cccl/cuda").mkdir(parents=True)
        self.write("toolkit/cccl/cuda/atomic", "#error not this one\n")
        self.write("toolkit/cccl/helper_cccl.h", "")
        for options in (["-Itoolkit"], ["-I", "toolkit", "-I", "other toolkit"], ["-isystem", "toolkit"], ["-Xcompiler", "-Itoolkit"],
                        ["-Itoolkit", "-Itoolkit/cccl", "-DCCCL"], ["-Itoolkit", "-isystem", "toolkit/cccl/", "-DCCCL"]):
            found = self.run_program("emulate", name, "-I.", *options)
            self.assertEqual(found.returncode, 7, (options, found.stderr))
        found = self.run_program("emulate", name, environment={"CPATH": f"other toolkit:{self.folder}/toolkit:."})
        self.assertEqual(found.returncode, 7, found.stderr)

    def test_c_is_compiled_as_c(self):
        """A C file that includes CUDA's headers is compiled as C++, because our headers are C++."""
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

    def test_options_of_makefiles(self):
        self.write("one.cuh", "#define VALUE 5\n")
        self.write("one.cu", '#include "one.cuh"\n__global__ void k() {}\nint value() { k<<<1, 1>>>(); return VALUE; }\n')
        self.write("main.cpp", "int value();\nint main() { return value(); }\n")
        (self.folder / "made").mkdir()

        def cc(*arguments):
            made = self.run_program("cc", *arguments)
            self.assertEqual((made.returncode, made.stderr), (0, ""), arguments)
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
        for option in ("-c", "-E", "-lib"):
            self.assertEqual(self.run_program("emulate", "one.cu", option).returncode, 2)

    def test_a_dependency_file_has_one_source(self):
        """nvcc documents this for -MF and -o."""
        self.write("one.cu", "int main() {}\n")
        self.write("two.cu", "void two() {}\n")
        for command in (["cc", "-MD", "-o", "program"], ["cc", "-c", "-MMD", "-MF", "all.d"], ["cc", "-M", "-MF", "all.d"], ["emulate", "-MD", "-o", "p"]):
            self.refuse(2, ["-MF", "-o"], *command, "one.cu", "two.cu")
        self.assertEqual(sorted(path.name for path in self.folder.glob("*")), ["one.cu", "two.cu"])
        self.assertEqual(self.run_program("cc", "-MMD", "one.cu", "two.cu").returncode, 0)
        for name in ("one", "two"):
            self.assertEqual((self.folder / f"{name}.d").read_text().split(), [f"{name}.o:", f"{name}.cu"])

    def test_options_of_the_host_compiler_reach_the_linker(self):
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
        # g++ writes the coverage files beside the object file.
        for arguments in (["-c", name, "-o", "made/options.o", "-Xcompiler", "--coverage"], ["made/options.o", "-Xcompiler", "--coverage", "-o", "program"]):
            made = self.run_program("cc", *arguments)
            self.assertEqual((made.returncode, made.stderr), (0, ""))
        self.assertEqual(subprocess.run([self.folder / "program"], cwd=self.folder, capture_output=True, text=True, timeout=100).stdout, "5\n")
        self.assertEqual({path.name for path in (self.folder / "made").iterdir()}, {"options.o", "options.gcno", "options.gcda"})

    def test_relocatable_code_defines_its_macro(self):
        name = self.write("macro.cu", """
            #ifdef __CUDACC_RDC__
            int macro = 1;
            #else
            int no_macro = 1;
            #endif
        """)
        for options, defined in (([], False), (["-rdc=false"], False), (["-rdc=true"], True), (["-dc"], True)):
            text = self.run_program("cc", *options, name, "-E").stdout
            self.assertEqual("int macro" in text, defined, options)

    def test_the_version_has_the_format_that_makefiles_parse(self):
        alone = Path(CORNERTURN).with_name("cornerturn-cc")
        of_all = self.run_program("cc", "--version").stdout
        self.assertRegex(of_all, r"^cornerturn \d+\.\d+\.\d+, .* release 13\.0, V13\.0\.0\n$")
        for option, text in (("--version", of_all), ("-V", of_all), ("--help", "cornerturn-cc FILE.cu"), ("-h", "cornerturn-cc FILE.cu")):
            found = subprocess.run([alone, option], capture_output=True, text=True, timeout=100)
            self.assertEqual((found.returncode, found.stdout[:len(text)], found.stderr), (0, text, ""), option)

    def test_the_cache_knows_linked_files_by_their_content(self):
        self.write("main.cu", "int value();\nint main() { return value(); }\n")
        (self.folder / "libraries").mkdir()
        for value in (3, 4):
            self.write("value.cpp", f"int value() {{ return {value}; }}\n")
            for arguments in (["-c", "value.cpp"], ["-lib", "value.cpp", "-o", "libraries/libvalue.a"]):
                self.assertEqual(self.run_program("cc", *arguments).returncode, 0)
            for linked in (["value.o"], ["-Llibraries", "-lvalue"], ["-L", "libraries", "-l:libvalue.a"]):
                self.assertEqual(self.run_program("emulate", "main.cu", *linked).returncode, value, linked)
        self.assertEqual(len(list((self.folder / "cache").iterdir())), 6)

    def test_the_cache_keeps_programs(self):
        name = self.write("one.cu", '#include <cstdio>\nint main(int count, char** arguments) { printf("%d %s\\n", count, arguments[count - 1]); return 3; }\n')
        for arguments in (["a", "--b"], ["c"]):
            found = self.run_program("emulate", name, "--", *arguments)
            self.assertEqual((found.returncode, found.stdout.splitlines()[0]), (3, f"{len(arguments) + 1} {arguments[-1]}"), found.stderr)
        self.assertEqual(len(list((self.folder / "cache").iterdir())), 1)
        self.run_program("emulate", name, "-DOTHER")
        self.assertEqual(len(list((self.folder / "cache").iterdir())), 2)


if __name__ == "__main__":
    script.main()
