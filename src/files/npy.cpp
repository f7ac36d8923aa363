#include "files/npy.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cctype>
#include <charconv>
#include <limits>
#include <utility>

#include "core/sizes.hpp"
#include "cornerturn/error.hpp"

namespace cornerturn::files {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr std::size_t kAlignment = 64;
constexpr int kMostNested = 32;           // levels of nested dtypes, and of brackets
constexpr std::size_t kMostExtents = 64;  // numpy's limit

[[noreturn]] void refuse(const std::string& message) { throw error(message); }

// Text from a file, shortened and without control characters.
std::string shown(std::string_view text) {
    constexpr std::size_t kMost = 60;
    std::string out;
    for (const char c : text.substr(0, kMost)) out += c >= ' ' && c <= '~' ? c : '?';
    return text.size() > kMost ? out + "..." : out;
}

std::int64_t times(std::int64_t a, std::int64_t b, const char* what) {
    try {
        return checked_multiply(a, b, what);
    } catch (const invalid_argument& overflow) {
        refuse(overflow.what());
    }
}

// ---- The header is a Python literal: strings, integers, True and False, tuples, lists, dictionaries -----------------

struct value {
    enum kind { string, integer, boolean, tuple, list, dictionary } is = string;
    std::string_view text;         // as written in the header
    std::string_view string_text;  // without the quotes
    std::int64_t number = 0;       // of an integer; 0 or 1 for a boolean
    std::vector<value> items;      // of a dictionary: key, value, key, value
};

class reader {
public:
    explicit reader(std::string_view text) : text_(text) {}

    value read() {
        value all = read_value(0);
        skip_space();
        if (at_ < text_.size()) fail("the end");
        return all;
    }

private:
    [[noreturn]] void fail(const char* wanted) const {
        if (at_ >= text_.size()) refuse(fmt::format("its header ends too early: expected {}", wanted));
        refuse(fmt::format("its header has '{}': expected {}", shown(text_.substr(at_)), wanted));
    }
    void skip_space() {
        while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) != 0) ++at_;
    }
    bool take(char c) {
        skip_space();
        if (at_ >= text_.size() || text_[at_] != c) return false;
        ++at_;
        return true;
    }
    bool take_token(std::string_view token) {
        if (!text_.substr(at_).starts_with(token)) return false;
        at_ += token.size();
        return true;
    }

    value read_value(int depth) {
        if (depth > kMostNested) refuse(fmt::format("its header has more than {} levels of brackets", kMostNested));
        skip_space();
        const std::size_t begin = at_;
        value v;
        if (at_ >= text_.size()) fail("a value");
        const char c = text_[at_];
        if (c == '\'' || c == '"') {
            read_string(v);
        } else if (c == '(') {
            read_items(v, value::tuple, ')', depth);
        } else if (c == '[') {
            read_items(v, value::list, ']', depth);
        } else if (c == '{') {
            read_items(v, value::dictionary, '}', depth);
        } else if (take_token("True") || take_token("False")) {
            v.is = value::boolean;
            v.number = c == 'T';
        } else {
            read_integer(v);
        }
        v.text = text_.substr(begin, at_ - begin);
        return v;
    }

    void read_string(value& v) {
        const char quote = text_[at_++];
        const std::size_t begin = at_;
        // An escaped quote does not end the string. Other escapes do not matter here.
        while (at_ < text_.size() && text_[at_] != quote) at_ += text_[at_] == '\\' ? 2 : 1;
        if (at_ >= text_.size()) refuse(fmt::format("a string in its header lacks the closing {}", quote));
        v.is = value::string;
        v.string_text = text_.substr(begin, at_++ - begin);
    }

    void read_items(value& v, value::kind kind, char end, int depth) {
        v.is = kind;
        const std::size_t begin = at_++;
        bool comma = true;
        while (!take(end)) {
            if (!comma) fail("','");
            v.items.push_back(read_value(depth + 1));
            if (kind == value::dictionary) {
                if (!take(':')) fail("':'");
                v.items.push_back(read_value(depth + 1));
            }
            comma = take(',');
        }
        if (kind == value::tuple && v.items.size() == 1 && !comma) {
            refuse(fmt::format("its header has {}, which is not a tuple in Python; the tuple is ({},)",
                               shown(text_.substr(begin, at_ - begin)), shown(v.items[0].text)));
        }
    }

    void read_integer(value& v) {
        v.is = value::integer;
        const char* const begin = text_.data() + at_;
        const auto [end, status] = std::from_chars(begin, text_.data() + text_.size(), v.number);
        if (status == std::errc::result_out_of_range)
            refuse(fmt::format("the number {} in its header does not fit in 64 bits", shown({begin, end})));
        if (status != std::errc{}) fail("a value");
        at_ += static_cast<std::size_t>(end - begin);
        take_token("L");  // Python 2 wrote long integers with an L
    }

    std::string_view text_;
    std::size_t at_ = 0;
};

