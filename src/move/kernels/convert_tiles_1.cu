// A quarter of the pairs: see convert_tiles.hpp.
#include "move/kernels/convert_tiles.hpp"

namespace CORNERTURN_KERNELS {

run_converted converted_tiles_1(int pair) { return converted_tiles<1>(pair); }

}  // namespace CORNERTURN_KERNELS
