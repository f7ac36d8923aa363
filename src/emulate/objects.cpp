#include "emulate/objects.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gelf.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <map>
#include <memory>
#include <set>
#include <string_view>
#include <vector>

#include "cornerturn/error.hpp"
#include "emulate/files.hpp"
#include "emulate/process.hpp"
#include "emulator/names.hpp"

namespace cornerturn::emulate {
namespace {

struct symbol {
    std::string name;
    int type, binding, visibility;
    bool defined;
    std::uint64_t bytes;
    std::int64_t in_file;  // the offset of its bytes in the file; -1: none
};

std::vector<symbol> symbols_of(const std::string& object) {
    elf_version(EV_CURRENT);
    const int file = open(object.c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0) throw error("cannot read " + object);
    Elf* const elf = elf_begin(file, ELF_C_READ, nullptr);
    std::vector<symbol> all;
    for (Elf_Scn* section = nullptr; elf != nullptr && (section = elf_nextscn(elf, section)) != nullptr;) {
        GElf_Shdr header;
        if (gelf_getshdr(section, &header) == nullptr || header.sh_type != SHT_SYMTAB) continue;
        Elf_Data* const data = elf_getdata(section, nullptr);
        const auto count = static_cast<int>(header.sh_size / header.sh_entsize);
        GElf_Sym s;
        for (int i = 1; i < count && gelf_getsym(data, i, &s) != nullptr; ++i) {
            const char* const name = elf_strptr(elf, header.sh_link, s.st_name);
            if (name == nullptr || *name == 0) continue;
            if (GELF_ST_TYPE(s.st_info) == STT_FILE || GELF_ST_TYPE(s.st_info) == STT_SECTION) continue;
            GElf_Shdr own;
            const bool is_here = s.st_shndx != SHN_UNDEF && s.st_shndx < SHN_LORESERVE &&
                                 gelf_getshdr(elf_getscn(elf, s.st_shndx), &own) != nullptr &&
                                 own.sh_type == SHT_PROGBITS;
            all.push_back({name, GELF_ST_TYPE(s.st_info), GELF_ST_BIND(s.st_info), GELF_ST_VISIBILITY(s.st_other),
                           s.st_shndx != SHN_UNDEF, s.st_size,
                           is_here ? static_cast<std::int64_t>(own.sh_offset + s.st_value) : -1});
        }
    }
    elf_end(elf);
    close(file);
    return all;
}

// Device code calls our own versions of these library functions, such as cornerturn_kernel_printf
// (runtime/kernel_library.cpp).
bool is_replaced_on_device(const std::string& name) {
    static const std::set<std::string> all{"printf", "malloc",  "free",   "_Znwm",   "_Znam",
                                           "_ZdlPv", "_ZdlPvm", "_ZdaPv", "_ZdaPvm", "__assert_fail",
                                           "memcpy", "memmove", "memset", "abort",   "clock"};
    return all.count(name) != 0;
}

// "table" for "_ZN2ns5tableE" and for "table".
std::string last_name(const std::string& mangled) {
    const std::string full = emulator::demangle(mangled.c_str());
    const std::size_t colon = full.rfind("::");
    return colon == full.npos ? full : full.substr(colon + 2);
}

// "1kPi", the kernel of the mark "_ZZ1kPiE14ct_kernel_mark"; "" for other symbols.
std::string marked_kernel(const std::string& name) {
    const std::string end = fmt::format("E{}{}", std::string(kKernelMark).size(), kKernelMark);
    const std::size_t at = name.rfind(end);
    if (!name.starts_with("_ZZ") || at == name.npos) return "";
    return name.substr(3, at - 3);
}

// On the host a kernel loads its own address and jumps to the emulator (rewrite.cpp). But g++ puts instructions before
// that, which move arguments and overwrite some. So the padding at the kernel's start gets the address load, and a jump
// that skips these instructions.
void skip_to_launch(const std::string& object, const symbol& kernel) {
    constexpr std::string_view kAddress{"\x4c\x8d\x1d\xf9\xff\xff\xff", 7}, kJump{"\xe9", 1};  // leaq, jmp
    const std::string padding(kKernelPadding, '\x90');
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(object.c_str(), "r+b"), &std::fclose);
    std::string code(kernel.bytes, 0);
    const bool is_read = file && kernel.in_file >= 0 && std::fseek(file.get(), kernel.in_file, SEEK_SET) == 0 &&
                         std::fread(code.data(), 1, code.size(), file.get()) == code.size();
    const std::size_t own = is_read ? code.find(std::string(kAddress) + std::string(kJump)) : code.npos;
    if (own == code.npos || !code.starts_with(padding))
        throw error(fmt::format("{}: the code that g++ generated for the kernel {} has no jump to the emulator", object,
                                emulator::demangle(kernel.name.c_str())));
    const auto distance = static_cast<std::int32_t>(own + kAddress.size() - kKernelPadding);
    std::string entry = std::string(kAddress) + std::string(kJump) + std::string(4, 0);
    std::memcpy(entry.data() + kKernelPadding - 4, &distance, 4);
    if (std::fseek(file.get(), kernel.in_file, SEEK_SET) != 0 ||
        std::fwrite(entry.data(), 1, entry.size(), file.get()) != entry.size())
        throw error("cannot write " + object);
}

void run_tool(const std::vector<std::string>& command) {
    std::string errors;
    const int status = run_program(command, &errors);
    if (status != 0) throw error(fmt::format("{} failed ({}): {}", fmt::join(command, " "), status, errors));
}

}  // namespace

