// Where declarations of C++ begin and end among tokens: no more of the language than CUDA's words need.
#pragma once

#include <string_view>
#include <vector>

#include "emulate/tokens.hpp"

namespace cornerturn::emulate {

// What a declaration whose specifiers begin or go on at `at` declares.
struct declaration {
    bool is_function = false;
    std::size_t name = 0;    // its last word
    std::size_t behind = 0;  // the token behind the name: a bracket, = or ;
};
declaration declared_at(const token_list& tokens, std::size_t at);

// All that the declaration declares: their names, and the comma or semicolon behind each.
struct declarator {
    std::size_t name, end;
};
std::vector<declarator> declarators(const token_list& tokens, const declaration& first);

// Where the body of a function begins whose parameters end before `at`: a brace, or the semicolon of one that has none
// here. Initialisers of a constructor, which may have braces, too, lie before it.
std::size_t body_behind(const token_list& tokens, std::size_t at);

// Whether what stands at `at` belongs to a lambda, between [captures] and the parameters.
bool is_in_lambda_declarator(const token_list& tokens, std::size_t at);

// The next of a declaration's specifiers. The members of a class that is defined among them are none.
std::size_t next_specifier(const token_list& tokens, std::size_t at);
// A word among the specifiers before `at`, back to where the declaration begins, or behind it and before `end`; size()
// where it is not there.
std::size_t specifier_before(const token_list& tokens, std::size_t at, std::string_view wanted);
std::size_t specifier_behind(const token_list& tokens, std::size_t at, std::size_t end, std::string_view wanted);
bool has_specifier(const token_list& tokens, std::size_t at, std::size_t end, std::string_view wanted);

// Whether `at` is in a function or a class, not in namespaces alone.
bool is_in_function(const token_list& tokens, std::size_t at);

}  // namespace cornerturn::emulate
