// Cooperative groups: the block, tiles of every size, coalesced threads, partitions, reductions and scans.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>

#include <utility>

#include "program.hpp"

namespace cg = cooperative_groups;

constexpr int kWarp = 32;
constexpr int kThreads = 128;

struct block_facts {
    unsigned rank, size, num_threads, x, y, z, block_x, block_y, dim_x, dim_y, dim_z;
    unsigned long long grid_rank, grid_size, grid_blocks, block_rank;
};

__device__ void sync_any(cg::thread_group group) { group.sync(); }

__global__ void block_and_grid(block_facts* out) {
    cg::thread_block block = cg::this_thread_block();
    cg::grid_group grid = cg::this_grid();
    __shared__ unsigned ranks[kThreads];
    ranks[block.thread_rank()] = block.thread_rank();
    block.sync();
    cg::sync(block);
    sync_any(block);
    cg::thread_block::arrival_token token = block.barrier_arrive();
    block.barrier_wait(std::move(token));
    block_facts facts;
    facts.rank = ranks[block.size() - 1 - block.thread_rank()];
    facts.size = block.size();
    facts.num_threads = block.num_threads();
    facts.x = block.thread_index().x;
    facts.y = block.thread_index().y;
    facts.z = block.thread_index().z;
    facts.block_x = block.group_index().x;
    facts.block_y = block.group_index().y;
    facts.dim_x = block.group_dim().x;
    facts.dim_y = block.dim_threads().y;
    facts.dim_z = block.group_dim().z;
    facts.grid_rank = grid.thread_rank();
    facts.grid_size = grid.size();
    facts.grid_blocks = grid.num_blocks();
    facts.block_rank = grid.block_rank();
    out[grid.thread_rank()] = facts;
}

void check_block_and_grid() {
    const dim3 grid(3, 2), block(8, 4, 4);
    device_array<block_facts> out_device(6 * kThreads);
    block_and_grid<<<grid, block>>>(out_device.data());
    const std::vector<block_facts> out = out_device.values();
    for (unsigned i = 0; i < out.size(); ++i) {
        const block_facts& facts = out[i];
        const unsigned rank = i % kThreads;
        const unsigned number = i / kThreads;
        EXPECT(facts.rank == kThreads - 1 - rank, "thread %u: %u", i, facts.rank);
        EXPECT(facts.size == kThreads && facts.num_threads == kThreads, "thread %u", i);
        EXPECT(facts.x == rank % 8 && facts.y == rank / 8 % 4 && facts.z == rank / 32, "thread %u", i);
        EXPECT(facts.block_x == number % 3 && facts.block_y == number / 3, "thread %u", i);
        EXPECT(facts.dim_x == 8 && facts.dim_y == 4 && facts.dim_z == 4, "thread %u", i);
        EXPECT(facts.grid_rank == i && facts.grid_size == 6 * kThreads, "thread %u", i);
        EXPECT(facts.grid_blocks == 6 && facts.block_rank == number, "thread %u", i);
    }
}

struct tile_results {
    int rank, size, meta_rank, meta_size;
    int shfl, up, down, exchanged;
    unsigned ballot, match;
    int any, all;
    int sum, smallest, largest, bits;
    float float_sum;
    double double_largest;
    long long by_lambda;
    int inclusive, exclusive;
};

struct add_and_times {
    __device__ long long operator()(long long a, long long b) const { return a + b + a * b; }
};

template <class Tile>
__device__ tile_results use_tile(const Tile& tile, int value) {
    tile_results results;
    results.rank = tile.thread_rank();
    results.size = tile.size();
    results.meta_rank = tile.meta_group_rank();
    results.meta_size = tile.meta_group_size();
    results.shfl = tile.shfl(value, tile.size() - 1);
    results.up = tile.shfl_up(value, 1);
    results.down = tile.shfl_down(value, 2);
    results.exchanged = tile.shfl_xor(value, 1);
    results.ballot = tile.ballot(value % 3 == 0);
    results.match = tile.match_any(value % 4);
    results.any = tile.any(value % 7 == 0) != 0;
    results.all = tile.all(value % 7 != 0) != 0;
    results.sum = cg::reduce(tile, value, cg::plus<int>());
    results.smallest = cg::reduce(tile, value - 70, cg::less<int>());
    results.largest = cg::reduce(tile, value - 70, cg::greater<int>());
    results.bits = cg::reduce(tile, 1 << value % 31, cg::bit_or<int>());
    results.float_sum = cg::reduce(tile, 0.5f * value, cg::plus<float>());
    results.double_largest = cg::reduce(tile, value * 0.25, cg::greater<double>());
    results.by_lambda = cg::reduce(tile, static_cast<long long>(value % 3), add_and_times());
    results.inclusive = cg::inclusive_scan(tile, value);
    results.exclusive = cg::exclusive_scan(tile, value, cg::plus<int>());
    return results;
}

