#include "report/warp_picture.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>

namespace cornerturn::report {
namespace {

using emulator::kWarpSize;
using emulator::watched_access;

constexpr int kBanks = 32, kBankWordBytes = 4, kSectorBytes = 32;

// Calls visit(lane, offset) for each active lane of the mask `of`.
template <class Visit>
void for_each_lane(const watched_access& a, std::uint32_t of, Visit visit) {
    for (std::uint32_t rest = a.active & of; rest != 0; rest &= rest - 1) {
        const int lane = std::countr_zero(rest);
        visit(lane, a.offsets[static_cast<std::size_t>(lane)]);
    }
}

// "0-7", "3", "0,16"
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

// The cell of each sector in the drawing: up to four contiguous sectors in a row. A gap begins a new row.
std::vector<std::pair<std::size_t, std::size_t>> cells_of(const std::map<std::int64_t, std::uint32_t>& sectors) {
    constexpr std::size_t kInRow = 4;
    std::vector<std::pair<std::size_t, std::size_t>> cells;  // row, column
    std::int64_t expected = 0;
    for (const auto& [offset, lanes] : sectors) {
        if (cells.empty()) {
            cells.emplace_back(0, 0);
        } else {
            const auto [row, column] = cells.back();
            const bool same_row = offset == expected && column + 1 < kInRow;
            cells.emplace_back(same_row ? row : row + 1, same_row ? column + 1 : 0);
        }
        expected = offset + kSectorBytes;
    }
    return cells;
}

// The lanes that each bank serves in one wavefront.
using wavefront = std::array<std::uint32_t, kBanks>;

// The wavefronts of an access to shared memory. In each of them, a bank serves one word to all lanes of the group that
// access it. Their number is the emulator's number of wavefronts.
std::vector<wavefront> wavefronts_of(const watched_access& a) {
    std::vector<wavefront> wavefronts;
    for (int g = 0; g < a.groups.count; ++g) {
        std::array<std::vector<std::pair<std::int64_t, std::uint32_t>>, kBanks> words;  // by bank: word, lanes
        for_each_lane(a, a.groups.lanes[static_cast<std::size_t>(g)], [&](int lane, std::int64_t offset) {
            for (std::int64_t word = offset / kBankWordBytes; word * kBankWordBytes < offset + a.width; ++word) {
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
            wavefront& next = wavefronts.emplace_back();
            for (std::size_t bank = 0; bank < words.size(); ++bank)
                next[bank] = i < words[bank].size() ? words[bank][i].second : 0;
        }
    }
    return wavefronts;
}

// A cell of two characters: the lane, or "*" and the number of lanes.
std::string cell_text(std::uint32_t lanes) {
    if (lanes == 0) return " .";
    if (std::has_single_bit(lanes)) return fmt::format("{:2}", std::countr_zero(lanes));
    return fmt::format("*{}", std::popcount(lanes) > 9 ? "+" : std::to_string(std::popcount(lanes)));
}

std::string plural(unsigned count, const char* noun) {
    return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

// A colour for each lane, from blue to orange, light enough for dark text: hsl(hue, 60 %, 72 %). It is hexadecimal
// because every renderer reads that.
std::string lane_colour(int lane) {
    const double hue = 215 - lane * 185 / (kWarpSize - 1);
    const auto channel = [&](double shift) {
        const double k = std::fmod(shift + hue / 30, 12);
        return static_cast<int>(std::lround(255 * (0.72 - 0.168 * std::clamp(std::min(k - 3, 9 - k), -1.0, 1.0))));
    };
    return fmt::format("#{:02x}{:02x}{:02x}", channel(0), channel(8), channel(4));
}

// ---- Drawing ------------------------------------------------------------------------------------------------------

constexpr double kLeft = 16, kLabels = 72, kCell = 22, kRow = 20, kGap = 4, kTop = 40, kHeading = 32, kBelow = 12;
constexpr double kWidth = 2 * kLeft + kLabels + kBanks * kCell;
constexpr std::size_t kMostWavefronts = 32;
constexpr double kSmall = 11;
constexpr double kByte = (kBanks * kCell - 3 * kGap) / (4 * kSectorBytes);  // four sectors fill a row

double height_of(const watched_access& a) {
    if (a.shared)
        return kHeading + kRow * static_cast<double>(std::min(kMostWavefronts, wavefronts_of(a).size()) + 1) + kBelow -
               kGap;
    return kHeading + (kRow + kGap) * static_cast<double>(cells_of(sectors_of(a)).back().first + 1) + kBelow - kGap;
}

// A cell in the colour of its first lane, with the lane's number or the number of lanes.
void draw_lanes(drawing& d, double x, double y, double width, std::uint32_t lanes, const std::string& where) {
    const bool one = std::has_single_bit(lanes);
    const int first = std::countr_zero(lanes);
    d.cell(x, y + 1, width, kRow - 2, lane_colour(first),
           fmt::format("{}: lane{} {}", where, one ? "" : "s", lanes_text(lanes)));
    constexpr double kRoomForANumber = 14;
    if (width >= kRoomForANumber)
        d.text(x + width / 2, y + 14, one ? std::to_string(first) : fmt::format("{}x", std::popcount(lanes)), "on-cell",
               anchor::middle, kSmall);
}

void draw_wavefronts(drawing& d, double y, const watched_access& a) {
    const std::vector<wavefront> wavefronts = wavefronts_of(a);
    d.text(kLeft, y + 11, "bank", "soft", anchor::start, kSmall);
    for (int bank = 0; bank < kBanks; ++bank)
        d.text(kLeft + kLabels + (bank + 0.5) * kCell, y + 11, std::to_string(bank), "soft", anchor::middle, kSmall);
    y += kRow - kGap;
    for (std::size_t i = 0; i < std::min(kMostWavefronts, wavefronts.size()); ++i, y += kRow) {
        d.text(kLeft, y + 14, fmt::format("wavefront {}", i + 1), "soft", anchor::start, kSmall);
        for (int bank = 0; bank < kBanks; ++bank) {
            const std::uint32_t lanes = wavefronts[i][static_cast<std::size_t>(bank)];
            const double x = kLeft + kLabels + bank * kCell + 1;
            if (lanes == 0) {
                d.rectangle(x, y + 1, kCell - 2, kRow - 2, "faint");
            } else {
                draw_lanes(d, x, y, kCell - 2, lanes, fmt::format("bank {}, wavefront {}", bank, i + 1));
            }
        }
    }
}

void draw_sectors(drawing& d, double top, const watched_access& a) {
    const auto sectors = sectors_of(a);
    const auto cells = cells_of(sectors);
    const std::int64_t begin = sectors.begin()->first;
    auto cell = cells.begin();
    for (const auto& [sector, touching] : sectors) {
        const auto [row, column] = *cell++;
        const double x = kLeft + kLabels + static_cast<double>(column) * (kSectorBytes * kByte + kGap);
        const double y = top + static_cast<double>(row) * (kRow + kGap);
        if (column == 0) d.text(kLeft, y + 14, fmt::format("+{}", sector - begin), "soft", anchor::start, kSmall);
        d.rectangle(x, y, kSectorBytes * kByte, kRow, "faint",
                    fmt::format("the sector at +{}: lanes {}", sector - begin, lanes_text(touching)));
        std::map<std::int64_t, std::uint32_t> lanes_at;
        for_each_lane(a, touching, [&](int lane, std::int64_t at) { lanes_at[at] |= 1u << lane; });
        for (const auto& [at, lanes] : lanes_at)
            draw_lanes(d, x + static_cast<double>(at - sector) * kByte + 0.5, y, a.width * kByte - 1, lanes,
                       fmt::format("+{}", at - begin));
    }
}

}  // namespace

std::vector<warp_access_site> access_sites_of(const std::vector<watched_access>& watched) {
    std::vector<warp_access_site> sites;
    for (const watched_access& a : watched) {
        const auto same = std::find_if(sites.begin(), sites.end(), [&](const warp_access_site& s) {
            const watched_access& b = *s.access;
            return a.file == b.file && a.line == b.line && a.op == b.op && a.memory == b.memory && a.width == b.width;
        });
        if (same == sites.end()) {
            sites.push_back({&a, a.times});
        } else {
            same->times += a.times;
        }
    }
    return sites;
}

std::string access_text(const watched_access& a) {
    const char* const verb = a.op == emulator::kLoad ? "reads" : a.op == emulator::kStore ? "writes" : "copies into";
    const int lanes = std::popcount(a.active);
    std::string text = fmt::format("{} {}, {} bytes a lane", verb, a.memory, a.width);
    if (a.width == 1) text = fmt::format("{} {}, 1 byte a lane", verb, a.memory);
    if (lanes < kWarpSize) text += ", " + plural(static_cast<unsigned>(lanes), "lane");
    if (!a.shared) {
        const auto least = (static_cast<unsigned>(lanes) * a.width + kSectorBytes - 1) / kSectorBytes;
        text += ": " + plural(a.sectors, "sector");
        if (a.sectors > least) text += fmt::format(" instead of {}", least);
        return text;
    }
    text += ": " + plural(a.wavefronts, "wavefront");
    return a.wavefronts > a.least_wavefronts ? text + fmt::format(" instead of {}: bank conflicts", a.least_wavefronts)
                                             : text;
}

std::string picture_text(const watched_access& a) {
    std::string out;
    if (a.shared) {
        constexpr std::size_t kShown = 6;
        const std::vector<wavefront> wavefronts = wavefronts_of(a);
        constexpr const char* kLabel = "  {:<11} ";  // as wide as "wavefront 6"
        out += fmt::format(kLabel, "bank");
        for (int bank = 0; bank < kBanks; ++bank) out += fmt::format("{:2} ", bank);
        for (std::size_t i = 0; i < std::min(kShown, wavefronts.size()); ++i) {
            out += '\n' + fmt::format(kLabel, fmt::format("wavefront {}", i + 1));
            for (const std::uint32_t lanes : wavefronts[i]) out += cell_text(lanes) + ' ';
        }
        if (wavefronts.size() > kShown)
            out += fmt::format("\n  ... and {} more wavefronts", wavefronts.size() - kShown);
        // Without trailing blanks.
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

drawing picture_of(const std::string& title, const std::vector<warp_access_site>& sites) {
    double height = kTop;
    for (const warp_access_site& s : sites) height += height_of(*s.access);
    drawing d(kWidth, height, title);
    d.text(kLeft, 24, title, "ink", anchor::start, 14);
    double y = kTop;
    for (const warp_access_site& s : sites) {
        const watched_access& a = *s.access;
        d.line(kLeft, y, kWidth - kLeft, y, "faint");
        d.text(kLeft, y + 20,
               fmt::format("{}:{}  {}{}", a.file, a.line, access_text(a),
                           s.times > 1 ? fmt::format("; {} times", s.times) : ""),
               "ink", anchor::start, 12);
        (a.shared ? draw_wavefronts : draw_sectors)(d, y + kHeading, a);
        y += height_of(a);
    }
    return d;
}

}  // namespace cornerturn::report
