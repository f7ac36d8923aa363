#include "emulator/symbols.hpp"

#include <dwarf.h>
#include <elfutils/libdwfl.h>
#include <fmt/format.h>
#include <link.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <mutex>
#include <span>
#include <string_view>
#include <unordered_map>

#include "emulator/names.hpp"
#include "emulator/parameters.hpp"

namespace cornerturn::emulator {
namespace {

// A symbol's name without the prefix that separates a program's files: "ct.<tag>.<name>" (src/emulate/objects.cpp).
std::string own_name(const char* symbol) {
    const std::string_view name = symbol;
    if (!name.starts_with("ct.")) return symbol;
    return std::string(name.substr(name.find('.', 3) + 1));
}

// The prefix of the mangled names of a function's variables: _ZZN...E for _ZN..., before <length><name>. A function of
// extern "C" has no mangled name.
std::string prefix_of_variables(const std::string& function) {
    return function.starts_with("_Z") ? "_ZZ" + function.substr(2) + "E"
                                      : fmt::format("_ZZ{}{}E", function.size(), function);
}

// libdw's view of this process. It is not thread-safe: every use holds the mutex. It is never destroyed, because
// programs launch kernels in the destructors of their global variables.
class program {
public:
    static program& self() {
        static auto* const instance = new program;
        return *instance;
    }

    source_line line_of(std::uintptr_t return_address) {
        std::lock_guard lock(mutex_);
        const Dwarf_Addr address = code_address(return_address);
        source_line found;
        if (Dwfl_Line* line = module_ != nullptr ? dwfl_module_getsrc(module_, address) : nullptr) {
            if (const char* file = dwfl_lineinfo(line, nullptr, &found.line, nullptr, nullptr, nullptr)) {
                found.file = file_name(file);
                found.path = file;
            }
        }
        return in_own_file(address, found);
    }

    std::string mangled_name(const void* function) {
        std::lock_guard lock(mutex_);
        const auto address = reinterpret_cast<GElf_Addr>(function);
        const char* name = module_ != nullptr ? dwfl_module_addrname(module_, address) : nullptr;
        return name != nullptr ? own_name(name) : "";
    }

    std::vector<parameter> parameters_of(const void* function) {
        std::lock_guard lock(mutex_);
        Dwarf_Die* unit = nullptr;
        std::vector<parameter> all;
        for (Dwarf_Die& scope : scopes_at(reinterpret_cast<Dwarf_Addr>(function), unit)) {
            if (dwarf_tag(&scope) == DW_TAG_subprogram) add_parameters(scope, all);
        }
        return all;
    }

    std::optional<global_variable> global_at(std::uintptr_t address, std::uintptr_t return_address) {
        std::lock_guard lock(mutex_);
        GElf_Off offset = 0;
        GElf_Sym symbol;
        GElf_Word section = 0;
        Elf* elf = nullptr;
        Dwarf_Addr bias = 0;
        const char* const name = module_ != nullptr
                                     ? dwfl_module_addrinfo(module_, address, &offset, &symbol, &section, &elf, &bias)
                                     : nullptr;
        if (name == nullptr || GELF_ST_TYPE(symbol.st_info) != STT_OBJECT || offset >= symbol.st_size) return {};
        Dwarf_Die* const unit = dwfl_module_addrdie(module_, return_address - 1, &bias);
        if (unit == nullptr || !has_variable_at(*unit, address - offset - bias)) return {};
        GElf_Shdr header;
        const bool writable =
            gelf_getshdr(elf_getscn(elf, section), &header) != nullptr && (header.sh_flags & SHF_WRITE) != 0;
        return global_variable{short_name(demangle(name)), address - offset, symbol.st_size, writable};
    }

    std::optional<shared_variable> thread_local_at(std::size_t offset, std::uintptr_t return_address,
                                                   bool any_function) {
        std::lock_guard lock(mutex_);
        const auto found = std::find_if(thread_locals_.begin(), thread_locals_.end(), [&](const shared_variable& v) {
            return offset - v.offset < v.bytes && (v.name.starts_with("_ZZ") || v.name.starts_with("_ZGVZ"));
        });
        if (found == thread_locals_.end()) return {};
        const bool is_flag = found->name.starts_with("_ZGV");
        const std::string full = demangle((is_flag ? "_Z" + found->name.substr(4) : found->name).c_str());
        if (any_function) {
            const auto is_kernel = [&](const std::string& name) {
                return std::find(kernels_.begin(), kernels_.end(), name) != kernels_.end();
            };
            if (!is_flag && is_kernel(full.substr(0, full.rfind("::")))) return {};
        } else if (!is_within(found->name, return_address)) {
            return {};
        }
        return shared_variable{full.substr(full.rfind(':') + 1), found->offset, found->bytes, is_flag};
    }

