// Splits preprocessed C++ into tokens. The tokens, joined, are the text again.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace cornerturn::emulate {

struct token {
    // Keywords are identifiers. `removed` is a token that was blanked out.
    enum kinds { identifier, number, literal, punctuator, space, line_marker, pragma, removed } kind;
    std::string text;
    bool in_system_header = false;  // g++ suppresses warnings there
    const std::string* file = nullptr;
    int line = 0;                                 // in `file`
    std::size_t column = 0;                       // counted from 0
    std::string inserted_before, inserted_after;  // inserted into the output

    bool is(std::string_view wanted) const { return text == wanted && (kind == identifier || kind == punctuator); }
};

// The tokens of the output of `g++ -E`. Each `<` and `>` is a token, so `<<<` and `>>>` are three tokens each: are()
// finds them.
class token_list {
public:
    explicit token_list(std::string_view preprocessed);

    std::size_t size() const { return tokens_.size(); }
    token& operator[](std::size_t at) { return tokens_[at]; }
    const token& operator[](std::size_t at) const { return tokens_[at]; }

    // The next or previous token, without white space, line markers, pragmas and removed tokens; size() if there is
    // none.
    std::size_t next(std::size_t at) const;
    std::size_t previous(std::size_t at) const;
    bool is(std::size_t at, std::string_view wanted) const { return at < size() && tokens_[at].is(wanted); }
    // Whether these punctuators, one character each, are at `at` with nothing between them.
    bool are(std::size_t at, std::string_view punctuators) const;

    // The bracket ) ] } that closes ( [ {, and the reverse; size() if there is none.
    std::size_t closing_bracket(std::size_t opening) const;
    std::size_t opening_bracket(std::size_t closing) const;
    // The `>` that closes the `<` of template arguments, and the reverse; size() if there is none. `<<`, `<=` and `>=`
    // among the arguments are operators, as in g++.
    std::size_t closing_angle(std::size_t opening) const;
    std::size_t opening_angle(std::size_t closing) const;

    // Removes the tokens in [begin, end) from the text, but keeps their line breaks.
    void blank(std::size_t begin, std::size_t end);

    // Changes the line marker at `at`: the lines after it are in a system header.
    void mark_as_system_header(std::size_t at);
    // A line marker to insert after the token at `at`. The text after it keeps its file, line and column.
    std::string line_marker_after(std::size_t at, bool in_system_header) const;

    std::string text() const;

private:
    std::vector<token> tokens_;
    std::vector<std::string> files_;
};

}  // namespace cornerturn::emulate
