#include "device/registry.hpp"

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
#include "emulator/launch.hpp"

namespace cornerturn {
namespace {

std::vector<kernel>& registered() {
    static std::vector<kernel> all;
    return all;
}

// The number that a file's name begins with; files without one come last.
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

// How far the wanted id is from this one: nothing but what is left out counts little, such as its family.
std::size_t distance(std::string_view id, std::string_view wanted) {
    const std::size_t slash = id.find('/');
    const std::string_view rung = id.substr(slash == id.npos ? 0 : slash + 1);
    const std::string_view name = rung.substr(0, rung.find('@'));
    const std::size_t by_part = std::min({edit_distance(rung, wanted), edit_distance(name, wanted) + 1,
                                          edit_distance(id.substr(0, id.find('@')), wanted) + 1});
    const std::size_t contained = !wanted.empty() && id.find(wanted) != id.npos ? 1 : id.size() + wanted.size();
    return std::min({edit_distance(id, wanted), by_part, contained});
}

}  // namespace

void register_rung(const rung_notes& notes, operation does, backend built_for, const char* file, const char* id_suffix,
                   const variant* variants, int variant_count) {
    std::vector<kernel>& all = registered();
    for (int i = 0; i < variant_count; ++i) {
        const variant& v = variants[i];
        const std::string id =
            (*v.name != '\0' ? std::string(notes.id) + "@" + v.name : notes.id) + std::string(id_suffix);
        auto found = std::find_if(all.begin(), all.end(), [&](const kernel& k) { return k.id == id; });
        if (found == all.end()) {
            const std::string name = std::filesystem::path(file).filename().string();
            kernel added{id,
                         name,
                         i,
                         &notes,
                         does,
                         v.origin,
                         v.element_sizes,
                         v.needs,
                         v.batches,
                         v.in_place,
                         v.arithmetic,
                         v.whole_only,
                         v.explain,
                         v.explain_product,
                         v.noted_gflops,
                         {},
                         {}};
            const auto key = [](const kernel& k) { return std::tuple(number_of(k.file), k.file, k.order); };
            found = all.insert(std::upper_bound(all.begin(), all.end(), added,
                                                [&](const kernel& a, const kernel& b) { return key(a) < key(b); }),
                               added);
        }
        if (found->is_built_for(built_for)) {
            // Before main nothing can catch an exception; this line and the exit status say what happened.
            std::fprintf(stderr, "cornerturn: two kernels are registered as %s (%s and %s)\n", id.c_str(),
                         found->file.c_str(), file);
            std::abort();
        }
        found->runs[static_cast<std::size_t>(built_for)] = v.run;
        found->multiplies[static_cast<std::size_t>(built_for)] = v.multiply;
        found->workspaces[static_cast<std::size_t>(built_for)] = v.workspace;
    }
}

void refuse(const char* why) { throw unsupported(why); }

void refuse_gaps(const matrix_work& work) {
    const bool whole = work.rows <= 1 || (work.source_ld == work.cols && work.destination_ld == work.cols);
    if (!whole || work.count != 1) refuse("it copies one matrix without gaps behind its rows");
}

void refuse_element_size(int element_size) {
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

void run_step(const char* id, backend on, const matrix_work& work) {
    const emulator::step_scope step;
    find_kernel(id).run(on)(work);
}

}  // namespace cornerturn
