// A line on the terminal that shows the program's progress.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include "emulator/emulation.hpp"

namespace cornerturn::cli {

// The line appears after two seconds of work, changes up to four times a second, and is erased at the end of the scope.
// Another thread prints it, so the work is not slower. There is no line if standard error is not a terminal that can
// erase lines.
class progress {
public:
    // `more` returns text to append to that of at(). The printing thread calls it.
    explicit progress(std::function<std::string()> more = {});
    ~progress();
    progress(const progress&) = delete;
    progress& operator=(const progress&) = delete;

    bool can_show() const { return thread_.joinable(); }
    // Sets the text: "reading the hardware's counters"; or with a count: "[3/26] transpose/naive_read@32x32".
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

// ", 512 of 4,096 blocks". Empty while no launch runs.
std::string blocks_text(const emulator::block_progress& blocks);

}  // namespace cornerturn::cli
