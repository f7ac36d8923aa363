// What `cornerturn cc` makes of nvcc's command line.
#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <vector>

#include "cornerturn/error.hpp"
#include "emulate/compile.hpp"
#include "rewritten.hpp"

using namespace cornerturn;
using namespace cornerturn::emulate;

namespace {

using words = std::vector<std::string>;
using product = compilation::product;

compilation of(const words& all) { return compilation::from_words(all); }

std::string refusal(const words& all) {
    try {
        of(all);
    } catch (const invalid_argument& e) {
        return e.what();
    }
    return "";
}

const words kStandard{"-std=gnu++17"};
words with_standard(words flags) {
    flags.push_back(kStandard[0]);
    return flags;
}

TEST(nvcc_words, files) {
    const compilation all =
        of({"a.cu", "dir.x/b.cpp", "c.o", "d.cc", "libe.a", "f.so", "/lib/g.so.12", "h.c", "i.cxx", "j.C"});
    EXPECT_EQ(all.sources, (words{"a.cu", "dir.x/b.cpp", "d.cc", "h.c", "i.cxx", "j.C"}));
    EXPECT_EQ(all.objects, (words{"c.o", "libe.a", "f.so", "/lib/g.so.12"}));
    EXPECT_EQ(all.flags, kStandard);
    EXPECT_EQ(all.host_flags, words{});
    EXPECT_EQ(all.link_flags, words{});
    EXPECT_EQ(all.output, "");
    EXPECT_EQ(all.makes, product::program);
    EXPECT_FALSE(all.relocatable);
    EXPECT_FALSE(all.says);
}

TEST(nvcc_words, that_say_what_is_made) {
    const std::pair<const char*, product> all_words[] = {{"-c", product::objects},
                                                         {"--compile", product::objects},
                                                         {"-dc", product::objects},
                                                         {"--device-c", product::objects},
                                                         {"-dw", product::objects},
                                                         {"--device-w", product::objects},
                                                         {"-E", product::text},
                                                         {"--preprocess", product::text},
                                                         {"-M", product::dependencies},
                                                         {"-MM", product::dependencies},
                                                         {"--generate-dependencies", product::dependencies},
                                                         {"-lib", product::archive},
                                                         {"--lib", product::archive},
                                                         {"-dlink", product::device_link},
                                                         {"--device-link", product::device_link},
                                                         {"-link", product::program}};
    for (const auto& [word, makes] : all_words) {
        EXPECT_EQ(of({word, "a.cu"}).makes, makes) << word;
        EXPECT_EQ(of({"a.cu", word}).relocatable, std::string(word) == "-dc" || std::string(word) == "--device-c");
    }
    for (const words& all : {words{"-rdc=true"}, {"-rdc", "true"}, {"--relocatable-device-code=true"}}) {
        EXPECT_TRUE(of(all).relocatable) << all[0];
        EXPECT_EQ(of(all).makes, product::program) << all[0];
    }
    EXPECT_FALSE(of({"-rdc=true", "-rdc=false"}).relocatable);
    for (const char* const word : {"-v", "--verbose"}) EXPECT_TRUE(of({word}).says) << word;
    EXPECT_EQ(of({"-MD", "-MT", "a.o", "-MF", "a.d", "-MP"}).dependency_flags,
              (words{"-MD", "-MT", "a.o", "-MF", "a.d", "-MP"}));
    EXPECT_EQ(of({"--generate-nonsystem-dependencies-with-compile", "--dependency-output=a.d",
                  "--dependency-target-name", "a.o", "--generate-dependency-targets", "-MM"})
                  .dependency_flags,
              (words{"-MMD", "-MF", "a.d", "-MT", "a.o", "-MP", "-MM"}));
    for (const words& all : {words{"-odir", "x"}, {"-odir=x"}, {"--output-directory", "x"}, {"--output-directory=x"}})
        EXPECT_EQ(of(all).output_folder, "x") << all[0];
}

TEST(nvcc_words, of_the_language) {
    EXPECT_TRUE(of({"a.cu"}).is_cuda("a.cu"));
    EXPECT_FALSE(of({"a.cpp"}).is_cuda("a.cpp"));
    for (const words& all : {words{"a.cpp", "b.cuh", "c.o", "-x", "cu"}, {"-xcu", "a.cpp", "b.cuh", "c.o"}}) {
        const compilation found = of(all);
        EXPECT_EQ(found.sources, (words{"a.cpp", "b.cuh"}));
        EXPECT_EQ(found.objects, words{"c.o"});
        EXPECT_TRUE(found.is_cuda("a.cpp"));
        EXPECT_TRUE(found.is_cuda("b.cuh"));
    }
    EXPECT_FALSE(of({"-x", "c++", "a.cu"}).is_cuda("a.cu"));
    EXPECT_EQ(refusal({"-x", "f77"}), "-x f77: the languages are c, c++ and cu");
}

// What nvcc's documentation gives a value: it is never a file.
TEST(nvcc_words, whose_value_is_no_file) {
    for (const char* const name : {"-o",
                                   "--output-file",
                                   "-include",
                                   "--pre-include",
                                   "-l",
                                   "--library",
                                   "-D",
                                   "--define-macro",
                                   "-U",
                                   "--undefine-macro",
                                   "-I",
                                   "--include-path",
                                   "-isystem",
                                   "--system-include",
                                   "-L",
                                   "--library-path",
                                   "-odir",
                                   "--output-directory",
                                   "-ccbin",
                                   "--compiler-bindir",
                                   "-arbin",
                                   "--archiver-binary",
                                   "-cudart",
                                   "--cudart",
                                   "-cudadevrt",
                                   "--cudadevrt",
                                   "-ldir",
                                   "--libdevice-directory",
                                   "-target-dir",
                                   "--target-directory",
                                   "-opt-info",
                                   "--optimization-info",
                                   "-O",
                                   "--optimize",
                                   "-Ofc",
                                   "--Ofast-compile",
                                   "-dopt",
                                   "--dopt",
                                   "-ftemplate-backtrace-limit",
                                   "--ftemplate-backtrace-limit",
                                   "-ftemplate-depth",
                                   "--ftemplate-depth",
                                   "-std",
                                   "--std",
                                   "-m",
                                   "--machine",
                                   "-Xlinker",
                                   "--linker-options",
                                   "-Xarchive",
                                   "--archive-options",
                                   "-Xptxas",
                                   "--ptxas-options",
                                   "-Xnvlink",
                                   "--nvlink-options",
                                   "-static-global-template-stub",
                                   "--static-global-template-stub",
                                   "-device-entity-has-hidden-visibility",
                                   "-t",
                                   "--threads",
                                   "-split-compile",
                                   "--split-compile",
                                   "-split-compile-extended",
                                   "--split-compile-extended",
                                   "-fdevice-time-trace",
                                   "--fdevice-time-trace",
                                   "-keep-dir",
                                   "--keep-dir",
                                   "-time",
                                   "--time",
                                   "-idp",
                                   "--input-drive-prefix",
                                   "-ddp",
                                   "--dependency-drive-prefix",
                                   "-dp",
                                   "--drive-prefix",
                                   "-MT",
                                   "--dependency-target-name",
                                   "-MF",
                                   "--dependency-output",
                                   "-arch",
                                   "--gpu-architecture",
                                   "-code",
                                   "--gpu-code",
                                   "-gencode",
                                   "--generate-code",
                                   "-rdc",
                                   "--relocatable-device-code",
                                   "-e",
                                   "--entries",
                                   "-maxrregcount",
                                   "--maxrregcount",
                                   "-ftz",
                                   "--ftz",
                                   "-prec-div",
                                   "--prec-div",
                                   "-prec-sqrt",
                                   "--prec-sqrt",
                                   "-fmad",
                                   "--fmad",
                                   "-default-stream",
                                   "--default-stream",
                                   "-qpp-config",
                                   "--qpp-config",
                                   "-diag-error",
                                   "--diag-error",
                                   "-diag-suppress",
                                   "--diag-suppress",
                                   "-diag-warn",
                                   "--diag-warn",
                                   "-hls",
                                   "--host-linker-script",
                                   "-brief-diag",
                                   "--brief-diagnostics",
                                   "-jtd",
                                   "--jump-table-density",
                                   "-device-stack-protector",
                                   "--device-stack-protector",
                                   "-compress-mode",
                                   "--compress-mode",
                                   "-frandom-seed",
                                   "--frandom-seed",
                                   "-sanitize",
                                   "--sanitize",
                                   "-Xcompiler",
                                   "--compiler-options"}) {
        EXPECT_EQ(of({name, "value.cu", "a.cu"}).sources, words{"a.cu"}) << name;
        EXPECT_EQ(refusal({"a.cu", name}), std::string(name) + " needs a value");
    }
    for (const words& all : {words{"-Werror", "all-warnings"},
                             {"-Werror", "reorder,deprecated-declarations"},
                             {"--Werror", "cross-execution-space-call"},
                             {"-Werror=all-warnings"}}) {
        EXPECT_EQ(of(all).sources, words{}) << all[0];
        EXPECT_EQ(of(all).host_flags, words{}) << all[0];
    }
    EXPECT_EQ(of({"-Werror", "a.cu"}).host_flags, words{"-Werror"});
    EXPECT_EQ(of({"-Werror=unused"}).host_flags, words{"-Werror=unused"});
}

TEST(nvcc_words, in_a_file) {
    const tests::folder in;
    const std::string path = in.file("options.txt");
    std::ofstream(path) << "-DX='a b'  -c\n-I=inc a.cu\n";
    const compilation found = of({"-optf", path, "b.cu", "--options-file=" + path});
    EXPECT_EQ(found.sources, (words{"a.cu", "b.cu", "a.cu"}));
    EXPECT_EQ(found.flags, with_standard({"-DX=a b", "-Iinc", "-DX=a b", "-Iinc"}));
    EXPECT_EQ(found.makes, product::objects);
    EXPECT_EQ(refusal({"-optf", "absent.txt"}), "absent.txt: no such file of options");
}

// Each of nvcc's ways to give a value: "-Ix", "-I x", "-I=x", "--include-path x" and "--include-path=x".
TEST(nvcc_words, values_in_all_their_places) {
    const auto ways = [](const std::string& name, const std::string& long_name, const std::string& value) {
        return std::vector<words>{
            {name + value}, {name, value}, {name + "=" + value}, {long_name, value}, {long_name + "=" + value}};
    };
    for (const words& all : ways("-o", "--output-file", "out")) {
        EXPECT_EQ(of(all).output, "out") << all[0];
        EXPECT_EQ(of(all).sources, words{}) << all[0];
    }
    for (const words& all : ways("-D", "--define-macro", "X=f(1,2)"))
        EXPECT_EQ(of(all).flags, with_standard({"-DX=f(1,2)"})) << all[0];
    for (const words& all : ways("-U", "--undefine-macro", "X"))
        EXPECT_EQ(of(all).flags, with_standard({"-UX"})) << all[0];
    for (const words& all : ways("-I", "--include-path", "a,b c"))
        EXPECT_EQ(of(all).flags, with_standard({"-Ia", "-Ib c"})) << all[0];
    for (const words& all : ways("-L", "--library-path", "a,b"))
        EXPECT_EQ(of(all).link_flags, (words{"-La", "-Lb"})) << all[0];
    for (const words& all : ways("-l", "--library", "m,cudart,:libx.a"))
        EXPECT_EQ(of(all).link_flags, (words{"-lm", "-l:libx.a"})) << all[0];
    for (const words& all : ways("-O", "--optimize", "3")) EXPECT_EQ(of(all).host_flags, words{"-O3"}) << all[0];
    for (const words& all : {words{"-isystem", "d"}, {"-isystem=d"}, {"--system-include", "d"}, {"--system-include=d"}})
        EXPECT_EQ(of(all).flags, with_standard({"-isystem", "d"})) << all[0];
    for (const words& all : {words{"-include", "d.h"}, {"-include=d.h"}, {"--pre-include", "d.h"}})
        EXPECT_EQ(of(all).flags, with_standard({"-include", "d.h"})) << all[0];
}

TEST(nvcc_words, of_gpu_code_mean_nothing) {
    for (const words& all : {words{"-arch=sm_90"},
                             {"-arch", "sm_90"},
                             {"--gpu-architecture=native"},
                             {"-gencode", "arch=compute_80,code=sm_80"},
                             {"-gencode=arch=compute_80,code=sm_80"},
                             {"--generate-code", "x"},
                             {"-code=sm_90"},
                             {"-Xptxas", "-v,-O3"},
                             {"-Xptxas=-v"},
                             {"--ptxas-options=-v"},
                             {"-maxrregcount", "32"},
                             {"-maxrregcount=32"},
                             {"-t", "4"},
                             {"-t=4"},
                             {"--threads", "0"},
                             {"-ccbin", "g++-12"},
                             {"-cudart=static"},
                             {"-Xcudafe", "--diag_suppress=20012"},
                             {"-t8"},
                             {"-allow-unsupported-compiler"},
                             {"--default-stream", "per-thread"},
                             {"-keep-dir", "x"},
                             {"--Ofast-compile=max"},
                             {"-dlto"},
                             {"-ewp"},
                             {"--save-temps"},
                             {"-fmad=false"},
                             {"-fmad", "false"},
                             {"--fmad=true"},
                             {"-ftz", "true"},
                             {"-prec-div=false"},
                             {"--prec-sqrt", "true"},
                             {"-lineinfo"},
                             {"-G"},
                             {"--expt-relaxed-constexpr"},
                             {"-expt-extended-lambda"},
                             {"--extended-lambda"},
                             {"-restrict"},
                             {"-m64"},
                             {"-Wno-deprecated-gpu-targets"},
                             {"-keep"},
                             {"-diag-suppress=177"}}) {
        const compilation found = of(all);
        EXPECT_EQ(found.flags, kStandard) << all[0];
        EXPECT_EQ(found.host_flags, words{}) << all[0];
        EXPECT_EQ(found.link_flags, words{}) << all[0];
        EXPECT_EQ(found.sources, words{}) << all[0];
    }
    for (const char* const word : {"-use_fast_math", "--use_fast_math"})
        EXPECT_EQ(of({word}).flags, with_standard({"-D__FAST_MATH__"})) << word;
}

TEST(nvcc_words, of_the_standard) {
    const auto standard = [](const words& all) {
        const words flags = of(all).flags;
        EXPECT_EQ(flags.size(), 1u);
        return flags.back();
    };
    for (const char* const older : {"c++98", "c++03", "c++11", "c++14", "c++17", "gnu++11", "gnu++17"}) {
        EXPECT_EQ(standard({std::string("-std=") + older}), "-std=gnu++17");
        EXPECT_EQ(standard({std::string("--std=") + older}), "-std=gnu++17");
    }
    EXPECT_EQ(standard({"-std", "c++20"}), "-std=gnu++20");
    EXPECT_EQ(standard({"--std", "c++23"}), "-std=gnu++23");
    EXPECT_EQ(standard({"-std=c++20", "-std=c++17"}), "-std=gnu++17");
    EXPECT_EQ(standard({"-Xcompiler", "-std=c++20"}), "-std=gnu++20");
}

TEST(nvcc_words, for_the_compiler_and_the_linker) {
    const compilation all =
        of({"-Xcompiler", "-Wall,-O3", "--compiler-options=-fPIC", "-Xcompiler=-Wextra -march=native", "-Xcompiler",
            "-DX=1,-Iinc", "-Xcompiler", "'-DY=\"a,b\"'", "-Xcompiler", "-DZ=\\\"q\\\"", "-Xcompiler",
            "-Wl\\,-rpath\\,/x", "-Xcompiler", "-pthread,,", "-Xlinker", "-rpath,/y", "--linker-options=--as-needed"});
    EXPECT_EQ(all.host_flags, (words{"-Wall", "-O3", "-fPIC", "-Wextra", "-march=native", "-pthread"}));
    EXPECT_EQ(all.flags, with_standard({"-DX=1", "-Iinc", "-DY=\"a,b\"", "-DZ=\"q\""}));
    EXPECT_EQ(all.link_flags, (words{"-Wl,-rpath,/x", "-Wl,-rpath", "-Wl,/y", "-Wl,--as-needed"}));
}

TEST(nvcc_words, that_are_others_go_to_the_compiler) {
    const compilation all = of({"-g", "-w", "-Wall", "-fopenmp", "-march=native", "-fno-such-word", "-static",
                                "--Wreorder", "--debug", "-noeh"});
    EXPECT_EQ(all.host_flags, (words{"-g", "-w", "-Wall", "-fopenmp", "-march=native", "-fno-such-word", "-Wreorder",
                                     "-g", "-fno-exceptions"}));
    EXPECT_EQ(all.link_flags, words{"-static"});  // beside the host's
}

TEST(nvcc_words, of_libraries_that_the_emulator_is) {
    for (const char* const name : {"cudart", "cudart_static", "cuda", "cublas", "cublasLt", "curand", "curand_static",
                                   "cufft", "cufft_static", "cufftw", "cusparse", "cusparse_static", "cusolver",
                                   "cusolver_static", "nvrtc", "nvrtc_static", "nvToolsExt", "nccl", "nccl_static"}) {
        const std::string library = name;
        for (const words& all :
             {words{"-l" + library}, {"-l", library}, {"--library=" + library}, {"-lm", "-Xcompiler", "-l" + library}})
            EXPECT_EQ(of(all).link_flags, all[0] == "-lm" ? words{"-lm"} : words{}) << library;
    }
    EXPECT_EQ(of({"-lm", "-lcudartx"}).link_flags, (words{"-lm", "-lcudartx"}));
}

TEST(nvcc_words, refused) {
    for (const char* const word : {"a.txt", "true", "", "cu", "a.cuh"})
        EXPECT_EQ(refusal({word}),
                  std::string("'") + word + "' is neither a source (.cu, .cpp, .cc, .c) nor an object (.o, .a, .so)");
    for (const char* const word :
         {"-o", "-I", "-D", "-arch", "--output-file", "-Xcompiler", "-rdc", "-MF", "-std", "-l", "-x"})
        EXPECT_EQ(refusal({"a.cu", word}), std::string(word) + " needs a value");
    for (const char* const word : {"-ptx", "--ptx", "-cubin", "--fatbin", "-optix-ir", "-ltoir", "-cuda"})
        EXPECT_EQ(refusal({word, "a.cu"}),
                  std::string(word) + ": no code for a GPU is made here: compile with -c, or to a program");
    for (const words& all : {words{"-shared"}, {"--shared"}, {"-Xcompiler", "-shared"}})
        EXPECT_NE(refusal(all).find("shared: kernels cannot be in a shared library here"), std::string::npos) << all[0];
    EXPECT_EQ(refusal({"-Xcompiler", "-fsanitize=thread"}),
              "-fsanitize=thread: the emulator uses the same calls that g++ inserts for it");
    for (const char* const word : {"-run", "--run-args", "--dryrun", "-clean", "-r", "--list-gpu-arch"})
        EXPECT_EQ(refusal({word}).rfind(std::string(word) + ": ", 0), 0u) << word;
}

}  // namespace
