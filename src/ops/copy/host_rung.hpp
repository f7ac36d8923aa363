// What the rungs in host memory share: a strided work's axes, as the library's functions take them.
#pragma once

#include "cornerturn/copy.hpp"
#include "ops/copy/strided_work.hpp"

namespace cornerturn {

struct axis_lists {
    detail::axis_list extents, source, destination;

    explicit axis_lists(const strided_work& w) {
        for (int i = 0; i < w.rank; ++i) {
            extents.add(w.extents[i]);
            source.add(w.source_strides[i]);
            destination.add(w.destination_strides[i]);
        }
    }
};

}  // namespace cornerturn
