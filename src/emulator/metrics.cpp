#include "emulator/metrics.hpp"

namespace cornerturn::emulator {

const std::vector<metric>& metrics() {
    static const auto& all = *new std::vector<metric>{
        // never destroyed: the report is written last
        {"l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", &counters::global_requests, kLoad},
        {"l1tex__t_requests_pipe_lsu_mem_global_op_st.sum", &counters::global_requests, kStore},
        {"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", &counters::global_sectors, kLoad},
        {"l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum", &counters::global_sectors, kStore},
        {"smsp__sass_inst_executed_op_shared_ld.sum", &counters::shared_requests, kLoad},
        {"smsp__sass_inst_executed_op_shared_st.sum", &counters::shared_requests, kStore},
        {"smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ld.sum", &counters::shared_wavefronts, kLoad},
        {"smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_st.sum", &counters::shared_wavefronts, kStore},
    };
    return all;
}

const std::vector<metric>& atomic_metrics() {
    static const auto& all = *new std::vector<metric>{
        // never destroyed: the report is written last
        {"l1tex__t_requests_pipe_lsu_mem_global_op_red.sum", &counters::global_requests, kReduction},
        {"l1tex__t_requests_pipe_lsu_mem_global_op_atom.sum", &counters::global_requests, kAtomic},
        {"l1tex__t_sectors_pipe_lsu_mem_global_op_red.sum", &counters::global_sectors, kReduction},
        {"l1tex__t_sectors_pipe_lsu_mem_global_op_atom.sum", &counters::global_sectors, kAtomic},
        {"smsp__sass_inst_executed_op_shared_atom.sum", &counters::shared_requests, kAtomic},
        {"smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_atom.sum", &counters::shared_wavefronts, kAtomic},
    };
    return all;
}

const std::vector<metric>& derived_metrics() {
    static const auto& all = *new std::vector<metric>{
        // never destroyed: the report is written last
        {"shared_conflicts_ld", &counters::shared_conflicts, kLoad},
        {"shared_conflicts_st", &counters::shared_conflicts, kStore},
        {"shared_conflicts_atom", &counters::shared_conflicts, kAtomic},
    };
    return all;
}

const char* name_of(hazard_kind kind) {
    switch (kind) {
        case hazard_kind::race: return "race";
        case hazard_kind::uninitialised_read: return "uninitialised_read";
        case hazard_kind::divergent_barrier: return "divergent_barrier";
        case hazard_kind::out_of_bounds: return "out_of_bounds";
        case hazard_kind::misaligned: return "misaligned";
        case hazard_kind::read_only: return "read_only";
        case hazard_kind::stack_overflow: return "stack_overflow";
        case hazard_kind::unsupported_access: return "unsupported_access";
        case hazard_kind::division: return "division_by_zero";
        case hazard_kind::unsupported_feature: return "unsupported_feature";
        case hazard_kind::assertion: return "assertion";
        case hazard_kind::trap: return "trap";
        case hazard_kind::endless_loop: return "endless_loop";
    }
    return "hazard";
}

}  // namespace cornerturn::emulator
