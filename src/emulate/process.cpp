#include "emulate/process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "cornerturn/error.hpp"

extern char** environ;

namespace cornerturn::emulate {
namespace {

// A pipe. The child writes to ends[1], and the text is appended to *into.
struct output_pipe {
    std::array<int, 2> ends{-1, -1};
    std::string* into;

    explicit output_pipe(std::string* text) : into(text) {
        if (into != nullptr && pipe2(ends.data(), O_CLOEXEC) != 0)
            throw error("cannot open a pipe to run another program");
    }
    ~output_pipe() {
        for (const int end : ends)
            if (end >= 0) close(end);
    }
    output_pipe(const output_pipe&) = delete;
    output_pipe& operator=(const output_pipe&) = delete;
    void close_writing() {
        if (ends[1] >= 0) close(ends[1]);
        ends[1] = -1;
    }
    bool is_open() const { return ends[0] >= 0; }
    void read_some() {
        std::array<char, 1 << 16> buffer;
        const ssize_t got = read(ends[0], buffer.data(), buffer.size());
        if (got > 0) {
            into->append(buffer.data(), static_cast<std::size_t>(got));
        } else if (got == 0 || errno != EINTR) {
            close(ends[0]);
            ends[0] = -1;
        }
    }
};

int run(const std::vector<std::string>& command, std::string* output, std::string* errors) {
    output_pipe out(output), err(errors);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    if (output != nullptr) posix_spawn_file_actions_adddup2(&actions, out.ends[1], STDOUT_FILENO);
    if (errors != nullptr) posix_spawn_file_actions_adddup2(&actions, err.ends[1], STDERR_FILENO);
    std::vector<char*> arguments;
    for (const std::string& argument : command) arguments.push_back(const_cast<char*>(argument.c_str()));
    arguments.push_back(nullptr);
    pid_t child = 0;
    const int refused = posix_spawnp(&child, arguments[0], &actions, nullptr, arguments.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    if (refused != 0) throw error(fmt::format("cannot run {}: {}", command[0], std::strerror(refused)));
    out.close_writing();
    err.close_writing();
    while (out.is_open() || err.is_open()) {
        std::array<pollfd, 2> waiting{pollfd{out.ends[0], POLLIN, 0}, pollfd{err.ends[0], POLLIN, 0}};
        if (poll(waiting.data(), waiting.size(), -1) < 0) continue;
        if (out.is_open() && waiting[0].revents != 0) out.read_some();
        if (err.is_open() && waiting[1].revents != 0) err.read_some();
    }
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace

int run_program(const std::vector<std::string>& command, std::string* errors) { return run(command, nullptr, errors); }

int run_program_for(std::string& output, const std::vector<std::string>& command, std::string* errors) {
    return run(command, &output, errors);
}

}  // namespace cornerturn::emulate
