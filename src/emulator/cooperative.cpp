#include "emulator/cooperative.hpp"

#include <algorithm>
#include <atomic>
#include <barrier>
#include <chrono>
#include <exception>
#include <mutex>
#include <optional>
#include <vector>

#include "core/parallel.hpp"
#include "emulator/interrupts.hpp"

namespace cornerturn::emulator {
namespace {

class cooperative_run {
public:
    cooperative_run(std::uint64_t blocks, double block_seconds, const std::function<std::unique_ptr<worker>()>& begin,
                    const std::function<void(std::unique_ptr<worker>)>& end)
        : blocks_(blocks), block_seconds_(block_seconds), begin_(begin), end_(end), failed_at_(blocks) {}

    void operator()(std::uint64_t threads) {
        const auto others = start_threads(static_cast<std::int64_t>(threads) - 1, [this](std::int64_t i) {
            teams_.wait(0);
            run_team(static_cast<std::uint64_t>(i) + 1);
        });
        parts_done_.emplace(static_cast<std::ptrdiff_t>(others.size()) + 1, next_part{this});
        teams_ = others.size() + 1;
        teams_.notify_all();
        run_team(0);
    }

    void rethrow() const {
        if (error_) std::rethrow_exception(error_);
    }

private:
    struct member {
        std::uint64_t index;
        std::unique_ptr<worker> self;
        double seconds_left;  // until the block's time is over
        bool ended = false;
    };

    // Runs between two parts, on one of the OS threads.
    struct next_part {
        cooperative_run* run;
        void operator()() noexcept {
            run->over_ = run->error_ || run->first_waiting_ == run->blocks_;
            run->first_to_report_ = run->first_waiting_;
            run->ended_before_ = run->first_ended_;
            run->first_waiting_ = run->blocks_;
        }
    };

    void run_team(std::uint64_t team) {
        std::vector<member> mine;
        for (std::uint64_t index = team; index < blocks_; index += teams_)
            mine.push_back({index, nullptr, block_seconds_});
        for (bool begins = true; !over_; begins = false) {
            for (member& one : mine)
                if (!one.ended && one.index < failed_at_) run_part(one, begins);
            parts_done_->arrive_and_wait();
        }
        for (member& one : mine) {
            if (one.self == nullptr) continue;
            if (!one.ended) one.self->abandon_block();
            end_(std::move(one.self));
        }
    }

    void run_part(member& one, bool begins) {
        try {
            if (begins) one.self = begin_();
            const auto begun = std::chrono::steady_clock::now();
            if (block_seconds_ > 0 && one.seconds_left <= 0) one.self->raise_waiting_too_long();
            const signal_scope kernel(*one.self, one.seconds_left);
            // Several blocks may wait for a block that has ended. Only the first of them reports it.
            if (!begins && one.index == first_to_report_ && ended_before_ < blocks_)
                one.self->report_block_ended(ended_before_);
            one.ended = one.self->run_part(one.index, begins);
            lower(one.ended ? first_ended_ : first_waiting_, one.index);
            one.seconds_left -= std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
        } catch (...) {
            const std::lock_guard lock(mutex_);
            if (error_ && one.index > failed_at_) return;
            failed_at_ = one.index;
            error_ = std::current_exception();
        }
    }

    static void lower(std::atomic<std::uint64_t>& least, std::uint64_t value) {
        std::uint64_t known = least;
        while (value < known && !least.compare_exchange_weak(known, value)) {
        }
    }

    std::uint64_t blocks_;
    double block_seconds_;
    const std::function<std::unique_ptr<worker>()>& begin_;
    const std::function<void(std::unique_ptr<worker>)>& end_;
    std::atomic<std::uint64_t> teams_{0}, failed_at_, first_waiting_{blocks_}, first_ended_{blocks_};
    std::uint64_t first_to_report_ = 0, ended_before_ = 0;  // as of the last part
    std::optional<std::barrier<next_part>> parts_done_;
    bool over_ = false;
    std::mutex mutex_;
    std::exception_ptr error_;
};

}  // namespace

void run_together(std::uint64_t blocks, std::uint64_t threads, double block_seconds,
                  const std::function<std::unique_ptr<worker>()>& begin,
                  const std::function<void(std::unique_ptr<worker>)>& end) {
    cooperative_run run(blocks, block_seconds, begin, end);
    run(threads);
    run.rethrow();
}

}  // namespace cornerturn::emulator
