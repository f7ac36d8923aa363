// Threads that are still running when the interpreter ends. Python before 3.14 unwinds such a thread as soon as it
// wants the GIL. C++ code on the thread's stack, nanobind's too, cannot be unwound so: the process would abort.
// From 3.14 on Python suspends the thread, and these do the same with older versions. Unwinding also destroys what it
// passes, without the GIL. So calls that run a user's Python code are guarded each by itself, and all others as a
// whole.
#pragma once

#include <Python.h>
#include <cxxabi.h>
#include <unistd.h>

namespace cornerturn::python {

// A function that may wait for the GIL.
template <auto kFunction>
struct guarded;
template <class Result, class... Arguments, Result (*kFunction)(Arguments...)>
struct guarded<kFunction> {
    static Result call(Arguments... arguments) {
#ifdef __GLIBCXX__
        try {
            return kFunction(arguments...);
        } catch (const abi::__forced_unwind&) {
            for (;;) pause();
        }
#else  // libc++ cannot tell it from an exception
        return kFunction(arguments...);
#endif
    }
};

// Releases the GIL while it exists.
class released_gil {
public:
    released_gil() : state_(PyEval_SaveThread()) {}
    ~released_gil() { guarded<&PyEval_RestoreThread>::call(state_); }
    released_gil(const released_gil&) = delete;
    released_gil& operator=(const released_gil&) = delete;

private:
    PyThreadState* state_;
};

}  // namespace cornerturn::python
