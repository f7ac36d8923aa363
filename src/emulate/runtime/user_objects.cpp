// Objects of the program that graphs keep alive. The program and graphs own references to an object. Releasing the last
// reference destroys it.
#include <map>
#include <mutex>

#include "emulate/runtime/graph_calls.hpp"

namespace cornerturn::emulator {
namespace {

// The references that the program owns.
struct owned_by_program {
    std::mutex mutex;
    std::map<cudaUserObject_t, user_references> objects;
};

owned_by_program& state() {
    static auto* const one = new owned_by_program;
    return *one;
}

using references = std::map<cudaUserObject_t, user_references>;

bool has(const references& of, cudaUserObject_t object, unsigned count) {
    const auto found = of.find(object);
    return count > 0 && found != of.end() && found->second.count >= count;
}

// Removes references and returns the object. Destroying it calls the program, so the caller must hold no lock then.
std::shared_ptr<CUuserObject_st> take(references& from, cudaUserObject_t object, unsigned count) {
    const auto found = from.find(object);
    found->second.count -= count;
    std::shared_ptr<CUuserObject_st> last = found->second.object;
    if (found->second.count == 0) from.erase(found);
    return last;
}

}  // namespace
}  // namespace cornerturn::emulator

using namespace cornerturn::emulator;

extern "C" {

cudaError_t cudaUserObjectCreate(cudaUserObject_t* object_out, void* ptr, cudaHostFn_t destroy,
                                 unsigned int initialRefcount, unsigned int flags) {
    return api_call([&] {
        if (!object_out || !destroy || !initialRefcount || flags != cudaUserObjectNoDestructorSync)
            return cudaErrorInvalidValue;
        auto made = std::make_shared<CUuserObject_st>(ptr, destroy);
        *object_out = made.get();
        const std::lock_guard lock(state().mutex);
        state().objects[*object_out] = {std::move(made), initialRefcount};
        return cudaSuccess;
    });
}

cudaError_t cudaUserObjectRetain(cudaUserObject_t object, unsigned int count) {
    return api_call([&] {
        const std::lock_guard lock(state().mutex);
        if (!count || !has(state().objects, object, 1)) return cudaErrorInvalidValue;
        state().objects[object].count += count;
        return cudaSuccess;
    });
}

cudaError_t cudaUserObjectRelease(cudaUserObject_t object, unsigned int count) {
    return api_call([&] {
        std::shared_ptr<CUuserObject_st> last;
        const std::lock_guard lock(state().mutex);
        if (!has(state().objects, object, count)) return cudaErrorInvalidValue;
        last = take(state().objects, object, count);
        return cudaSuccess;
    });
}

cudaError_t cudaGraphRetainUserObject(cudaGraph_t graph, cudaUserObject_t object, unsigned int count,
                                      unsigned int flags) {
    return with_graph(graph, [&] {
        const bool moves = flags == cudaGraphUserObjectMove;
        const std::lock_guard lock(state().mutex);
        if (!count || flags > cudaGraphUserObjectMove || !has(state().objects, object, moves ? count : 1))
            return cudaErrorInvalidValue;
        user_references& own = graph->objects[object];
        own.object = state().objects[object].object;
        own.count += count;
        if (moves) take(state().objects, object, count);
        return cudaSuccess;
    });
}

cudaError_t cudaGraphReleaseUserObject(cudaGraph_t graph, cudaUserObject_t object, unsigned int count) {
    return with_graph(graph, [&] {
        if (!has(graph->objects, object, count)) return cudaErrorInvalidValue;
        take(graph->objects, object, count);
        return cudaSuccess;
    });
}

}  // extern "C"
