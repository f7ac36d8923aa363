#include "emulator/symbols.hpp"

#include <cxxabi.h>
#include <dwarf.h>
#include <elfutils/libdwfl.h>
#include <fmt/format.h>
#include <link.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string_view>
#include <unordered_map>

namespace cornerturn::emulator {
namespace {

// Its inlined words are shown where a kernel uses them.
constexpr const char* kDialectFile = "dialect_emulated.hpp";

std::string demangle(const char* mangled) {
    int status = 0;
    std::unique_ptr<char, void (*)(void*)> text(abi::__cxa_demangle(mangled, nullptr, nullptr, &status), std::free);
    return status == 0 ? text.get() : mangled;
}

// Drops return type, namespaces and parameters: "void a::b::kernel<int, 8>(int const*)" becomes "kernel<int, 8>".
std::string short_name(std::string full) {
    const std::string anonymous = "(anonymous namespace)::";
    for (std::size_t at; (at = full.find(anonymous)) != std::string::npos;) full.erase(at, anonymous.size());
    int depth = 0;
    std::size_t begin = 0, end = full.size();
    for (std::size_t i = 0; i < full.size(); ++i) {
        const char c = full[i];
        if (c == '<') ++depth;
        if (c == '>') --depth;
        if (depth != 0) continue;
        if (c == '(') {
            end = i;
            break;
        }
        if (c == ' ' || c == ':') begin = i + 1;
    }
    return full.substr(begin, end - begin);
}

// libdw's view of this process. It is not thread-safe: every use holds the mutex.
class program {
public:
    static program& self() {
        static program instance;
        return instance;
    }

    source_line line_of(std::uintptr_t return_address) {
        std::lock_guard lock(mutex_);
        const Dwarf_Addr address = return_address - 1;
        source_line found;
        if (Dwfl_Line* line = module_ != nullptr ? dwfl_module_getsrc(module_, address) : nullptr) {
            if (const char* file = dwfl_lineinfo(line, nullptr, &found.line, nullptr, nullptr, nullptr)) {
                found.file = file_name(file);
                found.path = file;
            }
        }
        return found.file == kDialectFile ? caller_of_inlined(address, found) : found;
    }

    std::string mangled_name(const void* function) {
        std::lock_guard lock(mutex_);
        const auto address = reinterpret_cast<GElf_Addr>(function);
        const char* name = module_ != nullptr ? dwfl_module_addrname(module_, address) : nullptr;
        return name != nullptr ? name : "";
    }

    bool has_symbols() {
        std::lock_guard lock(mutex_);
        return !thread_locals_.empty();
    }

    std::vector<shared_variable> locals_of(const std::string& function) {
        // The mangled name of a variable of a function _ZN... is _ZZN...E<length><name>.
        std::vector<shared_variable> found;
        if (function.empty()) return found;
        // extern "C" has no mangled name of its own.
        const std::string prefix = function.starts_with("_Z") ? "_ZZ" + function.substr(2) + "E"
                                                              : fmt::format("_ZZ{}{}E", function.size(), function);
        std::lock_guard lock(mutex_);
        for (const shared_variable& variable : thread_locals_) {
            if (!variable.name.starts_with(prefix)) continue;
            const char* digits = variable.name.c_str() + prefix.size();
            char* name = nullptr;
            const std::size_t length = std::strtoul(digits, &name, 10);
            found.push_back({std::string(name, std::min(length, std::strlen(name))), variable.offset, variable.bytes});
        }
        return found;
    }

private:
    static std::string file_name(const char* path) { return std::filesystem::path(path).filename().string(); }

