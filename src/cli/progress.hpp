// A line on the terminal that says what the program is at.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include "emulator/emulation.hpp"

namespace cornerturn::cli {

// The line appears once the work has taken two seconds, changes some times a second, and is erased at the end of the
// scope. A thread of its own prints it: the work is not slowed. None where standard error is no terminal, or one that
// cannot erase a line.
class progress {
public:
    // `more` is asked for what stands behind the text, by the other thread.
    explicit progress(std::function<std::string()> more = {});
    ~progress();
    progress(const progress&) = delete;
    progress& operator=(const progress&) = delete;

    bool can_show() const { return thread_.joinable(); }
    // What it is at: "reading the hardware's counters"; or the third of 26: "[3/26] transpose/naive_read@32x32".
    void at(const std::string& text);
    void at(std::size_t number, std::size_t of, const std::string& text);

private:
    void run();
    void print(const std::string& line);

    std::function<std::string()> more_;
    std::mutex mutex_;  // guards text_ and ends_
    std::condition_variable changed_;
    std::string text_, printed_;
    bool ends_ = false;
    std::thread thread_;
};

// ", 512 of 4,096 blocks"; nothing where no launch runs.
std::string blocks_text(const emulator::block_progress& blocks);

}  // namespace cornerturn::cli
