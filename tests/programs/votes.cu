// Votes of a warp and of a block: ballot, any, all, match, reduce, __activemask, and __syncthreads_count, _and, _or.
#include "program.hpp"

constexpr int kWarp = 32;
constexpr unsigned kAll = 0xffffffffu;

struct warp_votes {
    unsigned ballot;
    int any;
    int none;
    int all;
    int all_of_others;
    unsigned match_word;
    unsigned match_double_word;
    unsigned match_float;
    unsigned all_same;
    int all_same_predicate;
    unsigned all_different;
    int all_different_predicate;
};

__global__ void vote(warp_votes* out) {
    const int lane = threadIdx.x % kWarp;
    const int warp = threadIdx.x / kWarp;
    warp_votes votes;
    votes.ballot = __ballot_sync(kAll, (lane * 7 + warp) % 3 == 0);
    votes.any = __any_sync(kAll, lane == 17);
    votes.none = __any_sync(kAll, lane > 31);
    votes.all = __all_sync(kAll, lane < 32);
    votes.all_of_others = __all_sync(kAll, lane != 5);
    votes.match_word = __match_any_sync(kAll, lane % 5);
    votes.match_double_word = __match_any_sync(kAll, (static_cast<unsigned long long>(lane / 11) << 40) + 3);
    votes.match_float = __match_any_sync(kAll, static_cast<float>(lane % 2));
    votes.all_same = __match_all_sync(kAll, 42 + warp, &votes.all_same_predicate);
    votes.all_different = __match_all_sync(kAll, lane / 31, &votes.all_different_predicate);
    out[threadIdx.x] = votes;
}

void check_votes() {
    device_array<warp_votes> out_device(3 * kWarp);
    vote<<<1, 3 * kWarp>>>(out_device.data());
    const std::vector<warp_votes> out = out_device.values();
    for (int thread = 0; thread < 3 * kWarp; ++thread) {
        const int lane = thread % kWarp;
        unsigned ballot = 0, word = 0, double_word = 0, floats = 0;
        for (int other = 0; other < kWarp; ++other) {
            const unsigned bit = 1u << other;
            if ((other * 7 + thread / kWarp) % 3 == 0) ballot |= bit;
            if (other % 5 == lane % 5) word |= bit;
            if (other / 11 == lane / 11) double_word |= bit;
            if (other % 2 == lane % 2) floats |= bit;
        }
        const warp_votes& votes = out[thread];
        EXPECT(votes.ballot == ballot, "thread %d: %x, expected %x", thread, votes.ballot, ballot);
        EXPECT(votes.any != 0 && votes.none == 0, "thread %d", thread);
        EXPECT(votes.all != 0 && votes.all_of_others == 0, "thread %d", thread);
        EXPECT(votes.match_word == word, "thread %d: %x, expected %x", thread, votes.match_word, word);
        EXPECT(votes.match_double_word == double_word, "thread %d: %x", thread, votes.match_double_word);
        EXPECT(votes.match_float == floats, "thread %d: %x", thread, votes.match_float);
        EXPECT(votes.all_same == kAll && votes.all_same_predicate != 0, "thread %d", thread);
        EXPECT(votes.all_different == 0 && votes.all_different_predicate == 0, "thread %d", thread);
    }
}

struct divergent_votes {
    unsigned ballot;
    int any;
    int all;
    unsigned match;
    unsigned sum;
    int lowest;
    int highest;
    unsigned bits_and, bits_or, bits_xor;
};

// Each branch votes with the mask of its own lanes.
__global__ void vote_in_branches(divergent_votes* out) {
    const int lane = threadIdx.x % kWarp;
    divergent_votes votes;
    if (lane % 4 == 1) {
        const unsigned mask = 0x22222222u;
        votes.ballot = __ballot_sync(mask, lane > 16);
        votes.any = __any_sync(mask, lane == 29);
        votes.all = __all_sync(mask, lane % 2 == 1);
        votes.match = __match_any_sync(mask, lane / 16);
        votes.sum = __reduce_add_sync(mask, static_cast<unsigned>(lane));
        votes.lowest = __reduce_min_sync(mask, -lane);
        votes.highest = __reduce_max_sync(mask, -lane);
        votes.bits_and = __reduce_and_sync(mask, 0xff00u | lane);
        votes.bits_or = __reduce_or_sync(mask, 1u << lane);
        votes.bits_xor = __reduce_xor_sync(mask, static_cast<unsigned>(lane));
    } else {
        const unsigned mask = ~0x22222222u;
        votes.ballot = __ballot_sync(mask, lane % 8 == 0);
        votes.any = __any_sync(mask, lane % 4 == 1);
        votes.all = __all_sync(mask, lane != 31);
        votes.match = __match_any_sync(mask, lane % 4);
        votes.sum = __reduce_add_sync(mask, 1u);
        votes.lowest = __reduce_min_sync(mask, lane - 100);
        votes.highest = __reduce_max_sync(mask, lane - 100);
        votes.bits_and = __reduce_and_sync(mask, ~(1u << lane));
        votes.bits_or = __reduce_or_sync(mask, 1u << lane);
        votes.bits_xor = __reduce_xor_sync(mask, 1u << lane);
    }
    out[threadIdx.x] = votes;
}

