// `cornerturn cc` translates nvcc's command line.
#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <vector>

#include "cornerturn/error.hpp"
#include "emulate/compile.hpp"
#include "message.hpp"
#include "rewritten.hpp"

using namespace cornerturn;
using namespace cornerturn::emulate;

namespace {

using strings = std::vector<std::string>;
using output_kind = compilation::output_kind;

compilation of(const strings& all) { return compilation::from_arguments(all); }

std::string refusal(const strings& all) {
    try {
        of(all);
    } catch (const invalid_argument& e) {
        return e.what();
    }
    return "";
}

const strings kStandard{"-std=gnu++17"};
strings with_standard(strings flags) {
    flags.push_back(kStandard[0]);
    return flags;
}

TEST(nvcc_options, sources_and_objects) {
    const compilation all =
        of({"a.cu", "dir.x/b.cpp", "c.o", "d.cc", "libe.a", "f.so", "/lib/g.so.12", "h.c", "i.cxx", "j.C"});
    EXPECT_EQ(all.sources, (strings{"a.cu", "dir.x/b.cpp", "d.cc", "h.c", "i.cxx", "j.C"}));
    EXPECT_EQ(all.objects, (strings{"c.o", "libe.a", "f.so", "/lib/g.so.12"}));
    EXPECT_EQ(all.flags, kStandard);
    EXPECT_EQ(all.host_flags, strings{});
    EXPECT_EQ(all.link_flags, strings{});
    EXPECT_EQ(all.output, "");
    EXPECT_EQ(all.makes, output_kind::program);
    EXPECT_FALSE(all.relocatable);
    EXPECT_FALSE(all.verbose);
}

TEST(nvcc_options, choose_the_output) {
    const std::pair<const char*, output_kind> kinds[] = {{"-c", output_kind::objects},
                                                         {"--compile", output_kind::objects},
                                                         {"-dc", output_kind::objects},
                                                         {"--device-c", output_kind::objects},
                                                         {"-dw", output_kind::objects},
                                                         {"--device-w", output_kind::objects},
                                                         {"-E", output_kind::text},
                                                         {"--preprocess", output_kind::text},
                                                         {"-M", output_kind::dependencies},
                                                         {"-MM", output_kind::dependencies},
                                                         {"--generate-dependencies", output_kind::dependencies},
                                                         {"-lib", output_kind::archive},
                                                         {"--lib", output_kind::archive},
                                                         {"-dlink", output_kind::device_link},
                                                         {"--device-link", output_kind::device_link},
                                                         {"-link", output_kind::program}};
    for (const auto& [option, makes] : kinds) {
        EXPECT_EQ(of({option, "a.cu"}).makes, makes) << option;
        EXPECT_EQ(of({"a.cu", option}).relocatable,
                  std::string(option) == "-dc" || std::string(option) == "--device-c");
    }
    for (const strings& all : {strings{"-rdc=true"}, {"-rdc", "true"}, {"--relocatable-device-code=true"}}) {
        EXPECT_TRUE(of(all).relocatable) << all[0];
        EXPECT_EQ(of(all).makes, output_kind::program) << all[0];
    }
    EXPECT_FALSE(of({"-rdc=true", "-rdc=false"}).relocatable);
    for (const char* const option : {"-v", "--verbose"}) EXPECT_TRUE(of({option}).verbose) << option;
    EXPECT_EQ(of({"-MD", "-MT", "a.o", "-MF", "a.d", "-MP"}).dependency_flags,
              (strings{"-MD", "-MT", "a.o", "-MF", "a.d", "-MP"}));
    EXPECT_EQ(of({"--generate-nonsystem-dependencies-with-compile", "--dependency-output=a.d",
                  "--dependency-target-name", "a.o", "--generate-dependency-targets", "-MM"})
                  .dependency_flags,
              (strings{"-MMD", "-MF", "a.d", "-MT", "a.o", "-MP", "-MM"}));
    for (const strings& all :
         {strings{"-odir", "x"}, {"-odir=x"}, {"--output-directory", "x"}, {"--output-directory=x"}})
        EXPECT_EQ(of(all).output_folder, "x") << all[0];
}

TEST(nvcc_options, choose_the_language) {
    EXPECT_TRUE(of({"a.cu"}).is_cuda("a.cu"));
    EXPECT_FALSE(of({"a.cpp"}).is_cuda("a.cpp"));
    for (const strings& all : {strings{"a.cpp", "b.cuh", "c.o", "-x", "cu"}, {"-xcu", "a.cpp", "b.cuh", "c.o"}}) {
        const compilation found = of(all);
        EXPECT_EQ(found.sources, (strings{"a.cpp", "b.cuh"}));
        EXPECT_EQ(found.objects, strings{"c.o"});
        EXPECT_TRUE(found.is_cuda("a.cpp"));
        EXPECT_TRUE(found.is_cuda("b.cuh"));
    }
    EXPECT_FALSE(of({"-x", "c++", "a.cu"}).is_cuda("a.cu"));
    EXPECT_NAMES(refusal({"-x", "f77"}), "-x", "f77", "c", "c++", "cu");
}

// The value of an option that nvcc documents with a value is never a source file.
TEST(nvcc_options, values_are_not_files) {
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
        EXPECT_EQ(of({name, "value.cu", "a.cu"}).sources, strings{"a.cu"}) << name;
        EXPECT_NAMES(refusal({"a.cu", name}), name);
    }
    for (const strings& all : {strings{"-Werror", "all-warnings"},
                               {"-Werror", "reorder,deprecated-declarations"},
                               {"--Werror", "cross-execution-space-call"},
                               {"-Werror=all-warnings"}}) {
        EXPECT_EQ(of(all).sources, strings{}) << all[0];
        EXPECT_EQ(of(all).host_flags, strings{}) << all[0];
    }
    EXPECT_EQ(of({"-Werror", "a.cu"}).host_flags, strings{"-Werror"});
    EXPECT_EQ(of({"-Werror=unused"}).host_flags, strings{"-Werror=unused"});
}

