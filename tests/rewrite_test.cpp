// The rewriter turns CUDA C++ into C++. Tests of each construct that CUDA adds to the language, in both passes. Where
// it is cheap, g++ compiles the result and the program runs.
#include "emulate/rewrite.hpp"

#include <algorithm>
#include <set>

#include "cornerturn/error.hpp"
#include "message.hpp"
#include "rewritten.hpp"

using namespace cornerturn;
using namespace cornerturn::emulate;
using namespace cornerturn::tests;

namespace {

using name_set = std::set<std::string>;

std::string refusal(const std::string& text) {
    try {
        rewrite(text, pass::host);
    } catch (const error& e) {
        return e.what();
    }
    return "";
}

// ---- Launches ----

// Lines "1,1 1,1 0: n" for n from `first` to `last`.
std::string numbered(int first, int last) {
    std::string all;
    for (int n = first; n <= last; ++n) all += fmt::format("1,1 1,1 0: {}\n", n);
    return all;
}

const std::string kKernels = R"cu(
__global__ void plain(int x) { show(x); }
namespace ns {
__global__ void inside(int x) { show(x); }
template <class T, int N = 0> __global__ void of(int x) { show(x); }
}
template <class... T> struct box { static constexpr int count = sizeof...(T); };
bool yes = true;
)cu";

TEST(launches, of_names) {
    expect_prints(kKernels + R"cu(int main() {
    plain<<<1, 1>>>(1);
    ns::inside<<<1, 1>>>(2);
    ::plain<<<1, 1>>>(3);
    ::ns::inside<<<1, 1>>>(4);
    ns::of<int><<<1, 1>>>(5);
    ns::of<box<box<int>>><<<1, 1>>>(6);
    ns::of<box<box<int>>, 8><<<1, 1>>>(7);
    ns::of<int, (2 > 1)><<<1, 1>>>(8);
    ns::of<int, 1 << 3><<<1, 1>>>(9);
    ns::of<int, 2 <= 3><<<1, 1>>>(10);
    ns::of<int, 2 >= 3><<<1, 1>>>(11);
    ns::of<int, box<int, char>::count><<<1, 1>>>(12);
    using namespace ns;
    of<void (*)(int)> <<<1, 1>>> (13);
    plain
        <<<1,
           1>>>(
            14);
})cu",
                  numbered(1, 14));
}

TEST(launches, in_statements) {
    expect_prints(kKernels + R"cu(
template <class F> void run(F f) { f(); }
void returned() { return ::plain<<<1, 1>>>(13); }
int main() {
    if (yes) plain<<<1, 1>>>(1);
    if (!yes) plain<<<9, 9>>>(-1); else plain<<<1, 1>>>(2);
    if (yes) ::plain<<<1, 1>>>(3);
    if (!yes) ; else ::ns::inside<<<1, 1>>>(4);
    for (int i = 5; i < 7; ++i) plain<<<1, 1>>>(i);
    do plain<<<1, 1>>>(7); while (!yes);
    yes ? plain<<<1, 1>>>(8) : plain<<<9, 9>>>(-1);
    !yes ? plain<<<9, 9>>>(-1) : ns::of<int><<<1, 1>>>(9);
    (void)0, plain<<<1, 1>>>(10);
    run([&] { plain<<<1, 1>>>(11); });
    switch (1) { case 1: plain<<<1, 1>>>(12); }
    returned();
    if constexpr (true) (plain)<<<1, 1>>>(14);
    { plain<<<1, 1>>>(15); }
    while (yes) plain<<<1, 1>>>((yes = false, 16));
    goto last;
last: plain<<<1, 1>>>(17);
    plain<<<2, 1>>>([&] { plain<<<1, 1>>>(18); return 19; }());
})cu",
                  // The outer launch pushes its configuration before its arguments are evaluated.
                  numbered(1, 17) + "2,1 1,1 0: " + numbered(18, 18) + "19\n");
}