template <int Size>
__global__ void tiles(const int* in, tile_results* out) {
    const cg::thread_block block = cg::this_thread_block();
    const cg::thread_block_tile<Size> tile = cg::tiled_partition<Size>(block);
    out[block.thread_rank()] = use_tile(tile, in[block.thread_rank()]);
    tile.sync();
}

// Tiles of tiles know their place in the parent.
template <int Size>
__global__ void tiles_of_tiles(const int* in, tile_results* out) {
    const cg::thread_block block = cg::this_thread_block();
    const auto parent = cg::tiled_partition<kWarp>(block);
    const auto tile = cg::tiled_partition<Size>(parent);
    out[block.thread_rank()] = use_tile(tile, in[block.thread_rank()]);
}

template <int Size, bool InWarp>
void check_tiles() {
    std::vector<int> in(kThreads);
    for (int i = 0; i < kThreads; ++i) in[i] = i * 41 % 97;
    device_array<int> in_device(in);
    device_array<tile_results> out_device(kThreads);
    if constexpr (InWarp) {
        tiles_of_tiles<Size><<<1, kThreads>>>(in_device.data(), out_device.data());
    } else {
        tiles<Size><<<1, dim3(16, 8)>>>(in_device.data(), out_device.data());
    }
    const std::vector<tile_results> out = out_device.values();
    for (int i = 0; i < kThreads; ++i) {
        const int rank = i % Size;
        const int* values = &in[i - rank];
        unsigned ballot = 0, match = 0;
        int any = 0, sum = 0, smallest = 1000, largest = -1000, bits = 0, inclusive = 0;
        double double_largest = 0;
        long long product = 1;
        for (int j = 0; j < Size; ++j) {
            const int value = values[j];
            if (value % 3 == 0) ballot |= 1u << j;
            if (value % 4 == in[i] % 4) match |= 1u << j;
            if (value % 7 == 0) any = 1;
            sum += value;
            smallest = value - 70 < smallest ? value - 70 : smallest;
            largest = value - 70 > largest ? value - 70 : largest;
            bits |= 1 << value % 31;
            double_largest = value * 0.25 > double_largest ? value * 0.25 : double_largest;
            product *= 1 + value % 3;
            if (j <= rank) inclusive += value;
        }
        const tile_results& results = out[i];
        const int parent = InWarp ? kWarp : kThreads;
        EXPECT(results.rank == rank && results.size == Size, "%d, thread %d", Size, i);
        EXPECT(results.meta_rank == i % parent / Size && results.meta_size == parent / Size, "%d, thread %d: %d of %d",
               Size, i, results.meta_rank, results.meta_size);
        EXPECT(results.shfl == values[Size - 1], "%d, thread %d", Size, i);
        EXPECT(results.up == values[rank > 0 ? rank - 1 : rank], "%d, thread %d", Size, i);
        EXPECT(results.down == values[rank + 2 < Size ? rank + 2 : rank], "%d, thread %d", Size, i);
        if (Size > 1) EXPECT(results.exchanged == values[rank ^ 1], "%d, thread %d", Size, i);
        EXPECT(results.ballot == ballot, "%d, thread %d: %x, expected %x", Size, i, results.ballot, ballot);
        EXPECT(results.match == match, "%d, thread %d: %x, expected %x", Size, i, results.match, match);
        EXPECT(results.any == any && results.all == 1 - any, "%d, thread %d", Size, i);
        EXPECT(results.sum == sum && results.float_sum == 0.5f * sum, "%d, thread %d", Size, i);
        EXPECT(results.smallest == smallest && results.largest == largest, "%d, thread %d", Size, i);
        EXPECT(results.bits == bits && results.double_largest == double_largest, "%d, thread %d", Size, i);
        EXPECT(results.by_lambda == product - 1, "%d, thread %d", Size, i);
        EXPECT(results.inclusive == inclusive && results.exclusive == inclusive - in[i], "%d, thread %d: %d %d", Size,
               i, results.inclusive, results.exclusive);
    }
}

struct partition_results {
    int rank, size, leader, sum, largest, inclusive, exclusive, down, up, any;
    unsigned ballot;
};

__device__ partition_results use_partition(const cg::coalesced_group& group, int value) {
    partition_results results;
    results.rank = group.thread_rank();
    results.size = group.num_threads();
    results.leader = group.shfl(value, 0);
    results.sum = cg::reduce(group, value, cg::plus<int>());
    results.largest = static_cast<int>(cg::reduce(group, 1.0f * value, cg::greater<float>()));
    results.inclusive = cg::inclusive_scan(group, value, cg::plus<int>());
    results.exclusive = cg::exclusive_scan(group, value);
    results.down = group.shfl_down(value, 1);
    results.up = group.shfl_up(value, 2);
    results.any = group.any(value == 40) != 0;
    results.ballot = group.ballot(value % 2 == 0);
    return results;
}