TEST(nvcc_options, in_an_options_file) {
    const tests::folder in;
    const std::string path = in.file("options.txt");
    std::ofstream(path) << "-DX='a b'  -c\n-I=inc a.cu\n";
    const compilation found = of({"-optf", path, "b.cu", "--options-file=" + path});
    EXPECT_EQ(found.sources, (strings{"a.cu", "b.cu", "a.cu"}));
    EXPECT_EQ(found.flags, with_standard({"-DX=a b", "-Iinc", "-DX=a b", "-Iinc"}));
    EXPECT_EQ(found.makes, output_kind::objects);
    EXPECT_NAMES(refusal({"-optf", "absent.txt"}), "absent.txt");
}

// All forms of a value: "-Ix", "-I x", "-I=x", "--include-path x" and "--include-path=x".
TEST(nvcc_options, values_in_all_forms) {
    const auto forms = [](const std::string& name, const std::string& long_name, const std::string& value) {
        return std::vector<strings>{
            {name + value}, {name, value}, {name + "=" + value}, {long_name, value}, {long_name + "=" + value}};
    };
    for (const strings& all : forms("-o", "--output-file", "out")) {
        EXPECT_EQ(of(all).output, "out") << all[0];
        EXPECT_EQ(of(all).sources, strings{}) << all[0];
    }
    for (const strings& all : forms("-D", "--define-macro", "X=f(1,2)"))
        EXPECT_EQ(of(all).flags, with_standard({"-DX=f(1,2)"})) << all[0];
    for (const strings& all : forms("-U", "--undefine-macro", "X"))
        EXPECT_EQ(of(all).flags, with_standard({"-UX"})) << all[0];
    for (const strings& all : forms("-I", "--include-path", "a,b c"))
        EXPECT_EQ(of(all).flags, with_standard({"-Ia", "-Ib c"})) << all[0];
    for (const strings& all : forms("-L", "--library-path", "a,b"))
        EXPECT_EQ(of(all).link_flags, (strings{"-La", "-Lb"})) << all[0];
    for (const strings& all : forms("-l", "--library", "m,cudart,:libx.a"))
        EXPECT_EQ(of(all).link_flags, (strings{"-lm", "-l:libx.a"})) << all[0];
    for (const strings& all : forms("-O", "--optimize", "3")) EXPECT_EQ(of(all).host_flags, strings{"-O3"}) << all[0];
    for (const strings& all :
         {strings{"-isystem", "d"}, {"-isystem=d"}, {"--system-include", "d"}, {"--system-include=d"}})
        EXPECT_EQ(of(all).flags, with_standard({"-isystem", "d"})) << all[0];
    for (const strings& all : {strings{"-include", "d.h"}, {"-include=d.h"}, {"--pre-include", "d.h"}})
        EXPECT_EQ(of(all).flags, with_standard({"-include", "d.h"})) << all[0];
}

