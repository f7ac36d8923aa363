// Preprocessed C++ in tokens that, put together, are the text again.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace cornerturn::emulate {

struct token {
    enum kind { word, number, literal, sign, space, line_marker, pragma, nothing } what;
    std::string text;
    bool of_system = false;  // in a header that the compiler was given as a system's
    const std::string* file = nullptr;
    int line = 0;               // of `file`
    std::size_t column = 0;     // the first is 0
    std::string ahead, behind;  // what is put around it

    bool is(std::string_view wanted) const { return text == wanted && (what == word || what == sign); }
};

// The tokens of what `g++ -E` printed. `<<<` and `>>>` are three signs each, as all others of `<` and `>` are one: what
// follows at once is told by follows_at_once().
class token_list {
public:
    explicit token_list(std::string_view preprocessed);

    std::size_t size() const { return tokens_.size(); }
    token& operator[](std::size_t at) { return tokens_[at]; }
    const token& operator[](std::size_t at) const { return tokens_[at]; }

    // The next or the last token that is neither space nor a line of the preprocessor's; size() where there is none.
    std::size_t next(std::size_t at) const;
    std::size_t before(std::size_t at) const;
    bool is(std::size_t at, std::string_view wanted) const { return at < size() && tokens_[at].is(wanted); }
    // Whether these signs stand at `at`, with nothing between them.
    bool are(std::size_t at, std::string_view signs) const;

    // From a bracket ( [ { to its partner, or back; size() where it has none.
    std::size_t partner(std::size_t opening) const;
    std::size_t partner_before(std::size_t closing) const;
    // From the `<` of template arguments to their `>`, or back; size() where they do not end so. `<<`, `<=` and `>=`
    // among them are operators, as they are to g++.
    std::size_t end_of_arguments(std::size_t opening) const;
    std::size_t beginning_of_arguments(std::size_t closing) const;

    // Takes the tokens from `begin` to `end`, the latter not included, out of the text, which keeps its lines.
    void blank(std::size_t begin, std::size_t end);

    // Makes the line of the preprocessor's at `at` say that what follows is of a system's header.
    void mark_of_system(std::size_t at);
    // A line of the preprocessor's to put behind the token at `at`: what follows keeps its place, and is of a system's
    // header or not.
    std::string line_marker_behind(std::size_t at, bool of_system) const;

    std::string text() const;

private:
    std::vector<token> tokens_;
    std::vector<std::string> files_;
};

}  // namespace cornerturn::emulate
