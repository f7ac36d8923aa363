// Threads that are still running when the interpreter ends. Python before 3.14 unwinds such a thread as soon as it
// wants the GIL. C++ code on the thread's stack, nanobind's too, cannot be unwound so: the process would abort.
// From 3.14 on Python suspends the thread, and these do the same with older versions.
#pragma once

#include <Python.h>
#include <cxxabi.h>
#include <unistd.h>

namespace cornerturn::python {

[[noreturn]] inline void suspend_forever() {
    for (;;) pause();
}

// Releases the GIL while it exists.
class released_gil {
public:
    released_gil() : state_(PyEval_SaveThread()) {}
    ~released_gil() {
        try {
            PyEval_RestoreThread(state_);
        } catch (const abi::__forced_unwind&) {
            suspend_forever();
        }
    }
    released_gil(const released_gil&) = delete;
    released_gil& operator=(const released_gil&) = delete;

private:
    PyThreadState* state_;
};

// A function that Python calls, and that may call Python.
template <auto kFunction>
struct guarded;
template <class Result, class... Arguments, Result (*kFunction)(Arguments...)>
struct guarded<kFunction> {
    static Result call(Arguments... arguments) {
        try {
            return kFunction(arguments...);
        } catch (const abi::__forced_unwind&) {
            suspend_forever();
        }
    }
};

}  // namespace cornerturn::python
