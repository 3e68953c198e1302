// SPDX-License-Identifier: Apache-2.0
// Fields that structs of options have in common, and the structs themselves, which may be of
// another version than this library.
#pragma once

#include "c/status.hpp"

#include <corymb.h>
#include <corymb/wait_policy.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

namespace corymb::c {

/// The struct as this library knows it. The caller's may be longer if it was compiled with a later
/// header. It must leave fields at 0 that are unknown here. Fields are only ever added at the end.
template <class Struct>
Struct as_known(const Struct& given, const char* init) {
    constexpr std::size_t largest = 4096;
    std::size_t bytes = 0;
    std::memcpy(&bytes, &given, sizeof bytes); // struct_size is the first member.
    if (bytes < sizeof(Struct) || bytes > largest) {
        refuse("struct_size is " + std::to_string(bytes) + ", which no version has; call " + init +
               " before you set fields");
    }
    const auto* const all = reinterpret_cast<const unsigned char*>(&given);
    if (std::any_of(all + sizeof(Struct), all + bytes, [](auto byte) { return byte != 0; })) {
        throw Error(Errc::unsupported, std::string("an option is set that corymb ") + version() +
                                           " does not know; the program was compiled with a newer "
                                           "corymb.h");
    }
    Struct known;
    std::memcpy(&known, &given, sizeof known);
    return known;
}

inline std::chrono::nanoseconds time_of(std::int64_t nanoseconds, const char* field) {
    if (nanoseconds < 0) {
        refuse(std::string(field) + " is negative; give nanoseconds, or 0 for the default");
    }
    return std::chrono::nanoseconds(nanoseconds);
}

inline WaitPolicy wait_policy(corymb_wait_policy given) {
    switch (given) {
    case CORYMB_WAIT_LADDER: return WaitPolicy::ladder;
    case CORYMB_WAIT_SPIN: return WaitPolicy::spin;
    case CORYMB_WAIT_YIELD: return WaitPolicy::yield;
    case CORYMB_WAIT_PARK: return WaitPolicy::park;
    default: break;
    }
    refuse("there is no wait policy " + std::to_string(static_cast<int>(given)) +
           "; use a value of corymb_wait_policy");
}

} // namespace corymb::c
