// Works on preprocessed text, because macros could hide CUDA's keywords. It understands only as much C++ as these need:
// brackets, template arguments, and where a declaration's name ends. g++ checks the rest.
#include "emulate/rewrite.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <vector>

#include "cornerturn/error.hpp"
#include "emulate/declarations.hpp"
#include "emulate/tokens.hpp"

namespace cornerturn::emulate {
namespace {

// Keywords that are removed, and keywords that are removed with their arguments.
const std::set<std::string_view> kDropped{"__grid_constant__", "__nv_pure__", "__tile_global__"};
const std::set<std::string_view> kDroppedWithArguments{"__launch_bounds__", "__maxnreg__", "__block_size__"};
// Keywords before an expression: a bracket after them begins no call.
const std::set<std::string_view> kBeforeExpression{"return", "else", "do",  "case", "co_return", "throw",
                                                   "and",    "or",   "not", "in",   "goto",      "co_yield"};

// "laneid" for the literal "mov.u32 %0, %laneid;"; "" for other PTX.
std::string moved_register(std::string text) {
    for (const char* const escape : {"\\n", "\\t"})
        for (std::size_t at; (at = text.find(escape)) != text.npos;) text.replace(at, 2, " ");
    std::string all;  // without quotes, spaces and semicolons
    for (const char c : text)
        if (std::string_view(" \";").find(c) == std::string_view::npos) all += c;
    const std::size_t begin = all.find("%0,%");
    if (!all.starts_with("mov.") || begin == all.npos) return "";
    const std::string type = all.substr(4, begin - 4), name = all.substr(begin + 4);
    const bool is_type = type.size() == 3 && std::string_view("bsu").find(type[0]) != std::string_view::npos &&
                         (type.ends_with("32") || type.ends_with("64"));
    return !is_type ? "" : name.starts_with('%') ? name.substr(1) : name;
}

class rewriter {
public:
    rewriter(std::string_view text, pass wanted) : tokens_(text), pass_(wanted) {}

    rewritten operator()() {
        for (std::size_t at = 0; at < tokens_.size(); ++at) {
            if (tokens_[at].kind == token::identifier)
                keyword(at);
            else if (tokens_[at].is("<"))
                launch(at);
        }
        if (pass_ == pass::host) silence_device_code();
        for (const std::string& name : result_.managed_variables) result_.device_variables.erase(name);
        result_.text = tokens_.text();
        return std::move(result_);
    }

private:
    // The body of a function, and whether the host, the device or both run it.
    struct code {
        std::size_t begin = 0;
        bool host = false, device = false;
    };

    void keyword(std::size_t& at) {
        const std::string& text = tokens_[at].text;
        if (text.size() < 3 || (text[0] != '_' && text != "asm")) return;
        if (text == "__attribute__" || text == "__declspec") {
            keep_attribute(at);
        } else if (text == "__global__") {
            kernel(at);
        } else if (text == "__device__") {
            device(at);
        } else if (text == "__host__") {
            host(at);
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
            tokens_.blank(at, tokens_.is(bracket, "(") ? tokens_.closing_bracket(bracket) + 1 : at + 1);
        } else if (text == "__cluster_dims__") {
            refuse(at, "__cluster_dims__: the emulator does not support thread block clusters");
        } else if (text == "__align__") {
            const std::size_t bracket = tokens_.next(at), close = tokens_.closing_bracket(bracket);
            if (!tokens_.is(bracket, "(") || close == tokens_.size()) return;
            tokens_[at].text = "__attribute__((__aligned__";
            tokens_[close].inserted_after = "))";
        } else if (text == "__forceinline__") {
            // g++ refuses a second `inline`.
            const bool is_inline = has_specifier(tokens_, at, declared_at(tokens_, tokens_.next(at)).name, "inline");
            tokens_[at].text =
                is_inline ? "__attribute__((__always_inline__))" : "inline __attribute__((__always_inline__))";
        } else if (text == "__noinline__") {
            const std::size_t last = tokens_.previous(at);  // g++'s own attribute may be written __noinline__, too
            if (!tokens_.is(last, "(") && !tokens_.is(last, ",") && !tokens_.is(last, "::"))
                tokens_[at].text = "__attribute__((__noinline__))";
        } else if (text == "asm" || text == "__asm__" || text == "__asm") {
            assembly(at);
        }
    }

