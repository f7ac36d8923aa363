// A set of live objects. Their addresses are handles, and has() recognizes destroyed and invalid handles.
#pragma once

#include <memory>
#include <mutex>
#include <unordered_map>

namespace cornerturn::emulator {

template <class T>
class handles {
public:
    T* add(T value) {
        const std::lock_guard lock(mutex_);
        auto made = std::make_unique<T>(std::move(value));
        T* const handle = made.get();
        live_.emplace(handle, std::move(made));
        return handle;
    }

    bool has(const T* handle) const {
        const std::lock_guard lock(mutex_);
        return live_.count(handle) > 0;
    }

    bool remove(const T* handle) {
        const std::lock_guard lock(mutex_);
        return live_.erase(handle) > 0;
    }

    void clear() {
        const std::lock_guard lock(mutex_);
        live_.clear();
    }

private:
    mutable std::mutex mutex_;
    std::unordered_map<const T*, std::unique_ptr<T>> live_;
};

}  // namespace cornerturn::emulator
