// Checks of a caller's arguments, for the GPU and the host. They run before any work starts, and report an error in one
// sentence.
#pragma once

#include <cstdint>
#include <string>

#include "core/batch.hpp"
#include "core/matrix_work.hpp"
#include "cornerturn/transpose_layout.hpp"

namespace cornerturn {

// Throws invalid_argument: "<argument> is <value>: <rule>".
[[noreturn]] void refuse(const std::string& argument, const std::string& value, const std::string& rule);
std::string hex(std::uintptr_t address);

// How messages name the members of a batch: as in code ("source.ld") or in English ("source's leading dimension").
struct member_names {
    const char *rows, *cols, *ld, *count, *stride;
};
inline constexpr member_names kInCode{".rows", ".cols", ".ld", ".count", ".stride"};
inline constexpr member_names kInEnglish{" rows", " cols", "'s leading dimension", " count", " stride"};

// Messages call the value "<name><member>".
void check_not_negative(const char* name, const char* member, std::int64_t value);

// A batch and the name that messages give it. Each check throws invalid_argument. Each check assumes that the batch
// passed the checks above it.
struct named_batch : batch_layout {
    const char* name;
    const member_names* members = &kInCode;

    std::string shape() const;  // "3 x 4"
    void check_not_negative() const;
    void check_ld() const;  // a row fits in the leading dimension
    // If the batch is not empty: check_ld(), and the size in bytes fits in 64 bits.
    void check_extent(std::int64_t element_size) const;
    // No two matrices share an element. This must hold for a destination.
    void check_no_overlap() const;
};

// The address is not null and is a multiple of `alignment` bytes. Messages call it "<name>.data".
void check_address(const char* name, std::uintptr_t address, std::int64_t alignment);

// The size is 1 to 2147483647 bytes, and the alignment is a power of two that divides it.
void check_element(std::int64_t size, std::int64_t alignment);

bool is_empty(const transpose_layout& layout);

// Each throws invalid_argument.
void check_layout(const transpose_layout& layout);
// The layout of two batches, checked.
transpose_layout checked_layout(const batch_layout& source, const batch_layout& destination, std::int64_t element_size,
                                std::int64_t element_alignment);
// Whether the matrices can be transposed in place: they are square, and lie alike on both sides.
bool has_equal_squares(const transpose_layout& layout);
// The matrices are aligned, and do not overlap unless they are transposed in place. The layout must be checked and not
// empty.
void check_addresses(const transpose_layout& layout, std::uintptr_t source, std::uintptr_t destination);

matrix_work work_of(const transpose_layout& layout, std::uintptr_t source, std::uintptr_t destination);

}  // namespace cornerturn
