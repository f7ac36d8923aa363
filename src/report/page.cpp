#include "report/page.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace cornerturn::report {
namespace {

constexpr const char* kStyle = R"(
*{box-sizing:border-box}
html{background:var(--paper);color:var(--ink);-webkit-text-size-adjust:100%}
body{font:16px/1.5 system-ui,sans-serif;margin:0 auto;max-width:76rem;padding:1rem 1rem 4rem}
h1{font-size:1.7rem;line-height:1.2;margin:1rem 0}
h2{font-size:1.3rem;line-height:1.3;margin:3rem 0 .5rem;padding-top:.6rem;border-top:2px solid var(--soft)}
h3{font-size:1.05rem;margin:1.8rem 0 .4rem}
h1,h2,h3,p,li,dd,figcaption{overflow-wrap:anywhere}
p,figcaption{max-width:46rem;margin:.5rem 0}
a{color:var(--s0)}
code,.code{font-family:ui-monospace,monospace;font-size:.92em}
.good{color:var(--good);font-weight:600}.bad{color:var(--bad);font-weight:600}
dl{display:grid;grid-template-columns:max-content minmax(0,1fr);gap:.15rem 1rem;margin:.8rem 0;font-size:.92rem}
dt{font-weight:600}dd{margin:0}
figure{margin:1.2rem 0}
figcaption{font-size:.92rem}
.lead{font-size:1.1rem;max-width:52rem}
.wide{container-type:inline-size;max-width:calc(1.6*var(--w))}
.hint{font-size:.85rem;margin:0;overflow:hidden;max-height:clamp(0px,(var(--w) - 100cqw)*999,6em)}
.box{overflow-x:auto;max-width:100%}
.box.long{max-height:34rem;overflow-y:auto}
.box:focus-visible{outline:2px solid var(--s0)}
svg{display:block;width:100%;height:auto;min-width:var(--w)}
table{border-collapse:collapse;font-size:.88rem;font-variant-numeric:tabular-nums}
th,td{padding:.25rem .7rem;text-align:left;white-space:nowrap;border-bottom:1px solid var(--faint)}
th{position:sticky;top:0;background:var(--paper);border-bottom:2px solid var(--soft);vertical-align:bottom}
td:first-child{padding-left:.2rem}th:first-child{padding-left:.2rem}
.right{text-align:right}
tbody tr:hover{background:var(--faint)}
@media(max-width:40rem){dl{grid-template-columns:minmax(0,1fr)}dd{margin-bottom:.4rem}}
@media print{.box,.box.long{overflow:visible;max-height:none}.hint{display:none}svg{min-width:0}}
)";

// A table with more rows scrolls in its own box.
constexpr std::size_t kLong = 45;

// Overloads of lambdas, for std::visit.
template <class... Ts>
struct each : Ts... {
    using Ts::operator()...;
};

std::string html_of(const text& t) {
    switch (t.as) {
        case tone::code: return fmt::format("<code>{}</code>", escaped(t.content));
        case tone::good: return fmt::format("<span class=\"good\">{}</span>", escaped(t.content));
        case tone::bad: return fmt::format("<span class=\"bad\">{}</span>", escaped(t.content));
        default: return escaped(t.content);
    }
}

// A box that scrolls sideways if the page is narrower than its content. The hint above it is visible only then.
std::string scrolling(const char* kind, double width, const char* classes, const std::string& inside) {
    return fmt::format(
        "<div class=\"wide\" style=\"--w:{:.0f}px\"><p class=\"hint\">This {} is wider than the page: scroll it "
        "sideways to "
        "see all of it.</p>\n<div class=\"{}\" tabindex=\"0\">{}</div></div>\n",
        width, kind, classes, inside);
}

// An estimate of the width in a browser, because the font is unknown.
double width_of(const text_table& t) {
    constexpr double kCharacter = 7.2, kPadding = 22;
    double width = 0;
    for (std::size_t i = 0; i < t.columns.size(); ++i) {
        std::size_t most = t.columns[i].heading.size();
        for (const auto& row : t.rows) most = std::max(most, row[i].content.size());
        width += kCharacter * static_cast<double>(most) + kPadding;
    }
    return width;
}

std::string html_of(const text_table& t) {
    std::string out = "<table>\n<thead><tr>";
    const auto alignment_class = [&](std::size_t i) { return t.columns[i].right_aligned ? " class=\"right\"" : ""; };
    for (std::size_t i = 0; i < t.columns.size(); ++i)
        out += fmt::format("<th scope=\"col\"{}>{}</th>", alignment_class(i), escaped(t.columns[i].heading));
    out += "</tr></thead>\n<tbody>\n";
    for (const auto& row : t.rows) {
        out += "<tr>";
        for (std::size_t i = 0; i < row.size(); ++i)
            out += fmt::format("<td{}>{}</td>", alignment_class(i), html_of(row[i]));
        out += "</tr>\n";
    }
    const bool is_long = t.rows.size() > kLong;
    return (is_long ? fmt::format("<p>The table has {} rows and scrolls in its own box.</p>\n", t.rows.size()) : "") +
           scrolling("table", width_of(t), is_long ? "box long" : "box", out + "</tbody>\n</table>");
}