// ---- The entries of the dictionary ----------------------------------------------------------------------------------

std::vector<std::int64_t> shape_of(const value& v) {
    if (v.is != value::tuple) refuse(fmt::format("its shape is {}: it must be a tuple", shown(v.text)));
    if (v.items.size() > kMostExtents) refuse(fmt::format("it has {} dimensions: the limit is 64", v.items.size()));
    std::vector<std::int64_t> shape;
    for (const value& extent : v.items) {
        if (extent.is != value::integer || extent.number < 0)
            refuse(fmt::format("its shape is {}: each extent must be a whole number, 0 or more", shown(v.text)));
        shape.push_back(extent.number);
    }
    return shape;
}

// The size in bytes of an element of a simple dtype, such as "<f8" or "|S10".
std::int64_t size_of_code(std::string_view code) {
    std::string_view rest = code;
    if (!rest.empty() && std::string_view("<>|=").find(rest.front()) != std::string_view::npos) rest.remove_prefix(1);
    if (rest.empty()) refuse(fmt::format("its dtype '{}' is not supported", shown(code)));
    const char kind = rest.front();
    rest.remove_prefix(1);
    if (kind == 'O')
        refuse(fmt::format("its dtype '{}' means Python objects: elements must have a fixed size", shown(code)));
    std::int64_t count = kind == '?' ? 1 : -1;
    const auto [end, status] = std::from_chars(rest.data(), rest.data() + rest.size(), count);
    rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
    const bool dates = kind == 'm' || kind == 'M';  // a unit follows: "<M8[ns]"
    const bool ends = rest.empty() || (dates && rest.front() == '[' && rest.back() == ']');
    if (std::string_view("?biufcmMSaUV").find(kind) == std::string_view::npos || count < 0 || !ends ||
        status == std::errc::result_out_of_range) {
        refuse(fmt::format("its dtype '{}' is not supported", shown(code)));
    }
    return kind == 'U' ? times(count, 4, "the size of a string") : count;
}

// The size in bytes of an element: of a simple dtype, of an array, or of all fields of a structure.
std::int64_t size_of(const value& type, int depth = 0) {
    if (depth > kMostNested) refuse(fmt::format("its dtype has more than {} levels", kMostNested));
    const auto repeated = [&](const value& base, const value& shape) {
        std::int64_t size = size_of(base, depth + 1);
        const auto extents = shape.is == value::integer ? std::vector<std::int64_t>{shape.number} : shape_of(shape);
        if (extents.size() == 1 && extents[0] < 0)
            refuse(fmt::format("a field of its dtype has the shape {}: it must not be negative", extents[0]));
        for (const std::int64_t extent : extents) size = times(size, extent, "the size of an element");
        return size;
    };
    if (type.is == value::string) return size_of_code(type.string_text);
    if (type.is == value::tuple && type.items.size() == 2) return repeated(type.items[0], type.items[1]);
    if (type.is != value::list || type.items.empty())
        refuse(fmt::format("its dtype {} is not supported", shown(type.text)));
    std::int64_t size = 0;
    for (const value& field : type.items) {
        // A name may be a pair of a title and a name.
        if (field.is != value::tuple || field.items.size() < 2 || field.items.size() > 3)
            refuse(fmt::format("a field of its dtype is {}: it must be (name, dtype) or (name, dtype, shape)",
                               shown(field.text)));
        const std::int64_t bytes =
            field.items.size() == 3 ? repeated(field.items[1], field.items[2]) : size_of(field.items[1], depth + 1);
        if (__builtin_add_overflow(size, bytes, &size)) refuse("the size of an element does not fit in 64 bits");
    }
    return size;
}

// ---- Types that can be converted ------------------------------------------------------------------------------------

// The dtypes without their byte order.
constexpr std::pair<element_type, std::string_view> kCodes[] = {
    {element_type::boolean, "b1"}, {element_type::u8, "u1"},   {element_type::u16, "u2"}, {element_type::u32, "u4"},
    {element_type::u64, "u8"},     {element_type::i8, "i1"},   {element_type::i16, "i2"}, {element_type::i32, "i4"},
    {element_type::i64, "i8"},     {element_type::f16, "f2"},  {element_type::f32, "f4"}, {element_type::f64, "f8"},
    {element_type::c64, "c8"},     {element_type::c128, "c16"}};

// Of the code of a simple dtype, which size_of_code() accepts.
element_type type_of_code(std::string_view code) {
    if (std::string_view("<>|=").find(code.front()) != std::string_view::npos) code.remove_prefix(1);
    if (code == "?") return element_type::boolean;
    for (const auto& [type, known] : kCodes) {
        if (code == known) return type;
    }
    return {};
}

}  // namespace

