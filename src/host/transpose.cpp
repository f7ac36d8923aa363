// cornerturn::transpose: checks the arguments and shares out the work.
#include "cornerturn/transpose.hpp"

#include "core/arguments.hpp"
#include "host/choice.hpp"
#include "host/team.hpp"

namespace cornerturn::detail {

void transpose(const any_batch& source, const any_batch& destination, std::int64_t element_size,
               std::int64_t element_alignment, host_options options) {
    const transpose_layout layout = checked_layout(source.layout, destination.layout, element_size, element_alignment);
    host::check_options(options);
    if (is_empty(layout)) return;
    check_addresses(layout, source.data, destination.data);
    const matrix_work work = work_of(layout, source.data, destination.data);
    host::run(work, host::team(options));
}

}  // namespace cornerturn::detail
