// What the API's calls about graphs begin with: handles that may be of nothing.
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

// The work of a node of one type.
template <class Work, class Body>
cudaError_t with_work(cudaGraphNode_t node, Body&& body) {
    return with_node(node, [&] {
        Work* const work = std::get_if<Work>(&node->work);
        return work ? body(*work) : cudaErrorInvalidValue;
    });
}

}  // namespace cornerturn::emulator
