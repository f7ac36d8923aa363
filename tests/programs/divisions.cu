// Divisions of the most negative integer by -1, which a GPU does and a processor refuses. Also divisions of each width
// and sign, by values in registers and in memory.
#include <climits>
#include <vector>

#include "program.hpp"

template <class T>
__global__ void divide(const T* by, T* values, T* rests, T least) {
    const int i = threadIdx.x;
    values[i] = static_cast<T>(least / by[i]);
    rests[i] = static_cast<T>(least % by[i]);
}

template <class T>
void check(T least, const char* name) {
    const std::vector<T> by = {static_cast<T>(-1), 1, 3, least, static_cast<T>(-7)};
    device_array<T> divisors(by), values(std::vector<T>(by.size(), 55)), rests(std::vector<T>(by.size(), 55));
    divide<<<1, static_cast<int>(by.size())>>>(divisors.data(), values.data(), rests.data(), least);
    const std::vector<T> found = values.values(), left = rests.values();
    // Of a short int the quotient is computed as an int, and then narrowed to the same.
    EXPECT(found[0] == least && left[0] == 0, "%s: the least by -1 is %lld, and leaves %lld", name,
           static_cast<long long>(found[0]), static_cast<long long>(left[0]));
    for (std::size_t i = 1; i < by.size(); ++i) {
        EXPECT(found[i] == static_cast<T>(least / by[i]), "%s: quotient %zu", name, i);
        EXPECT(left[i] == static_cast<T>(least % by[i]), "%s: remainder %zu", name, i);
    }
}

int main() {
    check<int>(INT_MIN, "int");
    check<long long>(LLONG_MIN, "long long");
    check<short>(SHRT_MIN, "short");
    check<signed char>(SCHAR_MIN, "signed char");
    return verdict();
}