void join_objects(const std::string& host, const std::string& device, const rewritten& names, const std::string& tag,
                  const std::string& joined) {
    const std::vector<symbol> of_device = symbols_of(device), of_host = symbols_of(host);
    std::map<std::string, const symbol*> in_host, in_device;
    for (const symbol& s : of_host)
        if (s.defined) in_host.try_emplace(s.name, &s);
    for (const symbol& s : of_device)
        if (s.defined) in_device.try_emplace(s.name, &s);

    std::string host_changes, device_renames, device_globals, host_globals, table;
    const auto device_name = [&](const std::string& name) { return fmt::format("ct.{}.{}", tag, name); };
    // The name of a host symbol for other object files. A local symbol becomes global, under a new name.
    const auto host_name = [&](const symbol& s) {
        if (s.binding != STB_LOCAL) return s.name;
        const std::string fresh = fmt::format("ct.host.{}.{}", tag, s.name);
        host_globals += s.name + "\n" + fresh + "\n";  // objcopy looks for the new name
        host_changes += s.name + " " + fresh + "\n";
        return fresh;
    };
    const auto share = [&](const symbol& s) {
        if (s.binding != STB_LOCAL) return;
        device_globals += s.name + "\n" + device_name(s.name) + "\n";
    };
    std::set<std::string> renamed;
    for (const symbol& s : of_device) {
        // Also local symbols: some are signatures of section groups, and the linker keeps only one group of a
        // signature.
        if (s.defined && renamed.insert(s.name).second) device_renames += s.name + " " + device_name(s.name) + "\n";
        if (!s.defined) {
            if (!renamed.insert(s.name).second) continue;
            if (is_replaced_on_device(s.name))
                device_renames += s.name + " cornerturn_kernel_" + s.name + "\n";
            else if (s.visibility == STV_HIDDEN && s.name != "__dso_handle")  // a device function of another file
                device_renames += s.name + " " + device_name(s.name) + "\n";
        }
        if (const std::string inside = marked_kernel(s.name); !inside.empty()) {
            std::string kernel = "_Z" + inside;
            if (in_device.count(kernel) == 0) kernel = inside.substr(inside.find_first_not_of("0123456789"));
            const auto theirs = in_host.find(kernel);
            const auto ours = in_device.find(kernel);
            if (ours == in_device.end()) continue;
            share(*ours->second);
            if (theirs != in_host.end()) skip_to_launch(host, *theirs->second);
            // If only kernels launch an instance of a template, the host code has no such instance.
            const std::string in_host_code =
                theirs == in_host.end() ? "0" : fmt::format("\"{}\"", host_name(*theirs->second));
            table += fmt::format("\t.section ct_kernels,\"aw\",@progbits\n\t.quad {}, \"{}\"\n", in_host_code,
                                 device_name(kernel));
        }
        if (s.defined && s.type == STT_OBJECT) {
            const std::string name = last_name(s.name);
            const bool constant = names.constant_variables.count(name) != 0;
            if (!constant && names.device_variables.count(name) == 0) continue;
            share(s);
            const auto theirs = in_host.find(s.name);
            const std::string in_host_code =
                theirs == in_host.end() ? "0" : fmt::format("\"{}\"", host_name(*theirs->second));
            table += fmt::format("\t.section ct_variables,\"aw\",@progbits\n\t.quad {}, \"{}\", {}, {}\n", in_host_code,
                                 device_name(s.name), s.bytes, constant ? 1 : 0);
        }
    }
    for (const symbol& s : of_host) {
        if (s.defined && s.type == STT_OBJECT && names.managed_variables.count(last_name(s.name)) != 0) {
            table += fmt::format("\t.section ct_variables,\"aw\",@progbits\n\t.quad \"{0}\", \"{0}\", {1}, 2\n",
                                 host_name(s), s.bytes);
        }
    }
    // Device functions in the host pass. Each file may define one of the same name, so they must not clash.
    std::string weak;
    for (const symbol& s : of_host) {
        if (s.defined && s.binding == STB_GLOBAL && s.visibility == STV_HIDDEN && s.type == STT_FUNC)
            weak += s.name + "\n";
    }

    const std::string stem = joined + ".parts";
    const auto write = [&](const std::string& suffix, const std::string& text) {
        const std::string path = stem + "." + suffix;
        write_file(path, text);
        return path;
    };
    const auto change = [&](const std::string& object, const std::vector<std::pair<std::string, std::string>>& lists,
                            std::vector<std::string> command) {
        command.insert(command.begin(), "objcopy");
        for (const auto& [option, text] : lists)
            if (!text.empty())
                command.push_back("--" + option + "=" + write(option, text));  // objcopy refuses an empty list
        command.push_back(object);
        run_tool(command);
    };
    // Remove static constructors and destructors from the device's object file: the host's object file has them.
    change(device, {{"globalize-symbols", device_globals}, {"redefine-syms", device_renames}},
           {"-R", ".init_array", "-R", ".init_array.*", "-R", ".fini_array", "-R", ".ctors", "-R", ".dtors"});
    change(host, {{"globalize-symbols", host_globals}, {"weaken-symbols", weak}, {"redefine-syms", host_changes}}, {});
    run_tool({"as", "-o", stem + ".table.o", write("s", table + "\t.section .note.GNU-stack,\"\",@progbits\n")});
    run_tool({"ld", "-r", "-o", joined, host, device, stem + ".table.o"});
}

}  // namespace cornerturn::emulate
