// Works on preprocessed text, so that macros hide nothing, and knows of C++ only what CUDA's words need: brackets, the
// arguments of templates, and where a declaration's name ends. All else is left to g++.
#include "emulate/rewrite.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <vector>

#include "cornerturn/error.hpp"
#include "emulate/tokens.hpp"

namespace cornerturn::emulate {
namespace {

// Words that are nothing to g++; some with arguments.
const std::set<std::string_view> kDropped{"__host__", "__grid_constant__", "__nv_pure__", "__tile_global__"};
const std::set<std::string_view> kDroppedWithArguments{"__launch_bounds__", "__maxnreg__", "__block_size__"};
// After these an expression begins: a bracket behind them is no call's.
const std::set<std::string_view> kBeforeExpression{"return", "else", "do",  "case", "co_return", "throw",
                                                   "and",    "or",   "not", "in",   "goto",      "co_yield"};

// "laneid" of the literal "mov.u32 %0, %laneid;"; "" of other PTX.
std::string moved_register(std::string text) {
    for (const char* const escape : {"\\n", "\\t"})
        for (std::size_t at; (at = text.find(escape)) != text.npos;) text.replace(at, 2, " ");
    std::string all;  // without what may stand between the words
    for (const char c : text)
        if (std::string_view(" \";").find(c) == std::string_view::npos) all += c;
    const std::size_t begin = all.find("%0,%");
    if (!all.starts_with("mov.") || begin == all.npos) return "";
    const std::string type = all.substr(4, begin - 4), name = all.substr(begin + 4);
    const bool is_word = type.size() == 3 && std::string_view("bsu").find(type[0]) != std::string_view::npos &&
                         (type.ends_with("32") || type.ends_with("64"));
    return !is_word ? "" : name.starts_with('%') ? name.substr(1) : name;
}

class rewriter {
public:
    rewriter(std::string_view text, pass wanted) : tokens_(text), pass_(wanted) {}

    rewritten operator()() {
        for (std::size_t at = 0; at < tokens_.size(); ++at) {
            if (tokens_[at].what == token::word)
                word(at);
            else if (tokens_[at].is("<"))
                launch(at);
        }
        for (const std::string& name : result_.managed_variables) result_.device_variables.erase(name);
        result_.text = tokens_.text();
        return std::move(result_);
    }

private:
    void word(std::size_t at) {
        const std::string& text = tokens_[at].text;
        if (text.size() < 3 || (text[0] != '_' && text != "asm")) return;
        if (text == "__attribute__" || text == "__declspec") {
            keep_attribute(at);
        } else if (text == "__global__") {
            kernel(at);
        } else if (text == "__device__") {
            device(at);
        } else if (text == "__constant__") {
            variable(at, result_.constant_variables);
        } else if (text == "__managed__") {
            managed(at);
        } else if (text == "__shared__") {
            shared(at);
        } else if (kDropped.count(text) != 0) {
            tokens_.blank(at, at + 1);
        } else if (kDroppedWithArguments.count(text) != 0) {
            const std::size_t bracket = tokens_.next(at);
            tokens_.blank(at, tokens_.is(bracket, "(") ? tokens_.partner(bracket) + 1 : at + 1);
        } else if (text == "__cluster_dims__") {
            refuse(at, "__cluster_dims__: the emulator has no clusters of blocks");
        } else if (text == "__align__") {
            const std::size_t bracket = tokens_.next(at), close = tokens_.partner(bracket);
            if (!tokens_.is(bracket, "(") || close == tokens_.size()) return;
            tokens_[at].text = "__attribute__((__aligned__";
            tokens_[close].behind = "))";
        } else if (text == "__forceinline__") {
            // g++ refuses a second `inline`.
            const bool is_inline = has_specifier(at, declared_at(tokens_.next(at)).name, "inline");
            tokens_[at].text =
                is_inline ? "__attribute__((__always_inline__))" : "inline __attribute__((__always_inline__))";
        } else if (text == "__noinline__") {
            const std::size_t last = tokens_.before(at);  // g++'s own attribute is called so, too
            if (!tokens_.is(last, "(") && !tokens_.is(last, ",") && !tokens_.is(last, "::"))
                tokens_[at].text = "__attribute__((__noinline__))";
        } else if (text == "asm" || text == "__asm__" || text == "__asm") {
            assembly(at);
        }
    }

