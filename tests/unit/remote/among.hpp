// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <corymb/remote.hpp>

#include <functional>
#include <thread>
#include <vector>

namespace corymb {

/// Each rank is a thread; `main(rank)` gives its task.
inline void among(int size, const std::function<Task<>(Rank)>& main,
                  const RemoteOptions& options = {}) {
    RemoteGroup group(size, options);
    std::vector<std::jthread> threads;
    for (Rank rank = 0; rank < size; ++rank) {
        threads.emplace_back([&group, &main, rank] {
            RemoteRank own = group.join(rank);
            own.run(main(rank));
        });
    }
}

} // namespace corymb
