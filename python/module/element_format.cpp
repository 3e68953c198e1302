// SPDX-License-Identifier: Apache-2.0
#include "element_format.hpp"

#include <corymb/detail/contents.hpp>

#include <array>
#include <bit>
#include <cctype>
#include <string>

namespace corymb::python {

namespace {

constexpr std::string_view byte_orders = "@=<>!^";

/// Takes a byte order from the front; false when it is not that of this machine.
bool take_byte_order(std::string_view& format) {
    while (!format.empty() && byte_orders.find(format.front()) != std::string_view::npos) {
        const char order = format.front();
        const bool is_big = std::endian::native == std::endian::big;
        if ((order == '<' && is_big) || ((order == '>' || order == '!') && !is_big)) {
            return false;
        }
        format.remove_prefix(1);
    }
    return true;
}

std::optional<ElementType> integer(std::size_t bytes, bool is_signed) {
    if (bytes != 1 && bytes != 2 && bytes != 4 && bytes != 8) {
        return std::nullopt;
    }
    return detail::integer_type(bytes, is_signed);
}

/// One number; an integer has as many bytes as the item.
std::optional<ElementType> number(std::string_view format, std::size_t item_bytes) {
    if (format == "Zf" || format == "F") {
        return ElementType::complex64;
    }
    if (format == "Zd" || format == "D") {
        return ElementType::complex128;
    }
    if (format.size() != 1) {
        return std::nullopt;
    }
    switch (format.front()) {
    case '?': return ElementType::boolean;
    case 'e': return ElementType::float16;
    case 'f': return ElementType::float32;
    case 'd': return ElementType::float64;
    case 'c': return ElementType::uint8;
    default: break;
    }
    if (std::string_view("bhilqn").find(format.front()) != std::string_view::npos) {
        return integer(item_bytes, true);
    }
    if (std::string_view("BHILQN").find(format.front()) != std::string_view::npos) {
        return integer(item_bytes, false);
    }
    return std::nullopt;
}

/// Bytes of one of the integers that can be in a pair.
std::size_t integer_bytes(char code) {
    switch (code) {
    case 'h': return 2;
    case 'i': return 4;
    case 'q': return 8;
    case 'l': return sizeof(long);
    default: return 0;
    }
}

/// The next field of "T{d:value:l:index:}" without its name; 0 at the end, '!' for something else.
char next_field(std::string_view& fields) {
    while (!fields.empty()) {
        if (!take_byte_order(fields)) {
            return '!';
        }
        if (fields.empty() || fields.front() == '}') {
            return 0;
        }
        std::size_t digits = 0;
        while (digits < fields.size() && std::isdigit(static_cast<unsigned char>(fields[digits]))) {
            ++digits;
        }
        if (digits == fields.size()) {
            return '!';
        }
        const char code = fields[digits];
        fields.remove_prefix(digits + 1);
        if (code == 'x') { // Padding.
            continue;
        }
        if (digits != 0 || fields.empty() || fields.front() != ':') {
            return '!';
        }
        const std::size_t end = fields.find(':', 1);
        if (end == std::string_view::npos) {
            return '!';
        }
        fields.remove_prefix(end + 1);
        return code;
    }
    return 0;
}

std::optional<ElementType> pair(std::string_view fields, std::size_t item_bytes) {
    const char value = next_field(fields);
    const char index = next_field(fields);
    if (next_field(fields) != 0) {
        return std::nullopt;
    }
    struct Known {
        char value;
        std::size_t value_bytes;
        std::size_t index_bytes;
        ElementType type;
    };
    static constexpr std::array known{
        Known{'i', 2, 4, ElementType::int16_index32},
        Known{'i', 4, 4, ElementType::int32_index32},
        Known{'i', 8, 4, ElementType::int64_index32},
        Known{'f', 0, 4, ElementType::float32_index32},
        Known{'d', 0, 4, ElementType::float64_index32},
        Known{'i', 4, 8, ElementType::int32_index64},
        Known{'i', 8, 8, ElementType::int64_index64},
        Known{'f', 0, 8, ElementType::float32_index64},
        Known{'d', 0, 8, ElementType::float64_index64},
    };
    for (const Known& entry : known) {
        const bool is_value = entry.value_bytes == 0 ? value == entry.value
                                                     : integer_bytes(value) == entry.value_bytes;
        if (is_value && integer_bytes(index) == entry.index_bytes &&
            element_bytes(entry.type) == item_bytes) {
            return entry.type;
        }
    }
    return std::nullopt;
}

/// A format without what differs between equal elements: the names of fields, and how the byte
/// order of this machine and the width of a long are written.
std::string plain(std::string_view format) {
    std::string text;
    bool in_name = false;
    bool is_native = true; ///< A long is as wide as that of this machine.
    for (const char code : format) {
        if (code == ':') {
            in_name = !in_name;
        } else if (in_name) {
            continue;
        } else if (byte_orders.find(code) != std::string_view::npos) {
            std::string_view order(&code, 1);
            is_native = code == '@' || code == '^';
            text += take_byte_order(order) ? "" : "!";
        } else if (code == 'l' || code == 'L') {
            const bool is_wide = is_native && sizeof(long) == 8;
            text += static_cast<char>((is_wide ? 'q' : 'i') - (code == 'l' ? 0 : 'a' - 'A'));
        } else if (std::isspace(static_cast<unsigned char>(code)) == 0) {
            text += code;
        }
    }
    return text;
}

detail::OtherElements other_elements(std::string_view format) {
    using Elements = detail::OtherElements;
    if (format.starts_with("T{")) {
        return Elements::records;
    }
    switch (format.empty() ? ' ' : format.back()) {
    case 's':
    case 'p': return Elements::bytes;
    case 'u':
    case 'w': return Elements::text;
    case 'g':
        return format.ends_with("Zg") ? Elements::complex_long_doubles : Elements::long_doubles;
    case 'G': return Elements::complex_long_doubles;
    default: return Elements::others;
    }
}

/// FNV-1a.
std::uint64_t digest_of(std::string_view text, std::size_t item_bytes) {
    std::uint64_t digest = 0xCBF29CE484222325U ^ item_bytes;
    for (const char letter : text) {
        digest = (digest ^ static_cast<unsigned char>(letter)) * 0x100000001B3U;
    }
    return digest ^ digest >> 32U;
}

} // namespace

std::uint32_t contents_of_format(std::string_view format, std::size_t item_bytes) {
    if (const auto type = element_type_of_format(format, item_bytes)) {
        return detail::move_identity(*type);
    }
    std::string_view rest = format;
    if (!take_byte_order(rest)) {
        rest.remove_prefix(1);
        if (const auto type = number(rest, item_bytes)) {
            return detail::swapped_identity(*type);
        }
    }
    return detail::other_identity(other_elements(format), digest_of(plain(format), item_bytes));
}

std::optional<ElementType> element_type_of_format(std::string_view format, std::size_t item_bytes) {
    if (format.starts_with("T{")) {
        return pair(format.substr(2), item_bytes);
    }
    if (!take_byte_order(format) && item_bytes != 1) {
        return std::nullopt;
    }
    return number(format, item_bytes);
}

} // namespace corymb::python
