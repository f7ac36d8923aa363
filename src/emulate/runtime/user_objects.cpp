// Objects of the program's that graphs keep alive: whoever owns references keeps the object, and the last one to give
// them up ends it.
#include <map>
#include <mutex>

#include "emulate/runtime/graph_calls.hpp"

namespace cornerturn::emulator {
namespace {

// The program's own references.
struct owned_by_program {
    std::mutex mutex;
    std::map<cudaUserObject_t, user_references> objects;
};

owned_by_program& all() {
    static auto* const one = new owned_by_program;
    return *one;
}

using references = std::map<cudaUserObject_t, user_references>;

bool has(const references& of, cudaUserObject_t object, unsigned count) {
    const auto found = of.find(object);
    return count > 0 && found != of.end() && found->second.count >= count;
}

// Gives what remains to be destroyed when no lock is held: destroying it calls the program.
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
        const std::lock_guard lock(all().mutex);
        all().objects[*object_out] = {std::move(made), initialRefcount};
        return cudaSuccess;
    });
}

cudaError_t cudaUserObjectRetain(cudaUserObject_t object, unsigned int count) {
    return api_call([&] {
        const std::lock_guard lock(all().mutex);
        if (!count || !has(all().objects, object, 1)) return cudaErrorInvalidValue;
        all().objects[object].count += count;
        return cudaSuccess;
    });
}

cudaError_t cudaUserObjectRelease(cudaUserObject_t object, unsigned int count) {
    return api_call([&] {
        std::shared_ptr<CUuserObject_st> last;
        const std::lock_guard lock(all().mutex);
        if (!has(all().objects, object, count)) return cudaErrorInvalidValue;
        last = take(all().objects, object, count);
        return cudaSuccess;
    });
}

cudaError_t cudaGraphRetainUserObject(cudaGraph_t graph, cudaUserObject_t object, unsigned int count,
                                      unsigned int flags) {
    return with_graph(graph, [&] {
        const bool moves = flags == cudaGraphUserObjectMove;
        const std::lock_guard lock(all().mutex);
        if (!count || flags > cudaGraphUserObjectMove || !has(all().objects, object, moves ? count : 1))
            return cudaErrorInvalidValue;
        user_references& own = graph->objects[object];
        own.object = all().objects[object].object;
        own.count += count;
        if (moves) take(all().objects, object, count);
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
