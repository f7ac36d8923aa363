// A quarter of the pairs of types: see convert.hpp.
#include "move/kernels/convert.hpp"

namespace CORNERTURN_KERNELS {

converting converting_1(int pair) { return converting_of<1>(pair); }

}  // namespace CORNERTURN_KERNELS
