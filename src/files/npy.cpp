#include "files/npy.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cctype>
#include <charconv>
#include <limits>

#include "core/sizes.hpp"
#include "cornerturn/error.hpp"

namespace cornerturn::files {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr std::size_t kAlignment = 64;
constexpr int kMostNested = 32;           // of types within types, and of brackets
constexpr std::size_t kMostExtents = 64;  // as numpy has it

[[noreturn]] void bad(const std::string& what) { throw error("not a .npy file that can be read: " + what); }

// Text from a file, fit for a line of a terminal.
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
        bad(overflow.what());
    }
}

// ---- The header is a literal of Python's: strings, integers, True and False, tuples, lists, a dictionary ------------

struct value {
    enum kind { string, integer, boolean, tuple, list, dictionary } is = string;
    std::string_view text;         // as it stands in the header
    std::string_view string_text;  // between the quotes
    std::int64_t number = 0;       // of a boolean, too
    std::vector<value> items;      // of a dictionary: key, value, key, value
};

class reader {
public:
    explicit reader(std::string_view text) : text_(text) {}

    value read() {
        value all = read_value(0);
        skip_space();
        if (at_ < text_.size()) fail("nothing more");
        return all;
    }

private:
    [[noreturn]] void fail(const char* wanted) const {
        if (at_ >= text_.size()) bad(fmt::format("its header ends where {} should be", wanted));
        bad(fmt::format("its header has '{}' where {} should be", shown(text_.substr(at_)), wanted));
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
    bool take_word(std::string_view word) {
        if (!text_.substr(at_).starts_with(word)) return false;
        at_ += word.size();
        return true;
    }

    value read_value(int depth) {
        if (depth > kMostNested) bad(fmt::format("its header nests more than {} deep", kMostNested));
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
        } else if (take_word("True") || take_word("False")) {
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
        // A quote that is escaped does not end it; what else is escaped is of no interest here.
        while (at_ < text_.size() && text_[at_] != quote) at_ += text_[at_] == '\\' ? 2 : 1;
        if (at_ >= text_.size()) bad("a string in its header has no end");
        v.is = value::string;
        v.string_text = text_.substr(begin, at_++ - begin);
    }

    void read_items(value& v, value::kind kind, char end, int depth) {
        v.is = kind;
        const std::size_t begin = at_++;
        bool comma = true;
        while (!take(end)) {
            if (!comma) fail("a comma");
            v.items.push_back(read_value(depth + 1));
            if (kind == value::dictionary) {
                if (!take(':')) fail("a colon");
                v.items.push_back(read_value(depth + 1));
            }
            comma = take(',');
        }
        if (kind == value::tuple && v.items.size() == 1 && !comma) {
            bad(fmt::format("its header has {}, which is no tuple in Python: ({},) is one",
                            shown(text_.substr(begin, at_ - begin)), shown(v.items[0].text)));
        }
    }

    void read_integer(value& v) {
        v.is = value::integer;
        const char* const begin = text_.data() + at_;
        const auto [end, status] = std::from_chars(begin, text_.data() + text_.size(), v.number);
        if (status == std::errc::result_out_of_range) bad("a number in its header does not fit in 64 bits");
        if (status != std::errc{}) fail("a value");
        at_ += static_cast<std::size_t>(end - begin);
        take_word("L");  // Python 2 wrote long integers so
    }

    std::string_view text_;
    std::size_t at_ = 0;
};

// ---- What its entries mean ------------------------------------------------------------------------------------------

std::vector<std::int64_t> shape_of(const value& v) {
    if (v.is != value::tuple) bad(fmt::format("its shape is {}, which is not a tuple", shown(v.text)));
    if (v.items.size() > kMostExtents) bad(fmt::format("it has {} dimensions: the limit is 64", v.items.size()));
    std::vector<std::int64_t> shape;
    for (const value& extent : v.items) {
        if (extent.is != value::integer || extent.number < 0)
            bad(fmt::format("its shape is {}: each extent must be a whole number, 0 or more", shown(v.text)));
        shape.push_back(extent.number);
    }
    return shape;
}

// Bytes of an element of a simple type, such as "<f8" or "|S10".
std::int64_t size_of_code(std::string_view code) {
    std::string_view rest = code;
    if (!rest.empty() && std::string_view("<>|=").find(rest.front()) != std::string_view::npos) rest.remove_prefix(1);
    if (rest.empty()) bad(fmt::format("its elements' type '{}' is not known", shown(code)));
    const char kind = rest.front();
    rest.remove_prefix(1);
    if (kind == 'O') bad("its elements are Python objects, and their memory is not in the file");
    std::int64_t count = kind == '?' ? 1 : -1;
    const auto [end, status] = std::from_chars(rest.data(), rest.data() + rest.size(), count);
    rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
    const bool dates = kind == 'm' || kind == 'M';  // with their unit behind: "<M8[ns]"
    const bool ends = rest.empty() || (dates && rest.front() == '[' && rest.back() == ']');
    if (std::string_view("?biufcmMSaUV").find(kind) == std::string_view::npos || count < 0 || !ends ||
        status == std::errc::result_out_of_range) {
        bad(fmt::format("its elements' type '{}' is not known", shown(code)));
    }
    return kind == 'U' ? times(count, 4, "the bytes of a string") : count;
}

// Bytes of an element: of a simple type, of an array of them, or of a structure's fields one after the other.
std::int64_t size_of(const value& type, int depth = 0) {
    if (depth > kMostNested) bad("its elements' type nests too deep");
    const auto repeated = [&](const value& base, const value& shape) {
        std::int64_t size = size_of(base, depth + 1);
        const auto extents = shape.is == value::integer ? std::vector<std::int64_t>{shape.number} : shape_of(shape);
        if (extents.size() == 1 && extents[0] < 0)
            bad(fmt::format("a field of its elements has {} of them", extents[0]));
        for (const std::int64_t extent : extents) size = times(size, extent, "the bytes of an element");
        return size;
    };
    if (type.is == value::string) return size_of_code(type.string_text);
    if (type.is == value::tuple && type.items.size() == 2) return repeated(type.items[0], type.items[1]);
    if (type.is != value::list || type.items.empty()) bad(fmt::format("its elements' type is {}", shown(type.text)));
    std::int64_t size = 0;
    for (const value& field : type.items) {
        // (name, type) or (name, type, shape); a name may come with a title.
        if (field.is != value::tuple || field.items.size() < 2 || field.items.size() > 3)
            bad(fmt::format("a field of its elements is {}", shown(field.text)));
        const std::int64_t bytes =
            field.items.size() == 3 ? repeated(field.items[1], field.items[2]) : size_of(field.items[1], depth + 1);
        if (__builtin_add_overflow(size, bytes, &size)) bad("the bytes of an element do not fit in 64 bits");
    }
    return size;
}

}  // namespace

