// Managed memory: __managed__ variables and cudaMallocManaged, used by kernels and by the host.
#include <cstring>

#include "program.hpp"

constexpr int kThreads = 64;

struct settings {
    int offset;
    double factor;
    char name[8];
};

__managed__ int counter = 3;
__device__ __managed__ float table[kThreads];
__managed__ settings shared_settings = {7, 0.5, "abc"};
static __managed__ long long* list;

struct node {
    int value;
    node* next;
};

__global__ void use_variables() {
    atomicAdd(&counter, 1);
    table[threadIdx.x] = table[threadIdx.x] * static_cast<float>(shared_settings.factor) + shared_settings.offset;
    if (threadIdx.x == 0) shared_settings.name[0] = 'x';
}

__global__ void use_allocation(int* values, int elements) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < elements) values[i] = values[i] * 2 + 1;
}

// A list that the host made. The device follows its pointers.
__global__ void sum_list(const node* first, int* sum) {
    int result = 0;
    for (const node* at = first; at != nullptr; at = at->next) result = result * 3 + at->value;
    *sum = result;
}

__global__ void use_pointer_variable() { list[threadIdx.x] += 1ll << 40; }

void check_variables() {
    for (int i = 0; i < kThreads; ++i) table[i] = static_cast<float>(i);
    EXPECT(counter == 3, "%d", counter);
    counter = 10;
    use_variables<<<1, kThreads>>>();
    KERNEL_OK();
    EXPECT(counter == 10 + kThreads, "%d", counter);
    for (int i = 0; i < kThreads; ++i) EXPECT(table[i] == i * 0.5f + 7, "element %d: %g", i, table[i]);
    EXPECT(std::strcmp(shared_settings.name, "xbc") == 0, "%s", shared_settings.name);
    shared_settings.factor = 2;
    use_variables<<<1, kThreads>>>();
    KERNEL_OK();
    for (int i = 0; i < kThreads; ++i) EXPECT(table[i] == (i * 0.5f + 7) * 2 + 7, "element %d: %g", i, table[i]);
}

void check_allocations() {
    const int elements = 1000;
    int* values = nullptr;
    CUDA_OK(cudaMallocManaged(&values, elements * sizeof(int)));
    for (int i = 0; i < elements; ++i) values[i] = i;
    use_allocation<<<16, kThreads>>>(values, elements);
    KERNEL_OK();
    for (int i = 0; i < elements; ++i) EXPECT(values[i] == 2 * i + 1, "element %d: %d", i, values[i]);
    std::memset(values, 0, elements * sizeof(int));
    use_allocation<<<16, kThreads>>>(values, elements);
    KERNEL_OK();
    for (int i = 0; i < elements; ++i) EXPECT(values[i] == 1, "element %d: %d", i, values[i]);
    // The copies of ordinary memory work on it, too.
    std::vector<int> copy(elements);
    CUDA_OK(cudaMemcpy(copy.data(), values, elements * sizeof(int), cudaMemcpyDefault));
    EXPECT(copy[elements - 1] == 1, "%d", copy[elements - 1]);
    CUDA_OK(cudaFree(values));
}

void check_list() {
    node* nodes = nullptr;
    int* sum = nullptr;
    CUDA_OK(cudaMallocManaged(reinterpret_cast<void**>(&nodes), 5 * sizeof(node), cudaMemAttachGlobal));
    CUDA_OK(cudaMallocManaged(&sum, sizeof(int)));
    const int order[] = {3, 0, 4, 1, 2};
    int expected = 0;
    for (int i = 0; i < 5; ++i) {
        nodes[order[i]].value = i + 1;
        nodes[order[i]].next = i < 4 ? &nodes[order[i + 1]] : nullptr;
        expected = expected * 3 + i + 1;
    }
    sum_list<<<1, 1>>>(&nodes[order[0]], sum);
    KERNEL_OK();
    EXPECT(*sum == expected, "%d, expected %d", *sum, expected);
    CUDA_OK(cudaFree(nodes));
    CUDA_OK(cudaFree(sum));
}

void check_pointer_variable() {
    CUDA_OK(cudaMallocManaged(&list, kThreads * sizeof(long long)));
    for (int i = 0; i < kThreads; ++i) list[i] = i;
    use_pointer_variable<<<1, kThreads>>>();
    KERNEL_OK();
    for (int i = 0; i < kThreads; ++i) EXPECT(list[i] == (1ll << 40) + i, "element %d: %lld", i, list[i]);
    CUDA_OK(cudaFree(list));
}

int main() {
    check_variables();
    check_allocations();
    check_list();
    check_pointer_variable();
    return verdict();
}