    bool may_index_shared_rows(const std::string& type, std::uintptr_t return_address) {
        std::lock_guard lock(mutex_);
        Dwarf_Addr bias = 0;
        Dwarf_Die* const unit = module_ != nullptr ? dwfl_module_addrdie(module_, return_address - 1, &bias) : nullptr;
        if (unit == nullptr) return true;  // unknown
        const std::size_t bounds = type.find('[');
        const std::string row = bounds == std::string::npos ? "" : type.substr(bounds, type.rfind(']') + 1 - bounds);
        return has_shared_rows(*unit, row);
    }

    bool has_symbols() {
        std::lock_guard lock(mutex_);
        return !thread_locals_.empty();
    }

    std::vector<shared_variable> locals_of(const std::string& function) {
        std::vector<shared_variable> found;
        if (function.empty()) return found;
        const std::string prefix = prefix_of_variables(function);
        std::lock_guard lock(mutex_);
        for (const shared_variable& variable : thread_locals_) {
            if (!variable.name.starts_with(prefix)) continue;
            const char* digits = variable.name.c_str() + prefix.size();
            char* name = nullptr;
            const std::size_t length = std::strtoul(digits, &name, 10);
            found.push_back(
                {std::string(name, std::min(length, std::strlen(name))), variable.offset, variable.bytes, false});
        }
        return found;
    }

    std::vector<byte_range> kernel_code() {
        std::lock_guard lock(mutex_);
        std::vector<byte_range> all;
        Dwarf_Addr bias = 0;
        for (Dwarf_Die* unit = nullptr;
             module_ != nullptr && (unit = dwfl_module_nextcu(module_, unit, &bias)) != nullptr;) {
            Dwarf_Attribute attribute;
            const char* const made_by = dwarf_formstring(dwarf_attr(unit, DW_AT_producer, &attribute));
            if (made_by == nullptr || std::strstr(made_by, "-fsanitize=thread") == nullptr) continue;
            Dwarf_Addr base = 0, begin = 0, end = 0;
            for (std::ptrdiff_t at = 0; (at = dwarf_ranges(unit, at, &base, &begin, &end)) > 0;) {
                constexpr Dwarf_Addr kRemoved = 1;  // at most, if the linker removed it as a duplicate
                if (begin > kRemoved) all.push_back({begin + bias, end - begin});
            }
        }
        std::sort(all.begin(), all.end(), [](const byte_range& a, const byte_range& b) { return a.begin < b.begin; });
        return all;
    }

private:
    // Whether the call is in the function that declares the variable, or inlined from it.
    bool is_within(const std::string& variable, std::uintptr_t return_address) {
        const auto declares = [&](const char* function) {
            return function != nullptr && variable.starts_with(prefix_of_variables(own_name(function)));
        };
        const Dwarf_Addr address = code_address(return_address);
        if (declares(module_ != nullptr ? dwfl_module_addrname(module_, address) : nullptr)) return true;
        // Functions with internal linkage have no mangled name in the debug information.
        const std::string function = short_name(demangle(variable.c_str()));
        Dwarf_Die* unit = nullptr;
        for (Dwarf_Die& scope : scopes_at(address, unit)) {
            if (dwarf_tag(&scope) != DW_TAG_inlined_subroutine) continue;
            Dwarf_Attribute attribute;
            const char* const mangled = dwarf_formstring(dwarf_attr_integrate(&scope, DW_AT_linkage_name, &attribute));
            const char* const name = dwarf_diename(&scope);
            if (mangled != nullptr ? declares(mangled) : name != nullptr && function == name) return true;
        }
        return false;
    }

    // The address of the call that returns to `return_address`.
    static Dwarf_Addr code_address(std::uintptr_t return_address) {
        return (return_address & ((std::uintptr_t{1} << kAddressBits) - 1)) - 1;
    }

