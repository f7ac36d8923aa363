// Parts of demangled names, and the short forms that users may write.
#include "emulator/names.hpp"

#include <gtest/gtest.h>

#include <string>

using namespace cornerturn::emulator;

namespace {

// void a::(anonymous namespace)::b::k<int, 8>(int const*)
constexpr const char* kTemplate = "_ZN1a12_GLOBAL__N_11b1kIiLi8EEEvPKi";

TEST(names, have_parts) {
    const name_parts parts = parts_of(demangle(kTemplate));
    EXPECT_EQ(parts.scope, "a::(anonymous namespace)::b::");
    EXPECT_EQ(parts.name, "k<int, 8>");
    EXPECT_EQ(parts.arguments, "(int const*)");
    EXPECT_EQ(short_name(demangle(kTemplate)), "k<int, 8>");
    EXPECT_EQ(short_name("plain"), "plain");
    EXPECT_EQ(short_name("void k<a::(anonymous namespace)::t>(a::(anonymous namespace)::t)"), "k<a::t>");
    EXPECT_EQ(demangle("plain"), "plain");
    EXPECT_EQ(demangle("c"), "c");
}

TEST(names, match_short_forms) {
    for (const char* const given : {"k", "k<int, 8>", "k<int,8>", "b::k", "a::b::k<int, 8>", "::a::b::k",
                                    "a::(anonymous namespace)::b::k", "k<int, 8>(int const*)", "b::k<int,8>"})
        EXPECT_TRUE(may_mean(given, kTemplate)) << given;
    for (const char* const given :
         {"", " ", "kk", "k<int>", "k<int, 9>", "a::k", "c::k", "::b::k", "::k", "k(int const*)", "int"})
        EXPECT_FALSE(may_mean(given, kTemplate)) << given;
    EXPECT_TRUE(may_mean("k", "_Z1kPi"));
    EXPECT_TRUE(may_mean("k(int*)", "_Z1kPi"));
    EXPECT_TRUE(may_mean("::k", "_Z1kPi"));
    EXPECT_TRUE(may_mean("c_kernel", "c_kernel"));
}

}  // namespace