    // Leaves g++'s attributes unchanged: they may contain CUDA's keywords.
    void keep_attribute(std::size_t& at) {
        const std::size_t bracket = tokens_.next(at);
        if (tokens_.is(bracket, "(")) at = std::min(tokens_.closing_bracket(bracket), tokens_.size() - 1);
    }

    [[noreturn]] void refuse(std::size_t at, const std::string& message) const {
        const token& t = tokens_[at];
        throw error(fmt::format("{}:{}: {}", t.file != nullptr ? *t.file : "", t.line, message));
    }

    // The text of these tokens on one line.
    std::string on_one_line(std::size_t begin, std::size_t end) const {
        std::string text;
        for (std::size_t i = begin; i < end && i < tokens_.size(); ++i) {
            if (tokens_[i].kind != token::line_marker && tokens_[i].kind != token::pragma)
                text += tokens_[i].text == "\n" ? " " : tokens_[i].text;
        }
        return text;
    }

    bool blank_specifier(std::size_t at, std::size_t end, std::string_view wanted) {
        bool found = false;
        for (const std::size_t there :
             {specifier_before(tokens_, at, wanted), specifier_after(tokens_, at, end, wanted)}) {
            if (there == tokens_.size()) continue;
            tokens_.blank(there, there + 1);
            found = true;
        }
        return found;
    }

    void kernel(std::size_t at) {
        const declaration found = declared_at(tokens_, tokens_.next(at));
        if (!found.is_function) refuse(at, "__global__ is not followed by a function");
        const std::size_t parameters_end = after_parameters(found);
        if (pass_ == pass::device) {
            const std::size_t body = body_of(parameters_end, &code::device);
            tokens_[at].text = "__attribute__((__noipa__, __flatten__))";
            if (tokens_.is(body, "{"))
                tokens_[body].inserted_after =
                    fmt::format(" static const char {} __attribute__((__used__)) = 0;", kKernelMark);
            return;
        }
        // The emulator identifies a kernel by the address of its first instruction, and objects.cpp writes a jump
        // there. These attributes keep the user's options from inserting other instructions before it.
        tokens_[at].text = fmt::format(
            "__attribute__((__naked__, __noipa__, __used__, __patchable_function_entry__({}), "
            "__no_instrument_function__, __no_profile_instrument_function__, __no_sanitize__(\"all\"), "
            "__no_sanitize_coverage__))",
            kKernelPadding);
        const std::size_t start = specifier_before(tokens_, at, "template");
        if (start < tokens_.size() && !tokens_.is(tokens_.next(start), "<")) return;  // an explicit instantiation
        const std::size_t body = body_after(tokens_, parameters_end);
        if (!tokens_.is(body, "{")) {
            tokens_[at].text = "__attribute__((__noipa__))";
            return;
        }
        const std::size_t end = tokens_.closing_bracket(body);
        tokens_.blank(body + 1, end);
        tokens_[body].inserted_after =
            " __asm__ volatile(\"1: leaq 1b(%rip), %r11\\n\\tjmp cornerturn_launch_from_host\"); ";
    }

    // Records the body of the function whose parameters end before `at` as device code or host code. Returns the
    // opening brace, or the semicolon of a function without a body.
    std::size_t body_of(std::size_t at, bool code::*runs_on) {
        const std::size_t body = body_after(tokens_, at);
        const std::size_t end = tokens_.is(body, "{") ? tokens_.closing_bracket(body) : tokens_.size();
        if (end < tokens_.size()) {
            code& all = bodies_[end];
            all.begin = body;
            all.*runs_on = true;
        }
        return body;
    }
    std::size_t after_parameters(const declaration& function) const {
        return tokens_.next(tokens_.closing_bracket(function.after_name));
    }
    // The innermost body around `at`.
    code code_at(std::size_t at) const {
        const auto around = bodies_.upper_bound(at);
        return around != bodies_.end() && around->second.begin < at ? around->second : code{};
    }