TEST(launches, of_expressions) {
    expect_prints(kKernels + R"cu(
using kernel = void (*)(int);
template <class T> kernel chosen() { return plain; }
struct table {
    kernel one = plain, all[2] = {plain, ns::inside};
    kernel get(int) const { return plain; }
    template <class T> kernel of() const { return plain; }
    void launch() { this->one<<<1, 1>>>(1); one<<<1, 1>>>(2); }
};
template <class T> void of_dependent(T t) { t.template of<int>()<<<1, 1>>>(20); }
int main() {
    table t, *p = &t;
    kernel k = plain;
    t.launch();
    t.one<<<1, 1>>>(3);
    p->one<<<1, 1>>>(4);
    t.all[1]<<<1, 1>>>(5);
    p->all[0]<<<1, 1>>>(6);
    t.get(0)<<<1, 1>>>(7);
    t.of<int>()<<<1, 1>>>(8);
    (*p).one<<<1, 1>>>(9);
    p[0].one<<<1, 1>>>(10);
    (plain)<<<1, 1>>>(11);
    (*k)<<<1, 1>>>(12);
    if (yes) (k)<<<1, 1>>>(13);
    if (yes) t.all[0]<<<1, 1>>>(14);
    if (!yes) ; else (*p).one<<<1, 1>>>(15);
    (yes ? plain : ns::inside)<<<1, 1>>>(16);
    static_cast<kernel>(plain)<<<1, 1>>>(17);
    chosen<int>()<<<1, 1>>>(18);
    ::chosen<box<box<int>>>()<<<1, 1>>>(19);
    of_dependent(t);
})cu",
                  numbered(1, 20));
}

TEST(launches, configurations) {
    expect_prints(
        kKernels + R"cu(int main() {
    int n = 100;
    plain<<<(n + 31) / 32, dim3(8, 4)>>>(1);
    plain<<<dim3(2, 3), 64, 16 * sizeof(int), nullptr>>>(2);
    plain<<<{5, 6}, {7}>>>(3);
    plain<<<n >> 2, 1 << 5>>>(4);
    plain<<<(box<box<box<int>>>::count), 1>>>(5);
    plain<<<[] { return 7; }(), n < 50 ? 1 : 2>>>(6);
    plain<<<1, 1, "<<<>>>"[0] == '<'>>>(7);
    ct_fails = true;
    plain<<<8, 8>>>(-1);
})cu",
        "4,1 8,4 0: 1\n2,3 64,1 64: 2\n5,6 7,1 0: 3\n25,1 32,1 0: 4\n1,1 1,1 0: 5\n7,1 2,1 0: 6\n1,1 1,1 1: 7\n"
        "8,1 8,1 0: ");
}

TEST(launches, differ_from_shifts_and_literals) {
    const std::string text = R"cu(
struct stream {};
template <class T> stream& operator<<(stream& s, T x) { show(int(x)); return s; }
template <class T> struct box {};
template <class T> int of() { return 9; }
template <class T> struct less { bool operator<(T) const { return true; } };
int main() {
    stream s;
    int a = 1, b = 3;
    s << a << (a << b) << (a<<b) << '"' - '!';
    operator<<<int>(s, 2);
    operator<< <int>(s, 3);
    a <<= 2, b >>= 1;
    s << of<box<box<box<int>>>>() << a + b << 1'000'000;
    printf("%s %s %ls %c\n", "k<<<1, 1>>>(x)", R"x("k<<<1)" 1>>>(x))x", L"<<<\"", '"');
    less<int>().operator< (3);
})cu";
    EXPECT_EQ(on_host(text), normalised(text));
    expect_prints(text, "1\n8\n8\n1\n2\n3\n9\n5\n1000000\nk<<<1, 1>>>(x) \"k<<<1)\" 1>>>(x) <<<\" \"\n");
}