std::string npy_descr(element_type type) {
    for (const auto& [known, code] : kCodes) {
        if (type == known) return fmt::format("'{}{}'", size_of(type) == 1 ? '|' : '<', code);
    }
    return fmt::format("'<V{}'", size_of(type));
}

std::int64_t npy_header::elements() const {
    std::int64_t all = 1;
    // If an extent is 0, the product of the others must not be checked: it may overflow.
    for (const std::int64_t extent : shape) {
        if (extent == 0) return 0;
    }
    for (const std::int64_t extent : shape) all = times(all, extent, "the number of its elements");
    return all;
}

std::int64_t npy_header::data_bytes() const { return times(elements(), element_size, "the size of its elements"); }

std::int64_t npy_header_bytes(std::string_view beginning) {
    if (!beginning.starts_with(kMagic))
        refuse("it is not a .npy file; for a file without a header, give --shape and --dtype");
    const auto byte = [&](std::size_t i) {
        if (i >= beginning.size()) refuse(fmt::format("it ends after {} bytes, within its header", beginning.size()));
        return static_cast<std::int64_t>(static_cast<unsigned char>(beginning[i]));
    };
    const std::int64_t major = byte(6), minor = byte(7);
    if (major < 1 || major > 3 || minor != 0)
        refuse(fmt::format("its .npy version is {}.{}: it must be 1.0, 2.0 or 3.0", major, minor));
    std::int64_t length = byte(8) | byte(9) << 8;
    if (major > 1) length |= byte(10) << 16 | byte(11) << 24;
    const std::int64_t all = length + (major == 1 ? 10 : 12);
    if (all > kMostNpyHeaderBytes)
        refuse(fmt::format("its header has {} bytes: the limit is {}", all, kMostNpyHeaderBytes));
    return all;
}

npy_header parse_npy(std::string_view header) {
    npy_header h;
    h.data_offset = npy_header_bytes(header);
    if (h.data_offset > static_cast<std::int64_t>(header.size()))
        refuse(fmt::format("it ends after {} bytes, within its header", header.size()));
    h.major = static_cast<unsigned char>(header[6]);
    const std::size_t begin = h.major == 1 ? 10 : 12;
    const value all = reader(header.substr(begin, static_cast<std::size_t>(h.data_offset) - begin)).read();
    if (all.is != value::dictionary) refuse("its header is not a dictionary");
    const value *descr = nullptr, *order = nullptr, *shape = nullptr;
    for (std::size_t i = 0; i < all.items.size(); i += 2) {
        const value& key = all.items[i];
        const value** const entry = key.string_text == "descr"           ? &descr
                                    : key.string_text == "fortran_order" ? &order
                                    : key.string_text == "shape"         ? &shape
                                                                         : nullptr;
        if (key.is != value::string || entry == nullptr || *entry != nullptr)
            refuse(fmt::format("its header has the key {}: it must have descr, fortran_order and shape, each once",
                               shown(key.text)));
        *entry = &all.items[i + 1];
    }
    if (descr == nullptr || order == nullptr || shape == nullptr)
        refuse("its header lacks one of descr, fortran_order and shape");
    if (order->is != value::boolean)
        refuse(fmt::format("its fortran_order is {}: it must be True or False", shown(order->text)));
    h.descr = descr->text;
    h.fortran_order = order->number != 0;
    h.shape = shape_of(*shape);
    h.element_size = size_of(*descr);
    if (descr->is == value::string) {
        h.type = type_of_code(descr->string_text);
        h.big_endian = descr->string_text.front() == '>';
    }
    if (h.element_size < 1 || h.element_size > std::numeric_limits<int>::max())
        refuse(fmt::format("its elements have {} bytes: they must have 1 to 2147483647", h.element_size));
    h.data_bytes();  // throws if the size does not fit in 64 bits
    return h;
}

std::string make_npy(const npy_header& like, const std::vector<std::int64_t>& shape, bool fortran_order) {
    std::string text =
        fmt::format("{{'descr': {}, 'fortran_order': {}, 'shape': ({}{}), }}", like.descr,
                    fortran_order ? "True" : "False", fmt::join(shape, ", "), shape.size() == 1 ? "," : "");
    int major = like.major;
    const auto padded = [&](std::size_t prefix) {
        return (prefix + text.size() + 1 + kAlignment - 1) / kAlignment * kAlignment - prefix;
    };
    if (major == 1 && padded(10) > 0xffff) major = 2;
    const std::size_t prefix = major == 1 ? 10 : 12, length = padded(prefix);
    text.resize(length - 1, ' ');
    std::string out(kMagic);
    out += static_cast<char>(major);
    out += '\0';
    for (std::size_t i = 0; i < prefix - 8; ++i) out += static_cast<char>(length >> 8 * i & 0xff);
    return out + text + '\n';
}

}  // namespace cornerturn::files