    // What stands in g++'s own attributes is its own.
    void keep_attribute(std::size_t& at) {
        const std::size_t bracket = tokens_.next(at);
        if (tokens_.is(bracket, "(")) at = std::min(tokens_.partner(bracket), tokens_.size() - 1);
    }

    [[noreturn]] void refuse(std::size_t at, const std::string& what) const {
        const token& t = tokens_[at];
        throw error(fmt::format("{}:{}: {}", t.file != nullptr ? *t.file : "", t.line, what));
    }

    // A word that may stand, with its arguments, before the name of what is declared.
    static bool takes_arguments_before_name(const token& t) {
        static const std::set<std::string_view> all{
            "__attribute__",    "alignas",  "__align__",   "__launch_bounds__", "decltype",      "__typeof__",
            "__cluster_dims__", "noexcept", "__maxnreg__", "explicit",          "__block_size__"};
        return t.what == token::word && all.count(t.text) != 0;
    }

    // What a declaration whose specifiers begin or go on at `at` declares.
    struct declaration {
        bool is_function = false;
        std::size_t name = 0;    // its last word
        std::size_t behind = 0;  // the token behind the name: a bracket, = or ;
    };
    declaration declared_at(std::size_t at) const {
        declaration found;
        for (; at < tokens_.size(); at = tokens_.next(at)) {
            const token& t = tokens_[at];
            if (takes_arguments_before_name(t)) {
                const std::size_t bracket = tokens_.next(at);
                if (tokens_.is(bracket, "(")) at = tokens_.partner(bracket);
            } else if (t.is("operator")) {  // whose name may be a bracket or an angle
                found.name = at;
                at = tokens_.next(at);
                if (tokens_.is(at, "(")) at = tokens_.next(at);
                while (!tokens_.is(tokens_.next(at), "(") && tokens_.next(at) < tokens_.size()) at = tokens_.next(at);
            } else if (t.what == token::word) {
                found.name = at;
            } else if (t.is("<")) {
                at = tokens_.end_of_arguments(at);
            } else if (t.is("[") && tokens_.is(tokens_.next(at), "[")) {
                at = tokens_.partner(at);
            } else if (t.is("(")) {
                const std::size_t inside = tokens_.next(at);
                const std::size_t close = tokens_.partner(at);
                found.is_function = true;
                found.behind = at;
                if (!tokens_.is(inside, "*")) return found;
                // A pointer to a function, or a function that returns one.
                for (at = inside; at < close && !tokens_.is(at, "(") && !tokens_.is(at, "["); at = tokens_.next(at))
                    if (tokens_[at].what == token::word) found.name = at;
                found.is_function = tokens_.is(at, "(");
                found.behind = found.is_function ? at : tokens_.next(close);
                if (!found.is_function && (tokens_.is(found.behind, "(") || tokens_.is(found.behind, "[")))
                    found.behind = tokens_.next(tokens_.partner(found.behind));
                return found;
            } else if (t.is("=") || t.is(";") || t.is("[") || t.is("{") || t.is(",") || t.is(":") || t.is(")")) {
                found.behind = at;
                return found;
            }
        }
        found.behind = tokens_.size();
        return found;
    }

    // All that the declaration declares: their names, and the comma or semicolon behind each.
    struct declarator {
        std::size_t name, end;
    };
    std::vector<declarator> declarators(const declaration& first) const {
        std::vector<declarator> all;
        std::size_t name = first.name;
        for (std::size_t at = first.behind; at < tokens_.size(); at = tokens_.next(at)) {
            if (tokens_.is(at, "(") || tokens_.is(at, "[") || tokens_.is(at, "{")) at = tokens_.partner(at);
            if (tokens_.is(at, "<")) {
                const std::size_t end = tokens_.end_of_arguments(at);
                if (end < tokens_.size()) at = end;
            }
            const bool last = tokens_.is(at, ";");
            if (!last && !tokens_.is(at, ",")) continue;
            if (tokens_[name].what == token::word) all.push_back({name, at});
            if (last) break;
            name = declared_at(tokens_.next(at)).name;
        }
        return all;
    }