TEST(launches, refused) {
    const std::string begin = "# 7 \"a.cu\"\nvoid f() {\n";
    EXPECT_NAMES(refusal(begin + "k<<<1, 1>>>;\n}"), "a.cu:8:", "<<<...>>>", "(...)");
    EXPECT_NAMES(refusal("<int><<<1, 1>>>(2)"), ":1:", "<<<...>>>");
    EXPECT_NAMES(refusal("# 2 \"a.cu\"\n__cluster_dims__(2, 1, 1) void k();"), "a.cu:2:", "__cluster_dims__");
}

// ---- Kernels ----

TEST(kernels, of_all_forms) {
    const std::string text = R"cu(
template <bool B> struct box {};
__global__ void declared(int x = 1);
__global__ void plain(int x) { show(x); }
static __global__ void before(int x) { show(x); }
__global__ static void after(int x) { show(x); }
void __global__ behind(int x) { show(x); }
__global__ void __launch_bounds__(256, 2) bounds(int x) { show(x); }
__launch_bounds__(256) __block_size__((2, 1, 1)) __global__ void bounds_ahead(int x) { show(x); }
__global__ __maxnreg__(32) void registers(int x) { show(x); }
extern "C" __global__ void of_c(int x) { show(x); }
inline __global__ void at_once(int x) { show(x); }
__attribute__((__noinline__)) __global__ void attributed(__grid_constant__ const int x) { show(x); }
[[gnu::cold]] __global__ void in_brackets(int x) noexcept(sizeof(int) > 2) { show(x); }
__global__ auto trailing(int x) -> void { show(x); }
__global__ void of_functions(int x = (2 > 1 ? 14 : 0), int (*f)(int) = nullptr, int y = int{3}) { show(x); }
template <class T> __global__ void of(T x) { show(x); }
template <> __global__ void of<short>(short x) { show(x); }
template __global__ void of<char>(char);
template <class T, int N = 1 << 3, class U = box<(N >= 2)>> __global__ void with_defaults(int x) { show(x); }
extern template __global__ void of<long>(long);
template __global__ void of<long>(long);
template <class T> requires (sizeof(T) > 2) __global__ void constrained(T x) { show(x); }
namespace ns { namespace { __global__ void inside(int x) { show(x); } } }
__global__ void braces(int x) { if (x) { const char* t = "}" R"x(})" })x"; if (t[0] == '}') show(x); } }
struct holder { friend __global__ void befriended(int x); };
__global__ void befriended(int x) { show(x); }
__global__ void declared(int x) { show(x); }
int main() {
    declared(); plain(2); before(3); after(4); behind(5); bounds(6); bounds_ahead(7); registers(8); of_c(9);
    at_once(10); attributed(11); in_brackets(12); trailing(13); of_functions(); of(15); of<short>(16);
    of<char>(17); with_defaults<int>(18); of(19l); constrained(20); ns::inside(21); braces(22); befriended(23);
})cu";
    std::string wanted;
    for (int n = 1; n <= 23; ++n) wanted += fmt::format("{}\n", n);
    expect_prints(text, wanted);
    const auto count = [](const std::string& where, const std::string& what) {
        int n = 0;
        for (std::size_t at = where.find(what); at != where.npos; at = where.find(what, at + 1)) ++n;
        return n;
    };
    // On the host, a kernel's body is replaced by a jump. On the device, each body has one mark.
    EXPECT_EQ(count(on_host(text), "show("), 0);
    EXPECT_EQ(count(on_device(text), "show("), count(on_host(text), "jmp cornerturn_launch_from_host"));
    EXPECT_EQ(count(on_device(text), "show("), count(on_device(text), kKernelMark));
    EXPECT_EQ(count(on_host(text), kKernelMark), 0);
}

