// Puts groups of bytes into another order (shuffle_order.hpp). Compiled for each instruction set, like its includer.
#if defined(CORNERTURN_HOST_SHUFFLE_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef CORNERTURN_HOST_SHUFFLE_INL
#undef CORNERTURN_HOST_SHUFFLE_INL
#else
#define CORNERTURN_HOST_SHUFFLE_INL
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "host/listed-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace cornerturn::host::HWY_NAMESPACE {
namespace {

constexpr std::int64_t kFetchedEach = 512;  // bytes of groups that are moved between two fetches of a line

#if HWY_TARGET == HWY_SCALAR

constexpr shuffle_function shuffle = nullptr;
constexpr shuffle_blocks kShuffledBy{};

#else

// group(to, from) and last(to, from) move one group, from the first byte that it reads.
template <class Group, class Last>
HWY_INLINE void shuffle_by(const shuffled_move& m, Group group, Last last) {
    const std::ptrdiff_t step = m.step, to_step = m.to_step, begin = m.order->begin;
    const std::int64_t groups = m.groups, places = m.places, at_a_time = kFetchedEach / m.order->bytes + 1;
    const std::ptrdiff_t *const from_at = m.from_at, *const to_at = m.to_at;
    fetched_with fetched(m.fetch, places * (groups + 1));
    for (std::int64_t place = 0; place < places; ++place) {
        const byte* from = m.from + from_at[place];
        byte* to = m.to + to_at[place];
        for (std::int64_t i = 0; i < groups;) {
            const std::int64_t until = std::min(groups, i + at_a_time);
            for (; i < until; ++i, from += step, to += to_step) group(to, from + begin);
            fetched.after(place * (groups + 1) + i);
        }
        if (m.last != nullptr) last(to, from + m.last->begin);
        fetched.after((place + 1) * (groups + 1));
    }
}

// Calls move(at, places, from) for each block of kBlock bytes of a group.
template <int kBlock, class Move>
HWY_INLINE void each_block(const shuffle_order& order, int steps, Move move) {
    const int* from = order.from.data();
    const byte* places = order.places.data();
    const std::int64_t last = std::max<std::int64_t>(0, order.bytes - kBlock);
    for (int block = 0; block < order.blocks; ++block, places += steps * kBlock, from += steps)
        move(std::min<std::int64_t>(block * kBlock, last), places, from);
}

// Calls run with the number of steps of a group, as a constant if it is small. 0 stands for more.
template <class Run>
HWY_INLINE void by_steps(int steps, Run run) {
    switch (steps) {
        case 1: return run(std::integral_constant<int, 1>());
        case 2: return run(std::integral_constant<int, 2>());
        case 3: return run(std::integral_constant<int, 3>());
        case 4: return run(std::integral_constant<int, 4>());
        case 5: return run(std::integral_constant<int, 5>());
        case 6: return run(std::integral_constant<int, 6>());
        default: return run(std::integral_constant<int, 0>());
    }
}

#if HWY_TARGET == HWY_AVX3_DL

inline __mmask64 first_bytes(std::int64_t bytes) { return bytes >= kLineBytes ? ~0ull : ~(~0ull << bytes); }

// kWhole: a group reads and writes a block or more.
template <bool kWhole, int kSteps>
HWY_INLINE void shuffle_group(byte* to, const byte* from, const shuffle_order& order) {
    const __mmask64 read = first_bytes(order.window), written = first_bytes(order.bytes);
    const int steps = kSteps > 0 ? kSteps : order.steps;
    each_block<kLineBytes>(order, steps, [&](std::int64_t at, const byte* places, const int* begins) {
        __m512i all = _mm512_setzero_si512();
        HWY_UNROLL(6)
        for (int i = 0; i < steps; ++i) {
            const __m512i place = _mm512_load_si512(places + i * kLineBytes);
            const byte* const block = from + begins[i];
            const __m512i read_block = kWhole ? _mm512_loadu_si512(block) : _mm512_maskz_loadu_epi8(read, block);
            all = _mm512_mask_mov_epi8(all, _mm512_movepi8_mask(place), _mm512_permutexvar_epi8(place, read_block));
        }
        kWhole ? _mm512_storeu_si512(to + at, all) : _mm512_mask_storeu_epi8(to + at, written, all);
    });
}

inline void shuffle(const shuffled_move& m) {
    const shuffle_order &order = *m.order, *const last = m.last;
    const auto shorter = [&](byte* to, const byte* from) { shuffle_group<false, 0>(to, from, *last); };
    if (order.blocks == 1 && order.steps == 1) {
        const __m512i places = _mm512_load_si512(order.places.data());
        const __mmask64 read = first_bytes(order.window), written = first_bytes(order.bytes);
        return shuffle_by(
            m,
            [&](byte* to, const byte* from) {
                const __m512i block = _mm512_maskz_loadu_epi8(read, from);
                _mm512_mask_storeu_epi8(to, written, _mm512_permutexvar_epi8(places, block));
            },
            shorter);
    }
    by_steps(order.steps, [&](auto steps) {
        if (order.window >= kLineBytes && order.bytes >= kLineBytes) {
            shuffle_by(
                m, [&](byte* to, const byte* from) { shuffle_group<true, steps>(to, from, order); }, shorter);
        } else {
            shuffle_by(
                m, [&](byte* to, const byte* from) { shuffle_group<false, steps>(to, from, order); }, shorter);
        }
    });
}
constexpr shuffle_blocks kShuffledBy{.source = kLineBytes,
                                     .destination = kLineBytes,
                                     .marks_taken = true,
                                     .step_cost = 1.7,
                                     .block_cost = 3,
                                     .part_cost = 3};

#else

// Blocks of 16 bytes of the source, each repeated in all blocks of a vector.
template <int kSteps>
HWY_INLINE void shuffle_group(byte* to, const byte* from, const shuffle_order& order) {
    const widest<std::uint8_t> d;
    constexpr int kBytes = bytes_of(d);
    alignas(kBlockBytes) byte few[kBlockBytes];
    if (order.window < kBlockBytes) {
        hn::Store(load_part(from, static_cast<std::size_t>(order.window)), block_tag(), few);
        from = few;
    }
    const int steps = kSteps > 0 ? kSteps : order.steps;
    each_block<kBytes>(order, steps, [&](std::int64_t at, const byte* places, const int* begins) {
        auto all = hn::Zero(d);
        HWY_UNROLL(6)
        for (int i = 0; i < steps; ++i) {
            const auto block = hn::LoadDup128(d, from + begins[i]);
            all = hn::Or(all, hn::TableLookupBytesOr0(block, hn::Load(d, places + i * kBytes)));
        }
        if (order.bytes >= kBytes) {
            hn::StoreU(all, d, to + at);
        } else {
            alignas(kLineBytes) byte part[kBytes];
            hn::Store(all, d, part);
            std::memcpy(to, part, static_cast<std::size_t>(order.bytes));
        }
    });
}
inline void shuffle(const shuffled_move& m) {
    by_steps(m.order->steps, [&](auto steps) {
        shuffle_by(
            m, [&](byte* to, const byte* from) { shuffle_group<steps>(to, from, *m.order); },
            [&](byte* to, const byte* from) { shuffle_group<0>(to, from, *m.last); });
    });
}
constexpr shuffle_blocks kShuffledBy{.source = kBlockBytes,
                                     .destination = bytes_of(widest<std::uint8_t>()),
                                     .marks_taken = false,
                                     .step_cost = 1.1,
                                     .block_cost = 3,
                                     .part_cost = 15};

#endif

#endif

}  // namespace
}  // namespace cornerturn::host::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
