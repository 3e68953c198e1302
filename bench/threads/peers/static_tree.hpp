// SPDX-License-Identifier: Apache-2.0
// The static tree barrier of Mellor-Crummey and Scott, TOCS 1991, algorithm 11: arrival up a tree
// of four children a node whose flags share the parent's line, wake-up down a binary tree.
#pragma once

#include "padded.hpp"
#include "waiting.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <vector>

namespace corymb::bench {

class StaticTreeBarrier {
public:
    StaticTreeBarrier(int size, Waiting waiting)
        : nodes_(static_cast<std::size_t>(size)), waiting_(waiting) {
        for (std::size_t rank = 0; rank < nodes_.size(); ++rank) {
            rearm(rank);
        }
    }

    class Member {
    public:
        void arrive_and_wait() noexcept {
            auto& nodes = home_->nodes_;
            Node& node = nodes[rank_];
            wait_until(home_->waiting_, [&] {
                for (const auto& missing : node.child_missing) {
                    if (missing.load(std::memory_order_acquire)) {
                        return false;
                    }
                }
                return true;
            });
            home_->rearm(rank_);
            if (rank_ != 0) {
                const std::size_t parent = (rank_ - 1) / arrival_children;
                const std::size_t place = (rank_ - 1) % arrival_children;
                nodes[parent].child_missing[place].store(false, std::memory_order_release);
                wait_until(home_->waiting_, [&] {
                    return node.wake.value.load(std::memory_order_acquire) == sense_;
                });
            }
            for (std::size_t child = 2 * rank_ + 1; child <= 2 * rank_ + 2; ++child) {
                if (child < nodes.size()) {
                    nodes[child].wake.value.store(sense_, std::memory_order_release);
                }
            }
            sense_ = !sense_;
        }

    private:
        friend class StaticTreeBarrier;
        Member(StaticTreeBarrier& home, std::size_t rank) : home_(&home), rank_(rank) {}
        StaticTreeBarrier* home_;
        std::size_t rank_;
        bool sense_ = true;
    };
    Member join(int rank) { return Member(*this, static_cast<std::size_t>(rank)); }

private:
    static constexpr std::size_t arrival_children = 4;
    struct alignas(padding) Node {
        std::array<std::atomic<bool>, arrival_children> child_missing{};
        Padded<std::atomic<bool>> wake;
    };

    /// Relaxed: a child arrives again only after it was woken, and the wake-up chain begins at the
    /// root after this rank's own arrival, which follows this store and is a release.
    void rearm(std::size_t rank) noexcept {
        for (std::size_t place = 0; place < arrival_children; ++place) {
            const bool exists = arrival_children * rank + place + 1 < nodes_.size();
            nodes_[rank].child_missing[place].store(exists, std::memory_order_relaxed);
        }
    }

    std::vector<Node> nodes_;
    Waiting waiting_;
};

} // namespace corymb::bench
