// Graphs and their nodes: order, copies, and the execution of a node's work.
#include <atomic>
#include <mutex>
#include <unordered_set>

#include "emulate/runtime/errors.hpp"
#include "emulate/runtime/graph.hpp"

namespace cornerturn::emulator {
namespace {

// The addresses of all existing graphs and nodes. A handle of the program may be none of them.
struct registry {
    std::mutex mutex;
    std::unordered_set<const void*> live;
    std::atomic<std::uint64_t> ids{0};
};

registry& state() {
    static registry* const one = new registry;
    return *one;
}

std::uint64_t enter(const void* made) {
    const std::lock_guard lock(state().mutex);
    state().live.insert(made);
    return ++state().ids;
}

void leave(const void* gone) {
    const std::lock_guard lock(state().mutex);
    state().live.erase(gone);
}

bool exists(const void* handle) {
    const std::lock_guard lock(state().mutex);
    return state().live.count(handle) > 0;
}

template <class... Cases>
struct by_type : Cases... {
    using Cases::operator()...;
};

std::unique_ptr<CUgraph_st> copy_of_part(const CUgraph_st& graph) {
    std::unique_ptr<CUgraph_st> made = copy_of(graph);
    made->is_part = true;
    return made;
}

cudaError_t run_conditional(const conditional_work& work) {
    const auto run = [&](std::size_t body) {
        return body < work.bodies.size() ? run_graph(*work.bodies[body]) : cudaSuccess;
    };
    if (work.type == cudaGraphCondTypeIf) return run(work.tested->value != 0 ? 0 : 1);
    if (work.type == cudaGraphCondTypeSwitch) return run(work.tested->value);
    while (work.tested->value != 0)
        if (const cudaError_t error = run(0)) return error;
    return cudaSuccess;
}

}  // namespace

bool graph_exists(cudaGraph_t graph) { return exists(graph); }
bool node_exists(cudaGraphNode_t node) { return exists(node); }

cudaGraphNodeType type_of(const graph_work& work) {
    switch (work.index()) {
        case 6: return std::get<event_work>(work).records ? cudaGraphNodeTypeEventRecord : cudaGraphNodeTypeWaitEvent;
        case 7: return cudaGraphNodeTypeMemAlloc;
        case 8: return cudaGraphNodeTypeMemFree;
        case 9: return cudaGraphNodeTypeConditional;
        default: return static_cast<cudaGraphNodeType>(work.index());
    }
}

graph_work copy_of(const graph_work& work) {
    return std::visit(by_type{[](const kernel_work& one) {
                                  kernel_work copy = one;
                                  copy.addresses = addresses_of(copy.arguments);
                                  return graph_work(std::move(copy));
                              },
                              [](const child_work& one) { return graph_work(child_work{copy_of_part(*one.graph)}); },
                              [](const conditional_work& one) {
                                  conditional_work copy{one.type, one.tested, {}, {}};
                                  for (const auto& body : one.bodies) {
                                      copy.bodies.push_back(copy_of_part(*body));
                                      copy.handles.push_back(copy.bodies.back().get());
                                  }
                                  return graph_work(std::move(copy));
                              },
                              [](const auto& one) { return graph_work(one); }},
                      work);
}

cudaError_t do_work(const graph_work& work) {
    return std::visit(by_type{[](const kernel_work& one) {
                                  return launch_kernel(one.function, one.shape,
                                                       const_cast<void**>(one.addresses.data()));
                              },
                              [](const copy_work& one) { return copy_memory(one.params); },
                              [](const set_work& one) { return set_memory(one.params); },
                              [](const host_work& one) {
                                  one.params.fn(one.params.userData);
                                  return cudaSuccess;
                              },
                              [](const child_work& one) { return run_graph(*one.graph); },
                              [](const empty_work&) { return cudaSuccess; },
                              [](const event_work& one) { return one.records ? record_event(one.event) : cudaSuccess; },
                              [](const allocation_work& one) { return activate(one.memory); },
                              [](const free_work& one) { return release(one.at, allocation::device); },
                              [](const conditional_work& one) { return run_conditional(one); }},
                      work);
}

std::unique_ptr<CUgraph_st> copy_of(const CUgraph_st& graph) {
    auto copy = std::make_unique<CUgraph_st>();
    copy->conditions = graph.conditions;
    copy->objects = graph.objects;
    for (const auto& node : graph.nodes) {
        copy->nodes.push_back(std::make_unique<CUgraphNode_st>(copy.get(), copy_of(node->work)));
        copy->nodes.back()->copied_from = node->id;
        copy->nodes.back()->enabled = node->enabled;
    }
    for (std::size_t i = 0; i < graph.nodes.size(); ++i)
        for (const cudaGraphNode_t before : graph.nodes[i]->dependencies)
            copy->nodes[i]->dependencies.push_back(copy->copy_of_node(before->id));
    return copy;
}

cudaError_t run_graph(const CUgraph_st& graph) {
    for (const cudaGraphNode_t node : graph.in_order())
        if (node->enabled)
            if (const cudaError_t error = do_work(node->work)) return error;
    return cudaSuccess;
}

}  // namespace cornerturn::emulator

using namespace cornerturn::emulator;

CUgraphNode_st::CUgraphNode_st(cudaGraph_t in, graph_work does) : graph(in), work(std::move(does)), id(enter(this)) {}
CUgraphNode_st::~CUgraphNode_st() { leave(this); }
CUgraph_st::CUgraph_st() : id(enter(this)) {}
CUgraph_st::~CUgraph_st() { leave(this); }

cudaGraphNode_t CUgraph_st::add(graph_work does, const std::vector<cudaGraphNode_t>& dependencies) {
    nodes.push_back(std::make_unique<CUgraphNode_st>(this, std::move(does)));
    nodes.back()->dependencies = dependencies;
    return nodes.back().get();
}

cudaGraphNode_t CUgraph_st::copy_of_node(std::uint64_t original) const {
    for (const auto& node : nodes)
        if (node->copied_from == original) return node.get();
    return nullptr;
}

std::vector<cudaGraphNode_t> CUgraph_st::in_order() const {
    std::vector<cudaGraphNode_t> order;
    std::unordered_set<cudaGraphNode_t> done;
    const auto is_due = [&](cudaGraphNode_t node) {
        for (const cudaGraphNode_t before : node->dependencies)
            if (done.count(before) == 0) return false;
        return done.count(node) == 0;
    };
    // Nearly always one round, because programs mostly add a node after its dependencies.
    for (bool progress = true; progress && order.size() < nodes.size();) {
        progress = false;
        for (const auto& node : nodes) {
            if (!is_due(node.get())) continue;
            done.insert(node.get());
            order.push_back(node.get());
            progress = true;
        }
    }
    return order;
}