TEST(nvcc_options, of_gpu_code_are_ignored) {
    for (const strings& all : {strings{"-arch=sm_90"},
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
        EXPECT_EQ(found.host_flags, strings{}) << all[0];
        EXPECT_EQ(found.link_flags, strings{}) << all[0];
        EXPECT_EQ(found.sources, strings{}) << all[0];
    }
    for (const char* const option : {"-use_fast_math", "--use_fast_math"})
        EXPECT_EQ(of({option}).flags, with_standard({"-D__FAST_MATH__"})) << option;
}

TEST(nvcc_options, choose_the_standard) {
    const auto standard = [](const strings& all) {
        const strings flags = of(all).flags;
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

TEST(nvcc_options, pass_options_to_the_compiler_and_the_linker) {
    const compilation all =
        of({"-Xcompiler", "-Wall,-O3", "--compiler-options=-fPIC", "-Xcompiler=-Wextra -march=native", "-Xcompiler",
            "-DX=1,-Iinc", "-Xcompiler", "'-DY=\"a,b\"'", "-Xcompiler", "-DZ=\\\"q\\\"", "-Xcompiler",
            "-Wl\\,-rpath\\,/x", "-Xcompiler", "-pthread,,", "-Xlinker", "-rpath,/y", "--linker-options=--as-needed"});
    EXPECT_EQ(all.host_flags, (strings{"-Wall", "-O3", "-fPIC", "-Wextra", "-march=native", "-pthread"}));
    EXPECT_EQ(all.flags, with_standard({"-DX=1", "-Iinc", "-DY=\"a,b\"", "-DZ=\"q\""}));
    EXPECT_EQ(all.link_flags, (strings{"-Wl,-rpath,/x", "-Wl,-rpath", "-Wl,/y", "-Wl,--as-needed"}));
}

TEST(nvcc_options, unknown_ones_go_to_the_compiler) {
    const compilation all = of({"-g", "-w", "-Wall", "-fopenmp", "-march=native", "-fno-such-word", "-static",
                                "--Wreorder", "--debug", "-noeh"});
    EXPECT_EQ(all.host_flags, (strings{"-g", "-w", "-Wall", "-fopenmp", "-march=native", "-fno-such-word", "-Wreorder",
                                       "-g", "-fno-exceptions"}));
    EXPECT_EQ(all.link_flags, strings{"-static"});  // the linker also gets host_flags
}

TEST(nvcc_options, of_libraries_that_the_emulator_replaces) {
    for (const char* const name : {"cudart", "cudart_static", "cuda", "cublas", "cublasLt", "curand", "curand_static",
                                   "cufft", "cufft_static", "cufftw", "cusparse", "cusparse_static", "cusolver",
                                   "cusolver_static", "nvrtc", "nvrtc_static", "nvToolsExt", "nccl", "nccl_static"}) {
        const std::string library = name;
        for (const strings& all : {strings{"-l" + library},
                                   {"-l", library},
                                   {"--library=" + library},
                                   {"-lm", "-Xcompiler", "-l" + library}})
            EXPECT_EQ(of(all).link_flags, all[0] == "-lm" ? strings{"-lm"} : strings{}) << library;
    }
    EXPECT_EQ(of({"-lm", "-lcudartx"}).link_flags, (strings{"-lm", "-lcudartx"}));
}

TEST(nvcc_options, refused) {
    for (const char* const file : {"a.txt", "true", "", "cu", "a.cuh"})
        EXPECT_NAMES(refusal({file}), "'" + std::string(file) + "'", ".cu", ".cpp", ".cc", ".c", ".o", ".a", ".so");
    for (const char* const option :
         {"-o", "-I", "-D", "-arch", "--output-file", "-Xcompiler", "-rdc", "-MF", "-std", "-l", "-x"})
        EXPECT_NAMES(refusal({"a.cu", option}), option);
    for (const char* const option : {"-ptx", "--ptx", "-cubin", "--fatbin", "-optix-ir", "-ltoir", "-cuda"})
        EXPECT_NAMES(refusal({option, "a.cu"}), option, "-c");
    for (const strings& all : {strings{"-shared"}, {"--shared"}, {"-Xcompiler", "-shared"}})
        EXPECT_NAMES(refusal(all), all.back(), "-lib");
    EXPECT_NAMES(refusal({"-Xcompiler", "-fsanitize=thread"}), "-fsanitize=thread");
    for (const char* const option : {"-run", "--run-args"})
        EXPECT_NAMES(refusal({option}), option, "cornerturn emulate");
    EXPECT_NAMES(refusal({"--dryrun"}), "--dryrun", "-v");
    EXPECT_NAMES(refusal({"-r"}), "-r", "-lib");
    for (const char* const option : {"-clean", "--list-gpu-arch"}) EXPECT_NAMES(refusal({option}), option);
}

}  // namespace
