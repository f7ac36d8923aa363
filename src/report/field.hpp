// A value in a stored JSON file. If a member is missing, has the wrong type or is out of range, the error names the
// file and the field.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <optional>
#include <string>
#include <vector>

namespace cornerturn::report {

class field {
public:
    // The file's name and the value must outlive the field.
    field(const std::string& file, const nlohmann::ordered_json& value, std::string path = {});

    field operator[](const char* member) const;                  // Fails if it is missing.
    std::optional<field> find(const char* member) const;         // Nothing if it is missing.
    std::vector<field> items() const;                            // of an array
    std::vector<std::pair<std::string, field>> members() const;  // of an object

    std::string text() const;
    std::string text_of(const char* member) const;  // Empty if the member is missing.
    bool is(bool value) const;                      // whether it is this boolean
    bool is_text(const char* value) const;
    nlohmann::ordered_json scalar() const;  // a number, a string or a boolean
    double number(double least, double most) const;
    double positive() const { return number(kSmall, kLarge); }
    std::int64_t count() const;  // a whole number, 0 or more

    [[noreturn]] void fail(const std::string& why) const;

private:
    // Every measured value is within this range: seconds, bytes per second, ratios.
    static constexpr double kSmall = 1e-15, kLarge = 1e18;

    const std::string* file_;
    const nlohmann::ordered_json* value_;
    std::string path_;
};

// Throws an error that names the file if the text is not JSON.
nlohmann::ordered_json parse(const std::string& file, const std::string& text);

}  // namespace cornerturn::report
