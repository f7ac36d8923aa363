#include "emulator/names.hpp"

#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>
#include <memory>

namespace cornerturn::emulator {
namespace {

constexpr std::string_view kNameless = "(anonymous namespace)";

std::string without(std::string text, std::string_view part) {
    for (std::size_t at; (at = text.find(part)) != text.npos;) text.erase(at, part.size());
    return text;
}

}  // namespace

std::string demangle(const char* mangled) {
    if (!std::string_view(mangled).starts_with("_Z")) return mangled;  // "c" would be a type: signed char
    int status = 0;
    std::unique_ptr<char, void (*)(void*)> text(abi::__cxa_demangle(mangled, nullptr, nullptr, &status), std::free);
    return status == 0 ? text.get() : mangled;
}

name_parts parts_of(const std::string& demangled) {
    int depth = 0;
    std::size_t scope = 0, name = 0, end = demangled.size();
    for (std::size_t i = 0; i < demangled.size(); ++i) {
        if (demangled.compare(i, kNameless.size(), kNameless) == 0) {
            i += kNameless.size() - 1;
            continue;
        }
        const char c = demangled[i];
        if (c == '<') ++depth;
        if (c == '>') --depth;
        if (depth != 0) continue;
        if (c == '(') {
            end = i;
            break;
        }
        if (c == ' ') scope = name = i + 1;
        if (c == ':') name = i + 1;
    }
    return {demangled.substr(scope, name - scope), demangled.substr(name, end - name), demangled.substr(end)};
}

std::string short_name(const std::string& demangled) {
    return without(parts_of(demangled).name, std::string(kNameless) + "::");
}

bool may_mean(std::string_view given, const std::string& mangled) {
    const std::string wanted = without(std::string(given), " ");
    const name_parts parts = parts_of(demangle(mangled.c_str()));
    const auto fits = [&](const std::string& scope, const std::string& rest) {
        const std::string whole = "::" + without(scope + rest, " ");
        if (wanted.starts_with("::")) return whole == wanted;
        return !wanted.empty() && whole.ends_with("::" + wanted);
    };
    const std::string nameless = std::string(kNameless) + "::";
    const std::string plain = parts.name.substr(0, parts.name.find('<'));
    for (const std::string& scope : {parts.scope, without(parts.scope, nameless)}) {
        for (const std::string& rest : {plain, parts.name, without(parts.name, nameless), parts.name + parts.arguments})
            if (fits(scope, rest)) return true;
    }
    return false;
}

}  // namespace cornerturn::emulator
