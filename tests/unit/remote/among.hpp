// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <corymb/remote.hpp>

#include <cstddef>
#include <functional>
#include <numeric>
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

/// In a task.
inline std::vector<Rank> all_ranks() {
    std::vector<Rank> all(static_cast<std::size_t>(ranks()));
    std::iota(all.begin(), all.end(), 0);
    return all;
}

} // namespace corymb