    // nvcc's host compiler does not see device code, so its -Wall and -Werror do not apply there. g++ suppresses
    // warnings in system headers, so mark the lines of device code as such.
    void silence_device_code() {
        std::size_t before = tokens_.size();
        for (auto body = bodies_.rbegin(); body != bodies_.rend(); ++body) {
            const auto& [end, of] = *body;
            const bool is_inside = end > before;
            if (of.host || is_inside || tokens_[of.begin].file == nullptr || tokens_[of.begin].in_system_header)
                continue;
            before = of.begin;
            for (std::size_t at = of.begin; at < end; ++at)
                if (tokens_[at].kind == token::line_marker) tokens_.mark_as_system_header(at);
            tokens_[of.begin].inserted_after += tokens_.line_marker_after(of.begin, true);
            tokens_[end].inserted_after += tokens_.line_marker_after(end, false);
        }
    }

    void host(std::size_t at) {
        const declaration found = declared_at(tokens_, tokens_.next(at));
        if (is_in_lambda_declarator(tokens_, at))
            body_of(tokens_.next(at), &code::host);
        else if (found.is_function)
            body_of(after_parameters(found), &code::host);
        tokens_.blank(at, at + 1);
    }

    void device(std::size_t at) {
        const declaration found = declared_at(tokens_, tokens_.next(at));
        if (is_in_lambda_declarator(tokens_, at)) {
            body_of(tokens_.next(at), &code::device);
            tokens_.blank(at, at + 1);
        } else if (found.is_function ? is_deduction_guide(at, found) : found.name == 0) {
            tokens_.blank(at, at + 1);
        } else if (found.is_function) {
            body_of(after_parameters(found), &code::device);
            // Hidden: see objects.cpp. Unused in the host pass, where kernels have no body.
            tokens_[at].text = "__attribute__((__visibility__(\"hidden\"), __unused__))";
        } else {
            variable(at, result_.device_variables);
        }
    }
    // name(parameters) -> type, without auto: g++ allows no attributes there.
    bool is_deduction_guide(std::size_t at, const declaration& found) const {
        return tokens_.is(after_parameters(found), "->") && !has_specifier(tokens_, at, found.after_name, "auto");
    }

    void variable(std::size_t at, std::set<std::string>& names) {
        const declaration found = declared_at(tokens_, tokens_.next(at));
        for (const declarator& one : declarators(tokens_, found)) names.insert(tokens_[one.name].text);
        const bool defines = !has_specifier(tokens_, at, found.name, "extern");
        // Without __used__, g++ would remove a variable that the file does not use, or treat one that the file does not
        // write as a constant. A variable of another file is hidden, unlike a host variable: see objects.cpp.
        tokens_[at].text = defines                 ? "__attribute__((__used__))"
                           : pass_ == pass::device ? "__attribute__((__visibility__(\"hidden\")))"
                                                   : "";
    }

    // Host and device share one variable: the host's object file defines it.
    void managed(std::size_t at) {
        const declaration found = declared_at(tokens_, tokens_.next(at));
        blank_specifier(at, found.name, "static");
        const bool is_extern = has_specifier(tokens_, at, found.name, "extern");
        const std::size_t device = specifier_before(tokens_, at, "__device__");
        if (device < tokens_.size()) tokens_.blank(device, device + 1);
        tokens_[at].text = pass_ == pass::device && !is_extern ? "extern" : "";
        for (const auto& [name, end] : declarators(tokens_, found)) {
            result_.managed_variables.insert(tokens_[name].text);
            if (pass_ == pass::host) continue;
            std::size_t begin = name;
            while (begin < end && !tokens_.is(begin, "=") && !tokens_.is(begin, "{")) {
                if (tokens_.is(begin, "(") || tokens_.is(begin, "[")) begin = tokens_.closing_bracket(begin);
                begin = tokens_.next(begin);
            }
            tokens_.blank(begin, end);
        }
    }

