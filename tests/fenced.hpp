// Memory beside which there is none.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>

namespace cornerturn::tests {

// Memory that ends, or begins, where no page is.
class fenced {
public:
    explicit fenced(std::int64_t bytes) : bytes_(bytes), page_(sysconf(_SC_PAGESIZE)) {
        inner_ = (bytes + page_ - 1) / page_ * page_;
        mapping_ = static_cast<unsigned char*>(
            mmap(nullptr, static_cast<std::size_t>(inner_ + 2 * page_), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
        mprotect(mapping_ + page_, static_cast<std::size_t>(inner_), PROT_READ | PROT_WRITE);
    }
    ~fenced() { munmap(mapping_, static_cast<std::size_t>(inner_ + 2 * page_)); }
    fenced(const fenced&) = delete;
    fenced& operator=(const fenced&) = delete;

    unsigned char* at(bool end) const { return mapping_ + page_ + (end ? inner_ - bytes_ : 0); }

private:
    std::int64_t bytes_, page_, inner_;
    unsigned char* mapping_;
};

}  // namespace cornerturn::tests
