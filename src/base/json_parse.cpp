// SPDX-License-Identifier: Apache-2.0
// The reading half of base/json.hpp. The parser reports events; this builds the tree from them, so
// that limits hold before memory is spent and a stack, not recursion, follows the nesting.
#include "base/json.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace corymb {

namespace {

using nlohmann::json;

class Builder final : public nlohmann::json_sax<json> {
public:
    Builder(json& root, int depth_max) : root_(root), depth_max_(depth_max) {}

    [[nodiscard]] const std::string& error() const noexcept { return error_; }

    bool null() override { return add(nullptr); }
    bool boolean(bool value) override { return add(value); }
    bool number_integer(number_integer_t value) override { return add(value); }
    bool number_unsigned(number_unsigned_t value) override { return add(value); }
    bool number_float(number_float_t value, const string_t& /*text*/) override {
        return add(value);
    }
    bool string(string_t& value) override { return add(std::move(value)); }
    bool binary(binary_t& /*value*/) override { return fail("binary values do not exist here"); }
    bool start_object(std::size_t /*elements*/) override { return open(json::object()); }
    bool start_array(std::size_t /*elements*/) override { return open(json::array()); }
    bool end_object() override { return close(); }
    bool end_array() override { return close(); }

    bool key(string_t& name) override {
        if (stack_.back().container->contains(name)) {
            stack_.back().key = name;
            return fail("stands twice");
        }
        stack_.back().key = std::move(name);
        return true;
    }

    bool parse_error(std::size_t /*position*/, const std::string& /*token*/,
                     const json::exception& exception) override {
        // "[json.exception.parse_error.101] parse error at line 1, column 2: ..."
        std::string text = exception.what();
        if (const auto end = text.find("] "); end != std::string::npos) {
            text.erase(0, end + 2);
        }
        constexpr std::size_t longest = 240;
        if (text.size() > longest) {
            text = text.substr(0, longest) + "...";
        }
        // The text quotes its input, which need not be UTF-8; an error text has to be.
        for (char& letter : text) {
            if (letter < ' ' || letter > '~') {
                letter = '?';
            }
        }
        return fail(text);
    }

private:
    struct Level {
        json* container;
        std::string key; ///< Key of the member that is being read, when it is an object.
    };

    template <class Value>
    bool add(Value&& value) {
        place(std::forward<Value>(value));
        return true;
    }

    bool open(json&& empty) {
        if (static_cast<int>(stack_.size()) >= depth_max_) {
            return fail("nests deeper than " + std::to_string(depth_max_) + " levels");
        }
        json& placed = place(std::move(empty));
        stack_.push_back({&placed, {}});
        return true;
    }

    bool close() {
        stack_.pop_back();
        return true;
    }

    /// An open container does not move: only the innermost one grows.
    template <class Value>
    json& place(Value&& value) {
        if (stack_.empty()) {
            root_ = std::forward<Value>(value);
            return root_;
        }
        json& container = *stack_.back().container;
        if (container.is_array()) {
            return container.emplace_back(std::forward<Value>(value));
        }
        return container[stack_.back().key] = std::forward<Value>(value);
    }

    bool fail(const std::string& what) {
        constexpr std::size_t shown_levels = 8;
        std::string path;
        for (std::size_t i = 0; i < std::min(stack_.size(), shown_levels); ++i) {
            const Level& level = stack_[i];
            if (level.container->is_array()) {
                // In an outer array the last element is being read.
                const std::size_t index = level.container->size() - (i + 1 < stack_.size() ? 1 : 0);
                path += "[" + std::to_string(index) + "]";
            } else if (!level.key.empty()) {
                path += (path.empty() ? "" : ".") + shown_key(level.key);
            }
        }
        error_ = (path.empty() ? "document" : path) + ": " + what;
        return false;
    }

    static std::string shown_key(const std::string& key) {
        constexpr std::size_t longest = 60;
        const std::string text = json(key).dump(-1, ' ', true); // escaped, in quotation marks
        return text.substr(1, std::min(text.size() - 2, longest));
    }

    json& root_;
    int depth_max_;
    std::vector<Level> stack_;
    std::string error_;
};

} // namespace

JsonDocument::JsonDocument(std::string_view text, Errc code, const JsonLimits& limits)
    : value_(std::make_unique<json>()), code_(code) {
    if (text.size() > limits.bytes) {
        throw Error(code, "document: has " + std::to_string(text.size()) + " bytes; at most " +
                              std::to_string(limits.bytes) + " are read");
    }
    Builder builder(*value_, limits.depth);
    if (!json::sax_parse(text, &builder)) {
        throw Error(code, builder.error());
    }
}

JsonDocument::~JsonDocument() = default;

JsonView JsonDocument::root() const {
    return {*value_, "document", code_};
}

} // namespace corymb