    // The text of these tokens on one line.
    std::string on_one_line(std::size_t begin, std::size_t end) const {
        std::string text;
        for (std::size_t i = begin; i < end && i < tokens_.size(); ++i) {
            if (tokens_[i].what != token::line_marker && tokens_[i].what != token::pragma)
                text += tokens_[i].text == "\n" ? " " : tokens_[i].text;
        }
        return text;
    }

    // A word among the specifiers before `at`, back to where the declaration begins; size() where it is not there.
    std::size_t specifier_before(std::size_t at, std::string_view wanted) const {
        for (at = tokens_.before(at); at < tokens_.size(); at = tokens_.before(at)) {
            if (tokens_.is(at, wanted)) return at;
            if (tokens_.is(at, ")")) at = tokens_.partner_before(at);
            if (at >= tokens_.size() || tokens_.is(at, ";") || tokens_.is(at, "{") || tokens_.is(at, "}") ||
                tokens_.is(at, ":"))
                break;
        }
        return tokens_.size();
    }
    std::size_t specifier_behind(std::size_t at, std::size_t end, std::string_view wanted) const {
        for (at = tokens_.next(at); at < end; at = tokens_.next(at))
            if (tokens_.is(at, wanted)) return at;
        return tokens_.size();
    }
    bool has_specifier(std::size_t at, std::size_t end, std::string_view wanted) const {
        return specifier_before(at, wanted) < tokens_.size() || specifier_behind(at, end, wanted) < tokens_.size();
    }
    bool blank_specifier(std::size_t at, std::size_t end, std::string_view wanted) {
        bool found = false;
        for (const std::size_t there : {specifier_before(at, wanted), specifier_behind(at, end, wanted)}) {
            if (there == tokens_.size()) continue;
            tokens_.blank(there, there + 1);
            found = true;
        }
        return found;
    }

    void kernel(std::size_t at) {
        const declaration found = declared_at(tokens_.next(at));
        if (!found.is_function) refuse(at, "__global__ before what is no function");
        const std::size_t body = body_of(found);
        if (pass_ == pass::device) {
            tokens_[at].text = "__attribute__((__noipa__, __flatten__))";
            if (tokens_.is(body, "{"))
                tokens_[body].behind = fmt::format(" static const char {} __attribute__((__used__)) = 0;", kKernelMark);
            return;
        }
        // The emulator knows the kernel by the address of its first instruction. objects.cpp puts a jump there.
        tokens_[at].text = fmt::format(
            "__attribute__((__naked__, __noipa__, __used__, __patchable_function_entry__({})))", kKernelRoom);
        const std::size_t start = specifier_before(at, "template");
        if (start < tokens_.size() && !tokens_.is(tokens_.next(start), "<")) return;  // an explicit instantiation
        if (!tokens_.is(body, "{")) {
            tokens_[at].text = "__attribute__((__noipa__))";
            return;
        }
        const std::size_t end = tokens_.partner(body);
        tokens_.blank(body + 1, end);
        tokens_[body].behind = " __asm__ volatile(\"1: leaq 1b(%rip), %r11\\n\\tjmp cornerturn_launch_from_host\"); ";
    }

    // Where the body of a function begins: a brace, or the semicolon of one that has none here.
    std::size_t body_of(const declaration& function) {
        std::size_t body = tokens_.partner(function.behind);
        while (body < tokens_.size() && !tokens_.is(body, "{") && !tokens_.is(body, ";")) {
            body = tokens_.next(body);
            if (tokens_.is(body, "(")) body = tokens_.partner(body);
        }
        if (tokens_.is(body, "{")) device_code_end_ = std::max(device_code_end_, tokens_.partner(body));
        return body;
    }

