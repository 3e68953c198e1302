// SPDX-License-Identifier: Apache-2.0
// A commit is one store that makes a change valid, after all the stores that prepared it. If a
// process is killed between any two instructions, a structure whose changes end in a commit is as
// it was before or after the change, never between. Readers hold the structure's lock, or read the
// committed word with `committed`.
#pragma once

#include <atomic>
#include <cstdint>
#include <type_traits>

namespace corymb {

template <class Word>
void commit(Word& word, std::type_identity_t<Word> value) noexcept {
    std::atomic_ref<Word>(word).store(value, std::memory_order_release);
}

inline std::uint64_t committed(const std::uint64_t& word) noexcept {
    // A reference to const is C++26; nothing is written.
    return std::atomic_ref<std::uint64_t>(const_cast<std::uint64_t&>(word))
        .load(std::memory_order_acquire);
}

} // namespace corymb
