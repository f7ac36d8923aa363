// Runs one problem of tensors on the GPU by every rung that takes it, and by every choice of the engine.
#pragma once

#include "cuda/gpu_test.hpp"
#include "ops/copy/tensor_movement.hpp"

namespace cornerturn::tests {

// `takes`: whether to try a kernel of the production rung's operation, or memcpy. Counts what ran.
template <class Takes>
void run_every_choice(const tensor_work& work, const kernel& production, Takes takes,
                      std::map<std::string, int>& launches, const std::string& about) {
    std::vector<const kernel*> all;
    for (const kernel& k : kernels()) {
        const bool is_of_these = k.op == production.op || k.id == "baseline/memcpy";
        if (is_of_these && k.is_built_for(backend::cuda) && takes(k)) all.push_back(&k);
    }
    const auto problem = production.op->make(backend::cuda, {&work}, all, true);
    for (const kernel* k : all) {
        ASSERT_TRUE(problem->take(work, *k)) << k->id << ": " << about;
        problem->prepare();
        try {
            problem->bind (*k)();
        } catch (const unsupported&) {
            continue;
        }
        ++launches[k->id];
        ASSERT_EQ(problem->check().fault, "") << k->id << ": " << about;
    }
    ASSERT_TRUE(problem->take(work, production));
    for (const auto& choice : problem->candidates()) {
        problem->prepare();
        choice.run();
        ASSERT_EQ(problem->check().fault, "") << choice.name << ": " << about;
    }
    problem->bind_yardstick()();
    ASSERT_EQ(problem->check().fault, "") << about;
}

}  // namespace cornerturn::tests