    void device(std::size_t at) {
        const std::size_t last = tokens_.before(at);
        const bool is_lambda = tokens_.is(last, "]") && !tokens_.is(tokens_.next(tokens_.partner_before(last)), "[");
        const declaration found = declared_at(tokens_.next(at));
        if (is_lambda || (found.is_function ? is_deduction_guide(at, found) : found.name == 0))
            tokens_.blank(at, at + 1);
        else if (found.is_function)
            body_of(found), tokens_[at].text = "__attribute__((__visibility__(\"hidden\")))";  // see objects.cpp
        else
            variable(at, result_.device_variables);
    }
    // name(parameters) -> type, without auto: g++ takes no attributes there.
    bool is_deduction_guide(std::size_t at, const declaration& found) const {
        return tokens_.is(tokens_.next(tokens_.partner(found.behind)), "->") &&
               !has_specifier(at, found.behind, "auto");
    }

    void variable(std::size_t at, std::set<std::string>& names) {
        const declaration found = declared_at(tokens_.next(at));
        for (const declarator& one : declarators(found)) names.insert(tokens_[one.name].text);
        const bool defines = !has_specifier(at, found.name, "extern");
        // g++ would else drop one that nobody in the file uses, or take one that nobody in it writes for a constant.
        // One of another file is hidden, which tells it from the host's: see objects.cpp.
        tokens_[at].text = defines                 ? "__attribute__((__used__))"
                           : pass_ == pass::device ? "__attribute__((__visibility__(\"hidden\")))"
                                                   : "";
    }

    // The host's and the device's are one.
    void managed(std::size_t at) {
        const declaration found = declared_at(tokens_.next(at));
        blank_specifier(at, found.name, "static");
        const bool is_extern = has_specifier(at, found.name, "extern");
        const std::size_t device = specifier_before(at, "__device__");
        if (device < tokens_.size()) tokens_.blank(device, device + 1);
        tokens_[at].text = pass_ == pass::device && !is_extern ? "extern" : "";
        for (const auto& [name, end] : declarators(found)) {
            result_.managed_variables.insert(tokens_[name].text);
            if (pass_ == pass::host) continue;
            std::size_t begin = name;
            while (begin < end && !tokens_.is(begin, "=") && !tokens_.is(begin, "{")) {
                if (tokens_.is(begin, "(") || tokens_.is(begin, "[")) begin = tokens_.partner(begin);
                begin = tokens_.next(begin);
            }
            tokens_.blank(begin, end);
        }
    }

    void shared(std::size_t at) {
        const declaration found = declared_at(tokens_.next(at));
        const bool is_extern = blank_specifier(at, found.name, "extern");
        blank_specifier(at, found.name, "static");
        // alignas stands at the beginning of a declaration, or nowhere.
        std::string alignment;
        for (std::size_t i = tokens_.next(at); i < found.name; i = tokens_.next(i)) {
            const std::size_t bracket = tokens_.next(i);
            if (!tokens_.is(i, "alignas") || !tokens_.is(bracket, "(")) continue;
            const std::size_t end = tokens_.partner(bracket) + 1;
            alignment += on_one_line(i, end) + " ";
            tokens_.blank(i, end);
        }
        if (is_extern && is_in_function(at)) {
            // A reference: the name of a symbol is lost in templates.
            tokens_[at].text = "";
            for (const auto& [name, end] : declarators(found)) {
                tokens_[name].ahead = "(&";
                tokens_[name].behind = ")";
                tokens_[end].ahead =
                    fmt::format(" = reinterpret_cast<decltype({})>(::ct_dynamic_shared)", tokens_[name].text);
            }
        } else if (is_extern) {
            tokens_[at].text = alignment + "extern __thread";
            for (const declarator& one : declarators(found))
                tokens_[one.end].ahead = " __asm__(\"cornerturn_dynamic_shared\")";
        } else {
            // Aligned to a row of banks, as the first shared array of a kernel is on the GPU.
            tokens_[at].text =
                alignment +
                (pass_ == pass::device ? "static thread_local __attribute__((__aligned__(128)))" : "static");
        }
    }

