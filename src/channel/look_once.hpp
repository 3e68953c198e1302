// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "channel/event_count.hpp"

#include <atomic>
#include <cstdint>

namespace corymb::channel {

/// The waiter of operations that must not block: it looks at the word once. If the look fails, a
/// later call looks at the same word again. WaitLadder is the waiter of those that block.
class LookOnce {
public:
    template <class Word, class Predicate, class T>
    [[nodiscard]] bool await(const Word& word, std::memory_order order, const Predicate& satisfied,
                             T& seen) const noexcept {
        seen = word.load(order);
        return satisfied(seen);
    }

    /// Names the rank whose word is looked at next.
    void expect(const Awaited& awaited) noexcept { expected_ = awaited.rank(); }
    [[nodiscard]] std::int32_t expected() const noexcept { return expected_; }

private:
    std::int32_t expected_ = -1;
};

} // namespace corymb::channel
