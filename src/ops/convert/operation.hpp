// Conversions of tensors, as the lab knows them.
#pragma once

namespace cornerturn {

class operation;

const operation& convert_operation();

}  // namespace cornerturn