    bool is_in_function(std::size_t at) const {
        int depth = 0;
        while (at-- > 0) {
            if (tokens_.is(at, "}")) ++depth;
            if (!tokens_.is(at, "{") || --depth >= 0) continue;
            depth = 0;
            std::size_t left = tokens_.before(at);
            if (left < tokens_.size() && tokens_[left].what == token::literal) continue;  // extern "C"
            while (left < tokens_.size() &&
                   (tokens_.is(left, "::") || (tokens_[left].what == token::word && !tokens_.is(left, "namespace"))))
                left = tokens_.before(left);
            if (!tokens_.is(left, "namespace")) return true;
        }
        return false;
    }

    // name<<<grid, block, ...>>>(arguments): the configuration is kept for the kernel, which then is called. In a
    // kernel something else is called, which keeps the arguments until the grid has ended.
    void launch(std::size_t at) {
        if (!tokens_.are(at, "<<<")) return;
        const std::size_t last = tokens_.before(at);
        if (last == tokens_.size() || tokens_.is(last, "operator")) return;
        std::size_t end = at + 3;
        while (end < tokens_.size() && !tokens_.are(end, ">>>")) {
            if (tokens_.is(end, "(") || tokens_.is(end, "[") || tokens_.is(end, "{")) end = tokens_.partner(end);
            if (end >= tokens_.size() || tokens_.is(end, ";")) return;  // shifts
            ++end;
        }
        const std::size_t open = end < tokens_.size() ? tokens_.next(end + 2) : end;
        if (!tokens_.is(open, "(")) refuse(at, "a launch <<<...>>> without its arguments in brackets");
        const std::size_t begin = beginning_of_callee(last);
        const std::string configuration = on_one_line(at + 3, end);
        tokens_.blank(at, end + 3);
        tokens_[begin].ahead += fmt::format("(::ct_push_launch({}) ? (void)0 : ", configuration);
        if (pass_ == pass::device && at < device_code_end_) {
            tokens_[begin].ahead += "::ct_launched_by_kernel(";
            tokens_[last].behind += ")";
        }
        const std::size_t close = tokens_.partner(open);
        if (close < tokens_.size()) tokens_[close].behind += ")";
    }

    // Of the expression that ends at `last` and is launched.
    std::size_t beginning_of_callee(std::size_t last) const {
        std::size_t at = last;
        for (;;) {
            if (tokens_.is(at, ">")) {
                const std::size_t opening = tokens_.beginning_of_arguments(at);
                at = opening < tokens_.size() ? tokens_.before(opening) : opening;
                if (at == tokens_.size()) refuse(last, "a launch <<<...>>> of what is no kernel's name");
                continue;
            }
            if (tokens_.is(at, ")") || tokens_.is(at, "]")) {
                const std::size_t opening = tokens_.partner_before(at);
                if (opening == tokens_.size()) refuse(last, "a launch <<<...>>> of what is no kernel's name");
                const std::size_t left = tokens_.before(opening);
                const bool is_postfix = is_name(left) || tokens_.is(left, ")") || tokens_.is(left, "]") ||
                                        (tokens_.is(left, ">") && tokens_.beginning_of_arguments(left) < left);
                if (!is_postfix || tokens_.is(left, "if") || tokens_.is(left, "while") || tokens_.is(left, "for"))
                    return opening;
                // if (...) (kernel)<<<...>>>: the first bracket ends a condition.
                if (tokens_.is(left, ")") && is_condition(left)) return opening;
                at = left;
                continue;
            }
            const std::size_t left = tokens_.before(at);
            if (tokens_.is(left, "::") || tokens_.is(left, ".") || tokens_.is(left, "->")) {
                const std::size_t owner = tokens_.before(left);
                // if (...) ::kernel<<<...>>>: no value's bracket ends before ::.
                const bool has_owner = is_name(owner) || tokens_.is(owner, ">") ||
                                       (!tokens_.is(left, "::") && (tokens_.is(owner, ")") || tokens_.is(owner, "]")));
                if (!has_owner) return left;
                at = owner;
                continue;
            }
            if (tokens_.is(left, "template")) {
                at = left;
                continue;
            }
            return at;
        }
    }
    bool is_name(std::size_t at) const {
        return at < tokens_.size() && tokens_[at].what == token::word && kBeforeExpression.count(tokens_[at].text) == 0;
    }
    bool is_condition(std::size_t closing) const {
        const std::size_t opening = tokens_.partner_before(closing);
        const std::size_t left = opening < tokens_.size() ? tokens_.before(opening) : opening;
        return tokens_.is(left, "if") || tokens_.is(left, "while") || tokens_.is(left, "for") ||
               tokens_.is(left, "constexpr") || tokens_.is(left, "switch");
    }

