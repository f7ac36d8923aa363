// What `cornerturn cc` makes of nvcc's command line.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "cornerturn/error.hpp"
#include "emulate/compile.hpp"

using namespace cornerturn;
using namespace cornerturn::emulate;

namespace {

using words = std::vector<std::string>;

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
    EXPECT_TRUE(all.links);
    EXPECT_FALSE(all.relocatable);
    EXPECT_FALSE(all.preprocesses);
    EXPECT_FALSE(all.says);
}

TEST(nvcc_words, that_say_what_is_made) {
    for (const char* const word : {"-c", "--compile"}) EXPECT_FALSE(of({word, "a.cu"}).links) << word;
    for (const char* const word : {"-dc", "--device-c"}) {
        EXPECT_FALSE(of({word, "a.cu"}).links) << word;
        EXPECT_TRUE(of({word, "a.cu"}).relocatable) << word;
    }
    for (const words& all : {words{"-rdc=true"}, {"-rdc", "true"}, {"--relocatable-device-code=true"}}) {
        EXPECT_TRUE(of(all).relocatable) << all[0];
        EXPECT_TRUE(of(all).links) << all[0];
    }
    EXPECT_FALSE(of({"-rdc=true", "-rdc=false"}).relocatable);
    for (const char* const word : {"-E", "--preprocess"}) EXPECT_TRUE(of({word}).preprocesses) << word;
    for (const char* const word : {"-v", "--verbose"}) EXPECT_TRUE(of({word}).says) << word;
    EXPECT_EQ(of({"-MD", "-MT", "a.o", "-MF", "a.d", "-MP"}).dependency_flags,
              (words{"-MD", "-MT", "a.o", "-MF", "a.d", "-MP"}));
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
                             {"-x", "cu"},
                             {"-x=cu"},
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
    EXPECT_EQ(all.link_flags, (words{"-Wl,-rpath,/x", "-pthread", "-Wl,-rpath", "-Wl,/y", "-Wl,--as-needed"}));
}

TEST(nvcc_words, that_are_others_go_to_the_compiler) {
    const compilation all =
        of({"-g", "-w", "-Wall", "-fopenmp", "-march=native", "-fno-such-word", "-shared", "-static"});
    EXPECT_EQ(all.host_flags, (words{"-g", "-w", "-Wall", "-fopenmp", "-march=native", "-fno-such-word"}));
    EXPECT_EQ(all.link_flags, (words{"-fopenmp", "-shared", "-static"}));
}

TEST(nvcc_words, of_libraries_that_the_emulator_is) {
    EXPECT_EQ(of({"-lcudart", "-lcuda", "-lcublas", "-lcublasLt", "-lcurand", "-l", "cudart_static",
                  "--library=nvToolsExt", "-lm", "-lcudartx"})
                  .link_flags,
              (words{"-lm", "-lcudartx"}));
}

TEST(nvcc_words, refused) {
    for (const char* const word : {"a.txt", "true", "", "cu", "a.cuh"})
        EXPECT_EQ(refusal({word}),
                  std::string("'") + word + "' is neither a source (.cu, .cpp, .cc, .c) nor an object (.o, .a, .so)");
    for (const char* const word :
         {"-o", "-I", "-D", "-arch", "--output-file", "-Xcompiler", "-rdc", "-MF", "-std", "-l", "-x"})
        EXPECT_EQ(refusal({"a.cu", word}), std::string(word) + " needs a value");
}

}  // namespace
