// Where the program's output goes.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace cornerturn::cli {

// Call this first. It fills closed descriptors 0 to 2, so that no file opened later gets their number.
void open_standard_files();

// A line on standard error, after the program's name. Where it cannot be written, nothing is said.
void say(std::string_view message) noexcept;

// What the program is at: a line on a terminal, which the next one replaces, and which goes where its scope ends. None
// where standard error is something else, or a terminal that cannot erase a line.
class status_line {
public:
    status_line();
    ~status_line();
    status_line(const status_line&) = delete;
    status_line& operator=(const status_line&) = delete;

    bool can_show() const { return can_show_; }
    void show(const std::string& text);

private:
    bool can_show_, shown_ = false;
};

// Throws error where nothing could be written there, to a file or to standard output, before anything else is done.
void check_writable(const std::optional<std::string>& path);

// Prints to the terminal, or to a file if there is a path. A file appears, or is replaced, only once it is
// whole; what is no regular file, such as a pipe or a device, is written to. Throws error that names the target.
void write_out(const std::optional<std::string>& path, const std::string& text);

}  // namespace cornerturn::cli