    void shared(std::size_t at) {
        const declaration found = declared_at(tokens_, tokens_.next(at));
        const bool is_extern = blank_specifier(at, found.name, "extern");
        blank_specifier(at, found.name, "static");
        // alignas must begin the declaration, so move it there.
        std::string alignment;
        for (std::size_t i = next_specifier(tokens_, at); i < found.name; i = next_specifier(tokens_, i)) {
            const std::size_t bracket = tokens_.next(i);
            if (!tokens_.is(i, "alignas") || !tokens_.is(bracket, "(")) continue;
            const std::size_t end = tokens_.closing_bracket(bracket) + 1;
            alignment += on_one_line(i, end) + " ";
            tokens_.blank(i, end);
        }
        if (is_extern && is_in_function(tokens_, at)) {
            // A reference to ct_dynamic_shared: in templates, g++ ignores a symbol name given by __asm__.
            tokens_[at].text = "";
            for (const auto& [name, end] : declarators(tokens_, found)) {
                tokens_[name].inserted_before = "(&";
                tokens_[name].inserted_after = ")";
                tokens_[end].inserted_before =
                    fmt::format(" = reinterpret_cast<decltype({})>(::ct_dynamic_shared)", tokens_[name].text);
            }
        } else if (is_extern) {
            tokens_[at].text = alignment + "extern __thread";
            for (const declarator& one : declarators(tokens_, found))
                tokens_[one.end].inserted_before = " __asm__(\"cornerturn_dynamic_shared\")";
        } else {
            // Aligned to 128 bytes, a row of banks, like a kernel's first shared array on the GPU.
            tokens_[at].text =
                alignment +
                (pass_ == pass::device ? "static thread_local __attribute__((__aligned__(128)))" : "static");
        }
    }

    // name<<<grid, block, ...>>>(arguments) becomes: push the configuration, then call the kernel. In device code it
    // calls ct_launched_by_kernel(name) instead, which keeps the arguments until the launching grid has ended.
    void launch(std::size_t at) {
        if (!tokens_.are(at, "<<<")) return;
        const std::size_t last = tokens_.previous(at);
        if (last == tokens_.size() || tokens_.is(last, "operator")) return;
        std::size_t end = at + 3;
        while (end < tokens_.size() && !tokens_.are(end, ">>>")) {
            if (tokens_.is(end, "(") || tokens_.is(end, "[") || tokens_.is(end, "{"))
                end = tokens_.closing_bracket(end);
            if (end >= tokens_.size() || tokens_.is(end, ";")) return;  // operators << and >>
            ++end;
        }
        const std::size_t open = end < tokens_.size() ? tokens_.next(end + 2) : end;
        if (!tokens_.is(open, "(")) refuse(at, "the launch <<<...>>> is not followed by arguments: (...)");
        const std::size_t begin = beginning_of_callee(last);
        const std::string configuration = on_one_line(at + 3, end);
        tokens_.blank(at, end + 3);
        tokens_[begin].inserted_before += fmt::format("(::ct_push_launch({}) ? (void)0 : ", configuration);
        if (pass_ == pass::device && code_at(at).device) {
            tokens_[begin].inserted_before += "::ct_launched_by_kernel(";
            tokens_[last].inserted_after += ")";
        }
        const std::size_t close = tokens_.closing_bracket(open);
        if (close < tokens_.size()) tokens_[close].inserted_after += ")";
    }

