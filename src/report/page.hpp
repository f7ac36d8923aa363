// A page of text, tables and drawings, as HTML that opens from disk or as Markdown.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "lab/table.hpp"
#include "report/svg.hpp"

namespace cornerturn::report {

enum class tone { plain, code, good, bad };

struct text {
    std::string content;
    tone as = tone::plain;
    text(std::string content, tone as = tone::plain) : content(std::move(content)), as(as) {}
    text(const char* content) : content(content) {}
};

struct paragraph {
    text content;
};
struct heading {
    std::string content;
};
struct definition_list {
    std::vector<std::pair<std::string, text>> rows;
};
struct text_table {
    std::vector<lab::table::column> columns;
    std::vector<std::vector<text>> rows;
};
struct figure {
    std::string name;  // of its file, without suffix; unique in a page
    std::string caption;
    drawing art;
};
using page_element = std::variant<paragraph, heading, definition_list, text_table, figure>;

struct section {
    std::string title;
    std::vector<page_element> content;
};
struct page {
    std::string title;
    std::vector<std::string> findings = {};  // the sentences at its top
    std::vector<section> sections = {};

    std::vector<const figure*> figures() const;
};

// One file that needs no other.
std::string html(const page& p);
// link(name of a figure): the address of its file, or empty to leave the figure out.
std::string markdown(const page& p, const std::function<std::string(const std::string&)>& link);

}  // namespace cornerturn::report
