// SPDX-License-Identifier: Apache-2.0
// What mutants.py writes into a copy of the library: every place that can be mutated asks whether
// it is the active one. So one build holds all mutants.
#pragma once

#include <type_traits>
#include <utility>

namespace corymb::mutants {

/// Number of the active mutant; 0: none.
extern int active;

[[nodiscard]] inline bool is(int number) noexcept {
    return active == number;
}

/// What an assertion of the copy does: throws, or lets go on, as the driver was told.
void failed(bool is_always_on, const char* invariant, const char* file, int line);

/// The literal 1, or 0.
[[nodiscard]] inline int one(int number) noexcept {
    return is(number) ? 0 : 1;
}

enum class Relation { less, at_most, greater, at_least, equal, differs };

template <Relation relation, class Left, class Right>
[[nodiscard]] bool holds(const Left& left, const Right& right) {
    if constexpr (relation == Relation::less) {
        return left < right;
    } else if constexpr (relation == Relation::at_most) {
        return left <= right;
    } else if constexpr (relation == Relation::greater) {
        return left > right;
    } else if constexpr (relation == Relation::at_least) {
        return left >= right;
    } else if constexpr (relation == Relation::equal) {
        return left == right;
    } else {
        return left != right;
    }
}

/// Between the operands of a comparison: `a < less(7, 8) < b`. The first number flips it, the
/// second moves its bound by one.
template <Relation relation>
struct Middle {
    int flipped;
    int moved;
};
template <Relation relation, class Left>
struct Half {
    const Left& left;
    Middle<relation> middle;
};

template <Relation relation>
constexpr Relation moved_to = relation == Relation::less      ? Relation::at_most
                              : relation == Relation::at_most ? Relation::less
                              : relation == Relation::greater ? Relation::at_least
                                                              : Relation::greater;

template <Relation relation, class Left, class Right>
[[nodiscard]] bool compare(const Half<relation, Left>& half, const Right& right) {
    if (is(half.middle.flipped)) {
        return !holds<relation>(half.left, right);
    }
    if constexpr (relation != Relation::equal && relation != Relation::differs) {
        if (is(half.middle.moved)) {
            return holds<moved_to<relation>>(half.left, right);
        }
    }
    return holds<relation>(half.left, right);
}

#define CORYMB_MUTANT_RELATION(name, token)                                                        \
    [[nodiscard]] inline Middle<Relation::name> name(int flipped, int moved) noexcept {            \
        return {flipped, moved};                                                                   \
    }                                                                                              \
    template <class Left>                                                                          \
    [[nodiscard]] Half<Relation::name, Left> operator token(const Left & left,                     \
                                                            Middle<Relation::name> middle) {       \
        return {left, middle};                                                                     \
    }                                                                                              \
    template <class Left, class Right>                                                             \
    [[nodiscard]] bool operator token(const Half<Relation::name, Left>& half,                      \
                                      const Right& right) {                                        \
        return compare(half, right);                                                               \
    }
CORYMB_MUTANT_RELATION(less, <)
CORYMB_MUTANT_RELATION(at_most, <=)
CORYMB_MUTANT_RELATION(greater, >)
CORYMB_MUTANT_RELATION(at_least, >=)
CORYMB_MUTANT_RELATION(equal, ==)
CORYMB_MUTANT_RELATION(differs, !=)
#undef CORYMB_MUTANT_RELATION

/// Notes that a mutant which swaps arguments compiles.
bool note_swap(int number);
template <int number>
struct Swap {
    static inline const bool is_noted = note_swap(number);
};

/// A call with two arguments swapped, if that compiles.
template <int number, class Call, class First, class Second>
decltype(auto) swapped(const Call& call, First&& first, Second&& second) {
    if constexpr (std::is_invocable_v<const Call&, Second, First>) {
        if (Swap<number>::is_noted && is(number)) {
            return call(std::forward<Second>(second), std::forward<First>(first));
        }
    }
    return call(std::forward<First>(first), std::forward<Second>(second));
}

} // namespace corymb::mutants
