// emulate and cc: CUDA programs without a GPU.
#include "cli/emulate.hpp"

#include <algorithm>

#include "emulate/compile.hpp"
#include "emulate/process.hpp"

namespace cornerturn::cli {

int run_cc(const std::vector<std::string>& words) {
    emulate::compile(emulate::compilation::from_words(words));
    return 0;
}

int run_emulate(const std::vector<std::string>& words) {
    const auto dashes = std::find(words.begin(), words.end(), "--");
    const std::vector<std::string> own(words.begin(), dashes);
    std::vector<std::string> program{emulate::compiled_program(emulate::compilation::from_words(own))};
    if (dashes != words.end()) program.insert(program.end(), dashes + 1, words.end());
    return emulate::run_program(program);
}

}  // namespace cornerturn::cli
