#include "cli/progress.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <system_error>

#include "lab/table.hpp"

namespace cornerturn::cli {
namespace {

constexpr std::chrono::seconds kPatience{2};         // until the line appears
constexpr std::chrono::milliseconds kInterval{250};  // between its changes
constexpr const char* kEraseLine = "\r\033[K";

bool terminal_can_show() {
    const char* const terminal = std::getenv("TERM");
    return isatty(STDERR_FILENO) != 0 && terminal != nullptr && *terminal != 0 && std::strcmp(terminal, "dumb") != 0;
}

// The longest line that does not wrap: a wrapped line could not be erased.
std::size_t usable_width() {
    winsize size = {};
    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col < 2) return 79;
    return size.ws_col - 1U;
}

}  // namespace

progress::progress(std::function<std::string()> more) : more_(std::move(more)) {
    if (!terminal_can_show()) return;
    // Other threads handle the signals.
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    try {
        thread_ = std::thread([this] { run(); });
    } catch (const std::system_error&) {  // no thread is available: run without progress
    }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

progress::~progress() {
    if (!thread_.joinable()) return;
    {
        const std::lock_guard lock(mutex_);
        ends_ = true;
    }
    changed_.notify_one();
    thread_.join();
    if (!printed_.empty()) std::fputs(kEraseLine, stderr);
}

void progress::at(const std::string& text) {
    if (!can_show()) return;
    const std::lock_guard lock(mutex_);
    text_ = text;
}

void progress::at(std::size_t number, std::size_t of, const std::string& text) {
    if (can_show()) at(fmt::format("[{}/{}] {}", number, of, text));
}

void progress::run() {
    std::unique_lock lock(mutex_);
    const auto ends = [this] { return ends_; };
    if (changed_.wait_for(lock, kPatience, ends)) return;
    do {
        const std::string text = text_;
        lock.unlock();
        print(text + (more_ ? more_() : ""));
        lock.lock();
    } while (!changed_.wait_for(lock, kInterval, ends));
}

void progress::print(const std::string& line) {
    if (line.empty() || line == printed_) return;
    printed_ = line;
    std::string plain = line.substr(0, usable_width());
    std::replace_if(
        plain.begin(), plain.end(), [](unsigned char c) { return c < ' ' || c == 0x7f; },
        '?');  // names can have control characters
    std::fputs((kEraseLine + plain).c_str(), stderr);
}

std::string blocks_text(const emulator::block_progress& blocks) {
    const std::uint64_t done = blocks.done, of = blocks.of;
    return of == 0 ? "" : fmt::format(", {} of {} blocks", lab::grouped(std::min(done, of)), lab::grouped(of));
}

}  // namespace cornerturn::cli
