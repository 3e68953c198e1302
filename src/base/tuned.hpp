// SPDX-License-Identifier: Apache-2.0
// Numbers of rules that no model gives. Each layer has its own in a file tuning.hpp, where a number
// stands beside the value that switches its rule off. `make ablation` switches each off in turn and
// prints what it is worth.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#ifdef CORYMB_ABLATION
#include <cstdlib>
/// In a library for `make ablation` the numbers are read when it is loaded.
#define CORYMB_TUNED inline const
#else
#define CORYMB_TUNED inline constexpr
#endif

namespace corymb {

/// How the value of a number was found.
enum class Origin : std::uint8_t {
    reasoned,  ///< By the reasoning beside the number.
    simulated, ///< By simulation on machines of the gallery (docs/results/ablation.md).
    measured,  ///< On the machine that the text beside the number names.
};
[[nodiscard]] std::string_view to_string(Origin origin) noexcept;

struct TunedNumber {
    std::string_view name;
    double value;
    Origin origin;
};

/// While it lives, collects the numbers whose rules have excluded or changed something on its
/// thread. One within another collects alone.
class DecidingNumbers {
public:
    DecidingNumbers() noexcept;
    ~DecidingNumbers();
    DecidingNumbers(const DecidingNumbers&) = delete;
    DecidingNumbers& operator=(const DecidingNumbers&) = delete;

    /// Each number once, in the order of their first decisions.
    [[nodiscard]] const std::vector<TunedNumber>& all() const noexcept { return all_; }
    /// Adds the number to the collection of this thread, if there is one.
    static void note(const TunedNumber& number);

private:
    std::vector<TunedNumber> all_;
    DecidingNumbers* outer_;
};

/// A number of a rule, used as a `Number`. With the value `off` the rule does nothing.
template <class Number>
class Tuned {
public:
#ifdef CORYMB_ABLATION
    /// `off` if $CORYMB_WITHOUT is the number's name.
    Tuned(std::string_view name, Number value, Number off, Origin origin)
        : name_(name), value_(is_off(name) ? off : value), origin_(origin) {}
#else
    constexpr Tuned(std::string_view name, Number value, Number /*off*/, Origin origin) noexcept
        : name_(name), value_(value), origin_(origin) {}
#endif
    constexpr operator Number() const noexcept { return value_; }
    [[nodiscard]] constexpr Number value() const noexcept { return value_; }

    /// Whether the rule excludes or changes something: then it is one of the deciding numbers.
    [[nodiscard]] bool decides(bool excludes) const {
        if (excludes) {
            note();
        }
        return excludes;
    }
    /// The rule changes something.
    void note() const { DecidingNumbers::note({name_, static_cast<double>(value_), origin_}); }

private:
#ifdef CORYMB_ABLATION
    static bool is_off(std::string_view name) {
        const char* without = std::getenv("CORYMB_WITHOUT");
        return without != nullptr && name == without;
    }
#endif
    std::string_view name_;
    Number value_;
    Origin origin_;
};

} // namespace corymb
