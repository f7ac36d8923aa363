// A value in a JSON file that somebody stored, which knows where it stands: what is missing, of another type or out of
// range is an error that names the file and the field.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <optional>
#include <string>
#include <vector>

namespace cornerturn::report {

class field {
public:
    // Both must outlive it.
    field(const std::string& file, const nlohmann::ordered_json& value, std::string path = {});

    field operator[](const char* member) const;                  // which must be there
    std::optional<field> find(const char* member) const;         // where it is there
    std::vector<field> items() const;                            // of an array
    std::vector<std::pair<std::string, field>> members() const;  // of an object

    std::string text() const;
    std::string text_of(const char* member) const;  // empty where it is not there
    bool is(bool value) const;                      // whether it is this boolean
    bool is_text(const char* value) const;
    nlohmann::ordered_json scalar() const;  // a number, a string or a boolean
    double number(double least, double most) const;
    double positive() const { return number(kSmall, kLarge); }
    std::int64_t count() const;  // a whole number, 0 and more

    [[noreturn]] void fail(const std::string& why) const;

private:
    // Nothing that anybody measures lies outside: seconds, bytes a second, ratios.
    static constexpr double kSmall = 1e-15, kLarge = 1e18;

    const std::string* file_;
    const nlohmann::ordered_json* value_;
    std::string path_;
};

// Throws error that names the file where the text is no JSON.
nlohmann::ordered_json parse(const std::string& file, const std::string& text);

}  // namespace cornerturn::report
