// SPDX-License-Identifier: Apache-2.0
// All ranks of a group in the hands of one thread, and how often each has run a call.
#pragma once

#include <corymb/multicast.hpp>

#include <gtest/gtest.h>

#include <initializer_list>
#include <utility>
#include <vector>

namespace corymb::multicast_test {

inline MulticastOptions settings(MulticastTopology topology, bool skipping = true) {
    MulticastOptions options;
    options.topology = topology;
    options.skipping = skipping;
    return options;
}

class Ranks {
public:
    Ranks(int size, const MulticastOptions& options)
        : group_(size, options), runs_(static_cast<std::size_t>(size)) {
        for (Rank rank = 0; rank < size; ++rank) {
            ranks_.push_back(group_.initiator(rank));
        }
    }
    Ranks(const Ranks&) = delete;
    Ranks& operator=(const Ranks&) = delete;
    /// Whoever still is a member leaves while it can count.
    ~Ranks() {
        for (Rank rank = 0; rank < group_.size(); ++rank) {
            at_ = static_cast<std::size_t>(rank);
            ranks_[at_].leave();
        }
    }

    /// The rank, which is the one that runs what it is told from here on.
    Multicast& operator[](Rank rank) {
        at_ = static_cast<std::size_t>(rank);
        return ranks_[at_];
    }
    void join(std::initializer_list<Rank> which) {
        for (const Rank rank : which) {
            (*this)[rank].join();
        }
    }
    MulticastToken call(Rank rank) {
        return (*this)[rank].call([this] { ++runs_[at_]; });
    }
    /// Everybody polls until the call is complete; a tree is no deeper than it has ranks.
    void poll_until(MulticastToken& token) {
        for (std::size_t round = 0; round <= ranks_.size(); ++round) {
            for (Rank rank = 0; rank < group_.size(); ++rank) {
                (*this)[rank].poll();
            }
            if (token.test()) {
                return;
            }
        }
        FAIL() << "not complete after everybody has polled often enough";
    }
    [[nodiscard]] const std::vector<int>& runs() const { return runs_; }
    [[nodiscard]] MulticastGroup& group() { return group_; }

private:
    MulticastGroup group_;
    std::vector<Multicast> ranks_;
    std::vector<int> runs_;
    std::size_t at_ = 0;
};

} // namespace corymb::multicast_test