TEST(kernels, keep_the_line_numbers_after_them) {
    const std::string text =
        "# 1 \"a.cu\"\n__global__ void k(int x) {\n    x +=\n# 1 \"b.h\" 1\n1;\n# 4 \"a.cu\" 2\n#pragma unroll\n"
        "    const char* t = R\"(\n\n)\";\n}\nint after;\n";
    const std::string host = rewrite(text, pass::host).text;
    EXPECT_EQ(host.find("x +="), host.npos);
    EXPECT_EQ(host.find("#pragma"), host.npos);
    const auto lines_before = [](const std::string& all) {
        return std::count(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(all.find("int after")), '\n');
    };
    EXPECT_EQ(lines_before(host), lines_before(text));
    for (const char* const marker : {"\n# 1 \"b.h\" 1\n", "\n# 4 \"a.cu\" 2\n"})
        EXPECT_NE(host.find(marker), host.npos);
}

TEST(kernels, refused) {
    EXPECT_NAMES(refusal("# 3 \"a.cu\"\n__global__ int x;"), "a.cu:3:", "__global__");
    EXPECT_NAMES(refusal("# 3 \"a.cu\"\n\n__global__ void (*f)(int);"), "a.cu:4:", "__global__");
}

// ---- Variables ----

TEST(variables, are_collected) {
    struct {
        std::string text;
        name_set device, constant, managed;
    } const all[] = {
        {"__device__ int d0;", {"d0"}, {}, {}},
        {"__device__ int d1 = 3, d2[2] = {1, 2}, *d3 = nullptr;", {"d1", "d2", "d3"}, {}, {}},
        {"static __device__ int d4; __device__ static int d5{1};", {"d4", "d5"}, {}, {}},
        {"extern __device__ int d6; __device__ extern int d7;", {"d6", "d7"}, {}, {}},
        {"int __device__ d8; const int __device__ d9 = 1;", {"d8", "d9"}, {}, {}},
        {"__device__ __attribute__((__unused__)) alignas(16) float e0[4];", {"e0"}, {}, {}},
        {"__device__ __align__(16) volatile unsigned char e1[8];", {"e1"}, {}, {}},
        {"[[maybe_unused]] __device__ int e2; __device__ [[maybe_unused]] int e3;", {"e2", "e3"}, {}, {}},
        {"__device__ int (*e4)(int, int) = nullptr, e5;", {"e4", "e5"}, {}, {}},
        {"__device__ int (*const e6[2])(int) = {}, (*e7)[3], (*f4) = nullptr;", {"e6", "e7", "f4"}, {}, {}},
        {"namespace n1 { namespace n2 { __device__ int e8; } __constant__ int e9 = 1; }", {"e8"}, {"e9"}, {}},
        {"template <int N> struct t0 {}; __device__ t0<1 << 3> f0; __device__ t0<(2 >= 1)> f1;", {"f0", "f1"}, {}, {}},
        {"template <class T, int N> T t1(); __device__ int f2 = sizeof(t1<int, 2>()), f3;", {"f2", "f3"}, {}, {}},
        {"__constant__ float c0[3] = {1, 2, 3};", {}, {"c0"}, {}},
        {"extern __constant__ float c1[]; static __constant__ int c2;", {}, {"c1", "c2"}, {}},
        {"__constant__ struct t3 { float a; int b = sizeof(int); } s0, s1[2];", {}, {"s0", "s1"}, {}},
        {"struct t4 {}; static __device__ struct t5 final : t4 { static int own; alignas(8) int a; } s2;",
         {"s2"},
         {},
         {}},
        {"__device__ struct { int a; } s3; __constant__ enum class t6 : int { one, two } s4;", {"s3"}, {"s4"}, {}},
        {"__constant__ struct alignas(16) t7 { int a; } *s5; __device__ struct t8 { int a; };", {}, {"s5"}, {}},
        {"struct t9 { int a; }; __constant__ struct t9 s6{1}; __device__ struct t9* s7 = nullptr;", {"s7"}, {"s6"}, {}},
        {"__managed__ struct u0 { int a; } m8; __managed__ union u1 { int a; float b; } m9 = {1};",
         {},
         {},
         {"m8", "m9"}},
        {"__constant__ struct t2* c3; __constant__ decltype(sizeof(int)) c4;", {}, {"c3", "c4"}, {}},
        {"__device__ __constant__ int c5;", {"c5"}, {"c5"}, {}},
        {"__managed__ int m0 = 1, m1[2] = {1, 2}, m2;", {}, {}, {"m0", "m1", "m2"}},
        {"__device__ __managed__ int m3{1}; __managed__ __device__ int m4;", {}, {}, {"m3", "m4"}},
        {"extern __managed__ int m5; static __managed__ int m6;", {}, {}, {"m5", "m6"}},
        {"__managed__ int (*m7)(int) = nullptr;", {}, {}, {"m7"}},
    };
    std::string together;
    for (const auto& one : all) {
        for (const pass which : {pass::host, pass::device}) {
            const rewritten found = rewrite_in_place(one.text, which);
            EXPECT_EQ(found.device_variables, one.device) << one.text;
            EXPECT_EQ(found.constant_variables, one.constant) << one.text;
            EXPECT_EQ(found.managed_variables, one.managed) << one.text;
        }
        together += one.text + "\n";
    }
    expect_compiles(together);
}

