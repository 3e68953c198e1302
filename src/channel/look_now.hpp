// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>

namespace corymb::channel {

/// The waiter of calls that never wait: it looks at the word once.
struct LookNow {
    template <class Word, class Predicate, class T>
    [[nodiscard]] bool await(const Word& word, std::memory_order order, const Predicate& satisfied,
                             T& seen) const noexcept {
        seen = word.load(order);
        return satisfied(seen);
    }
};

} // namespace corymb::channel
