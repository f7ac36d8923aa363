#include "emulate/declarations.hpp"

#include <set>

namespace cornerturn::emulate {
namespace {

// Whether it is a specifier or an attribute that takes arguments. These are not the parameters of a function.
bool takes_arguments_before_name(const token& t) {
    static const std::set<std::string_view> all{"__attribute__",    "alignas",  "__align__",     "__launch_bounds__",
                                                "decltype",         "noexcept", "__maxnreg__",   "__typeof__",
                                                "__cluster_dims__", "explicit", "__block_size__"};
    return t.kind == token::identifier && all.count(t.text) != 0;
}

// The token after [[attributes]], or after such a specifier and its arguments; `at` if there is neither.
std::size_t skip_attribute(const token_list& tokens, std::size_t at) {
    if (tokens.is(at, "[") && tokens.is(tokens.next(at), "[")) return tokens.next(tokens.closing_bracket(at));
    if (at == tokens.size() || !takes_arguments_before_name(tokens[at])) return at;
    const std::size_t bracket = tokens.next(at);
    return tokens.is(bracket, "(") ? tokens.next(tokens.closing_bracket(bracket)) : bracket;
}

// The token after a name such as a::b<c>::d; `at` if there is none.
std::size_t skip_name(const token_list& tokens, std::size_t at) {
    while (at < tokens.size()) {
        if (tokens[at].kind == token::identifier || tokens.is(at, "::"))
            at = tokens.next(at);
        else if (tokens.is(at, "<") && tokens.closing_angle(at) < tokens.size())
            at = tokens.next(tokens.closing_angle(at));
        else
            break;
    }
    return at;
}

// The opening brace of the class or enumeration that begins at `at` with `struct`, `class`, `union` or `enum`; size()
// if nothing is defined there.
std::size_t class_body(const token_list& tokens, std::size_t at) {
    std::size_t end = at;
    while (tokens.is(at, "struct") || tokens.is(at, "class") || tokens.is(at, "union") || tokens.is(at, "enum"))
        at = tokens.next(at);
    if (at == end) return tokens.size();
    for (end = skip_attribute(tokens, at); end != at; end = skip_attribute(tokens, at)) at = end;
    // A class has one name, with namespaces and template arguments. `struct one x{}` has two: it defines a variable.
    for (bool named = false; at < tokens.size(); at = tokens.next(at)) {
        if (tokens.is(at, "final")) continue;
        if (tokens.is(at, "::")) {
            named = false;
        } else if (tokens[at].kind == token::identifier) {
            if (named) return tokens.size();
            named = true;
        } else if (tokens.is(at, "<")) {
            at = tokens.closing_angle(at);
        } else {
            break;
        }
    }
    if (tokens.is(at, ":"))  // base classes, or an enumeration's underlying type
        for (; at < tokens.size() && !tokens.is(at, "{") && !tokens.is(at, ";") && !tokens.is(at, "=");
             at = tokens.next(at))
            if (tokens.is(at, "(") || tokens.is(at, "[")) at = tokens.closing_bracket(at);
    return tokens.is(at, "{") ? at : tokens.size();
}

}  // namespace

declaration declared_at(const token_list& tokens, std::size_t at) {
    declaration found;
    for (; at < tokens.size(); at = tokens.next(at)) {
        const token& t = tokens[at];
        if (const std::size_t body = class_body(tokens, at); body < tokens.size()) {
            at = tokens.closing_bracket(body);
            found.name = 0;
        } else if (takes_arguments_before_name(t)) {
            const std::size_t bracket = tokens.next(at);
            if (tokens.is(bracket, "(")) at = tokens.closing_bracket(bracket);
        } else if (t.is("operator")) {  // its name may be a bracket, < or >
            found.name = at;
            at = tokens.next(at);
            if (tokens.is(at, "(")) at = tokens.next(at);
            while (!tokens.is(tokens.next(at), "(") && tokens.next(at) < tokens.size()) at = tokens.next(at);
        } else if (t.kind == token::identifier) {
            found.name = at;
        } else if (t.is("<")) {
            at = tokens.closing_angle(at);
        } else if (t.is("[") && tokens.is(tokens.next(at), "[")) {
            at = tokens.closing_bracket(at);
        } else if (t.is("(")) {
            const std::size_t inside = tokens.next(at);
            const std::size_t close = tokens.closing_bracket(at);
            found.is_function = true;
            found.after_name = at;
            if (!tokens.is(inside, "*")) return found;
            // A pointer to a function, or a function that returns one.
            for (at = inside; at < close && !tokens.is(at, "(") && !tokens.is(at, "["); at = tokens.next(at))
                if (tokens[at].kind == token::identifier) found.name = at;
            found.is_function = tokens.is(at, "(");
            found.after_name = found.is_function ? at : tokens.next(close);
            if (!found.is_function && (tokens.is(found.after_name, "(") || tokens.is(found.after_name, "[")))
                found.after_name = tokens.next(tokens.closing_bracket(found.after_name));
            return found;
        } else if (t.is("=") || t.is(";") || t.is("[") || t.is("{") || t.is(",") || t.is(":") || t.is(")")) {
            found.after_name = at;
            return found;
        }
    }
    found.after_name = tokens.size();
    return found;
}

std::vector<declarator> declarators(const token_list& tokens, const declaration& first) {
    std::vector<declarator> all;
    std::size_t name = first.name;
    for (std::size_t at = first.after_name; at < tokens.size(); at = tokens.next(at)) {
        if (tokens.is(at, "(") || tokens.is(at, "[") || tokens.is(at, "{")) at = tokens.closing_bracket(at);
        if (tokens.is(at, "<")) {
            const std::size_t end = tokens.closing_angle(at);
            if (end < tokens.size()) at = end;
        }
        const bool last = tokens.is(at, ";");
        if (!last && !tokens.is(at, ",")) continue;
        if (tokens[name].kind == token::identifier) all.push_back({name, at});
        if (last) break;
        name = declared_at(tokens, tokens.next(at)).name;
    }
    return all;
}

std::size_t body_after(const token_list& tokens, std::size_t at) {
    bool initialises = false;  // after a constructor's colon
    for (std::size_t last = tokens.size(); at < tokens.size(); last = at, at = tokens.next(at)) {
        if (tokens.is(at, ";")) return at;
        if (tokens.is(at, ":")) {
            initialises = true;
        } else if (initialises && (tokens.is(last, ":") || tokens.is(last, ","))) {
            // A member or a base class, and its value in brackets.
            if (const std::size_t after = skip_attribute(tokens, at); after != at) at = after;
            at = skip_name(tokens, at);
            if (tokens.is(at, "(") || tokens.is(at, "{")) at = tokens.closing_bracket(at);
        } else if (tokens.is(at, "requires")) {
            // The brace of a requires expression begins no body: requires requires (T t) { ... }.
            std::size_t open = tokens.next(at);
            const bool is_expression = tokens.is(last, "requires") || tokens.is(last, "&") || tokens.is(last, "|");
            if (is_expression && tokens.is(open, "(")) open = tokens.next(tokens.closing_bracket(open));
            if (is_expression && tokens.is(open, "{")) at = tokens.closing_bracket(open);
        } else if (tokens.is(at, "(") || tokens.is(at, "[")) {
            at = tokens.closing_bracket(at);
        } else if (tokens.is(at, "<")) {
            if (const std::size_t end = tokens.closing_angle(at); end < tokens.size()) at = end;
        } else if (tokens.is(at, "{")) {
            return at;
        }
    }
    return tokens.size();
}

bool is_in_lambda_declarator(const token_list& tokens, std::size_t at) {
    std::size_t last = tokens.previous(at);
    while (tokens.is(last, "__host__") || tokens.is(last, "__device__")) last = tokens.previous(last);
    if (tokens.is(last, ">")) {  // [] <class T>
        const std::size_t begin = tokens.opening_angle(last);
        last = begin < tokens.size() ? tokens.previous(begin) : begin;
    }
    return tokens.is(last, "]") && !tokens.is(tokens.next(tokens.opening_bracket(last)), "[");
}

std::size_t next_specifier(const token_list& tokens, std::size_t at) {
    const std::size_t body = at < tokens.size() ? class_body(tokens, at) : at;
    return tokens.next(body < tokens.size() ? tokens.closing_bracket(body) : at);
}

std::size_t specifier_before(const token_list& tokens, std::size_t at, std::string_view wanted) {
    for (at = tokens.previous(at); at < tokens.size(); at = tokens.previous(at)) {
        if (tokens.is(at, wanted)) return at;
        if (tokens.is(at, ")")) at = tokens.opening_bracket(at);
        if (at >= tokens.size() || tokens.is(at, ";") || tokens.is(at, "{") || tokens.is(at, "}") || tokens.is(at, ":"))
            break;
    }
    return tokens.size();
}

std::size_t specifier_after(const token_list& tokens, std::size_t at, std::size_t end, std::string_view wanted) {
    for (at = next_specifier(tokens, at); at < end; at = next_specifier(tokens, at))
        if (tokens.is(at, wanted)) return at;
    return tokens.size();
}

bool has_specifier(const token_list& tokens, std::size_t at, std::size_t end, std::string_view wanted) {
    return specifier_before(tokens, at, wanted) < tokens.size() ||
           specifier_after(tokens, at, end, wanted) < tokens.size();
}

bool is_in_function(const token_list& tokens, std::size_t at) {
    int depth = 0;
    while (at-- > 0) {
        if (tokens.is(at, "}")) ++depth;
        if (!tokens.is(at, "{") || --depth >= 0) continue;
        depth = 0;
        std::size_t left = tokens.previous(at);
        if (left < tokens.size() && tokens[left].kind == token::literal) continue;  // extern "C"
        while (left < tokens.size() &&
               (tokens.is(left, "::") || (tokens[left].kind == token::identifier && !tokens.is(left, "namespace"))))
            left = tokens.previous(left);
        if (!tokens.is(left, "namespace")) return true;
    }
    return false;
}

}  // namespace cornerturn::emulate
