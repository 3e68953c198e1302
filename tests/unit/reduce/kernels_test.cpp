// SPDX-License-Identifier: Apache-2.0
// Every kernel of every instruction set that this machine has, against a plain loop.
#include "reduce/kernel_table.hpp"

#include "base/random.hpp"
#include "reduce/instructions.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

namespace {

using corymb::ElementType;
using corymb::Operator;
using Bytes = std::vector<std::byte>;

/// The least that can be written down: one element, straight from the operator's definition.
template <class T>
T plain(Operator op, T a, T b) {
    using Unsigned = std::make_unsigned_t<T>;
    const auto x = static_cast<Unsigned>(a);
    const auto y = static_cast<Unsigned>(b);
    switch (op) {
    case Operator::sum: return static_cast<T>(x + y);
    case Operator::prod: {
        std::uint64_t product = 0;
        for (int bit = 0; bit < 64; ++bit) {
            if ((std::uint64_t{y} >> bit & 1U) != 0) {
                product += std::uint64_t{x} << bit;
            }
        }
        return static_cast<T>(product);
    }
    case Operator::min: return a < b ? a : b;
    case Operator::max: return a > b ? a : b;
    case Operator::logical_and: return static_cast<T>(a && b);
    case Operator::logical_or: return static_cast<T>(a || b);
    case Operator::logical_xor: return static_cast<T>(!a != !b);
    case Operator::bitwise_and: return static_cast<T>(x & y);
    case Operator::bitwise_or: return static_cast<T>(x | y);
    case Operator::bitwise_xor: return static_cast<T>(x ^ y);
    default: return T{};
    }
}

template <class T>
T plain_float(Operator op, T a, T b) {
    const bool nan = std::isnan(a) || std::isnan(b);
    const T quiet = std::numeric_limits<T>::quiet_NaN();
    switch (op) {
    case Operator::sum: return a + b;
    case Operator::prod: return a * b;
    case Operator::min: return nan ? quiet : a == b ? (std::signbit(a) ? a : b) : std::fmin(a, b);
    case Operator::max: return nan ? quiet : a == b ? (std::signbit(a) ? b : a) : std::fmax(a, b);
    default: return T{};
    }
}

bool plain_boolean(Operator op, bool a, bool b) {
    switch (op) {
    case Operator::logical_and:
    case Operator::bitwise_and:
    case Operator::min: return a && b;
    case Operator::logical_or:
    case Operator::bitwise_or:
    case Operator::max: return a || b;
    default: return a != b;
    }
}

template <class Pair>
Pair plain_pair(Operator op, Pair a, Pair b) {
    const bool a_wins = op == Operator::min_loc ? a.value < b.value : a.value > b.value;
    const bool b_wins = op == Operator::min_loc ? b.value < a.value : b.value > a.value;
    return a_wins ? a : b_wins ? b : a.index <= b.index ? a : b;
}

template <class T, class F>
void each(const Bytes& left, const Bytes& right, Bytes& out, F combine) {
    for (std::size_t i = 0; i < out.size() / sizeof(T); ++i) {
        T a;
        T b;
        std::memcpy(&a, left.data() + i * sizeof(T), sizeof(T));
        std::memcpy(&b, right.data() + i * sizeof(T), sizeof(T));
        const T result = combine(a, b);
        std::memcpy(out.data() + i * sizeof(T), &result, sizeof(T));
    }
}

template <class T>
void integers(Operator op, const Bytes& left, const Bytes& right, Bytes& out) {
    each<T>(left, right, out, [op](T a, T b) { return plain<T>(op, a, b); });
}
template <class T>
void floats(Operator op, const Bytes& left, const Bytes& right, Bytes& out) {
    each<T>(left, right, out, [op](T a, T b) { return plain_float<T>(op, a, b); });
}
template <class T>
void halves(Operator op, const Bytes& left, const Bytes& right, Bytes& out) {
    each<T>(left, right, out, [op](T a, T b) { return T(plain_float<float>(op, a, b)); });
}
template <class T>
void complexes(Operator op, const Bytes& left, const Bytes& right, Bytes& out) {
    using Pair = std::array<T, 2>;
    each<Pair>(left, right, out, [op](Pair a, Pair b) {
        // Through named products, so that the compiler cannot fuse them here either.
        const T ac = a[0] * b[0];
        const T bd = a[1] * b[1];
        const T ad = a[0] * b[1];
        const T bc = a[1] * b[0];
        return op == Operator::sum ? Pair{a[0] + b[0], a[1] + b[1]} : Pair{ac - bd, ad + bc};
    });
}
template <class T, class Index>
void pairs(Operator op, const Bytes& left, const Bytes& right, Bytes& out) {
    using Pair = corymb::ValueIndex<T, Index>;
    each<Pair>(left, right, out, [op](Pair a, Pair b) { return plain_pair(op, a, b); });
}
void booleans(Operator op, const Bytes& left, const Bytes& right, Bytes& out) {
    each<std::uint8_t>(left, right, out, [op](std::uint8_t a, std::uint8_t b) {
        return static_cast<std::uint8_t>(plain_boolean(op, a != 0, b != 0));
    });
}

using Reference = void (*)(Operator, const Bytes&, const Bytes&, Bytes&);
constexpr std::array<Reference, corymb::element_type_count> references{
    integers<std::int8_t>,
    integers<std::uint8_t>,
    integers<std::int16_t>,
    integers<std::uint16_t>,
    integers<std::int32_t>,
    integers<std::uint32_t>,
    integers<std::int64_t>,
    integers<std::uint64_t>,
    halves<corymb::Float16>,
    halves<corymb::BFloat16>,
    floats<float>,
    floats<double>,
    complexes<float>,
    complexes<double>,
    booleans,
    pairs<std::int16_t, std::int32_t>,
    pairs<std::int32_t, std::int32_t>,
    pairs<std::int64_t, std::int32_t>,
    pairs<float, std::int32_t>,
    pairs<double, std::int32_t>,
    pairs<std::int32_t, std::int64_t>,
    pairs<std::int64_t, std::int64_t>,
    pairs<float, std::int64_t>,
    pairs<double, std::int64_t>};

/// Few distinct values, so that ties, zeros and extremes meet each other often.
template <class T>
T some_float(corymb::Random& random) {
    constexpr std::array<double, 14> special{0.0, -0.0, 1.0,   -1.0,  0.1,   3.5,     65504.0,
                                             7.0, 2e-8, 1e-40, -2e-6, 448.0, 1000.25, -12345.0};
    const auto kind = random.below(20);
    if (kind == 18) {
        return std::numeric_limits<T>::infinity();
    }
    return kind < 14 ? static_cast<T>(special[kind])
                     : static_cast<T>(static_cast<double>(random.below(2000000)) / 1000 - 1000);
}

template <class T, class F>
void fill(Bytes& bytes, F make) {
    for (std::size_t at = 0; at + sizeof(T) <= bytes.size(); at += sizeof(T)) {
        const T value = make();
        std::memcpy(bytes.data() + at, &value, sizeof(T));
    }
}

template <class T, class Index>
void fill_pairs(Bytes& bytes, corymb::Random& random) {
    // Whole bytes first: padding has a value, too.
    fill<corymb::ValueIndex<T, Index>>(bytes, [&random] {
        corymb::ValueIndex<T, Index> pair;
        std::memset(static_cast<void*>(&pair), 0, sizeof pair);
        pair.value = static_cast<T>(random.below(3));
        pair.index = static_cast<Index>(random.below(5));
        return pair;
    });
}

Bytes sample(ElementType type, std::size_t count, corymb::Random& random) {
    Bytes bytes(count * corymb::element_bytes(type));
    switch (type) {
    case ElementType::float16:
    case ElementType::bfloat16:
        // All bit patterns, NaN of every kind among them.
        fill<std::uint16_t>(bytes, [&] { return static_cast<std::uint16_t>(random.below(65536)); });
        break;
    case ElementType::float32:
    case ElementType::complex64:
        fill<float>(bytes, [&] { return some_float<float>(random); });
        break;
    case ElementType::float64:
    case ElementType::complex128:
        fill<double>(bytes, [&] { return some_float<double>(random); });
        break;
    case ElementType::int16_index32: fill_pairs<std::int16_t, std::int32_t>(bytes, random); break;
    case ElementType::int32_index32: fill_pairs<std::int32_t, std::int32_t>(bytes, random); break;
    case ElementType::int64_index32: fill_pairs<std::int64_t, std::int32_t>(bytes, random); break;
    case ElementType::float32_index32: fill_pairs<float, std::int32_t>(bytes, random); break;
    case ElementType::float64_index32: fill_pairs<double, std::int32_t>(bytes, random); break;
    case ElementType::int32_index64: fill_pairs<std::int32_t, std::int64_t>(bytes, random); break;
    case ElementType::int64_index64: fill_pairs<std::int64_t, std::int64_t>(bytes, random); break;
    case ElementType::float32_index64: fill_pairs<float, std::int64_t>(bytes, random); break;
    case ElementType::float64_index64: fill_pairs<double, std::int64_t>(bytes, random); break;
    default: {
        // A third of the words is zero, which the logical operators tell from the rest.
        const std::size_t width = corymb::element_bytes(type);
        for (std::size_t at = 0; at < bytes.size(); ++at) {
            const bool zero = (at / width) % 3 == 0;
            bytes[at] = static_cast<std::byte>(zero ? 0 : random.below(256));
        }
    }
    }
    return bytes;
}

/// Padding has no meaning, so pairs are compared by what they hold.
template <class T, class Index>
bool same_pairs(const Bytes& a, const Bytes& b) {
    using Pair = corymb::ValueIndex<T, Index>;
    for (std::size_t i = 0; i < a.size() / sizeof(Pair); ++i) {
        if (!(corymb::detail::load_element<Pair>(a.data(), i) ==
              corymb::detail::load_element<Pair>(b.data(), i))) {
            return false;
        }
    }
    return true;
}

/// NaN of a sum is the same number whatever its bits; everything else is compared bit by bit.
bool same(ElementType type, const Bytes& a, const Bytes& b) {
    const auto equal = [&]<class T>(T /*zero*/) {
        for (std::size_t at = 0; at < a.size(); at += sizeof(T)) {
            T x;
            T y;
            std::memcpy(&x, a.data() + at, sizeof x);
            std::memcpy(&y, b.data() + at, sizeof y);
            if (std::memcmp(&x, &y, sizeof x) != 0 && !(std::isnan(x) && std::isnan(y))) {
                return false;
            }
        }
        return true;
    };
    switch (type) {
    case ElementType::float32:
    case ElementType::complex64: return equal(0.0F);
    case ElementType::float64:
    case ElementType::complex128: return equal(0.0);
    case ElementType::int16_index32: return same_pairs<std::int16_t, std::int32_t>(a, b);
    case ElementType::int64_index32: return same_pairs<std::int64_t, std::int32_t>(a, b);
    case ElementType::float64_index32: return same_pairs<double, std::int32_t>(a, b);
    case ElementType::int32_index64: return same_pairs<std::int32_t, std::int64_t>(a, b);
    case ElementType::float32_index64: return same_pairs<float, std::int64_t>(a, b);
    default: return a == b;
    }
}

struct Pair {
    ElementType type;
    Operator op;
};

std::vector<Pair> all_pairs() {
    std::vector<Pair> pairs;
    for (std::size_t type = 0; type < corymb::element_type_count; ++type) {
        for (std::size_t op = 0; op < corymb::operator_count; ++op) {
            const Pair pair{static_cast<ElementType>(type), static_cast<Operator>(op)};
            if (corymb::is_defined(pair.type, pair.op)) {
                pairs.push_back(pair);
            }
        }
    }
    return pairs;
}

/// Combines at addresses that are `shift` bytes off, into `out`, `left` (1) or `right` (2).
Bytes run(corymb::reduce::Combine combine, std::size_t count, const Bytes& left, const Bytes& right,
          std::size_t shift, int in_place) {
    constexpr auto guard = std::byte{0xA5};
    std::array<Bytes, 3> room;
    const std::array<const Bytes*, 3> from{nullptr, &left, &right};
    for (std::size_t i = 0; i < room.size(); ++i) {
        room[i].assign(left.size() + shift + 64, guard);
        if (i > 0 && !left.empty()) {
            std::memcpy(room[i].data() + shift, from[i]->data(), left.size());
        }
    }
    Bytes& out = room[static_cast<std::size_t>(in_place)];
    combine(room[1].data() + shift, room[2].data() + shift, out.data() + shift, count, nullptr);
    for (std::size_t at = 0; at < out.size(); ++at) {
        const bool inside = at >= shift && at < shift + left.size();
        EXPECT_TRUE(inside || out[at] == guard) << "wrote outside, at " << at;
    }
    const auto begin = out.begin() + static_cast<std::ptrdiff_t>(shift);
    return {begin, begin + static_cast<std::ptrdiff_t>(left.size())};
}

void compare_all(const corymb::reduce::KernelTable& table, const std::string& target) {
    corymb::Random random(11);
    for (const Pair& pair : all_pairs()) {
        for (std::size_t count = 0; count <= 132; ++count) {
            const std::size_t elements = count <= 130 ? count : count == 131 ? 1021 : 5000;
            const Bytes left = sample(pair.type, elements, random);
            const Bytes right = sample(pair.type, elements, random);
            Bytes expected(left.size());
            references[static_cast<std::size_t>(pair.type)](pair.op, left, right, expected);
            const std::size_t shift = random.below(8);
            const int in_place = static_cast<int>(random.below(3));
            const Bytes got =
                run(table.at(pair.type, pair.op), elements, left, right, shift, in_place);
            ASSERT_TRUE(same(pair.type, got, expected))
                << target << " " << to_string(pair.op) << " of " << elements << " "
                << to_string(pair.type) << ", shift " << shift << ", in place " << in_place;
        }
    }
}

TEST(Kernels, AgreeWithAPlainLoopOnEveryInstructionSet) {
    // Every instruction set of this processor, and none: the loop that needs nothing.
    std::vector<std::int64_t> targets{HWY_SCALAR};
    for (std::int64_t left = corymb::reduce::usable_instructions(); left != 0; left &= left - 1) {
        targets.push_back(left & -left);
    }
    for (const std::int64_t target : targets) {
        compare_all(corymb::reduce::make_kernel_table(target), hwy::TargetName(target));
        if (HasFatalFailure()) {
            break;
        }
    }
}

TEST(Kernels, AreThereForExactlyWhatIsDefined) {
    for (std::size_t type = 0; type < corymb::element_type_count; ++type) {
        for (std::size_t op = 0; op < corymb::operator_count; ++op) {
            const auto t = static_cast<ElementType>(type);
            const auto o = static_cast<Operator>(op);
            EXPECT_EQ(corymb::reduce::kernel_table().at(t, o) != nullptr, corymb::is_defined(t, o))
                << to_string(o) << " " << to_string(t);
        }
    }
}

TEST(Kernels, SayWhichInstructionsTheyUse) {
    EXPECT_STRNE(corymb::kernel_instructions(), "");
}

} // namespace
