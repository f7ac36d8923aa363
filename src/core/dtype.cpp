#include "core/dtype.hpp"

#include "cornerturn/error.hpp"

namespace cornerturn {

const std::vector<dtype>& dtypes() {
    static const std::vector<dtype> all = {{"u8", 1},   {"i8", 1},  {"u16", 2}, {"i16", 2},  {"f16", 2},
                                           {"bf16", 2}, {"u32", 4}, {"i32", 4}, {"f32", 4},  {"u64", 8},
                                           {"i64", 8},  {"f64", 8}, {"c64", 8}, {"c128", 16}};
    return all;
}

dtype dtype_of(int size) {
    for (const dtype& known : dtypes()) {
        if (known.size == size) return known;
    }
    return {"", size};
}

dtype find_dtype(const std::string& name) {
    std::string names;
    for (const dtype& known : dtypes()) {
        if (name == known.name) return known;
        names += names.empty() ? known.name : std::string(", ") + known.name;
    }
    throw invalid_argument("dtype '" + name + "' is not known: it must be one of " + names);
}

element_type find_element_type(const std::string& option, const std::string& name) {
    std::string names;
    for (int i = 1; size_of(static_cast<element_type>(i)) > 0; ++i) {
        const auto known = static_cast<element_type>(i);
        if (name == name_of(known)) return known;
        names += (names.empty() ? "" : ", ") + std::string(name_of(known));
    }
    throw invalid_argument(option + " is '" + name + "': it must be one of " + names);
}

}  // namespace cornerturn
