#include "report/warp_picture.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>

namespace cornerturn::report {
namespace {

using emulator::kWarpSize;
using emulator::watched_access;

constexpr int kBanks = 32, kWordBytes = 4, kSectorBytes = 32;

// Calls visit(lane, offset) for each active lane.
template <class Visit>
void for_each_lane(const watched_access& a, std::uint32_t of, Visit visit) {
    for (std::uint32_t rest = a.active & of; rest != 0; rest &= rest - 1) {
        const int lane = std::countr_zero(rest);
        visit(lane, a.offsets[static_cast<std::size_t>(lane)]);
    }
}

// Lanes as people write them: "0-7", "3", "0,16".
std::string lanes_text(std::uint32_t lanes) {
    std::string text;
    while (lanes != 0) {
        const int first = std::countr_zero(lanes);
        const int run = std::countr_one(lanes >> first);
        if (!text.empty()) text += ',';
        text += run == 1 ? std::to_string(first) : fmt::format("{}-{}", first, first + run - 1);
        lanes = run + first == kWarpSize ? 0 : lanes >> (first + run) << (first + run);
    }
    return text;
}

// The lanes that touch each sector, by the sector's first byte.
std::map<std::int64_t, std::uint32_t> sectors_of(const watched_access& a) {
    std::map<std::int64_t, std::uint32_t> found;
    for_each_lane(a, ~0u,
                  [&](int lane, std::int64_t offset) { found[offset / kSectorBytes * kSectorBytes] |= 1u << lane; });
    return found;
}

// One pass over the banks: the lanes that each serves in it, by bank.
using pass = std::array<std::uint32_t, kBanks>;

// What shared memory does for the access, pass by pass: in each a bank serves one word, to all lanes of the group that
// want it. As many as the emulator counts wavefronts.
std::vector<pass> passes_of(const watched_access& a) {
    std::vector<pass> passes;
    for (int g = 0; g < a.groups.count; ++g) {
        std::array<std::vector<std::pair<std::int64_t, std::uint32_t>>, kBanks> words;  // of each bank: word, lanes
        for_each_lane(a, a.groups.lanes[static_cast<std::size_t>(g)], [&](int lane, std::int64_t offset) {
            for (std::int64_t word = offset / kWordBytes; word * kWordBytes < offset + a.width; ++word) {
                auto& here = words[static_cast<std::size_t>(word % kBanks)];
                const auto found =
                    std::find_if(here.begin(), here.end(), [&](const auto& w) { return w.first == word; });
                if (found == here.end()) {
                    here.emplace_back(word, 1u << lane);
                } else {
                    found->second |= 1u << lane;
                }
            }
        });
        std::size_t most = 0;
        for (const auto& here : words) most = std::max(most, here.size());
        for (std::size_t i = 0; i < most; ++i) {
            pass& next = passes.emplace_back();
            for (std::size_t bank = 0; bank < words.size(); ++bank)
                next[bank] = i < words[bank].size() ? words[bank][i].second : 0;
        }
    }
    return passes;
}

// In a cell two characters wide: the lane, or how many there are.
std::string cell_text(std::uint32_t lanes) {
    if (lanes == 0) return " .";
    if (std::has_single_bit(lanes)) return fmt::format("{:2}", std::countr_zero(lanes));
    return fmt::format("*{}", std::popcount(lanes) > 9 ? "+" : std::to_string(std::popcount(lanes)));
}

std::string plural(unsigned count, const char* noun) {
    return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

// A colour for each lane, from blue to orange: fixed, and dark or light enough for text on it.
std::string lane_colour(int lane) {
    const int hue = 215 - lane * 185 / (kWarpSize - 1);
    return fmt::format("hsl({},60%,{}%)", hue, 72);
}

}  // namespace

std::vector<warp_step> steps_of(const std::vector<watched_access>& watched) {
    std::vector<warp_step> steps;
    for (const watched_access& a : watched) {
        const auto same = std::find_if(steps.begin(), steps.end(), [&](const warp_step& s) {
            const watched_access& b = *s.access;
            return a.file == b.file && a.line == b.line && a.op == b.op && a.place == b.place && a.width == b.width;
        });
        if (same == steps.end()) {
            steps.push_back({&a, 1});
        } else {
            ++same->times;
        }
    }
    return steps;
}

std::string step_text(const watched_access& a) {
    const char* const does = a.op == emulator::kLoad ? "reads" : a.op == emulator::kStore ? "writes" : "copies into";
    const int lanes = std::popcount(a.active);
    std::string text = fmt::format("{} {}, {} bytes a lane", does, a.place, a.width);
    if (a.width == 1) text = fmt::format("{} {}, 1 byte a lane", does, a.place);
    if (lanes < kWarpSize) text += fmt::format(", {} lanes", lanes);
    if (!a.shared) {
        const auto least = (static_cast<unsigned>(lanes) * a.width + kSectorBytes - 1) / kSectorBytes;
        text += ": " + plural(a.sectors, "sector");
        if (a.sectors > least) text += fmt::format(", where {} could hold it", least);
        return text;
    }
    text += ": " + plural(a.wavefronts, "wavefront");
    return a.wavefronts > a.least_wavefronts
               ? text + fmt::format(", where {} would do: bank conflicts", a.least_wavefronts)
               : text;
}

std::string picture_text(const watched_access& a) {
    std::string out;
    if (a.shared) {
        constexpr std::size_t kShown = 6;
        const std::vector<pass> passes = passes_of(a);
        out += "  bank  ";
        for (int bank = 0; bank < kBanks; ++bank) out += fmt::format("{:2} ", bank);
        for (std::size_t i = 0; i < std::min(kShown, passes.size()); ++i) {
            out += fmt::format("\n  pass {}", i + 1);
            out += ' ';
            for (const std::uint32_t lanes : passes[i]) out += cell_text(lanes) + ' ';
        }
        if (passes.size() > kShown) out += fmt::format("\n  ... and {} more passes", passes.size() - kShown);
        // Trailing blanks serve nobody.
        std::string trimmed;
        for (std::size_t at = 0; at < out.size();) {
            const std::size_t end = std::min(out.find('\n', at), out.size());
            std::string line = out.substr(at, end - at);
            line.erase(line.find_last_not_of(' ') + 1);
            trimmed += line + '\n';
            at = end + 1;
        }
        return trimmed;
    }
    const auto sectors = sectors_of(a);
    constexpr std::size_t kShown = 8;
    std::size_t shown = 0;
    const std::int64_t begin = sectors.begin()->first;
    for (const auto& [offset, lanes] : sectors) {
        if (shown == kShown) break;
        out += fmt::format("{}[+{}: lane{} {}]", shown % 4 == 0 ? (shown == 0 ? "  " : "\n  ") : " ", offset - begin,
                           std::has_single_bit(lanes) ? "" : "s", lanes_text(lanes));
        ++shown;
    }
    if (sectors.size() > kShown) out += fmt::format("\n  ... and {} more sectors", sectors.size() - kShown);
    return out + '\n';
}

drawing picture_of(const std::string& title, const std::vector<warp_step>& steps) {
    constexpr double kLeft = 16, kCell = 22, kRow = 20, kWidth = kLeft * 2 + 52 + kBanks * kCell;
    constexpr std::size_t kMostPasses = 32, kSectorsInRow = 4;
    constexpr double kByte = (kBanks * kCell - 12) / (kSectorsInRow * kSectorBytes);
    struct panel {
        const warp_step* step;
        std::vector<pass> passes;
        std::map<std::int64_t, std::uint32_t> sectors;
        double height;
    };
    std::vector<panel> panels;
    double height = 40;
    for (const warp_step& s : steps) {
        panel p{&s, {}, {}, 0};
        if (s.access->shared) {
            p.passes = passes_of(*s.access);
            p.height = 44 + kRow * static_cast<double>(std::min(kMostPasses, p.passes.size()) + 1);
        } else {
            p.sectors = sectors_of(*s.access);
            p.height = 44 + (kRow + 4) * static_cast<double>((p.sectors.size() + kSectorsInRow - 1) / kSectorsInRow);
        }
        height += p.height;
        panels.push_back(std::move(p));
    }
    drawing d(kWidth, height, title);
    d.text(kLeft, 24, title, "ink", anchor::start, 14);
    double y = 40;
    for (const panel& p : panels) {
        const watched_access& a = *p.step->access;
        d.line(kLeft, y, kWidth - kLeft, y, "faint");
        d.text(kLeft, y + 20,
               fmt::format("{}:{}  {}{}", a.file, a.line, step_text(a),
                           p.step->times > 1 ? fmt::format("; {} times", p.step->times) : ""),
               "ink", anchor::start, 12);
        double row = y + 32;
        if (a.shared) {
            d.text(kLeft, row + 11, "bank", "soft", anchor::start, 10);
            for (int bank = 0; bank < kBanks; ++bank)
                d.text(kLeft + 52 + (bank + 0.5) * kCell, row + 11, std::to_string(bank), "soft", anchor::middle, 9);
            row += kRow - 4;
            for (std::size_t i = 0; i < std::min(kMostPasses, p.passes.size()); ++i, row += kRow) {
                d.text(kLeft, row + 14, fmt::format("pass {}", i + 1), "soft", anchor::start, 10);
                for (int bank = 0; bank < kBanks; ++bank) {
                    const std::uint32_t lanes = p.passes[i][static_cast<std::size_t>(bank)];
                    const double x = kLeft + 52 + bank * kCell;
                    if (lanes == 0) {
                        d.rectangle(x + 1, row + 1, kCell - 2, kRow - 2, "faint");
                        continue;
                    }
                    const bool one = std::has_single_bit(lanes);
                    d.cell(x + 1, row + 1, kCell - 2, kRow - 2, lane_colour(std::countr_zero(lanes)),
                           fmt::format("bank {}, pass {}: lane{} {}", bank, i + 1, one ? "" : "s", lanes_text(lanes)));
                    d.text(x + kCell / 2, row + 14,
                           one ? std::to_string(std::countr_zero(lanes)) : fmt::format("{}x", std::popcount(lanes)),
                           "on-cell", anchor::middle, 10);
                }
            }
        } else {
            std::size_t i = 0;
            const std::int64_t begin = p.sectors.begin()->first;
            for (const auto& [offset, touching] : p.sectors) {
                const std::size_t column = i % kSectorsInRow;
                const double x = kLeft + 52 + static_cast<double>(column) * (kSectorBytes * kByte + 4);
                if (column == 0) d.text(kLeft, row + 14, fmt::format("+{}", offset - begin), "soft", anchor::start, 10);
                d.rectangle(x, row, kSectorBytes * kByte, kRow, "faint",
                            fmt::format("the sector at +{}: lanes {}", offset - begin, lanes_text(touching)));
                for_each_lane(a, touching, [&, where = offset](int lane, std::int64_t at) {
                    const double left = x + static_cast<double>(at - where) * kByte;
                    d.cell(left + 0.5, row + 1, a.width * kByte - 1, kRow - 2, lane_colour(lane),
                           fmt::format("lane {} at +{}", lane, at - begin));
                    if (a.width >= 4)
                        d.text(left + a.width * kByte / 2, row + 14, std::to_string(lane), "on-cell", anchor::middle,
                               10);
                });
                if (++i % kSectorsInRow == 0) row += kRow + 4;
            }
        }
        y += p.height;
    }
    return d;
}

}  // namespace cornerturn::report
