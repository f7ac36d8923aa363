#include "emulate/declarations.hpp"

#include <set>

namespace cornerturn::emulate {
namespace {

// A word that may stand, with its arguments, before the name of what is declared.
bool takes_arguments_before_name(const token& t) {
    static const std::set<std::string_view> all{"__attribute__",    "alignas",  "__align__",     "__launch_bounds__",
                                                "decltype",         "noexcept", "__maxnreg__",   "__typeof__",
                                                "__cluster_dims__", "explicit", "__block_size__"};
    return t.what == token::word && all.count(t.text) != 0;
}

// Behind a word's arguments, or behind [[attributes]]; `at` where it has none.
std::size_t behind_attribute(const token_list& tokens, std::size_t at) {
    if (tokens.is(at, "[") && tokens.is(tokens.next(at), "[")) return tokens.next(tokens.partner(at));
    if (at == tokens.size() || !takes_arguments_before_name(tokens[at])) return at;
    const std::size_t bracket = tokens.next(at);
    return tokens.is(bracket, "(") ? tokens.next(tokens.partner(bracket)) : bracket;
}

// Behind a::b<c>::d; `at` where no name begins.
std::size_t behind_name(const token_list& tokens, std::size_t at) {
    while (at < tokens.size()) {
        if (tokens[at].what == token::word || tokens.is(at, "::"))
            at = tokens.next(at);
        else if (tokens.is(at, "<") && tokens.end_of_arguments(at) < tokens.size())
            at = tokens.next(tokens.end_of_arguments(at));
        else
            break;
    }
    return at;
}

// The opening brace of the class or the enumeration that `struct`, `class`, `union` or `enum` at `at` defines; size()
// where it names one only.
std::size_t class_body(const token_list& tokens, std::size_t at) {
    std::size_t end = at;
    while (tokens.is(at, "struct") || tokens.is(at, "class") || tokens.is(at, "union") || tokens.is(at, "enum"))
        at = tokens.next(at);
    if (at == end) return tokens.size();
    for (end = behind_attribute(tokens, at); end != at; end = behind_attribute(tokens, at)) at = end;
    // One word, which may have its namespaces ahead and its arguments behind; in `struct one x{}` there are two.
    for (bool named = false; at < tokens.size(); at = tokens.next(at)) {
        if (tokens.is(at, "final")) continue;
        if (tokens.is(at, "::")) {
            named = false;
        } else if (tokens[at].what == token::word) {
            if (named) return tokens.size();
            named = true;
        } else if (tokens.is(at, "<")) {
            at = tokens.end_of_arguments(at);
        } else {
            break;
        }
    }
    if (tokens.is(at, ":"))  // bases, or the type of an enumeration's values
        for (; at < tokens.size() && !tokens.is(at, "{") && !tokens.is(at, ";") && !tokens.is(at, "=");
             at = tokens.next(at))
            if (tokens.is(at, "(") || tokens.is(at, "[")) at = tokens.partner(at);
    return tokens.is(at, "{") ? at : tokens.size();
}

}  // namespace

declaration declared_at(const token_list& tokens, std::size_t at) {
    declaration found;
    for (; at < tokens.size(); at = tokens.next(at)) {
        const token& t = tokens[at];
        if (const std::size_t body = class_body(tokens, at); body < tokens.size()) {
            at = tokens.partner(body);
            found.name = 0;
        } else if (takes_arguments_before_name(t)) {
            const std::size_t bracket = tokens.next(at);
            if (tokens.is(bracket, "(")) at = tokens.partner(bracket);
        } else if (t.is("operator")) {  // whose name may be a bracket or an angle
            found.name = at;
            at = tokens.next(at);
            if (tokens.is(at, "(")) at = tokens.next(at);
            while (!tokens.is(tokens.next(at), "(") && tokens.next(at) < tokens.size()) at = tokens.next(at);
        } else if (t.what == token::word) {
            found.name = at;
        } else if (t.is("<")) {
            at = tokens.end_of_arguments(at);
        } else if (t.is("[") && tokens.is(tokens.next(at), "[")) {
            at = tokens.partner(at);
        } else if (t.is("(")) {
            const std::size_t inside = tokens.next(at);
            const std::size_t close = tokens.partner(at);
            found.is_function = true;
            found.behind = at;
            if (!tokens.is(inside, "*")) return found;
            // A pointer to a function, or a function that returns one.
            for (at = inside; at < close && !tokens.is(at, "(") && !tokens.is(at, "["); at = tokens.next(at))
                if (tokens[at].what == token::word) found.name = at;
            found.is_function = tokens.is(at, "(");
            found.behind = found.is_function ? at : tokens.next(close);
            if (!found.is_function && (tokens.is(found.behind, "(") || tokens.is(found.behind, "[")))
                found.behind = tokens.next(tokens.partner(found.behind));
            return found;
        } else if (t.is("=") || t.is(";") || t.is("[") || t.is("{") || t.is(",") || t.is(":") || t.is(")")) {
            found.behind = at;
            return found;
        }
    }
    found.behind = tokens.size();
    return found;
}

std::vector<declarator> declarators(const token_list& tokens, const declaration& first) {
    std::vector<declarator> all;
    std::size_t name = first.name;
    for (std::size_t at = first.behind; at < tokens.size(); at = tokens.next(at)) {
        if (tokens.is(at, "(") || tokens.is(at, "[") || tokens.is(at, "{")) at = tokens.partner(at);
        if (tokens.is(at, "<")) {
            const std::size_t end = tokens.end_of_arguments(at);
            if (end < tokens.size()) at = end;
        }
        const bool last = tokens.is(at, ";");
        if (!last && !tokens.is(at, ",")) continue;
        if (tokens[name].what == token::word) all.push_back({name, at});
        if (last) break;
        name = declared_at(tokens, tokens.next(at)).name;
    }
    return all;
}

std::size_t body_behind(const token_list& tokens, std::size_t at) {
    bool initialises = false;  // behind the colon of a constructor
    for (std::size_t last = tokens.size(); at < tokens.size(); last = at, at = tokens.next(at)) {
        if (tokens.is(at, ";")) return at;
        if (tokens.is(at, ":")) {
            initialises = true;
        } else if (initialises && (tokens.is(last, ":") || tokens.is(last, ","))) {
            // A member or a base, and its value in brackets.
            if (const std::size_t behind = behind_attribute(tokens, at); behind != at) at = behind;
            at = behind_name(tokens, at);
            if (tokens.is(at, "(") || tokens.is(at, "{")) at = tokens.partner(at);
        } else if (tokens.is(at, "requires")) {
            // An expression's brace is no body: requires requires (T t) { ... }.
            std::size_t open = tokens.next(at);
            const bool is_expression = tokens.is(last, "requires") || tokens.is(last, "&") || tokens.is(last, "|");
            if (is_expression && tokens.is(open, "(")) open = tokens.next(tokens.partner(open));
            if (is_expression && tokens.is(open, "{")) at = tokens.partner(open);
        } else if (tokens.is(at, "(") || tokens.is(at, "[")) {
            at = tokens.partner(at);
        } else if (tokens.is(at, "<")) {
            if (const std::size_t end = tokens.end_of_arguments(at); end < tokens.size()) at = end;
        } else if (tokens.is(at, "{")) {
            return at;
        }
    }
    return tokens.size();
}

bool is_in_lambda_declarator(const token_list& tokens, std::size_t at) {
    std::size_t last = tokens.before(at);
    while (tokens.is(last, "__host__") || tokens.is(last, "__device__")) last = tokens.before(last);
    if (tokens.is(last, ">")) {  // [] <class T>
        const std::size_t begin = tokens.beginning_of_arguments(last);
        last = begin < tokens.size() ? tokens.before(begin) : begin;
    }
    return tokens.is(last, "]") && !tokens.is(tokens.next(tokens.partner_before(last)), "[");
}

std::size_t next_specifier(const token_list& tokens, std::size_t at) {
    const std::size_t body = at < tokens.size() ? class_body(tokens, at) : at;
    return tokens.next(body < tokens.size() ? tokens.partner(body) : at);
}

std::size_t specifier_before(const token_list& tokens, std::size_t at, std::string_view wanted) {
    for (at = tokens.before(at); at < tokens.size(); at = tokens.before(at)) {
        if (tokens.is(at, wanted)) return at;
        if (tokens.is(at, ")")) at = tokens.partner_before(at);
        if (at >= tokens.size() || tokens.is(at, ";") || tokens.is(at, "{") || tokens.is(at, "}") || tokens.is(at, ":"))
            break;
    }
    return tokens.size();
}

std::size_t specifier_behind(const token_list& tokens, std::size_t at, std::size_t end, std::string_view wanted) {
    for (at = next_specifier(tokens, at); at < end; at = next_specifier(tokens, at))
        if (tokens.is(at, wanted)) return at;
    return tokens.size();
}

bool has_specifier(const token_list& tokens, std::size_t at, std::size_t end, std::string_view wanted) {
    return specifier_before(tokens, at, wanted) < tokens.size() ||
           specifier_behind(tokens, at, end, wanted) < tokens.size();
}

bool is_in_function(const token_list& tokens, std::size_t at) {
    int depth = 0;
    while (at-- > 0) {
        if (tokens.is(at, "}")) ++depth;
        if (!tokens.is(at, "{") || --depth >= 0) continue;
        depth = 0;
        std::size_t left = tokens.before(at);
        if (left < tokens.size() && tokens[left].what == token::literal) continue;  // extern "C"
        while (left < tokens.size() &&
               (tokens.is(left, "::") || (tokens[left].what == token::word && !tokens.is(left, "namespace"))))
            left = tokens.before(left);
        if (!tokens.is(left, "namespace")) return true;
    }
    return false;
}

}  // namespace cornerturn::emulate