    // Where the code at `address`, inlined from the dialect's header, was called from: the first line outside of it.
    source_line caller_of_inlined(Dwarf_Addr address, source_line found) {
        Dwarf_Addr bias = 0;
        Dwarf_Die* const unit = dwfl_module_addrdie(module_, address, &bias);
        Dwarf_Files* files = nullptr;
        if (unit == nullptr || dwarf_getsrcfiles(unit, &files, nullptr) != 0) return found;
        using die_list = std::unique_ptr<Dwarf_Die, void (*)(void*)>;
        Dwarf_Die *innermost = nullptr, *scopes = nullptr;
        if (dwarf_getscopes(unit, address - bias, &innermost) <= 0) return found;
        const die_list owner_of_innermost(innermost, std::free);
        // What that returned goes on with where an inlined function stands in the source; this, with where it was
        // inlined.
        const int count = dwarf_getscopes_die(innermost, &scopes);
        const die_list owner(scopes, std::free);
        for (int i = 0; i < count && found.file == kDialectFile; ++i) {
            if (dwarf_tag(&scopes[i]) != DW_TAG_inlined_subroutine) continue;
            Dwarf_Attribute attribute;
            Dwarf_Word file = 0, line = 0;
            if (dwarf_formudata(dwarf_attr(&scopes[i], DW_AT_call_file, &attribute), &file) != 0) break;
            if (dwarf_formudata(dwarf_attr(&scopes[i], DW_AT_call_line, &attribute), &line) != 0) break;
            if (const char* name = dwarf_filesrc(files, file, nullptr, nullptr))
                found = {file_name(name), static_cast<int>(line), name};
        }
        return found;
    }

    program() {
        callbacks_.find_elf = dwfl_linux_proc_find_elf;
        callbacks_.find_debuginfo = dwfl_standard_find_debuginfo;
        dwfl_ = dwfl_begin(&callbacks_);
        if (dwfl_ == nullptr || dwfl_linux_proc_report(dwfl_, getpid()) != 0) return;
        dwfl_report_end(dwfl_, nullptr, nullptr);
        module_ = dwfl_addrmodule(dwfl_, reinterpret_cast<Dwarf_Addr>(&demangle));
        if (module_ == nullptr) return;
        read_thread_locals();
    }

    // From the ELF file itself: a thread-local symbol's value is an offset, which libdwfl would relocate.
    void read_thread_locals() {
        GElf_Addr bias = 0;
        Elf* const elf = dwfl_module_getelf(module_, &bias);
        for (Elf_Scn* section = nullptr; elf != nullptr && (section = elf_nextscn(elf, section)) != nullptr;) {
            GElf_Shdr header;
            if (gelf_getshdr(section, &header) == nullptr || header.sh_type != SHT_SYMTAB) continue;
            Elf_Data* const data = elf_getdata(section, nullptr);
            const auto count = static_cast<int>(header.sh_size / header.sh_entsize);
            GElf_Sym symbol;
            for (int i = 1; i < count && gelf_getsym(data, i, &symbol) != nullptr; ++i) {
                if (GELF_ST_TYPE(symbol.st_info) != STT_TLS || symbol.st_shndx == SHN_UNDEF) continue;
                const char* const name = elf_strptr(elf, header.sh_link, symbol.st_name);
                if (name != nullptr) thread_locals_.push_back({name, symbol.st_value, symbol.st_size});
            }
        }
    }

    std::mutex mutex_;
    Dwfl_Callbacks callbacks_{};
    Dwfl* dwfl_ = nullptr;  // lives as long as the process
    Dwfl_Module* module_ = nullptr;
    std::vector<shared_variable> thread_locals_;
};

}  // namespace

source_line line_of(std::uintptr_t return_address) { return program::self().line_of(return_address); }

std::string to_string(const source_line& line) {
    return line.line > 0 ? line.file + ":" + std::to_string(line.line) : "unknown line";
}

std::string function_name(const void* function) {
    const std::string mangled = program::self().mangled_name(function);
    return mangled.empty() ? "kernel" : short_name(demangle(mangled.c_str()));
}

std::vector<shared_variable> shared_variables_of(const void* kernel) {
    // Kept: a matrix of many slabs is as many launches of one kernel.
    static std::mutex mutex;
    static std::unordered_map<const void*, std::vector<shared_variable>> known;
    std::lock_guard lock(mutex);
    const auto [found, is_new] = known.try_emplace(kernel);
    if (is_new) found->second = program::self().locals_of(program::self().mangled_name(kernel));
    return found->second;
}

bool have_symbols() { return program::self().has_symbols(); }

byte_range thread_local_segment() {
    byte_range segment{};
    dl_iterate_phdr(
        [](dl_phdr_info* info, std::size_t, void* result) {
            for (int i = 0; i < info->dlpi_phnum; ++i) {
                if (info->dlpi_phdr[i].p_type != PT_TLS) continue;
                *static_cast<byte_range*>(result) = {reinterpret_cast<std::uintptr_t>(info->dlpi_tls_data),
                                                     info->dlpi_phdr[i].p_memsz};
            }
            return 1;  // the first object is the program itself
        },
        &segment);
    return segment;
}

}  // namespace cornerturn::emulator
