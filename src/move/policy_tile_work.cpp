// Turns a tile that has been cut into the arguments of its kernel.
#include <bit>

#include "move/tile_cut.hpp"

namespace cornerturn::moves {

void tile_cut::fill(plan& p) const {
    tile_work& t = p.tiles;
    const strided_copy& c = u.c;
    t = {};
    t.source = reinterpret_cast<const unsigned char*>(u.source);
    t.first = reinterpret_cast<const unsigned char*>(u.first);
    t.last = reinterpret_cast<const unsigned char*>(u.last);
    t.destination = reinterpret_cast<unsigned char*>(c.destination);
    const auto whole = [](std::int64_t x) { return static_cast<int>(x); };
    const auto extent = [](std::int64_t x) { return divider(static_cast<unsigned>(x)); };
    const auto add_cut = [&](int i) {
        if (i < 0) {
            t.tiles.axes[t.tiles.rank++] = {divider(1), 0, 0};
            return;
        }
        t.tiles.axes[t.tiles.rank++] = {extent(up(ax(i).extent, step(i))), ax(i).source * step(i),
                                        ax(i).destination * step(i)};
    };
    add_cut(along);
    add_cut(across);
    t.along_steps = t.across_steps = 1;
    t.along_extent = t.across_extent = 1;
    t.along_in_span = true;
    if (along >= 0) {
        const axis& a = ax(along);
        t.along_steps = whole(step(along));
        t.along_extent = a.extent;
        t.along_source = a.source;
        t.along_destination = a.destination;
        t.along_in_span = span_has(along);
    }
    if (across >= 0) {
        t.across_steps = whole(step(across));
        t.across_extent = ax(across).extent;
        t.across_source = ax(across).source;
    }
    t.halo = whole(halo);
    t.spans = t.lines = t.line_units = 1;
    t.span_bytes = u.source_unit;
    int spans_before = 1;
    for (int i = 0; i < u.rank; ++i) {
        const axis& a = ax(i);
        const bool is_cut = i == along || i == across;
        if (step(i) < a.extent && !is_cut) t.tiles.axes[t.tiles.rank++] = {extent(a.extent), a.source, a.destination};
        if (step(i) == 1 || i == group) {
            if (i == group && !is_cut) t.span_bytes += whole((step(i) - 1) * a.distance);
            continue;
        }
        tile_digit d{extent(step(i)), 0, 0, a.source, a.destination};
        if (span_has(i)) {
            d.in_span = whole(a.source);
            if (!is_cut) {
                t.span_bytes += whole((step(i) - 1) * a.distance);
                if (a.source < 0) t.origin += whole((step(i) - 1) * a.distance);
            }
        } else {
            d.spans = spans_before;
            spans_before *= whole(step(i));
            (a.source < 0 ? t.spans_below : t.spans_above) += (step(i) - 1 + (is_cut ? halo : 0)) * a.distance;
            t.span[t.span_rank++] = d;
            if (!is_cut) t.spans *= whole(step(i));
        }
        if (line_has(i)) {
            t.line[t.line_rank++] = d;
            if (!is_cut) t.line_units *= whole(step(i));
        } else if (i != across) {
            t.rows[t.row_rank++] = d;
            t.lines *= whole(step(i));
        }
    }
    t.across_in_group = group >= 0 && group == across;
    t.by_groups = divider(1);
    if (group >= 0) {
        t.group_steps = whole(step(group));
        t.group_destination = ax(group).destination;
        t.by_groups = extent(groups_along());
        t.group_table_at = whole(group_table_at());
        t.unit = u.unit;
        const std::int64_t all = along >= 0 ? line_step * u.unit * ax(along).extent : u.unit;
        t.whole_words = line_alignment >= 4 && line % 4 == 0 && all % 4 == 0;
    }
    if (across >= 0 && across != group) {
        const axis& a = ax(across);
        t.rows[t.row_rank++] = {extent(step(across)), whole(a.source), 0, a.source, a.destination};
    }
    t.by_chunks = extent(chunks);
    t.span_vectors = whole(pitch);
    t.skew = skew;
    t.table_units = whole(table);
    t.table_stride = whole(table_stride());
    t.copies = static_cast<unsigned>(copies());
    const bool repeats = t.along_in_span;
    t.by_period = extent(repeats ? line_step : table);
    t.period_bytes = repeats ? whole(t.along_source) : 0;
    t.span_table_at = whole(span_table_at());
    t.line_table_at = whole(line_table_at());
    t.image_at = whole(image_at());
    t.line_vectors = whole(vectors_of_line());
    t.whole_lines = whole_lines();
    t.vectors_of_cut = whole(up<std::int64_t>(line + (line % kSector != 0 ? kSector - 1 : 0), kSector) * 2);
    t.lanes_log = static_cast<unsigned>(lanes_log());
    t.spans_at_once = static_cast<unsigned>(threads() / chunks);
    t.bytes_at_once = whole(threads() % chunks * kVectorBytes);
    t.fetch_lines = fetches_lines();
    fill_factors(t, p.cast);
    p.at_load = u.converts_at_load;
    p.gaps = u.gaps;
    p.groups = group >= 0;
    p.shifted = shifted;
    p.aligned = aligned;
    p.threads = threads();
    p.shared_bytes = whole(shared());
    p.blocks = static_cast<unsigned>(tiles);
}

// Where the axis of a conversion's scales and biases is.
void tile_cut::fill_factors(const tile_work& t, cast_work& w) const {
    const int scaled = u.factor_axis;
    if (scaled < 0) return;
    const axis& a = ax(scaled);
    const std::int64_t factor = u.c.axes[static_cast<std::size_t>(u.c.factor_axis())].factor;
    // The axes of the tiles: the two that may be cut come first.
    int at = 2;
    w.tile_step = factor;
    if (scaled == along || scaled == across) {
        w.tile_axis = scaled == along ? 0 : 1;
        w.tile_step = factor * step(scaled);
        w.halo_step = scaled == along ? factor * halo : 0;
    } else if (step(scaled) < a.extent) {
        for (int i = 0; i < scaled; ++i) at += step(i) < ax(i).extent && i != along && i != across;
        w.tile_axis = at;
    }
    if (step(scaled) == 1) return;
    if (line_has(scaled)) {
        std::int64_t inner = 1;
        // At load, spans are counted. Their axes are in lines too.
        for (int i = 0; i < scaled; ++i) inner *= line_has(i) && !(u.converts_at_load && span_has(i)) ? step(i) : 1;
        w.by_inner = divider(static_cast<unsigned>(inner));
        // Nothing is outside the axis along which lines are cut.
        w.by_steps = divider(static_cast<unsigned>(scaled == along ? std::int64_t{1} << 30 : step(scaled)));
        w.line_step = static_cast<int>(factor);
    } else {
        w.row_axis = 0;
        for (int i = 0; i < u.rank && i != scaled; ++i)
            w.row_axis += step(i) > 1 && !line_has(i) && i != across && i != group;
        if (scaled == across) w.row_axis = t.row_rank - 1;
        w.row_step = static_cast<int>(factor);
    }
}

}  // namespace cornerturn::moves