    // The bounds of an array type: "[33]", "[32][33]". Empty for other types.
    static std::string bounds_of(Dwarf_Die& type) {
        std::string bounds;
        Dwarf_Die dimension;
        if (dwarf_tag(&type) != DW_TAG_array_type || dwarf_child(&type, &dimension) != 0) return bounds;
        do {
            Dwarf_Attribute attribute;
            Dwarf_Word last = 0;
            if (dwarf_formudata(dwarf_attr(&dimension, DW_AT_upper_bound, &attribute), &last) == 0)
                bounds += fmt::format("[{}]", last + 1);
        } while (dwarf_siblingof(&dimension, &dimension) == 0);
        return bounds;
    }

    // Whether `scope`, or a scope inside it, has a thread-local array whose rows have these bounds.
    static bool has_shared_rows(Dwarf_Die& scope, const std::string& row) {
        Dwarf_Die inner;
        if (dwarf_child(&scope, &inner) != 0) return false;
        do {
            if (dwarf_tag(&inner) != DW_TAG_variable) {
                if (has_shared_rows(inner, row)) return true;
                continue;
            }
            Dwarf_Attribute attribute;
            Dwarf_Die type;
            if (dwarf_formref_die(dwarf_attr_integrate(&inner, DW_AT_type, &attribute), &type) == nullptr) continue;
            const std::string bounds = bounds_of(type);
            if (bounds.size() > row.size() && bounds.ends_with(row) && is_thread_local(inner)) return true;
        } while (dwarf_siblingof(&inner, &inner) == 0);
        return false;
    }

    // The DWARF operations that compute its address.
    static std::span<const Dwarf_Op> place_of(Dwarf_Die& variable) {
        Dwarf_Attribute attribute;
        Dwarf_Op* steps = nullptr;
        std::size_t count = 0;
        const bool known =
            dwarf_getlocation(dwarf_attr_integrate(&variable, DW_AT_location, &attribute), &steps, &count) == 0;
        return {steps, known ? count : 0};
    }

    static bool is_thread_local(Dwarf_Die& variable) {
        const auto place = place_of(variable);
        return std::any_of(place.begin(), place.end(), [](const Dwarf_Op& step) {
            return step.atom == DW_OP_GNU_push_tls_address || step.atom == DW_OP_form_tls_address;
        });
    }

    // Whether a variable at namespace scope begins at the address.
    static bool has_variable_at(Dwarf_Die& scope, Dwarf_Addr address) {
        Dwarf_Die inner;
        if (dwarf_child(&scope, &inner) != 0) return false;
        do {
            const int tag = dwarf_tag(&inner);
            if (tag == DW_TAG_namespace && has_variable_at(inner, address)) return true;
            if (tag != DW_TAG_variable) continue;
            const auto place = place_of(inner);
            if (!place.empty() && place[0].atom == DW_OP_addr && place[0].number == address) return true;
        } while (dwarf_siblingof(&inner, &inner) == 0);
        return false;
    }

    static std::string file_name(const char* path) { return std::filesystem::path(path).filename().string(); }

    // The scopes of the code at `address`, from the inside out (blocks, functions inlined there, the function), and
    // their compilation unit.
    std::vector<Dwarf_Die> scopes_at(Dwarf_Addr address, Dwarf_Die*& unit) {
        Dwarf_Addr bias = 0;
        unit = module_ != nullptr ? dwfl_module_addrdie(module_, address, &bias) : nullptr;
        using die_list = std::unique_ptr<Dwarf_Die, void (*)(void*)>;
        Dwarf_Die *innermost = nullptr, *scopes = nullptr;
        if (unit == nullptr || dwarf_getscopes(unit, address - bias, &innermost) <= 0) return {};
        const die_list owner_of_innermost(innermost, std::free);
        // From an inlined function, dwarf_getscopes() goes on to the scopes of the function's definition.
        // dwarf_getscopes_die() goes on to the scopes of its caller, which are needed here.
        const int count = dwarf_getscopes_die(innermost, &scopes);
        const die_list owner(scopes, std::free);
        return {scopes, scopes + std::max(count, 0)};
    }