__global__ void partitions(const int* in, int kind, partition_results* out) {
    const cg::thread_block block = cg::this_thread_block();
    const auto tile = cg::tiled_partition<kWarp>(block);
    const int value = in[block.thread_rank()];
    partition_results results;
    if (kind == 0) {
        results = use_partition(cg::binary_partition(tile, value % 3 == 0), value);
    } else if (kind == 1) {
        results = use_partition(cg::labeled_partition(tile, value % 5), value);
    } else if (kind == 2) {
        results = use_partition(cg::labeled_partition(cg::coalesced_threads(), value % 5), value);
    } else {
        results = use_partition(cg::tiled_partition(cg::coalesced_threads(), 8), value);
    }
    out[block.thread_rank()] = results;
}

int label_of(int kind, int thread, int value) {
    switch (kind) {
        case 0: return value % 3 == 0;
        case 1:
        case 2: return value % 5;
        default: return thread % kWarp / 8;
    }
}

void check_partitions() {
    std::vector<int> in(kThreads);
    for (int i = 0; i < kThreads; ++i) in[i] = i * 41 % 97;
    device_array<int> in_device(in);
    device_array<partition_results> out_device(kThreads);
    for (int kind = 0; kind < 4; ++kind) {
        partitions<<<1, kThreads>>>(in_device.data(), kind, out_device.data());
        const std::vector<partition_results> out = out_device.values();
        for (int i = 0; i < kThreads; ++i) {
            std::vector<int> members;
            int rank = 0;
            for (int j = i / kWarp * kWarp; j < i / kWarp * kWarp + kWarp; ++j) {
                if (label_of(kind, j, in[j]) != label_of(kind, i, in[i])) continue;
                if (j == i) rank = static_cast<int>(members.size());
                members.push_back(in[j]);
            }
            const int size = static_cast<int>(members.size());
            int sum = 0, inclusive = 0, largest = 0, any = 0;
            unsigned ballot = 0;
            for (int j = 0; j < size; ++j) {
                sum += members[j];
                if (j <= rank) inclusive += members[j];
                if (members[j] > largest) largest = members[j];
                if (members[j] == 40) any = 1;
                if (members[j] % 2 == 0) ballot |= 1u << j;
            }
            const partition_results& results = out[i];
            EXPECT(results.rank == rank && results.size == size, "kind %d, thread %d", kind, i);
            EXPECT(results.leader == members[0], "kind %d, thread %d", kind, i);
            EXPECT(results.sum == sum && results.largest == largest, "kind %d, thread %d: %d, expected %d", kind, i,
                   results.sum, sum);
            EXPECT(results.inclusive == inclusive, "kind %d, thread %d", kind, i);
            EXPECT(results.exclusive == inclusive - in[i], "kind %d, thread %d", kind, i);
            // Like the shuffles of a warp, these keep the own value where there is no other.
            EXPECT(results.down == members[rank + 1 < size ? rank + 1 : rank], "kind %d, thread %d", kind, i);
            EXPECT(results.up == members[rank >= 2 ? rank - 2 : rank], "kind %d, thread %d", kind, i);
            EXPECT(results.any == any && results.ballot == ballot, "kind %d, thread %d", kind, i);
        }
    }
}

// One atomic for all threads that are here together. Whoever they are, each must get its own place.
__device__ int next_place(int* counter) {
    const cg::coalesced_group active = cg::coalesced_threads();
    int first = 0;
    if (active.thread_rank() == 0) first = atomicAdd(counter, static_cast<int>(active.size()));
    return active.shfl(first, 0) + static_cast<int>(active.thread_rank());
}

__global__ void keep_odd(const int* in, int elements, int* counter, int* out) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < elements && in[i] % 2 == 1) out[next_place(counter)] = in[i];
}

void check_coalesced() {
    const int elements = 1000;
    std::vector<int> in(elements);
    std::vector<int> times(elements);
    int odd = 0;
    for (int i = 0; i < elements; ++i) {
        in[i] = i * 7 % elements;
        odd += in[i] % 2;
    }
    device_array<int> in_device(in);
    device_array<int> counter(std::vector<int>(1, 0));
    device_array<int> out_device(elements);
    keep_odd<<<8, kThreads>>>(in_device.data(), elements, counter.data(), out_device.data());
    EXPECT(counter.values()[0] == odd, "%d, expected %d", counter.values()[0], odd);
    const std::vector<int> out = out_device.values();
    for (int i = 0; i < odd; ++i) {
        EXPECT(out[i] >= 0 && out[i] < elements && out[i] % 2 == 1 && times[out[i]]++ == 0, "place %d: %d", i, out[i]);
    }
}

