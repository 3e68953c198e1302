// SPDX-License-Identifier: Apache-2.0
// Comma-separated numbers, with errors that say where.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace corymb::model {

/// One line: its number in the file, from 1, and its cells without surrounding blanks.
struct CsvRow {
    std::size_t line = 0;
    std::vector<std::string_view> cells;
};

/// All lines that are not empty; the cells point into `text`. No quotation marks: the files that we
/// read hold numbers. Throws Errc::invalid_model for more than 2^26 cells.
[[nodiscard]] std::vector<CsvRow> csv_rows(std::string_view text);

/// Throws Errc::invalid_model "line 3, column 5: what".
[[noreturn]] void csv_fail(const CsvRow& row, std::size_t cell, std::string_view what);

/// A whole number >= 0, such as the number of a CPU. `hint` ends the text of the error.
[[nodiscard]] int csv_index(const CsvRow& row, std::size_t cell, std::string_view hint = {});

/// A finite number >= 0 that a float can hold; an empty cell is missing, NaN.
[[nodiscard]] double csv_cost(const CsvRow& row, std::size_t cell);

} // namespace corymb::model
