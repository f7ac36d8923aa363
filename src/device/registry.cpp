#include "device/registry.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <numeric>
#include <tuple>
#include <utility>

#include "cornerturn/error.hpp"
#include "device/operation.hpp"

namespace cornerturn {
namespace {

std::vector<kernel>& registered() {
    static std::vector<kernel> all;
    return all;
}

// The number at the start of a file's name. Files without a number come last.
int number_of(const std::string& file) {
    int number = std::numeric_limits<int>::max();
    std::from_chars(file.data(), file.data() + file.size(), number);
    return number;
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> row(b.size() + 1);
    std::iota(row.begin(), row.end(), 0);
    for (std::size_t i = 1; i <= a.size(); ++i) {
        std::size_t diagonal = std::exchange(row[0], i);
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t replace = diagonal + (a[i - 1] != b[j - 1]);
            diagonal = row[j];
            row[j] = std::min({replace, row[j] + 1, row[j - 1] + 1});
        }
    }
    return row[b.size()];
}

// How far the wanted id is from this one. Leaving out a whole part, such as the family, costs little.
std::size_t distance(std::string_view id, std::string_view wanted) {
    const std::size_t slash = id.find('/');
    const std::string_view rung = id.substr(slash == id.npos ? 0 : slash + 1);
    const std::string_view name = rung.substr(0, rung.find('@'));
    const std::size_t by_part = std::min({edit_distance(rung, wanted), edit_distance(name, wanted) + 1,
                                          edit_distance(id.substr(0, id.find('@')), wanted) + 1});
    const std::size_t contained = !wanted.empty() && id.find(wanted) != id.npos ? 1 : id.size() + wanted.size();
    return std::min({edit_distance(id, wanted), by_part, contained});
}

// Before main, nothing can catch an exception. Only this line and the exit status tell what happened.
[[noreturn]] void refuse(const std::string& why) {
    std::fprintf(stderr, "cornerturn: %s\n", why.c_str());
    std::_Exit(1);
}

void check_notes(const rung_notes& notes, const char* file) {
    const std::pair<const char*, const char*> all[] = {
        {"id", notes.id},       {"idea", notes.idea},   {"change", notes.change}, {"contract", notes.contract},
        {"bytes", notes.bytes}, {"limit", notes.limit}, {"source", notes.source}};
    for (const auto& [name, text] : all) {
        if (text == nullptr || *text == '\0') {
            refuse(fmt::format("{}: its notes lack .{}: a rung has {}", file, name,
                               "an id, idea, change, contract, bytes, limit and source"));
        }
    }
}

// A ladder would never run a rung of another family.
void check_family(const rung_notes& notes, const operation& op, backend built_for, const char* file) {
    if (std::filesystem::path(file).parent_path().filename() != "ladder") return;
    const std::vector<const char*> families =
        built_for == backend::host ? std::vector<const char*>{"host"} : op.facts().families;
    const std::string_view id = notes.id;
    const std::size_t slash = id.find('/');
    const bool named = slash != id.npos && slash + 1 < id.size() && id.find('/', slash + 1) == id.npos;
    if (named && std::find(families.begin(), families.end(), id.substr(0, slash)) != families.end()) return;
    refuse(fmt::format("{}: its id is '{}': it must be {}/NAME", file, id, fmt::join(families, "/NAME or ")));
}

}  // namespace

void register_kernel(const rung_notes& notes, const operation& op, backend built_for, const char* file,
                     const char* id_suffix, int order, const kernel_facts& facts, const void* of_work, bool runs,
                     const char* work_type) {
    check_notes(notes, file);
    check_family(notes, op, built_for, file);
    std::vector<kernel>& all = registered();
    const std::string id =
        (*facts.name != '\0' ? std::string(notes.id) + "@" + facts.name : notes.id) + std::string(id_suffix);
    auto found = std::find_if(all.begin(), all.end(), [&](const kernel& k) { return k.id == id; });
    if (found == all.end()) {
        const std::string name = std::filesystem::path(file).filename().string();
        const kernel added{id, name, order, &notes, &op, facts, work_type, of_work};
        const auto key = [](const kernel& k) { return std::tuple(number_of(k.file), k.file, k.order); };
        found = all.insert(std::upper_bound(all.begin(), all.end(), added,
                                            [&](const kernel& a, const kernel& b) { return key(a) < key(b); }),
                           added);
    }
    if (found->is_built_for(built_for) || found->work_type != work_type || found->op != &op) {
        refuse(fmt::format("two kernels are registered as {} ({} and {})", id, found->file, file));
    }
    if (runs) found->variants[static_cast<std::size_t>(built_for)] = of_work;
}

void decline(const char* why) { throw unsupported(why); }

void decline_element_size(int element_size) {
    throw unsupported("no kernel takes elements of " + std::to_string(element_size) + " bytes");
}

const std::vector<kernel>& kernels() { return registered(); }

const kernel& find_kernel(std::string_view id) {
    const auto& all = kernels();
    const auto found = std::find_if(all.begin(), all.end(), [&](const kernel& k) { return k.id == id; });
    if (found != all.end()) return *found;
    const auto nearest = std::min_element(all.begin(), all.end(), [&](const kernel& a, const kernel& b) {
        return distance(a.id, id) < distance(b.id, id);
    });
    throw invalid_argument("no kernel is called '" + std::string(id) + "'; the nearest is '" +
                           (nearest != all.end() ? nearest->id : "none") + "' (cornerturn list names them all)");
}

}  // namespace cornerturn
