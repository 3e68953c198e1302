// SPDX-License-Identifier: Apache-2.0
#include "base/json.hpp"

#include "base/nearest_name.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace corymb {

namespace {

/// A value as it may stand in an error text: short, one line.
std::string shown(const nlohmann::json& value) {
    if (value.is_array()) {
        return "an array of " + std::to_string(value.size());
    }
    if (value.is_object()) {
        return "an object";
    }
    constexpr std::size_t longest = 60;
    std::string text = value.dump(-1, ' ', true);
    if (text.size() > longest) {
        text = text.substr(0, longest) + "...";
    }
    return text;
}

std::string shown(std::int64_t number) {
    return std::to_string(number);
}

std::string shown(double number) {
    std::string text = nlohmann::json(number).dump();
    if (text.ends_with(".0")) {
        text.resize(text.size() - 2);
    }
    return text;
}

template <class Number>
std::string range_text(Number least, Number most) {
    const bool from = least != std::numeric_limits<Number>::lowest();
    const bool to = most != std::numeric_limits<Number>::max();
    if (from && to) {
        return "must be from " + shown(least) + " to " + shown(most);
    }
    return from ? "must be >= " + shown(least) : "must be <= " + shown(most);
}

} // namespace

std::string JsonView::json() const {
    return value_->dump();
}

void JsonView::fail(const std::string& what) const {
    throw Error(code_, path_ + ": " + what);
}

void JsonView::expect(bool holds, const char* wanted) const {
    if (!holds) {
        fail(std::string("must be ") + wanted + ", is " + shown(*value_));
    }
}

void JsonView::expect_object() const {
    expect(value_->is_object(), "an object");
}

bool JsonView::is_null() const noexcept {
    return value_->is_null();
}

bool JsonView::is_object() const noexcept {
    return value_->is_object();
}

JsonView JsonView::member(const nlohmann::json& value, std::string_view key) const {
    std::string path = path_ == "document" ? std::string(key) : path_ + "." + std::string(key);
    return {value, std::move(path), code_};
}

JsonView JsonView::at(std::string_view key) const {
    expect_object();
    const auto found = value_->find(key);
    if (found == value_->end()) {
        member(*value_, key).fail("is missing");
    }
    return member(*found, key);
}

std::optional<JsonView> JsonView::find(std::string_view key) const {
    expect_object();
    const auto found = value_->find(key);
    if (found == value_->end() || found->is_null()) {
        return std::nullopt;
    }
    return member(*found, key);
}

void JsonView::allow_only(std::initializer_list<std::string_view> keys) const {
    expect_object();
    for (const auto& [key, value] : value_->items()) {
        if (std::find(keys.begin(), keys.end(), key) == keys.end()) {
            const std::string meant =
                nearest_name(key, std::vector<std::string>(keys.begin(), keys.end()));
            fail("has no field " + shown(key) + (meant.empty() ? "" : "; did you mean " + meant));
        }
    }
}

std::size_t JsonView::size() const {
    expect(value_->is_array(), "an array");
    return value_->size();
}

JsonView JsonView::operator[](std::size_t index) const {
    std::string path = path_ + "[" + std::to_string(index) + "]";
    return {(*value_)[index], std::move(path), code_};
}

bool JsonView::boolean() const {
    expect(value_->is_boolean(), "true or false");
    return value_->get<bool>();
}

std::string JsonView::text() const {
    expect(value_->is_string(), "a text");
    return value_->get<std::string>();
}

double JsonView::number(double least, double most) const {
    expect(value_->is_number(), "a number");
    const double number = value_->get<double>();
    if (!(number >= least && number <= most)) {
        fail(range_text(least, most) + ", is " + shown(*value_));
    }
    return number;
}

std::int64_t JsonView::integer(std::int64_t least, std::int64_t most) const {
    expect(value_->is_number_integer(), "a whole number");
    // An unsigned value above the signed range would wrap to a negative one.
    const bool wraps = value_->is_number_unsigned() &&
                       value_->get<std::uint64_t>() >
                           static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    const auto number = value_->get<std::int64_t>();
    if (wraps || number < least || number > most) {
        fail(range_text(least, most) + ", is " + shown(*value_));
    }
    return number;
}

std::vector<int> JsonView::integers(int least, int most) const {
    std::vector<int> out(size());
    for (std::size_t i = 0; i < out.size(); ++i) {
        out[i] = static_cast<int>((*this)[i].integer(least, most));
    }
    return out;
}

std::vector<std::string> JsonView::texts() const {
    std::vector<std::string> out(size());
    for (std::size_t i = 0; i < out.size(); ++i) {
        out[i] = (*this)[i].text();
    }
    return out;
}

void JsonView::append_row(std::vector<float>& out, std::size_t width, double least) const {
    if (size() != width) {
        fail("must have " + std::to_string(width) + " numbers, has " + std::to_string(size()));
    }
    constexpr double most = static_cast<double>(std::numeric_limits<float>::max());
    for (std::size_t i = 0; i < width; ++i) {
        const nlohmann::json& value = (*value_)[i];
        if (value.is_null()) {
            out.push_back(std::numeric_limits<float>::quiet_NaN());
            continue;
        }
        const double number = value.is_number() ? value.get<double>() : -1;
        if (!value.is_number() || !(number >= least && number <= most)) {
            static_cast<void>((*this)[i].number(least, most));
        }
        out.push_back(static_cast<float>(number));
    }
}

} // namespace corymb
