#include "emulate/tokens.hpp"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <memory>
#include <set>

namespace cornerturn::emulate {
namespace {

bool begins_identifier(char c) {
    return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$' || c < 0;
}
bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

// The end of the string or character literal that opens at `quote`.
std::size_t end_of_literal(std::string_view text, std::size_t quote, bool raw) {
    if (raw) {
        const std::size_t bracket = text.find('(', quote);
        if (bracket == text.npos) return text.size();
        const std::string end = ")" + std::string(text.substr(quote + 1, bracket - quote - 1)) + "\"";
        const std::size_t found = text.find(end, bracket);
        return found == text.npos ? text.size() : found + end.size();
    }
    std::size_t at = quote + 1;
    while (at < text.size() && text[at] != text[quote] && text[at] != '\n')
        at += text[at] == '\\' && text.substr(at + 1, 1) != "\n" ? 2 : 1;
    if (at < text.size() && text[at] == '\n') return at;  // unterminated
    return std::min(at + 1, text.size());
}

std::size_t end_of_number(std::string_view text, std::size_t at) {
    while (at < text.size()) {
        const char c = text[at];
        const bool sign =
            (c == '+' || c == '-') && std::string_view("eEpP").find(text[at - 1]) != std::string_view::npos;
        if (!begins_identifier(c) && !is_digit(c) && c != '.' && c != '\'' && !sign) break;
        ++at;
    }
    return at;
}

bool is_literal_prefix(std::string_view text) {
    static const std::set<std::string_view> all{"L", "u", "U", "u8", "R", "LR", "uR", "UR", "u8R"};
    return all.count(text) != 0;
}

}  // namespace

token_list::token_list(std::string_view text) {
    std::set<std::string> file_names;
    const std::string* file = nullptr;
    int line = 1;
    std::size_t line_begin = 0;
    bool in_system_header = false;
    const auto add = [&](token::kinds kind, std::size_t begin, std::size_t end) {
        tokens_.push_back({kind,
                           std::string(text.substr(begin, end - begin)),
                           in_system_header,
                           file,
                           line,
                           begin - line_begin,
                           {},
                           {}});
    };
    bool fresh_line = true;
    for (std::size_t at = 0, end = 0; at < text.size(); at = end) {
        const char c = text[at];
        if (c == '\n') {
            add(token::space, at, end = at + 1);
            line_begin = end;
            ++line;
            fresh_line = true;
        } else if (std::isspace(static_cast<unsigned char>(c)) != 0) {
            end = at + 1;
            while (end < text.size() && text[end] != '\n' && std::isspace(static_cast<unsigned char>(text[end])) != 0)
                ++end;
            add(token::space, at, end);
        } else if (c == '#' && fresh_line) {
            end = std::min(text.find('\n', at), text.size());
            const std::string marker(text.substr(at, end - at));
            char* rest = nullptr;
            const long number = std::strtol(marker.c_str() + 1, &rest, 10);
            const std::size_t quote = marker.find('"'), last = marker.rfind('"');
            if (rest == marker.c_str() + 1 || quote == marker.npos || quote == last) {
                add(token::pragma, at, end);
                continue;
            }
            add(token::line_marker, at, end);
            file = &*file_names.insert(marker.substr(quote + 1, last - quote - 1)).first;
            line = static_cast<int>(std::clamp(number, 0l, 1l << 30)) - 1;  // the number of the marker's own line
            in_system_header = marker.find(" 3", last) != marker.npos;
        } else if (begins_identifier(c)) {
            end = at + 1;
            while (end < text.size() && (begins_identifier(text[end]) || is_digit(text[end]))) ++end;
            const std::string_view name = text.substr(at, end - at);
            if (end < text.size() && (text[end] == '"' || text[end] == '\'') && is_literal_prefix(name)) {
                end = end_of_literal(text, end, name.back() == 'R' && text[end] == '"');
                add(token::literal, at, end);
            } else {
                add(token::identifier, at, end);
            }
        } else if (is_digit(c) || (c == '.' && at + 1 < text.size() && is_digit(text[at + 1]))) {
            end = end_of_number(text, at + 1);
            add(token::number, at, end);
        } else if (c == '"' || c == '\'') {
            end = end_of_literal(text, at, false);
            add(token::literal, at, end);
        } else {
            end = at + 1;
            const std::string_view two = text.substr(at, 2);
            if (two == "::" || two == "->") end = at + 2;
            add(token::punctuator, at, end);
        }
        if (c != '\n' && tokens_.back().kind != token::space) fresh_line = false;
        if (tokens_.back().kind == token::literal)
            line += static_cast<int>(std::count(tokens_.back().text.begin(), tokens_.back().text.end(), '\n'));
    }
    // The file names move to files_, so each token needs its name's new address.
    files_.assign(file_names.begin(), file_names.end());
    for (token& t : tokens_) {
        if (t.file != nullptr) t.file = &*std::lower_bound(files_.begin(), files_.end(), *t.file);
    }
}

std::size_t token_list::next(std::size_t at) const {
    do ++at;
    while (at < size() && tokens_[at].kind > token::punctuator);
    return std::min(at, size());
}

std::size_t token_list::previous(std::size_t at) const {
    while (at > 0) {
        if (tokens_[--at].kind <= token::punctuator) return at;
    }
    return size();
}

bool token_list::are(std::size_t at, std::string_view punctuators) const {
    for (const char c : punctuators) {
        if (at >= size() || tokens_[at].kind != token::punctuator || tokens_[at].text[0] != c ||
            tokens_[at].text.size() != 1)
            return false;
        ++at;
    }
    return true;
}

std::size_t token_list::closing_bracket(std::size_t opening) const {
    int depth = 0;
    for (std::size_t at = opening; at < size(); ++at) {
        const token& t = tokens_[at];
        if (t.kind != token::punctuator) continue;
        const char c = t.text[0];
        if (c == '(' || c == '[' || c == '{') ++depth;
        if ((c == ')' || c == ']' || c == '}') && --depth == 0) return at;
    }
    return size();
}

std::size_t token_list::opening_bracket(std::size_t closing) const {
    int depth = 0;
    for (std::size_t at = closing + 1; at-- > 0;) {
        const token& t = tokens_[at];
        if (t.kind != token::punctuator) continue;
        const char c = t.text[0];
        if (c == ')' || c == ']' || c == '}') ++depth;
        if ((c == '(' || c == '[' || c == '{') && --depth == 0) return at;
    }
    return size();
}

std::size_t token_list::closing_angle(std::size_t opening) const {
    int depth = 0;
    for (std::size_t at = opening; at < size(); ++at) {
        const token& t = tokens_[at];
        if (t.kind != token::punctuator) continue;
        if (t.is("(") || t.is("[") || t.is("{")) {
            at = closing_bracket(at);
        } else if (are(at, "<<") || are(at, "<=") || are(at, ">=")) {
            ++at;
        } else if (t.is("<")) {
            ++depth;
        } else if (t.is(">")) {
            if (--depth == 0) return at;
        } else if (t.is(";") || t.is("}") || t.is(")")) {
            break;
        }
    }
    return size();
}

std::size_t token_list::opening_angle(std::size_t closing) const {
    int depth = 0;
    for (std::size_t at = closing + 1; at-- > 0;) {
        const token& t = tokens_[at];
        if (t.kind != token::punctuator) continue;
        if (t.is(")") || t.is("]") || t.is("}")) {
            at = opening_bracket(at);
            if (at == size()) break;
        } else if (at > 0 && (are(at - 1, "<<") || are(at - 1, "<=") || are(at - 1, ">="))) {
            --at;
        } else if (t.is(">")) {
            ++depth;
        } else if (t.is("<")) {
            if (--depth == 0) return at;
        } else if (t.is(";") || t.is("{") || t.is("(")) {
            break;
        }
    }
    return size();
}

void token_list::blank(std::size_t begin, std::size_t end) {
    for (std::size_t at = begin; at < end && at < size(); ++at) {
        token& t = tokens_[at];
        if (t.kind == token::line_marker || t.kind == token::space) continue;
        const auto lines = static_cast<std::size_t>(std::count(t.text.begin(), t.text.end(), '\n'));
        t.text.assign(lines, '\n');
        t.kind = token::removed;
    }
}

void token_list::mark_as_system_header(std::size_t at) {
    token& t = tokens_[at];
    if (t.text.find(" 3", t.text.rfind('"')) == t.text.npos) t.text += " 3";
}

std::string token_list::line_marker_after(std::size_t at, bool in_system_header) const {
    const token& t = tokens_[at];
    return "\n# " + std::to_string(t.line) + " \"" + *t.file + (in_system_header ? "\" 3\n" : "\"\n") +
           std::string(t.column + t.text.size(), ' ');
}

std::string token_list::text() const {
    std::string all;
    for (const token& t : tokens_) {
        all += t.inserted_before;
        all += t.text;
        all += t.inserted_after;
    }
    return all;
}

}  // namespace cornerturn::emulate
