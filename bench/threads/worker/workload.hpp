// SPDX-License-Identifier: Apache-2.0
// A contestant at work on one case: the loops that all contestants share, so that only the
// operation itself differs between them.
#pragma once

#include "../case.hpp"
#include "../peers/padded.hpp"
#include "time.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace corymb::bench {

/// Times of one rank in an operation of the regime `late`.
struct Passage {
    std::int64_t arrived = 0, left = 0;
};

/// All ranks call the same function with the same count, each on its own thread.
class Workload {
public:
    Workload() = default;
    Workload(const Workload&) = delete;
    Workload& operator=(const Workload&) = delete;
    virtual ~Workload() = default;

    /// Once a rank, on the rank's thread, before anything else.
    virtual void enter(int rank) = 0;
    /// `operations` operations as fast as they go; how many gave this rank a wrong result.
    virtual std::uint64_t run(int rank, std::uint64_t operations) = 0;
    /// The same slowly, every element of every result compared.
    virtual std::uint64_t verify(int rank, std::uint64_t operations) = 0;
    /// One operation for each passage; in each of them another rank comes late.
    virtual std::uint64_t run_late(int rank, std::span<Passage> passages) = 0;
};

/// `Group` makes the per-rank task by `enter(rank)`; a task has `step()` and `verify()`, which do
/// one operation and say whether the result was right.
template <class Group>
class Looped final : public Workload {
public:
    template <class... Arguments>
    explicit Looped(const Case& what, Arguments&&... arguments)
        : ranks_(what.ranks), group_(what, std::forward<Arguments>(arguments)...),
          places_(static_cast<std::size_t>(what.ranks)) {}

    void enter(int rank) override { place(rank).reset(new Place{group_.enter(rank)}); }

    std::uint64_t run(int rank, std::uint64_t operations) override {
        Task& mine = place(rank)->task;
        std::uint64_t wrong = 0;
        for (std::uint64_t k = 0; k < operations; ++k) {
            wrong += mine.step() ? 0U : 1U;
        }
        return wrong;
    }

    std::uint64_t verify(int rank, std::uint64_t operations) override {
        Task& mine = place(rank)->task;
        std::uint64_t wrong = 0;
        for (std::uint64_t k = 0; k < operations; ++k) {
            wrong += mine.verify() ? 0U : 1U;
        }
        return wrong;
    }

    std::uint64_t run_late(int rank, std::span<Passage> passages) override {
        Task& mine = place(rank)->task;
        std::uint64_t wrong = 0;
        for (std::size_t k = 0; k < passages.size(); ++k) {
            if (k % static_cast<std::size_t>(ranks_) == static_cast<std::size_t>(rank)) {
                sleep_ns(late_ns);
            }
            passages[k].arrived = wall_ns();
            wrong += mine.step() ? 0U : 1U;
            passages[k].left = wall_ns();
        }
        return wrong;
    }

private:
    using Task = decltype(std::declval<Group&>().enter(0));
    /// Made on the rank's own thread, in lines of its own.
    struct alignas(padding) Place {
        Task task;
    };

    std::unique_ptr<Place>& place(int rank) { return places_[static_cast<std::size_t>(rank)]; }

    int ranks_;
    Group group_;
    std::vector<std::unique_ptr<Place>> places_;
};

} // namespace corymb::bench
