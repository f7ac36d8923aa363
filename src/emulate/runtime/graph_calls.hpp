// Checks of handles, with which all API calls on graphs begin. A handle of the program may be invalid.
#pragma once

#include "emulate/runtime/errors.hpp"
#include "emulate/runtime/graph.hpp"

namespace cornerturn::emulator {

template <class Body>
cudaError_t with_graph(cudaGraph_t graph, Body&& body) {
    return api_call([&] { return graph_exists(graph) ? body() : cudaErrorInvalidValue; });
}

template <class Body>
cudaError_t with_node(cudaGraphNode_t node, Body&& body) {
    return api_call([&] { return node_exists(node) ? body() : cudaErrorInvalidValue; });
}

// Calls body(work) with the work of the node if it has this type.
template <class Work, class Body>
cudaError_t with_work(cudaGraphNode_t node, Body&& body) {
    return with_node(node, [&] {
        Work* const work = std::get_if<Work>(&node->work);
        return work ? body(*work) : cudaErrorInvalidValue;
    });
}

}  // namespace cornerturn::emulator