// Groups whose size is known only as the kernel runs, and groups of one thread.
__global__ void dynamic_groups(int size, int* out) {
    const cg::thread_block block = cg::this_thread_block();
    const cg::thread_group tile = cg::tiled_partition(block, size);
    const cg::thread_group half = cg::tiled_partition(tile, size / 2);
    __shared__ int values[kThreads];
    const int rank = block.thread_rank();
    values[rank] = rank;
    tile.sync();
    const int last = values[rank / size * size + size - 1];
    cg::sync(half);
    const cg::thread_group alone = cg::this_thread();
    alone.sync();
    out[rank] = last * 10000 + static_cast<int>(tile.thread_rank()) * 100 + static_cast<int>(half.thread_rank()) +
                static_cast<int>(tile.size() - size) + static_cast<int>(half.size() - size / 2) +
                static_cast<int>(alone.size() - 1) + static_cast<int>(alone.thread_rank());
}

void check_dynamic_groups() {
    device_array<int> out_device(kThreads);
    for (const int size : {2, 4, 8, 16, 32}) {
        dynamic_groups<<<1, kThreads>>>(size, out_device.data());
        const std::vector<int> out = out_device.values();
        for (int i = 0; i < kThreads; ++i) {
            const int expected = (i / size * size + size - 1) * 10000 + i % size * 100 + i % (size / 2);
            EXPECT(out[i] == expected, "size %d, thread %d: %d, expected %d", size, i, out[i], expected);
        }
    }
}

// A tile of several warps needs memory to meet in.
template <int Size>
__global__ void tiles_of_warps(const int* in, int* out) {
    __shared__ cg::block_tile_memory<256> memory;
    const cg::thread_block block = cg::this_thread_block(memory);
    const auto tile = cg::tiled_partition<Size>(block);
    const int rank = block.thread_rank();
    int sum = cg::reduce(tile, in[rank], cg::plus<int>());
    if (tile.meta_group_rank() == 1) {
        // The other tiles do not take part.
        sum += static_cast<int>(2 * cg::reduce(tile, 0.5 * in[rank], cg::greater<double>()));
        tile.sync();
    }
    out[rank] = sum * 1000 + tile.thread_rank();
}

template <int Size>
void check_tiles_of_warps() {
    std::vector<int> in(256);
    for (int i = 0; i < 256; ++i) in[i] = i * 41 % 97;
    device_array<int> in_device(in);
    device_array<int> out_device(256);
    tiles_of_warps<Size><<<1, 256>>>(in_device.data(), out_device.data());
    const std::vector<int> out = out_device.values();
    for (int i = 0; i < 256; ++i) {
        int sum = 0, largest = 0;
        for (int j = i / Size * Size; j < i / Size * Size + Size; ++j) {
            sum += in[j];
            largest = in[j] > largest ? in[j] : largest;
        }
        if (i / Size == 1) sum += largest;
        EXPECT(out[i] == sum * 1000 + i % Size, "size %d, thread %d: %d", Size, i, out[i]);
    }
}

// A value of 24 bytes travels, too.
struct triple {
    double a;
    int b;
    char c;
};

__global__ void shuffle_structs(triple* out) {
    const auto tile = cg::tiled_partition<8>(cg::this_thread_block());
    const int rank = threadIdx.x;
    triple mine;
    mine.a = rank * 0.5;
    mine.b = -rank;
    mine.c = static_cast<char>(rank);
    out[rank] = tile.shfl(mine, 7 - tile.thread_rank());
}

int main() {
    check_block_and_grid();
    check_tiles<1, false>();
    check_tiles<2, false>();
    check_tiles<4, false>();
    check_tiles<8, false>();
    check_tiles<16, false>();
    check_tiles<32, false>();
    check_tiles<1, true>();
    check_tiles<4, true>();
    check_tiles<8, true>();
    check_tiles<16, true>();
    check_partitions();
    check_coalesced();
    check_dynamic_groups();
    check_tiles_of_warps<64>();
    check_tiles_of_warps<128>();

    device_array<triple> structs(kWarp);
    shuffle_structs<<<1, kWarp>>>(structs.data());
    const std::vector<triple> triples = structs.values();
    for (int i = 0; i < kWarp; ++i) {
        const int from = i / 8 * 8 + 7 - i % 8;
        EXPECT(triples[i].a == from * 0.5 && triples[i].b == -from && triples[i].c == from, "thread %d", i);
    }
    return verdict();
}
