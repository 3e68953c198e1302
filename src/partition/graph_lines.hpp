// SPDX-License-Identifier: Apache-2.0
// The lines of a file, of which each rank reads its share, and what is wrong in them.
#pragma once

#include "base/descriptor.hpp"

#include <corymb/error.hpp>
#include <corymb/team.hpp>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace corymb::partition {

/// Something wrong in a line. Line 0: in the file as a whole.
struct Fault {
    std::uint64_t offset = 0; ///< In the file, of the line's beginning.
    std::string text;
};

/// A text file that is read by byte ranges.
class TextFile {
public:
    /// Collective. Throws Errc::io on all ranks if one of them cannot open it.
    TextFile(Team& team, std::filesystem::path path);
    [[nodiscard]] std::uint64_t size() const noexcept { return size_; }
    /// As much of it as there is from `offset` on, at most `count` bytes. Throws Errc::io.
    std::size_t read(std::uint64_t offset, char* to, std::size_t count) const;
    /// Collective. Throws Errc::io on all ranks if one of them has a fault: the first in the file.
    void agree(Team& team, const std::optional<Fault>& fault) const;

private:
    /// Right after the file was opened: what is in the way, or "".
    [[nodiscard]] std::string look();
    [[nodiscard]] std::uint64_t line_at(std::uint64_t offset) const;

    std::filesystem::path path_;
    Descriptor descriptor_;
    std::uint64_t size_ = 0;
};

/// Those lines of a file that begin in a range of it, one after the other. Holds a piece of the
/// file, or one line if that is longer.
class Lines {
public:
    Lines(const TextFile& file, std::uint64_t begin, std::uint64_t end);
    /// False: there is no further one. The line, without its end, is valid until the next call.
    [[nodiscard]] bool next();
    [[nodiscard]] std::string_view line() const noexcept { return line_; }
    [[nodiscard]] std::uint64_t offset() const noexcept { return line_offset_; }

private:
    bool fill(); ///< Reads on. False: the file ends.

    const TextFile* file_;
    std::uint64_t end_;
    std::uint64_t buffer_offset_; ///< In the file.
    std::vector<char> buffer_;
    std::size_t at_ = 0;   ///< In the buffer: the next line.
    std::size_t held_ = 0; ///< Bytes in the buffer.
    std::string_view line_;
    std::uint64_t line_offset_ = 0;
};

/// The fields of a line, which stand apart by blanks, tabs or commas.
class Fields {
public:
    explicit Fields(std::string_view line) noexcept
        : at_(line.data()), end_(line.data() + line.size()) {
        skip();
    }
    [[nodiscard]] bool is_over() const noexcept { return at_ == end_; }
    /// The next field.
    std::string_view word() noexcept;
    /// The next field as a number from `least` to `most`. Nothing: it is none, and stays.
    std::optional<std::uint64_t> number(std::uint64_t least, std::uint64_t most) noexcept {
        std::uint64_t value = 0;
        const char* digit = at_;
        for (; digit != end_ && *digit >= '0' && *digit <= '9'; ++digit) {
            const auto next = static_cast<std::uint64_t>(*digit - '0');
            if (value > (most - next) / 10 || next > most) {
                return std::nullopt;
            }
            value = 10 * value + next;
        }
        if (digit == at_ || value < least || (digit != end_ && !is_gap(*digit))) {
            return std::nullopt;
        }
        at_ = digit;
        skip();
        return value;
    }

private:
    static constexpr bool is_gap(char c) noexcept {
        return c == ' ' || c == '\t' || c == ',' || c == '\r';
    }
    void skip() noexcept {
        while (at_ != end_ && is_gap(*at_)) {
            ++at_;
        }
    }

    const char* at_;
    const char* end_;
};

} // namespace corymb::partition