std::int64_t npy_header::elements() const {
    std::int64_t all = 1;
    // An extent of 0 leaves nothing, however large the others are.
    for (const std::int64_t extent : shape) {
        if (extent == 0) return 0;
    }
    for (const std::int64_t extent : shape) all = times(all, extent, "its elements");
    return all;
}

std::int64_t npy_header::data_bytes() const { return times(elements(), element_size, "its bytes"); }

std::int64_t npy_header_bytes(std::string_view beginning) {
    if (!beginning.starts_with(kMagic)) bad("it does not begin with a .npy header");
    const auto byte = [&](std::size_t i) {
        if (i >= beginning.size()) bad("it ends within its header");
        return static_cast<std::int64_t>(static_cast<unsigned char>(beginning[i]));
    };
    const std::int64_t major = byte(6), minor = byte(7);
    if (major < 1 || major > 3 || minor != 0)
        bad(fmt::format("it is of version {}.{}, but only 1.0, 2.0 and 3.0 can be read", major, minor));
    std::int64_t length = byte(8) | byte(9) << 8;
    if (major > 1) length |= byte(10) << 16 | byte(11) << 24;
    const std::int64_t all = length + (major == 1 ? 10 : 12);
    if (all > kMostNpyHeaderBytes)
        bad(fmt::format("its header has {} bytes: the limit is {}", all, kMostNpyHeaderBytes));
    return all;
}

npy_header parse_npy(std::string_view header) {
    npy_header h;
    h.data_offset = npy_header_bytes(header);
    if (h.data_offset > static_cast<std::int64_t>(header.size())) bad("it ends within its header");
    h.major = static_cast<unsigned char>(header[6]);
    const std::size_t begin = h.major == 1 ? 10 : 12;
    const value all = reader(header.substr(begin, static_cast<std::size_t>(h.data_offset) - begin)).read();
    if (all.is != value::dictionary) bad("its header is not a dictionary");
    const value *descr = nullptr, *order = nullptr, *shape = nullptr;
    for (std::size_t i = 0; i < all.items.size(); i += 2) {
        const value& key = all.items[i];
        const value** const entry = key.string_text == "descr"           ? &descr
                                    : key.string_text == "fortran_order" ? &order
                                    : key.string_text == "shape"         ? &shape
                                                                         : nullptr;
        if (key.is != value::string || entry == nullptr || *entry != nullptr)
            bad(fmt::format("its header has the key {}; it has descr, fortran_order and shape, once each",
                            shown(key.text)));
        *entry = &all.items[i + 1];
    }
    if (descr == nullptr || order == nullptr || shape == nullptr)
        bad("its header lacks one of descr, fortran_order and shape");
    if (order->is != value::boolean) bad(fmt::format("its fortran_order is {}", shown(order->text)));
    h.descr = descr->text;
    h.fortran_order = order->number != 0;
    h.shape = shape_of(*shape);
    h.element_size = size_of(*descr);
    if (h.element_size < 1 || h.element_size > std::numeric_limits<int>::max())
        bad(fmt::format("its elements have {} bytes; they can have 1 to 2147483647", h.element_size));
    h.data_bytes();  // fits, or it throws
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
