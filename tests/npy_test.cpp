// Headers of .npy files: valid ones, as numpy writes them, and random bytes.
#include "files/npy.hpp"

#include <gtest/gtest.h>

#include <random>

#include "npy_property.hpp"

using namespace cornerturn;

namespace {

std::string npy(const std::string& text, int major = 1) {
    std::string out = "\x93NUMPY";
    out += {static_cast<char>(major), 0};
    for (int i = 0; i < (major == 1 ? 2 : 4); ++i) out += static_cast<char>(text.size() >> 8 * i & 0xff);
    return out + text;
}

std::string with(const std::string& descr, const std::string& shape = "(3, 4)") {
    return npy("{'descr': " + descr + ", 'fortran_order': False, 'shape': " + shape + ", }\n");
}

TEST(npy, bytes_of_every_type) {
    const std::pair<const char*, std::int64_t> types[] = {{"'<f8'", 8},
                                                          {"'|b1'", 1},
                                                          {"'?'", 1},
                                                          {"'>c16'", 16},
                                                          {"'<f16'", 16},
                                                          {"'|S10'", 10},
                                                          {"'<U3'", 12},
                                                          {"'|V7'", 7},
                                                          {"'<M8[ns]'", 8},
                                                          {"'<m8[25us]'", 8},
                                                          {"[('a', '<i4'), ('b', '|u1')]", 5},
                                                          {"[('a', '<i4', (2, 3)), ('b', '|u1', 5), ('', '|V3')]", 32},
                                                          {"[(('title', 'name'), '<f4')]", 4},
                                                          {R"([("it's", [('x', '<i2'), ('y', [('z', '<c8')])])])", 10},
                                                          {"('<f8', (2, 2))", 32}};
    for (const auto& [type, bytes] : types) {
        const files::npy_header h = files::parse_npy(with(type));
        EXPECT_EQ(h.element_size, bytes) << type;
        EXPECT_EQ(h.descr, type);
        EXPECT_TRUE(tests::check_npy(with(type)));
    }
}

TEST(npy, types_that_can_be_converted) {
    using enum element_type;
    const std::pair<const char*, element_type> types[] = {
        {"'|b1'", boolean}, {"'|u1'", u8},  {"'<u2'", u16}, {"'<u4'", u32},  {"'<u8'", u64},
        {"'|i1'", i8},      {"'<i2'", i16}, {"'<i4'", i32}, {"'<i8'", i64},  {"'<f2'", f16},
        {"'<f4'", f32},     {"'<f8'", f64}, {"'<c8'", c64}, {"'<c16'", c128}};
    for (const auto& [descr, type] : types) {
        EXPECT_EQ(files::npy_descr(type), descr);
        EXPECT_EQ(files::parse_npy(with(descr)).type, type) << descr;
        EXPECT_FALSE(files::parse_npy(with(descr)).big_endian) << descr;
        std::string other = descr;
        other[1] = '>';
        EXPECT_EQ(files::parse_npy(with(other)).type, type) << other;
        EXPECT_TRUE(files::parse_npy(with(other)).big_endian) << other;
        other.erase(1, 1);
        EXPECT_EQ(files::parse_npy(with(other)).type, type) << other;
    }
    EXPECT_EQ(files::parse_npy(with("'?'")).type, boolean);
    for (const element_type type : {bf16, e4m3fn, e5m2}) {
        const files::npy_header h = files::parse_npy(with(files::npy_descr(type)));
        EXPECT_EQ(h.element_size, size_of(type));
        EXPECT_EQ(h.type, element_type{}) << "the header does not tell";
    }
    for (const char* descr :
         {"'<f16'", "'|V4'", "'|S1'", "'<U1'", "'<M8[s]'", "'|b2'", "[('a', '<f4')]", "('<f4', (2,))"})
        EXPECT_EQ(files::parse_npy(with(descr)).type, element_type{}) << descr;
}

TEST(npy, shapes) {
    EXPECT_EQ(files::parse_npy(with("'<f8'", "()")).elements(), 1);
    EXPECT_EQ(files::parse_npy(with("'<f8'", "(7,)")).elements(), 7);
    EXPECT_EQ(files::parse_npy(with("'<f8'", "(7L, 3L)")).elements(), 21) << "as Python 2 wrote it";
    EXPECT_EQ(files::parse_npy(with("'<f8'", "(0, 9223372036854775807, 9223372036854775807)")).data_bytes(), 0);
}

TEST(npy, a_header_that_grows_beyond_65535_bytes_becomes_version_2) {
    std::string fields;
    // The longest header that version 1 can have, without spaces. make_npy() writes spaces, so its header is longer.
    for (int i = 0; fields.size() < 65465; ++i) fields += "('field" + std::to_string(i) + "','|u1'),";
    const std::string old = npy("{'descr':[" + fields + "],'fortran_order':False,'shape':(1,2)}");
    const files::npy_header h = files::parse_npy(old);
    EXPECT_EQ(h.major, 1);
    EXPECT_EQ(files::parse_npy(files::make_npy(h, {1234567, 1234567}, true)).major, 2);
}

// A small version of the fuzzer (tests/long/fuzz_test.py), for compilers without libFuzzer.
TEST(npy, random_bytes_are_refused_or_kept) {
    const unsigned seed = std::random_device{}();
    std::printf("seed %u\n", seed);
    std::mt19937 random(seed);
    const std::string seeds[] = {with("'<f8'"), with("[('a', '<i4', (2, 3)), ('b', [('c', '|S3')])]", "(7,)"),
                                 npy("{'descr': '|V3', 'fortran_order': True, 'shape': (), }", 2),
                                 npy("{\"descr\": '<U5', 'fortran_order': False, 'shape': (1, 2, 3), }", 3)};
    const std::string likely = "'\"()[]{},: 0123456789-<>|=fiuSUVOTrueFalsL\\\n\x93\xff";
    int kept = 0;
    for (int round = 0; round < 30000; ++round) {
        std::string bytes = seeds[random() % std::size(seeds)];
        for (unsigned change = 0; change <= random() % 4; ++change) {
            const std::size_t at = random() % bytes.size();
            switch (random() % 4) {
                case 0: bytes[at] = static_cast<char>(random()); break;
                case 1: bytes[at] = likely[random() % likely.size()]; break;
                case 2: bytes.erase(at, random() % 5); break;
                default: bytes.insert(at, bytes.substr(random() % bytes.size(), random() % 20)); break;
            }
            if (bytes.empty()) bytes = "\x93";
        }
        ASSERT_NO_THROW(kept += tests::check_npy(bytes)) << "round " << round;
    }
    EXPECT_GT(kept, 0);
}

}  // namespace