std::string html_of(const page_element& e) {
    return std::visit(each{[](const paragraph& p) { return fmt::format("<p>{}</p>\n", html_of(p.content)); },
                           [](const heading& h) { return fmt::format("<h3>{}</h3>\n", escaped(h.content)); },
                           [](const definition_list& list) {
                               std::string out = "<dl>\n";
                               for (const auto& [name, value] : list.rows)
                                   out += fmt::format("<dt>{}</dt><dd>{}</dd>\n", escaped(name), html_of(value));
                               return out + "</dl>\n";
                           },
                           [](const text_table& t) { return html_of(t); },
                           [](const figure& f) {
                               return fmt::format("<figure>\n{}<figcaption>{}</figcaption>\n</figure>\n",
                                                  scrolling("plot", f.art.width(), "box", f.art.in_page()),
                                                  escaped(f.caption));
                           }},
                      e);
}

// Escapes the text, so that no renderer takes it for markup.
std::string markdown_of(const std::string& text) {
    std::string out;
    for (char c : text) {
        switch (c) {
            case '<': out += "&lt;"; break;
            case '>': out += "&gt;"; break;
            case '&': out += "&amp;"; break;
            case '*':
            case '[':
            case ']':
            case '\\':
            case '`': out += fmt::format("&#{};", static_cast<int>(c)); break;
            default: out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
        }
    }
    return out;
}

std::string markdown_of(const text& t) {
    if (t.as == tone::plain || t.content.empty()) return markdown_of(t.content);
    if (t.as != tone::code) return fmt::format("**{}**", markdown_of(t.content));
    // Inside a code span nothing is markup, except for its end.
    const bool plain = std::none_of(t.content.begin(), t.content.end(), [](char c) {
        return c == '`' || c == '\\' || static_cast<unsigned char>(c) < 0x20;
    });
    return plain ? fmt::format("`{}`", t.content) : markdown_of(t.content);
}

std::string markdown_of(const text_table& t) {
    lab::table printed{t.columns, {}};
    for (auto& column : printed.columns) column.heading = markdown_of(column.heading);
    for (const auto& row : t.rows) {
        std::vector<std::string> cells;
        for (const text& cell : row) cells.push_back(markdown_of(cell));
        printed.rows.push_back(std::move(cells));
    }
    return printed.print(lab::format::markdown);
}

}  // namespace

std::vector<const figure*> page::figures() const {
    std::vector<const figure*> all;
    for (const section& s : sections) {
        for (const page_element& e : s.content) {
            if (const auto* const f = std::get_if<figure>(&e)) all.push_back(f);
        }
    }
    return all;
}

std::string html(const page& p) {
    std::string out = fmt::format(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
        "<title>{0}</title>\n<style>\n{1}{2}</style>\n</head>\n<body>\n<h1>{0}</h1>\n",
        escaped(p.title), style_sheet(), kStyle);
    if (!p.findings.empty())
        out += fmt::format("<p class=\"lead\">{}</p>\n", escaped(fmt::format("{}", fmt::join(p.findings, " "))));
    if (p.sections.size() > 1) {
        out += "<nav><ul>\n";
        for (std::size_t i = 0; i < p.sections.size(); ++i)
            out += fmt::format("<li><a href=\"#s{}\">{}</a></li>\n", i + 1, escaped(p.sections[i].title));
        out += "</ul></nav>\n";
    }
    for (std::size_t i = 0; i < p.sections.size(); ++i) {
        // The title of a single section is the page's title.
        out += fmt::format("<section id=\"s{}\">\n", i + 1);
        if (p.sections.size() > 1) out += fmt::format("<h2>{}</h2>\n", escaped(p.sections[i].title));
        for (const page_element& e : p.sections[i].content) out += html_of(e);
        out += "</section>\n";
    }
    return out + "</body>\n</html>\n";
}

std::string markdown(const page& p, const std::function<std::string(const std::string&)>& link) {
    std::string out = fmt::format("# {}\n", markdown_of(p.title));
    if (!p.findings.empty()) out += fmt::format("\n{}\n", markdown_of(fmt::format("{}", fmt::join(p.findings, " "))));
    for (const section& s : p.sections) {
        if (p.sections.size() > 1) out += fmt::format("\n## {}\n", markdown_of(s.title));
        for (const page_element& e : s.content) {
            const std::string printed = std::visit(
                each{[](const paragraph& it) { return markdown_of(it.content) + "\n"; },
                     [](const heading& it) { return fmt::format("### {}\n", markdown_of(it.content)); },
                     [](const definition_list& it) {
                         std::string list;
                         for (const auto& [name, value] : it.rows)
                             list += fmt::format("- {}: {}\n", markdown_of(name), markdown_of(value));
                         return list;
                     },
                     [](const text_table& it) { return markdown_of(it); },
                     [&](const figure& it) {
                         const std::string at = link(it.name);
                         if (at.empty()) return std::string();
                         return fmt::format("![{}]({})\n\n{}\n", markdown_of(it.name), at, markdown_of(it.caption));
                     }},
                e);
            if (!printed.empty()) out += "\n" + printed;
        }
    }
    return out;
}

}  // namespace cornerturn::report
