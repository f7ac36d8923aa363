// The rewriter finds the code that runs on the device: there, it rewrites launches and assembly differently.
#include <fstream>
#include <string>

#include "emulate/process.hpp"
#include "emulate/rewrite.hpp"
#include "message.hpp"
#include "rewritten.hpp"

using namespace cornerturn::emulate;
using namespace cornerturn::tests;

namespace {

// ---- Launches ----

TEST(launches, in_kernels_keep_their_arguments) {
    const std::string text =
        "__global__ void child(int x) {}\n"
        "__device__ void helper() { child<<<1, 2>>>(3); }\n"
        "__global__ void parent() { ns::of<int><<<4, 5>>>(6); }\n"
        "int main() { child<<<7, 8>>>(9); }\n";
    const std::string device = rewrite(text, pass::device).text, host = rewrite(text, pass::host).text;
    EXPECT_NE(device.find("(::ct_push_launch(1, 2) ? (void)0 : ::ct_launched_by_kernel(child) (3))"), device.npos)
        << device;
    EXPECT_NE(device.find("(::ct_push_launch(4, 5) ? (void)0 : ::ct_launched_by_kernel(ns::of<int>) (6))"), device.npos)
        << device;
    EXPECT_NE(device.find("(::ct_push_launch(7, 8) ? (void)0 : child (9))"), device.npos) << device;
    EXPECT_EQ(host.find("ct_launched_by_kernel"), host.npos) << host;
}

// Launches in each of these functions are launches by kernels. The launch in the host function after it is not.
TEST(launches, in_every_function_of_the_device_are_by_kernels) {
    for (const std::string function : {
             "__device__ void f(int x) { LAUNCH }",
             "__host__ __device__ void f(int x) noexcept(sizeof(int{1}) > 2) { LAUNCH }",
             "template <class T> __device__ auto f(T x) -> decltype(T{x}) { LAUNCH return x; }",
             "template <class T> __device__ void f(T x) requires requires (T t) { t; } && (sizeof(T) > 2) { LAUNCH }",
             "struct base { int a; }; struct s : base { int x, y; "
             "__device__ s(int a) : base{a}, x{a}, y(int{a}) { LAUNCH } };",
             "template <class... B> struct s : B... { int x; template <class T> "
             "__host__ __device__ explicit s(T a) : B{a}..., x{} { LAUNCH } };",
             "template <class T> struct b { T t; }; struct s : b<int[2]> { "
             "__device__ s() noexcept : b<int[(2 > 1) + 1]>{1, 2} { LAUNCH } };",
             "struct s { int x; __device__ s(int a) try : x{a} { LAUNCH } catch (...) {} };",
             "struct s { __device__ s() = default; __device__ ~s() { LAUNCH } };",
             "auto f() { return [=] __device__ (int x) { LAUNCH }; }",
             "auto f() { return [] __device__ { LAUNCH }; }",
             "auto f() { return [=] __host__ __device__ (int x) mutable -> int { LAUNCH return x; }; }",
             "auto f() { return [&] __device__ __host__ (int x) { LAUNCH }; }",
             "auto f() { return [] <class T> __device__ (T x) { LAUNCH }; }",
             "__device__ void f() { [](int x) { LAUNCH }(1); struct { void g() { LAUNCH } } s; }",
         }) {
        std::string text = "__global__ void k(int);\n" + function + "\nvoid host() { LAUNCH }\n";
        int launches = -1;
        for (std::size_t at; (at = text.find("LAUNCH")) != text.npos; ++launches)
            text.replace(at, 6, "k<<<1, 1>>>(1);");
        const std::string device = on_device(text);
        int by_kernels = 0;
        for (std::size_t at = 0; (at = device.find("ct_launched_by_kernel", at)) != device.npos; ++at) ++by_kernels;
        EXPECT_EQ(by_kernels, launches) << device;
        EXPECT_NE(device.find("void host(){(::ct_push_launch(1,1)?(void)0:k(1));}"), device.npos) << device;
        EXPECT_EQ(on_host(text).find("ct_launched_by_kernel"), std::string::npos);
        expect_compiles("template <class F> F* ct_launched_by_kernel(F* f) { return f; }\n" + text);
    }
}

// ---- Warnings ----

// Whether g++ prints no warnings for the host pass, like nvcc's host compiler.
bool is_quiet(const std::string& text) {
    const folder in;
    std::ofstream(in.file("text.ii")) << kTinyEmulator + rewrite(text, pass::host).text;
    std::string errors;
    const int status = run_program({"g++", "-std=gnu++20", "-Wall", "-Wextra", "-Werror", "-Wno-attributes",
                                    "-fpreprocessed", "-c", in.file("text.ii"), "-o", in.file("text.o")},
                                   &errors);
    return status == 0;
}

TEST(warnings, of_the_host_pass_leave_out_device_code) {
    const std::string begin = "# 1 \"a.cu\"\n";
    EXPECT_TRUE(is_quiet(begin + "static __device__ int unused() { return 1; }\nint main() {}\n"));
    EXPECT_TRUE(is_quiet(begin + "__device__ int f() { int unused; auto g = [] { int x; return 1; }; return g(); }\n"));
    EXPECT_TRUE(is_quiet(begin + "__device__ void f() {\n# 9 \"b.h\" 1\nint x;\n# 4 \"a.cu\" 2\nint y;\n}\n"));
    EXPECT_TRUE(is_quiet(begin + "struct s { s() {} };\nauto f() { return [] __device__ { int x; return 1; }; }\n"));
    EXPECT_FALSE(is_quiet(begin + "__device__ void f() {} int g() { int x; return 1; }\n"));
    EXPECT_FALSE(is_quiet(begin + "__host__ __device__ void f() { int x; }\n"));
    EXPECT_FALSE(is_quiet(begin + "static int unused() { return 1; }\n"));
}

TEST(warnings, and_errors_keep_their_lines_and_columns) {
    const folder in;
    const std::string text =
        "# 5 \"a.cu\"\n__device__ int f() { return wrong1; }  int g() { return wrong2; }\nint x = wrong3;\n";
    std::ofstream(in.file("text.ii")) << rewrite(text, pass::host).text;
    std::string errors;
    run_program({"g++", "-fsyntax-only", "-fpreprocessed", in.file("text.ii")}, &errors);
    EXPECT_NAMES(errors, "a.cu:5:29:", "wrong1", "a.cu:5:57:", "wrong2", "a.cu:6:9:", "wrong3");
}

// ---- Assembly ----

TEST(assembly, of_the_device_is_ptx) {
    const auto body = [](const std::string& statement) {
        std::string all = on_device("__global__ void f(){" + statement + ";}");
        const std::size_t begin = all.find("=0;") + 3;  // after the mark
        return all.substr(begin, all.size() - begin - 2);
    };
    EXPECT_EQ(body("asm(\"mov.u32 %0, %laneid;\" : \"=r\"(x))"), "(x)=::ct_lane()");
    EXPECT_EQ(body("asm volatile (\"mov.u32 %0, %%warpid;\" : \"=r\"(a.b[2]))"), "(a.b[2])=::ct_warp()");
    EXPECT_EQ(body("__asm__ __volatile__(\" mov.u64 %0,%clock64;\\n\\t\" : \"=l\"(x) :: \"memory\")"),
              "(x)=::clock64()");
    EXPECT_EQ(body("asm(\"mov.b32 %0, %smid;\"\n :\n\"=r\"(\nx\n))"), "(x)=0u");
    EXPECT_EQ(body("if(a)asm(\"mov.s32 %0, %lanemask_lt;\":\"=r\"(x));else asm(\"mov.u32 %0, %nsmid;\":\"=r\"(x))"),
              "if(a)(x)=((1u<<::ct_lane())-1);else(x)=132u");
    const auto unsupported = [](const std::string& quoted) {
        return normalised("::ct_unsupported(\"inline PTX: asm(" + quoted + ")\")");
    };
    EXPECT_EQ(body("asm(\"mov.u32 %0, %envreg0;\" : \"=r\"(x))"), unsupported(R"(\"mov.u32 %0, %envreg0;\")"));
    EXPECT_EQ(body("asm(\"mov.u32 %1, %laneid;\" : \"=r\"(x), \"=r\"(y))"), unsupported(R"(\"mov.u32 %1, %laneid;\")"));
    EXPECT_EQ(body("for(;;)asm volatile(\"bar.sync 0;\\n\" ::: \"memory\")"),
              "for(;;)" + unsupported(R"(\"bar.sync 0;\\n\")"));
    EXPECT_EQ(body("asm(\"mov.u32 %0, %laneid;\")"), unsupported(R"(\"mov.u32 %0, %laneid;\")"));
    EXPECT_EQ(body("asm(R\"({\n trap;\n})\")"), unsupported(R"(R\"({\n trap;\n})\")"));
}

TEST(assembly, without_a_template_is_a_compiler_barrier) {
    const auto body = [](const std::string& statement) { return on_device("__device__ void f(){" + statement + "}"); };
    EXPECT_NE(body("asm volatile(\"\" ::: \"memory\");").find("{__asm__ volatile(\"\":::\"memory\");}"),
              std::string::npos);
    EXPECT_NE(body("asm(\"\" : \"+f\"(x));").find("{(void)0;}"), std::string::npos);
    EXPECT_NE(body("asm(\"\" \"trap;\");").find("ct_unsupported"), std::string::npos);
}

TEST(assembly, in_host_code_stays) {
    const std::string text = R"cu(
asm(".text\n.globl two\ntwo: movl $2, %eax\nret");
extern "C" int two();
int three() {
    int x;
    asm volatile("" ::: "memory");
    __asm__("movl $3, %0" : "=r"(x));
    return x;
}
__host__ __device__ int both() {
    int x;
    asm("movl $4, %0" : "=r"(x));
    return x;
}
void ct_unsupported(const char*) {}
__device__ int ptx() {
    int x;
    asm("mov.u32 %0, %envreg0;" : "=r"(x));
    return x;
}
int main() {
    show(two());
    show(three());
    show(both());
    ptx();
}
)cu";
    EXPECT_EQ(printed(text, pass::host), "2\n3\n4\n");
    // The device pass must not define `two` again.
    const std::string device = rewrite(text, pass::device).text;
    EXPECT_EQ(device.find("globl"), std::string::npos);
    EXPECT_NE(device.find("movl $3"), std::string::npos);
    EXPECT_EQ(device.find("asm(\"movl $4"), std::string::npos);
}

TEST(assembly, names_of_symbols_and_system_headers_stay) {
    for (const std::string text : {"int f(int)asm(\"symbol\");", "register int r asm(\"rax\");", "int x asm(\"y\")=3;",
                                   "# 1 \"/usr/include/x.h\" 1 3\nvoid f(){asm(\"nop\");}"})
        EXPECT_EQ(on_host(text), normalised(text));
}

}  // namespace