TEST(variables, managed_are_defined_by_the_host) {
    const std::string text =
        "static __managed__ int a = 1, b[2] = {1, 2}, (*c)(int) = nullptr; extern __managed__ int d;";
    EXPECT_EQ(on_host(text), "int a=1,b[2]={1,2},(*c)(int)=nullptr;extern int d;");
    EXPECT_EQ(on_device(text), "extern int a,b[2],(*c)(int);extern int d;");
    EXPECT_EQ(on_device("static __managed__ struct t { static int a; int b; } c = {1};"),
              "extern struct t{static int a;int b;}c;");
}

TEST(functions, of_the_device_are_not_collected_as_variables) {
    const std::string text = R"cu(
template <int N> struct sized {};
__device__ int plain(int x = 3);
__host__ __device__ __forceinline__ int both(int x) { return x; }
__forceinline__ __device__ inline int twice() { return 1; }
static __inline__ __device__ __noinline__ int called() { return 1; }
__device__ int (*returns_pointer(int))(int) { return nullptr; }
__device__ auto trailing() -> int { return 1; }
[[nodiscard]] __device__ int attributed() { return 1; }
template <class T> struct __align__(16) holder {
    __device__ holder(T x) : kept(x) {}
    __host__ __device__ explicit holder() = default;
    __device__ ~holder() {}
    __device__ T operator()(int) const { return kept; }
    __device__ operator bool() const { return true; }
    __device__ T& operator[](int) { return kept; }
    __device__ friend bool operator<(holder, holder) { return true; }
    __device__ static T of(holder h) { return h.kept; }
    T kept;
};
__host__ __device__ holder(int) -> holder<int>;
template <> __device__ int holder<int>::of(holder h) { return h.kept; }
__device__ sized<1 << 2>* pointer();
template <int N> __device__ sized<N >= 2>* other_pointer();
static_assert(alignof(holder<int>) == 16, "");
)cu";
    for (const pass which : {pass::host, pass::device}) {
        const rewritten found = rewrite_in_place(text, which);
        EXPECT_EQ(found.device_variables, name_set{});
        EXPECT_EQ(found.text.find("__device__"), std::string::npos);
    }
    expect_compiles(text);
}

TEST(functions, of_lambdas) {
    expect_prints(R"cu(
template <class F> int run(F f) { return f(1); }
int main() {
    int a[] = {10, 20};
    show(run([] __device__ (int x) { return x; }));
    show(run([=] __host__ __device__ (int x) { return x + a[0]; }));
    show(run([&] __device__ __host__ (int x) mutable -> int { return x + a[1]; }));
    show(run([b = a[0]] __device__ (int x) noexcept { return b + x + 20; }));
    show(run([]<class T> __device__ (T x) { return x + 40; }));
    show([] __device__ { return 51; }());
})cu",
                  "1\n11\n21\n31\n41\n51\n");
}

