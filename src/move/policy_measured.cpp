#include "move/policy_measured.hpp"

#include <atomic>
#include <locale>
#include <map>
#include <mutex>
#include <shared_mutex>
#include <sstream>
#include <vector>

#include "cornerturn/error.hpp"
#include "move/matrices.hpp"
#include "move/tile_cut.hpp"

namespace cornerturn::moves {
namespace {

constexpr const char* kFirstLine = "cornerturn choices 1";

// All that the choice for a copy depends on.
using key = std::vector<std::int64_t>;

key key_of(const strided_copy& c, const gpu& on) {
    key k = {on.capability,
             on.multiprocessors,
             on.shared_bytes,
             on.shared_bytes_of_block,
             on.l2_bytes,
             c.run,
             static_cast<std::int64_t>(c.source % kAlignmentPeriod),
             static_cast<std::int64_t>(c.destination % kAlignmentPeriod),
             is_in_place(c)};
    for (int i = 0; i < c.rank; ++i) {
        const strided_axis& a = c.axes[static_cast<std::size_t>(i)];
        k.insert(k.end(), {a.extent, a.source, a.destination});
    }
    return k;
}
constexpr std::size_t kLeastOfKey = 9;

struct choices {
    std::shared_mutex lock;
    std::map<key, candidate> all;
    std::atomic<unsigned> count = 0;
};
choices& known() {
    static choices the_one;
    return the_one;
}

void remember(key of, const candidate& way) {
    choices& k = known();
    const std::unique_lock hold(k.lock);
    k.all.insert_or_assign(std::move(of), candidate{way.by, way.row});
    k.count.fetch_add(1, std::memory_order_release);
}

// The family and the numbers of its row: "vector 4 64 64 512 0". Rows may get other places in later versions.
std::string name_of(const candidate& way) {
    std::ostringstream text;
    text.imbue(std::locale::classic());
    text << name(way.by);
    const auto row = static_cast<std::size_t>(way.row);
    if (way.by == kernel_family::tiles) {
        const tile_target t = target_of(way.row);
        text << ' ' << t.line << ' ' << t.area;
    } else if (const auto rows = rows_of(way.by); !rows.empty()) {
        const tuning& t = rows[row];
        text << ' ' << t.unit << ' ' << t.tile_rows << ' ' << t.tile_cols << ' ' << t.threads << ' ' << t.detail;
    }
    return text.str();
}
std::optional<candidate> way_named(const std::string& text) {
    for (int f = 1; f < kFamilies; ++f) {
        const auto by = static_cast<kernel_family>(f);
        const std::size_t rows =
            by == kernel_family::tiles ? std::size(kTargets) : std::max<std::size_t>(1, rows_of(by).size());
        for (std::size_t row = 0; row < rows; ++row) {
            const candidate way{by, static_cast<int>(row)};
            if (name_of(way) == text) return way;
        }
    }
    return std::nullopt;
}

}  // namespace

std::optional<candidate> measured_way(const strided_copy& c, const gpu& on) {
    choices& k = known();
    if (measured_count() == 0 || c.converts()) return std::nullopt;  // conversions are not measured
    const std::shared_lock hold(k.lock);
    const auto found = k.all.find(key_of(c, on));
    return found != k.all.end() ? std::optional(found->second) : std::nullopt;
}

void remember_measured(const strided_copy& c, const gpu& on, const candidate& way) { remember(key_of(c, on), way); }

unsigned measured_count() { return known().count.load(std::memory_order_acquire); }

std::string measured_text() {
    choices& k = known();
    const std::shared_lock hold(k.lock);
    std::ostringstream text;
    text.imbue(std::locale::classic());
    text << kFirstLine << '\n';
    for (const auto& [of, way] : k.all) {
        for (const std::int64_t number : of) text << number << ' ';
        text << name_of(way) << '\n';
    }
    return text.str();
}

int read_measured(const std::string& text) {
    std::istringstream lines(text);
    std::string line;
    const auto next = [&] {
        if (!std::getline(lines, line)) return false;
        if (line.ends_with('\r')) line.pop_back();
        return true;
    };
    if (!next() || line != kFirstLine) {
        throw invalid_argument(std::string("the file is no file of choices: its first line must be '") + kFirstLine +
                               "'");
    }
    std::vector<std::pair<key, candidate>> all;
    for (int number = 2; next(); ++number) {
        std::istringstream words(line);
        words.imbue(std::locale::classic());
        key of;
        for (std::int64_t value; words >> value;) of.push_back(value);
        words.clear();
        std::string way;
        std::getline(words, way);
        if (of.size() < kLeastOfKey || (of.size() - kLeastOfKey) % 3 != 0 || way.empty())
            throw invalid_argument("line " + std::to_string(number) +
                                   " is damaged: it must be numbers and the name of a way");
        if (const auto found = way_named(way)) all.emplace_back(std::move(of), *found);
    }
    for (auto& [of, way] : all) remember(std::move(of), way);
    return static_cast<int>(all.size());
}

}  // namespace cornerturn::moves