    // PTX in a user's file. A system's headers have the host's assembly, and names of symbols.
    void assembly(std::size_t& at) {
        if (tokens_[at].of_system) return;
        std::size_t open = tokens_.next(at);
        while (tokens_.is(open, "volatile") || tokens_.is(open, "__volatile__")) open = tokens_.next(open);
        if (!tokens_.is(open, "(")) return;
        const std::size_t close = tokens_.partner(open);
        const std::size_t last = tokens_.before(at);
        const bool is_statement = tokens_.is(last, ";") || tokens_.is(last, "{") || tokens_.is(last, "}") ||
                                  tokens_.is(last, "else") || tokens_.is(last, ":") ||
                                  (tokens_.is(last, ")") && is_condition(last));
        if (!is_statement || close == tokens_.size()) return;  // else the name of a symbol
        const std::string text = tokens_[tokens_.next(open)].text;
        if (const std::string known = special_register(text, open, close); !known.empty()) {
            tokens_.blank(at, close + 1);
            tokens_[at].text = known;
            at = close;
            return;
        }
        tokens_.blank(at, close + 1);
        std::string quoted;
        for (const char c : text) {
            if (c == '"' || c == '\\') quoted += '\\';
            quoted += c == '\n' ? "\\n" : std::string(1, c);
        }
        tokens_[at].text = fmt::format("::ct_unsupported(\"inline PTX: asm({})\")", quoted);
        at = close;
    }

    // "mov.u32 %0, %laneid;" : "=r"(x) is the assignment of what the register holds; "" of other PTX.
    std::string special_register(const std::string& text, std::size_t open, std::size_t close) const {
        static const std::map<std::string, const char*> all{{"laneid", "::ct_lane()"},
                                                            {"warpid", "::ct_warp()"},
                                                            {"nwarpid", "64u"},
                                                            {"smid", "0u"},
                                                            {"nsmid", "132u"},
                                                            {"globaltimer", "::ct_global_timer()"},
                                                            {"clock", "(unsigned)::clock64()"},
                                                            {"clock64", "::clock64()"},
                                                            {"lanemask_lt", "((1u << ::ct_lane()) - 1)"},
                                                            {"lanemask_le", "((2u << ::ct_lane()) - 1)"},
                                                            {"lanemask_eq", "(1u << ::ct_lane())"},
                                                            {"lanemask_gt", "~((2u << ::ct_lane()) - 1)"},
                                                            {"lanemask_ge", "~((1u << ::ct_lane()) - 1)"}};
        const auto value = all.find(moved_register(text));
        const std::size_t colon = tokens_.next(tokens_.next(open)), constraint = tokens_.next(colon);
        const std::size_t target = tokens_.next(constraint);
        if (value == all.end() || !tokens_.is(colon, ":") || !tokens_.is(target, "(")) return "";
        const std::size_t end = std::min(tokens_.partner(target) + 1, close);
        return fmt::format("{} = {}", on_one_line(target, end), value->second);
    }

    token_list tokens_;
    std::size_t device_code_end_ = 0;  // of the last function that runs on the device
    pass pass_;
    rewritten result_;
};

}  // namespace

rewritten rewrite(std::string_view preprocessed, pass wanted) { return rewriter(preprocessed, wanted)(); }

}  // namespace cornerturn::emulate