    // The first token of the launched expression, which ends at `last`.
    std::size_t beginning_of_callee(std::size_t last) const {
        std::size_t at = last;
        for (;;) {
            if (tokens_.is(at, ">")) {
                const std::size_t opening = tokens_.opening_angle(at);
                at = opening < tokens_.size() ? tokens_.previous(opening) : opening;
                if (at == tokens_.size()) refuse(last, "the launch <<<...>>> does not follow a kernel's name");
                continue;
            }
            if (tokens_.is(at, ")") || tokens_.is(at, "]")) {
                const std::size_t opening = tokens_.opening_bracket(at);
                if (opening == tokens_.size()) refuse(last, "the launch <<<...>>> does not follow a kernel's name");
                const std::size_t left = tokens_.previous(opening);
                const bool is_postfix = is_name(left) || tokens_.is(left, ")") || tokens_.is(left, "]") ||
                                        (tokens_.is(left, ">") && tokens_.opening_angle(left) < left);
                if (!is_postfix || tokens_.is(left, "if") || tokens_.is(left, "while") || tokens_.is(left, "for"))
                    return opening;
                // if (...) (kernel)<<<...>>>: the first bracket ends a condition.
                if (tokens_.is(left, ")") && is_condition(left)) return opening;
                at = left;
                continue;
            }
            const std::size_t left = tokens_.previous(at);
            if (tokens_.is(left, "::") || tokens_.is(left, ".") || tokens_.is(left, "->")) {
                const std::size_t owner = tokens_.previous(left);
                // if (...) ::kernel<<<...>>>: a ) or ] before :: does not belong to the callee.
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
        return at < tokens_.size() && tokens_[at].kind == token::identifier &&
               kBeforeExpression.count(tokens_[at].text) == 0;
    }
    bool is_condition(std::size_t closing) const {
        const std::size_t opening = tokens_.opening_bracket(closing);
        const std::size_t left = opening < tokens_.size() ? tokens_.previous(opening) : opening;
        return tokens_.is(left, "if") || tokens_.is(left, "while") || tokens_.is(left, "for") ||
               tokens_.is(left, "constexpr") || tokens_.is(left, "switch");
    }

    // asm in device code of a user's file is PTX. Other asm is assembly of the host, or a symbol name.
    void assembly(std::size_t& at) {
        if (tokens_[at].in_system_header) return;
        std::size_t open = tokens_.next(at);
        while (tokens_.is(open, "volatile") || tokens_.is(open, "__volatile__")) open = tokens_.next(open);
        if (!tokens_.is(open, "(")) return;
        const std::size_t close = tokens_.closing_bracket(open);
        const std::size_t last = tokens_.previous(at);
        const bool is_statement = last == tokens_.size() || tokens_.is(last, ";") || tokens_.is(last, "{") ||
                                  tokens_.is(last, "}") || tokens_.is(last, "else") || tokens_.is(last, ":") ||
                                  (tokens_.is(last, ")") && is_condition(last));
        if (!is_statement || close == tokens_.size()) return;  // a symbol name
        const code here = code_at(at);
        if (!here.device && pass_ == pass::device && !is_in_function(tokens_, at)) {
            tokens_.blank(at, close + 1);  // the host's object file has its definitions
            at = close;
            return;
        }
        // A __host__ __device__ function is host code in the host pass, where __CUDA_ARCH__ is not defined.
        if (!here.device || (here.host && pass_ == pass::host)) return;
        const std::string text = tokens_[tokens_.next(open)].text;
        std::string known = special_register(text, open, close);
        if (text == "\"\"" && !is_literal(tokens_.next(tokens_.next(open)))) known = compiler_barrier(open, close);
        tokens_.blank(at, close + 1);
        if (!known.empty()) {
            tokens_[at].text = known;
            at = close;
            return;
        }
        std::string quoted;
        for (const char c : text) {
            if (c == '"' || c == '\\') quoted += '\\';
            quoted += c == '\n' ? "\\n" : std::string(1, c);
        }
        tokens_[at].text = fmt::format("::ct_unsupported(\"inline PTX: asm({})\")", quoted);
        at = close;
    }

    bool is_literal(std::size_t at) const { return at < tokens_.size() && tokens_[at].kind == token::literal; }

    // For asm with an empty template. Drops its operands, because g++ would refuse their PTX constraints.
    std::string compiler_barrier(std::size_t open, std::size_t close) const {
        for (; open < close; open = tokens_.next(open))
            if (tokens_[open].text == "\"memory\"") return "__asm__ volatile(\"\" ::: \"memory\")";
        return "(void)0";
    }

    // "(x) = ::ct_lane()" for "mov.u32 %0, %laneid;" : "=r"(x); "" for other PTX.
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
        const std::size_t end = std::min(tokens_.closing_bracket(target) + 1, close);
        return fmt::format("{} = {}", on_one_line(target, end), value->second);
    }

    token_list tokens_;
    // Bodies of functions with __host__, __device__ or __global__, by the position of the closing brace.
    std::map<std::size_t, code> bodies_;
    pass pass_;
    rewritten result_;
};

}  // namespace

rewritten rewrite(std::string_view preprocessed, pass wanted) { return rewriter(preprocessed, wanted)(); }

}  // namespace cornerturn::emulate
