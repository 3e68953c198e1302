// SPDX-License-Identifier: Apache-2.0
// Numbers of rules that no model gives. Each layer has its own in a file tuning.hpp, where a number
// stands beside the value that switches its rule off. `make ablation` switches each off in turn and
// prints what it is worth.
#pragma once

#ifdef CORYMB_ABLATION
#include <cstdlib>
#include <string_view>
/// In a library for `make ablation` the numbers are read when it is loaded.
#define CORYMB_TUNED inline const
#else
#define CORYMB_TUNED inline constexpr
#endif

namespace corymb {

#ifdef CORYMB_ABLATION
/// `off` if $CORYMB_WITHOUT is the number's name, else `value`.
template <class Number>
Number tuned(std::string_view name, Number value, Number off) {
    const char* without = std::getenv("CORYMB_WITHOUT");
    return without != nullptr && name == without ? off : value;
}
#else
/// `value`: the rule is on.
template <class Number>
constexpr Number tuned(const char* /*name*/, Number value, Number /*off*/) noexcept {
    return value;
}
#endif

} // namespace corymb
