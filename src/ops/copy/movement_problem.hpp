// The verifier for moved elements, in any memory.
#pragma once

#include "ops/copy/movement.hpp"

namespace cornerturn {

// Memory is host_problem or its twin on the GPU.
template <class Memory>
class movement_problem : public problem {
public:
    template <class... Arguments>
    explicit movement_problem(backend on, Arguments&&... of_memory)
        : memory_(std::forward<Arguments>(of_memory)...), on_(on) {}

    bool take(const workload& work, const kernel& k) override {
        const auto* const moved = dynamic_cast<const movement_work*>(&work);
        if (moved == nullptr || !memory_.reshape(moved->shape_for(k))) return false;
        op_ = &moved->op();
        return true;
    }
    std::int64_t capacity() const override { return memory_.source().capacity() + memory_.destination().capacity(); }

    std::function<void()> bind(const kernel& k) const override {
        return [run = k.built_for<matrix_work>(on_)->run, work = memory_.work()] { run(work); };
    }

    std::vector<candidate> candidates() const override {
        const auto* const moved = dynamic_cast<const movement*>(op_);
        return moved != nullptr ? moved->candidates(on_, memory_.work()) : std::vector<candidate>{};
    }

protected:
    Memory memory_;

private:
    backend on_;
    const operation* op_ = nullptr;  // of the latest work
};

}  // namespace cornerturn
