// Finds where C++ declarations begin and end. It knows only as much C++ as CUDA's keywords need.
#pragma once

#include <string_view>
#include <vector>

#include "emulate/tokens.hpp"

namespace cornerturn::emulate {

// The declaration whose specifiers begin, or continue, at `at`.
struct declaration {
    bool is_function = false;
    std::size_t name = 0;        // the position of its last identifier
    std::size_t after_name = 0;  // the position of the token after the name: a bracket, = or ;
};
declaration declared_at(const token_list& tokens, std::size_t at);

// Each name in a declaration, and the comma or semicolon that ends it, by position.
struct declarator {
    std::size_t name, end;
};
std::vector<declarator> declarators(const token_list& tokens, const declaration& first);

// The opening brace of a function's body, or the semicolon of a function without a body. The parameters end before
// `at`. Skips a constructor's initialisers, which may have braces, too.
std::size_t body_after(const token_list& tokens, std::size_t at);

// Whether the token at `at` is in a lambda, between [captures] and the parameters.
bool is_in_lambda_declarator(const token_list& tokens, std::size_t at);

// A declaration's next specifier. Skips the members of a class that is defined among the specifiers.
std::size_t next_specifier(const token_list& tokens, std::size_t at);
// The position of the specifier `wanted`: before `at` in the same declaration, or in (at, end); size() if there is
// none.
std::size_t specifier_before(const token_list& tokens, std::size_t at, std::string_view wanted);
std::size_t specifier_after(const token_list& tokens, std::size_t at, std::size_t end, std::string_view wanted);
bool has_specifier(const token_list& tokens, std::size_t at, std::size_t end, std::string_view wanted);

// Whether `at` is in a function or a class, and not only in namespaces.
bool is_in_function(const token_list& tokens, std::size_t at);

}  // namespace cornerturn::emulate