void check_votes_in_branches() {
    device_array<divergent_votes> out_device(kWarp);
    vote_in_branches<<<1, kWarp>>>(out_device.data());
    const std::vector<divergent_votes> out = out_device.values();
    for (int lane = 0; lane < kWarp; ++lane) {
        const divergent_votes& votes = out[lane];
        if (lane % 4 == 1) {
            unsigned sum = 0, all_xor = 0, all_and = ~0u;
            for (int other = 1; other < kWarp; other += 4) {
                sum += other;
                all_xor ^= other;
                all_and &= 0xff00u | other;
            }
            EXPECT(votes.ballot == 0x22220000u, "lane %d: %x", lane, votes.ballot);
            EXPECT(votes.any != 0 && votes.all != 0, "lane %d", lane);
            EXPECT(votes.match == (lane < 16 ? 0x2222u : 0x22220000u), "lane %d: %x", lane, votes.match);
            EXPECT(votes.sum == sum, "lane %d: %u", lane, votes.sum);
            EXPECT(votes.lowest == -29 && votes.highest == -1, "lane %d: %d %d", lane, votes.lowest, votes.highest);
            EXPECT(votes.bits_and == all_and && votes.bits_or == 0x22222222u && votes.bits_xor == all_xor,
                   "lane %d: %x %x %x", lane, votes.bits_and, votes.bits_or, votes.bits_xor);
        } else {
            EXPECT(votes.ballot == 0x01010101u, "lane %d: %x", lane, votes.ballot);
            EXPECT(votes.any == 0 && votes.all == 0, "lane %d", lane);
            EXPECT(votes.match == 0x11111111u << lane % 4, "lane %d: %x", lane, votes.match);
            EXPECT(votes.sum == 24, "lane %d: %u", lane, votes.sum);
            EXPECT(votes.lowest == -100 && votes.highest == -69, "lane %d: %d %d", lane, votes.lowest, votes.highest);
            EXPECT(votes.bits_and == 0x22222222u && votes.bits_or == ~0x22222222u && votes.bits_xor == ~0x22222222u,
                   "lane %d: %x %x %x", lane, votes.bits_and, votes.bits_or, votes.bits_xor);
        }
    }
}

// How lanes that have diverged meet again is up to the hardware, so only what must hold is tested: a lane is in its own
// mask, no lane is that cannot be there, and lanes that left for good are in no mask.
__global__ void active_lanes(unsigned* out) {
    const int lane = threadIdx.x;
    out[lane] = __activemask();
    if (lane < 12) {
        out[kWarp + lane] = __activemask();
    } else {
        // The atomic keeps the two branches apart, so that the compiler does not make one of them.
        atomicAdd(&out[3 * kWarp], 1);
        out[kWarp + lane] = __activemask();
    }
    __syncwarp();
    if (lane >= 20) return;
    out[2 * kWarp + lane] = __activemask();
}

void check_active_lanes() {
    device_array<unsigned> out_device(3 * kWarp + 1);
    active_lanes<<<1, kWarp>>>(out_device.data());
    const std::vector<unsigned> out = out_device.values();
    for (int lane = 0; lane < kWarp; ++lane) {
        const unsigned own = 1u << lane;
        const unsigned branch = lane < 12 ? 0xfffu : ~0xfffu;
        EXPECT(out[lane] == kAll, "lane %d: %x", lane, out[lane]);
        EXPECT((out[kWarp + lane] & own) != 0 && (out[kWarp + lane] & ~branch) == 0, "lane %d: %x", lane,
               out[kWarp + lane]);
        if (lane < 20) {
            EXPECT((out[2 * kWarp + lane] & own) != 0 && out[2 * kWarp + lane] >> 20 == 0, "lane %d: %x", lane,
                   out[2 * kWarp + lane]);
        }
    }
}

// The block has a last warp of 11 threads.
__global__ void vote_of_block(int* out) {
    const int thread = threadIdx.x;
    const int counted = __syncthreads_count(thread % 3 == 1);
    const int all = __syncthreads_and(thread < 75);
    const int not_all = __syncthreads_and(thread != 74);
    const int any = __syncthreads_or(thread == 64);
    const int none = __syncthreads_or(thread > 75);
    out[thread] = counted + (all != 0) * 1000 + (not_all != 0) * 2000 + (any != 0) * 4000 + (none != 0) * 8000;
}

int main() {
    check_votes();
    check_votes_in_branches();
    check_active_lanes();

    device_array<int> out_device(75);
    vote_of_block<<<1, 75>>>(out_device.data());
    const std::vector<int> out = out_device.values();
    for (int thread = 0; thread < 75; ++thread) EXPECT(out[thread] == 5025, "thread %d: %d", thread, out[thread]);
    return verdict();
}
