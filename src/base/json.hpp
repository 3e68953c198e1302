// SPDX-License-Identifier: Apache-2.0
// Reading and writing JSON files that may come from anybody: nlohmann/json does the work, this adds
// limits, duplicate-key detection, and errors that name the field. A .cpp file that builds
// documents for `dump_json` includes <nlohmann/json.hpp> itself; readers need only this header.
#pragma once

#include <corymb/error.hpp>

#include <nlohmann/json_fwd.hpp>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace corymb {

/// Limits of a document; beyond them, reading fails.
struct JsonLimits {
    std::size_t bytes = std::size_t{64} << 20;
    int depth = 32;
};

/// A value of a `JsonDocument` together with its path ("classes[2].send.median"). Every getter
/// throws the document's error code with that path when the value has another type. Cheap to copy;
/// valid as long as the document.
class JsonView {
public:
    JsonView(const nlohmann::json& value, std::string path, Errc code)
        : value_(&value), path_(std::move(path)), code_(code) {}

    [[nodiscard]] const std::string& path() const noexcept { return path_; }
    [[nodiscard]] bool is_null() const noexcept;
    [[nodiscard]] bool is_object() const noexcept;

    /// A member that must be there (it may be null).
    [[nodiscard]] JsonView at(std::string_view key) const;
    /// A member that may be absent or null.
    [[nodiscard]] std::optional<JsonView> find(std::string_view key) const;
    /// Fails for a member with any other name, and proposes what it may have meant.
    void allow_only(std::initializer_list<std::string_view> keys) const;

    /// Number of elements; the value must be an array.
    [[nodiscard]] std::size_t size() const;
    [[nodiscard]] JsonView operator[](std::size_t index) const;

    [[nodiscard]] bool boolean() const;
    [[nodiscard]] std::string text() const;
    /// A finite number within [least, most].
    [[nodiscard]] double number(double least = std::numeric_limits<double>::lowest(),
                                double most = std::numeric_limits<double>::max()) const;
    /// A number without fraction or exponent within [least, most].
    [[nodiscard]] std::int64_t
    integer(std::int64_t least = std::numeric_limits<std::int64_t>::min(),
            std::int64_t most = std::numeric_limits<std::int64_t>::max()) const;
    /// All elements of an array of whole numbers.
    [[nodiscard]] std::vector<int> integers(int least = std::numeric_limits<int>::min(),
                                            int most = std::numeric_limits<int>::max()) const;
    [[nodiscard]] std::vector<std::string> texts() const;
    /// Appends the elements of an array of `width` numbers; null gives NaN. Fast: a path is made
    /// only for an error.
    void append_row(std::vector<float>& out, std::size_t width, double least) const;

    /// The value as text again.
    [[nodiscard]] std::string json() const;

    /// Throws "path: what".
    [[noreturn]] void fail(const std::string& what) const;

private:
    [[nodiscard]] JsonView member(const nlohmann::json& value, std::string_view key) const;
    void expect(bool holds, const char* wanted) const;
    void expect_object() const;

    const nlohmann::json* value_;
    std::string path_;
    Errc code_;
};

/// A parsed document. Throws `code` for text that is no JSON (naming line, column and field), that
/// has a duplicate key, text that is no UTF-8, a number too large for a double, or that exceeds the
/// limits. Never recurses on the nesting of the text.
class JsonDocument {
public:
    JsonDocument(std::string_view text, Errc code, const JsonLimits& limits = {});
    ~JsonDocument();
    JsonDocument(const JsonDocument&) = delete;
    JsonDocument& operator=(const JsonDocument&) = delete;

    /// The outermost value; its path is "document", which the paths of members leave out.
    [[nodiscard]] JsonView root() const;

private:
    std::unique_ptr<nlohmann::json> value_;
    Errc code_;
};

/// Indented text that people can read: an array or object without containers inside, such as the
/// row of a matrix, takes one line. Keeps the order of the keys; NaN becomes null; numbers keep
/// enough digits to read back the same double. Ends with a newline.
[[nodiscard]] std::string dump_json(const nlohmann::ordered_json& value);

} // namespace corymb
