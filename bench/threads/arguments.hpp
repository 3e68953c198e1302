// SPDX-License-Identifier: Apache-2.0
// Words of the benchmarks' command lines.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

namespace corymb::bench {

/// A command line that cannot be understood; the text says which word and what would do.
class UsageError : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// What stands between commas; empty words are left out.
inline std::vector<std::string> split(const std::string& text) {
    std::vector<std::string> parts;
    std::size_t begin = 0;
    while (begin <= text.size()) {
        const std::size_t end = std::min(text.find(',', begin), text.size());
        if (end > begin) {
            parts.push_back(text.substr(begin, end - begin));
        }
        begin = end + 1;
    }
    return parts;
}

/// Throws UsageError unless the whole word is a number from `low` to `high`.
template <class Number>
Number number(const std::string& word, Number low, Number high, const std::string& option) {
    Number value{};
    const auto [stop, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (error != std::errc{} || stop != word.data() + word.size() || !(value >= low) ||
        !(value <= high)) {
        throw UsageError(option + ": \"" + word + "\" is not a number from " + std::to_string(low) +
                         " to " + std::to_string(high));
    }
    return value;
}

/// Throws UsageError also when there is no number.
template <class Number>
std::vector<Number> numbers(const std::string& text, Number low, Number high,
                            const std::string& option) {
    std::vector<Number> all;
    for (const std::string& word : split(text)) {
        all.push_back(number(word, low, high, option));
    }
    if (all.empty()) {
        throw UsageError(option + " names no number");
    }
    return all;
}

} // namespace corymb::bench
