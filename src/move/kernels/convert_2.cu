// A quarter of the pairs of types: see convert.hpp.
#include "move/kernels/convert.hpp"

namespace CORNERTURN_KERNELS {

converting converting_2(int pair) { return converting_of<2>(pair); }

}  // namespace CORNERTURN_KERNELS
