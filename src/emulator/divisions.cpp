#include "emulator/divisions.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace cornerturn::emulator {

#if defined(__x86_64__)
namespace {

// In the order of the register numbers of machine instructions.
constexpr std::array<int, 16> kRegisters = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
                                            REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};

std::uint64_t low_bytes(std::uint64_t value, unsigned bytes) {
    return bytes == 8 ? value : value & ((std::uint64_t{1} << 8 * bytes) - 1);
}

// A DIV or IDIV instruction, decoded from the machine code. Its operand is in a register or in memory.
class division {
public:
    explicit division(ucontext_t& interrupted) : registers_(interrupted.uc_mcontext.gregs) {
        next_ = reinterpret_cast<const std::uint8_t*>(registers_[REG_RIP]);
        known_ = read_prefixes() && read_operand();
    }

    std::optional<bool> finish() {
        if (!known_) return {};
        const bool by_zero = divisor_ == 0;
        if (!by_zero && !(is_signed_ && divisor_ == low_bytes(~std::uint64_t{0}, bytes_))) return {};
        auto& low = registers_[REG_RAX];
        auto& high = registers_[REG_RDX];
        const std::uint64_t dividend = low_bytes(static_cast<std::uint64_t>(low), bytes_);
        const std::uint64_t quotient = by_zero ? low_bytes(~std::uint64_t{0}, bytes_) : dividend;
        const std::uint64_t remainder = by_zero ? dividend : 0;
        if (bytes_ == 1) {  // both results are in AX
            set(low, remainder << 8 | quotient, 2);
        } else {
            set(low, quotient, bytes_);
            set(high, remainder, bytes_);
        }
        registers_[REG_RIP] = static_cast<greg_t>(reinterpret_cast<std::uintptr_t>(next_));
        return by_zero;
    }

private:
    bool read_prefixes() {
        for (;; ++next_) {
            switch (*next_) {
                case 0x66: bytes_ = 2; continue;
                case 0x64: has_fs_prefix_ = true; continue;  // FS
                case 0x26:
                case 0x2e:
                case 0x36:
                case 0x3e: continue;  // segment prefixes without effect
                default: break;
            }
            break;
        }
        if ((*next_ & 0xf0) == 0x40) rex_ = *next_++;
        if ((rex_ & 8) != 0) bytes_ = 8;
        const std::uint8_t code = *next_++;
        if (code == 0xf6) bytes_ = 1;
        return code == 0xf6 || code == 0xf7;
    }

    bool read_operand() {
        const std::uint8_t modrm = *next_++;
        const unsigned kind = modrm >> 3 & 7, mode = modrm >> 6, rm = modrm & 7;
        if (kind != 6 && kind != 7) return false;
        is_signed_ = kind == 7;
        const unsigned extended = (rex_ & 1u) << 3;
        if (mode == 3) {
            if (bytes_ == 1 && rex_ == 0 && rm >= 4)  // AH, CH, DH, BH
                divisor_ = low_bytes(register_value(rm - 4) >> 8, 1);
            else
                divisor_ = low_bytes(register_value(rm | extended), bytes_);
            return true;
        }
        std::uint64_t address = 0;
        bool has_base = true;
        unsigned base = rm;
        if (rm == 4) {
            const std::uint8_t scaled = *next_++;
            const unsigned index = (scaled >> 3 & 7u) | (rex_ & 2u) << 2;
            base = scaled & 7;
            if (index != 4) address += register_value(index) << (scaled >> 6);
            has_base = !(base == 5 && mode == 0);
        }
        const bool relative_to_code = rm == 5 && mode == 0;
        if (relative_to_code) has_base = false;
        if (has_base) address += register_value(base | extended);
        if (mode == 1)
            address += static_cast<std::uint64_t>(displacement<std::int8_t>());
        else if (mode == 2 || !has_base)
            address += static_cast<std::uint64_t>(displacement<std::int32_t>());
        if (relative_to_code) address += reinterpret_cast<std::uintptr_t>(next_);
        if (has_fs_prefix_) address += reinterpret_cast<std::uintptr_t>(__builtin_thread_pointer());
        std::memcpy(&divisor_, reinterpret_cast<const void*>(address), bytes_);
        return true;
    }

    template <class T>
    std::int64_t displacement() {
        T value;
        std::memcpy(&value, next_, sizeof value);
        next_ += sizeof value;
        return value;
    }
    std::uint64_t register_value(unsigned which) const {
        return static_cast<std::uint64_t>(registers_[kRegisters[which]]);
    }
    // As on the processor: a write of 4 bytes clears the upper half of the register.
    static void set(greg_t& target, std::uint64_t value, unsigned bytes) {
        const std::uint64_t kept =
            bytes >= 4 ? 0 : static_cast<std::uint64_t>(target) & ~low_bytes(~std::uint64_t{0}, bytes);
        target = static_cast<greg_t>(kept | value);
    }

    greg_t* registers_;
    const std::uint8_t* next_ = nullptr;
    std::uint8_t rex_ = 0;
    unsigned bytes_ = 4;
    bool has_fs_prefix_ = false, is_signed_ = false, known_ = false;
    std::uint64_t divisor_ = 0;
};

}  // namespace

std::optional<bool> finish_division(ucontext_t& interrupted) { return division(interrupted).finish(); }
#else
std::optional<bool> finish_division(ucontext_t&) { return {}; }
#endif

}  // namespace cornerturn::emulator
