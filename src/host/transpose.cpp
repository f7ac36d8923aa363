// cornerturn::transpose: checks what the caller gave, and shares the work out.
#include "cornerturn/transpose.hpp"

#include <tbb/global_control.h>
#include <tbb/task_arena.h>

#include <algorithm>

#include "core/arguments.hpp"
#include "host/paths.hpp"

namespace cornerturn::detail {

void transpose(const any_batch& source, const any_batch& destination, std::int64_t element_size,
               std::int64_t element_alignment, host_options options) {
    const transpose_layout layout = checked_layout(source.layout, destination.layout, element_size, element_alignment);
    if (options.threads < 0)
        refuse("options.threads", std::to_string(options.threads), "it must be 1 or more, or 0 for all cores");
    if (is_empty(layout)) return;
    check_addresses(layout, source.data, destination.data);
    const matrix_work work = work_of(layout, source.data, destination.data);
    if (options.threads == 1) return host::run(work, 1);
    if (options.threads == 0) return host::run(work, tbb::this_task_arena::max_concurrency());
    // oneTBB prints a warning where it is asked for more than it may give.
    const auto allowed = tbb::global_control::active_value(tbb::global_control::max_allowed_parallelism);
    const int threads = static_cast<int>(std::min<std::size_t>(static_cast<std::size_t>(options.threads), allowed));
    tbb::task_arena(threads).execute([&] { host::run(work, threads); });
}

}  // namespace cornerturn::detail