// ---- Shared memory ----

TEST(shared, arrays_are_static_and_aligned) {
    const std::string text = R"cu(
template <class T> struct pair { T a, b; };
__device__ int counted() { static __shared__ int here; return ++here; }
template <class T, int N> __device__ int aligned() {
    __shared__ T one[N], two[N];
    __shared__ alignas(16) volatile T three[N];
    alignas(16) __shared__ T four[N];
    volatile __shared__ __align__(8) pair<T> five;
    __shared__ pair<T> six[1 << 2], *seven;
    __shared__ struct { alignas(16) T c, d; } eight;
    one[1] = two[1] = three[1] = four[1] = five.a = six[3].b = 5;
    seven = six;
    const volatile void* all[] = {one, two, three, four, &five, six};
    for (const volatile void* p : all)
        if ((unsigned long)p % 128 != 0) return 0;
    return one[1] + seven[3].b;
}
int main() {
    counted();
    show(counted());
    show(aligned<char, 3>());
})cu";
    EXPECT_EQ(printed(text, pass::device), "2\n10\n");
    expect_compiles(text);
    EXPECT_EQ(on_host("void f(){static __shared__ int a;}"), "void f(){static int a;}");
}

TEST(shared, of_dynamic_size) {
    const std::string text = R"cu(
struct four { int a, b, c, d; };
extern __shared__ int outside[];
namespace ns { extern "C" { extern __shared__ alignas(16) char in_namespace[], twice[]; } }
namespace ns { namespace deeper { volatile extern __shared__ int more[]; } }
template <class T> __device__ T* in_template() {
    extern __shared__ alignas(16) unsigned char bytes[];
    return reinterpret_cast<T*>(bytes);
}
template <class T> __device__ T of_type() { extern __shared__ T typed[]; return typed[0]; }
struct holder { __device__ int get() { extern __shared__ volatile int a[], b[]; return a[0] + b[1]; } };
int main() {
    extern __shared__ __align__(16) int here[];
    here[0] = 1, here[1] = 2;
    if (true) { extern __shared__ four nested[]; nested[0].c = 3; }
    outside[3] = 4;
    ns::in_namespace[16] = 5, ns::twice[17] = 6, ns::deeper::more[5] = 7;
    const int* all = in_template<int>();
    for (int i = 0; i < 4; ++i) show(all[i]);
    show(in_template<char>()[16] + in_template<char>()[17]);
    show(all[5]);
    show(holder().get());
    show(of_type<short>());
})cu";
    EXPECT_EQ(printed(text, pass::device), "1\n2\n3\n4\n11\n7\n3\n1\n");
    expect_compiles(text);
}

// ---- Attributes ----

TEST(attributes, become_those_of_gcc) {
    const std::string inside = "__attribute__((__noinline__,__noinline__))int f();[[__gnu__::__noinline__]]int g();";
    EXPECT_EQ(on_host(inside), inside);
    EXPECT_EQ(on_host("__noinline__ int f();"), "__attribute__((__noinline__))int f();");
    EXPECT_EQ(on_host("__forceinline__ int f();"), "inline __attribute__((__always_inline__))int f();");
    EXPECT_EQ(on_host("inline __forceinline__ int f();"), "inline __attribute__((__always_inline__))int f();");
    EXPECT_EQ(on_host("struct __align__(2 * (4)) s;"), "struct __attribute__((__aligned__(2*(4))))s;");
    EXPECT_EQ(on_host("__host__ int f(__grid_constant__ const int);"), "int f(const int);");
    EXPECT_EQ(on_host("int device__, a__global__, __shared = __host;"), "int device__,a__global__,__shared=__host;");
    EXPECT_EQ(on_host("f(\"__global__ __device__\", R\"(__host__)\");"),
              "f(\"__global__ __device__\",R\"(__host__)\");");
}

}  // namespace
