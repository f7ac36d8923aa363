// What a caller may get wrong: found before anything is done, and told in one sentence. For the GPU and the host alike.
#pragma once

#include <cstdint>
#include <string>

#include "core/batch.hpp"
#include "core/work.hpp"
#include "cornerturn/transpose_layout.hpp"

namespace cornerturn {

// Throws invalid_argument: "<what> is <value>: <rule>".
[[noreturn]] void refuse(const std::string& what, const std::string& value, const std::string& rule);
std::string hex(std::uintptr_t address);

// How messages name the members of a batch: as code does ("source.ld"), or in words.
struct batch_words {
    const char *rows, *cols, *ld, *count, *stride;
};
inline constexpr batch_words kInCode{".rows", ".cols", ".ld", ".count", ".stride"};
inline constexpr batch_words kInWords{" rows", " cols", "'s leading dimension", " count", " stride"};

// Of what messages call "<name><word>".
void check_not_negative(const char* name, const char* word, std::int64_t value);

// A batch under the name that messages give it. Each check throws invalid_argument. The later ones are for what has
// passed those before them.
struct named_batch : batch_layout {
    const char* name;
    const batch_words* words = &kInCode;

    std::string shape() const;  // "3 x 4"
    void check_not_negative() const;
    void check_ld() const;  // a leading dimension holds a row
    // So it does where there is one, and the size in bytes fits 64 bits.
    void check_extent(std::int64_t element_size) const;
    // No element is in two of the matrices, as it must be where they are written.
    void check_apart() const;
};

// "<name>.data is ...": null, or not aligned to so many bytes.
void check_address(const char* name, std::uintptr_t address, std::int64_t alignment);

// That an element can have this size in bytes, and its addresses be multiples of that alignment.
void check_element(std::int64_t size, std::int64_t alignment);

bool is_empty(const transpose_layout& layout);

// Each throws invalid_argument.
void check_layout(const transpose_layout& layout);
// That of two batches, checked.
transpose_layout checked_layout(const batch_layout& source, const batch_layout& destination, std::int64_t element_size,
                                std::int64_t element_alignment);
// That matrices of a checked layout that is not empty are aligned, and apart or in place.
void check_addresses(const transpose_layout& layout, std::uintptr_t source, std::uintptr_t destination);

matrix_work work_of(const transpose_layout& layout, std::uintptr_t source, std::uintptr_t destination);

}  // namespace cornerturn
