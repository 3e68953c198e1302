// SPDX-License-Identifier: Apache-2.0
#include "machine/model/csv.hpp"

#include <corymb/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <string>
#include <system_error>

namespace corymb::model {

namespace {

std::string_view trimmed(std::string_view text) {
    constexpr std::string_view blank = " \t\r";
    const auto begin = text.find_first_not_of(blank);
    return begin == text.npos ? std::string_view()
                              : text.substr(begin, text.find_last_not_of(blank) + 1 - begin);
}

/// As it may stand in an error text: short and printable.
std::string shown(std::string_view cell) {
    constexpr std::size_t longest = 40;
    std::string text(cell.substr(0, longest));
    std::replace_if(text.begin(), text.end(), [](char c) { return c < ' ' || c > '~'; }, '?');
    return "\"" + text + (cell.size() > longest ? "...\"" : "\"");
}

template <class Number>
bool parse(std::string_view text, Number& out) {
    const auto result = std::from_chars(text.data(), text.data() + text.size(), out);
    return result.ec == std::errc() && result.ptr == text.data() + text.size();
}

} // namespace

std::vector<CsvRow> csv_rows(std::string_view text) {
    constexpr std::size_t cells_max = std::size_t{1} << 26;
    std::vector<CsvRow> rows;
    std::size_t line = 0;
    std::size_t cells = 0;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        std::string_view rest = trimmed(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
        ++line;
        if (rest.empty()) {
            continue;
        }
        CsvRow row{line, {}};
        for (;;) {
            const std::size_t comma = std::min(rest.find(','), rest.size());
            row.cells.push_back(trimmed(rest.substr(0, comma)));
            if (++cells > cells_max) {
                csv_fail(row, row.cells.size() - 1, "the file is too large");
            }
            if (comma == rest.size()) {
                break;
            }
            rest.remove_prefix(comma + 1);
        }
        rows.push_back(std::move(row));
    }
    return rows;
}

void csv_fail(const CsvRow& row, std::size_t cell, std::string_view what) {
    throw Error(Errc::invalid_model,
                fmt::format("line {}, column {}: {}", row.line, cell + 1, what));
}

int csv_index(const CsvRow& row, std::size_t cell, std::string_view hint) {
    int number = 0;
    if (!parse(row.cells[cell], number) || number < 0) {
        csv_fail(row, cell,
                 fmt::format("must be the number of a CPU, is {}{}", shown(row.cells[cell]), hint));
    }
    return number;
}

double csv_cost(const CsvRow& row, std::size_t cell) {
    if (row.cells[cell].empty()) {
        return std::numeric_limits<double>::quiet_NaN();
    }
    constexpr double most = static_cast<double>(std::numeric_limits<float>::max());
    double number = 0;
    if (!parse(row.cells[cell], number) || !(number >= 0 && number <= most)) {
        csv_fail(row, cell, "must be a number >= 0, is " + shown(row.cells[cell]));
    }
    return number;
}

} // namespace corymb::model
