// SPDX-License-Identifier: Apache-2.0
// The writing half of base/json.hpp. nlohmann's own indented form puts every number of a matrix on
// a line of its own, which nobody can read.
#include "base/json.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace corymb {

namespace {

using nlohmann::ordered_json;

constexpr std::size_t line_length_max = 100;

bool holds_containers(const ordered_json& value) {
    return std::any_of(value.begin(), value.end(), [](const ordered_json& element) {
        return element.is_structured() && !element.empty();
    });
}

/// Recursion follows our own documents, which are a few levels deep.
void dump(const ordered_json& value, std::size_t indent, bool in_array, std::string& out) {
    if (!value.is_structured() || !holds_containers(value)) {
        const std::string line = value.dump();
        // A row or a record takes one line however long; a block of named fields need not.
        if (!value.is_object() || in_array || indent + line.size() <= line_length_max) {
            out += line;
            return;
        }
    }
    const std::string margin(indent + 2, ' ');
    out += value.is_array() ? "[" : "{";
    bool first = true;
    for (const auto& [key, element] : value.items()) {
        out += first ? "\n" : ",\n";
        first = false;
        out += margin;
        if (value.is_object()) {
            out += ordered_json(key).dump() + ": ";
        }
        dump(element, indent + 2, value.is_array(), out);
    }
    out += "\n" + std::string(indent, ' ') + (value.is_array() ? "]" : "}");
}

} // namespace

std::string dump_json(const ordered_json& value) {
    std::string out;
    dump(value, 0, false, out);
    out += '\n';
    return out;
}

} // namespace corymb
