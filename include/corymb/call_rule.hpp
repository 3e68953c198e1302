// SPDX-License-Identifier: Apache-2.0
// Which calls of an object exclude each other.
#pragma once

#include <cstdint>

namespace corymb {

/// How a call shares its object with the other calls of it.
enum class CallRule : std::uint8_t {
    of_object,   ///< As the object's class says: see is_exclusive.
    interleaved, ///< Takes turns with the others where it awaits, whatever they are.
    shared,      ///< From begin to end beside others that are shared, and no exclusive one.
    exclusive,   ///< From begin to end beside no other that is shared or exclusive.
};

/// Whether methods of a T exclude each other: const ones are shared, others exclusive. A class says
/// so for itself and those that derive from it:
///
///     static constexpr bool is_exclusive = true;
template <class T>
inline constexpr bool is_exclusive = requires { requires T::is_exclusive; };

/// The rule of one method, whatever its class says. Behind the class, before the first call:
///
///     template <>
///     inline constexpr corymb::CallRule corymb::call_rule<&Buffer::wait_for_data> =
///         corymb::CallRule::interleaved;
template <auto Method>
inline constexpr CallRule call_rule = CallRule::of_object;

} // namespace corymb
