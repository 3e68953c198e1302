// SPDX-License-Identifier: Apache-2.0
#include "policy/agreement.hpp"

#include <algorithm>
#include <bit>
#include <stdexcept>

namespace corymb::mpi {

namespace {

/// The number as ones from the lowest bit on: the bitwise or of several is the largest.
std::uint64_t as_ones(std::uint64_t number) noexcept {
    return number < Agreement::few_most ? (std::uint64_t{1} << number) - 1 : ~std::uint64_t{0};
}

} // namespace

void Agreement::Words::push(std::uint64_t word) {
    if (count == words_most) {
        throw std::length_error("an agreement of too many words");
    }
    list[count++] = word;
}

void Agreement::add(const Field& field) {
    Words& words = words_[static_cast<std::size_t>(by(field.kind))];
    switch (field.kind) {
    case Kind::any: words.push(*field.flag ? 1 : 0); break;
    case Kind::bits:
    case Kind::sum:
    case Kind::largest: words.push(*field.number); break;
    case Kind::smallest: words.push(~*field.number); break;
    case Kind::few: words.push(as_ones(*field.number)); break;
    case Kind::same:
        words.push(field.value);
        words.push(~field.value);
        break;
    }
    fields_[count_++] = field;
}

std::span<const std::uint64_t> Agreement::words(By by) const noexcept {
    const Words& words = words_[static_cast<std::size_t>(by)];
    return {words.list.data(), words.count};
}

Agreement::By Agreement::only_way() const noexcept {
    return *std::ranges::find_if(all_ways, [this](By by) { return !words(by).empty(); });
}

std::uint64_t Agreement::combined(By by, std::uint64_t one, std::uint64_t other) noexcept {
    switch (by) {
    case By::bit_or: return one | other;
    case By::maximum: return std::max(one, other);
    case By::sum: return one + other;
    }
    return 0;
}

void Agreement::take(By how, std::span<const std::uint64_t> combined) noexcept {
    std::size_t at = 0;
    for (std::size_t i = 0; i < count_; ++i) {
        const Field& field = fields_[i];
        if (by(field.kind) != how) {
            continue;
        }
        const std::uint64_t word = combined[at++];
        switch (field.kind) {
        case Kind::any: *field.flag = word != 0; break;
        case Kind::bits:
        case Kind::sum:
        case Kind::largest: *field.number = word; break;
        case Kind::smallest: *field.number = ~word; break;
        case Kind::few: *field.number = static_cast<std::uint64_t>(std::popcount(word)); break;
        // A bit that is set on one rank and not on another is in both words.
        case Kind::same: *field.flag = (word & combined[at++]) == 0; break;
        }
    }
}

} // namespace corymb::mpi