    // The innermost line in the file of the function that contains `address`. Candidates are `found` and the lines that
    // call the functions inlined there. So messages name a kernel's own line, not its helper's.
    source_line in_own_file(Dwarf_Addr address, source_line found) {
        Dwarf_Die* unit = nullptr;
        Dwarf_Files* files = nullptr;
        std::vector<Dwarf_Die> scopes = scopes_at(address, unit);
        const auto function =
            std::find_if(scopes.begin(), scopes.end(), [](Dwarf_Die& s) { return dwarf_tag(&s) == DW_TAG_subprogram; });
        const char* const own = function != scopes.end() ? dwarf_decl_file(&*function) : nullptr;
        if (own == nullptr || dwarf_getsrcfiles(unit, &files, nullptr) != 0) return found;
        for (Dwarf_Die& scope : scopes) {
            if (found.path == own) break;
            if (dwarf_tag(&scope) != DW_TAG_inlined_subroutine) continue;
            Dwarf_Attribute attribute;
            Dwarf_Word file = 0, line = 0;
            if (dwarf_formudata(dwarf_attr(&scope, DW_AT_call_file, &attribute), &file) != 0) break;
            if (dwarf_formudata(dwarf_attr(&scope, DW_AT_call_line, &attribute), &line) != 0) break;
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

    // Reads the ELF file itself: the value of a thread-local symbol is an offset, which libdwfl would relocate.
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
                const int type = GELF_ST_TYPE(symbol.st_info);
                if ((type != STT_TLS && type != STT_OBJECT) || symbol.st_shndx == SHN_UNDEF) continue;
                const char* const name = elf_strptr(elf, header.sh_link, symbol.st_name);
                if (type == STT_OBJECT) {
                    if (name != nullptr && std::strstr(name, "ct_kernel_mark") != nullptr) {
                        const std::string full = demangle(own_name(name).c_str());
                        kernels_.push_back(full.substr(0, full.rfind("::")));
                    }
                    continue;
                }
                if (name != nullptr) thread_locals_.push_back({own_name(name), symbol.st_value, symbol.st_size, false});
            }
        }
    }

    std::vector<std::string> kernels_;  // full names, in programs that `cornerturn cc` made
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
    // Cached: a matrix of many slabs takes as many launches of one kernel.
    static std::mutex mutex;
    static auto* const known = new std::unordered_map<const void*, std::vector<shared_variable>>;
    std::lock_guard lock(mutex);
    const auto [found, is_new] = known->try_emplace(kernel);
    if (is_new) found->second = program::self().locals_of(program::self().mangled_name(kernel));
    return found->second;
}

std::optional<global_variable> global_variable_at(std::uintptr_t address, std::uintptr_t return_address) {
    return program::self().global_at(address, return_address);
}

std::optional<shared_variable> shared_variable_at(std::size_t offset, std::uintptr_t return_address,
                                                  bool any_function) {
    return program::self().thread_local_at(offset, return_address, any_function);
}

bool may_index_shared_rows(const char* type, std::uintptr_t return_address) {
    return program::self().may_index_shared_rows(type, return_address);
}

std::string mangled_name(const void* function) { return program::self().mangled_name(function); }

std::string data_name(const void* address) {
    return short_name(demangle(program::self().mangled_name(address).c_str()));
}

std::vector<parameter> parameters_of(const void* function) { return program::self().parameters_of(function); }

bool have_symbols() { return program::self().has_symbols(); }

std::vector<byte_range> kernel_code_ranges() { return program::self().kernel_code(); }

byte_range read_only_at(std::uintptr_t address) {
    byte_range found{address, 0};
    dl_iterate_phdr(
        [](dl_phdr_info* info, std::size_t, void* result) {
            auto& wanted = *static_cast<byte_range*>(result);
            for (int i = 0; i < info->dlpi_phnum; ++i) {
                const auto& part = info->dlpi_phdr[i];
                const bool fixed =
                    part.p_type == PT_GNU_RELRO || (part.p_type == PT_LOAD && (part.p_flags & PF_W) == 0);
                const std::uintptr_t begin = info->dlpi_addr + part.p_vaddr;
                if (!fixed || wanted.begin - begin >= part.p_memsz) continue;
                wanted = {begin, part.p_memsz};
                break;
            }
            return 1;  // the first object is the program itself
        },
        &found);
    return found;
}

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
