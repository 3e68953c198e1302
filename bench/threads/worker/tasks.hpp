// SPDX-License-Identifier: Apache-2.0
// What one rank does in one operation, and how it knows that the result is right. A peer `Shared`
// is a barrier (join(rank), arrive_and_wait()) or a set of group operations on spans.
#pragma once

#include "../case.hpp"
#include "../peers/padded.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <span>
#include <utility>
#include <vector>

namespace corymb::bench {

/// All elements become `value`. This is measured with the operation, so it must cost the same
/// whichever compiler has built the contestant's program: a line at a time does.
inline void fill(std::span<double> data, double value) noexcept {
    std::array<double, 8> line{};
    line.fill(value);
    std::size_t done = 0;
    for (; done + line.size() <= data.size(); done += line.size()) {
        std::memcpy(data.data() + done, line.data(), sizeof line);
    }
    std::fill(data.data() + done, data.data() + data.size(), value);
}
/// Whether all elements, of which there are some, are `value`. It reads the whole payload and is
/// measured, too: the comparison with itself, one element on, costs the same whichever compiler has
/// built this.
[[nodiscard]] inline bool are_all(std::span<const double> data, double value) noexcept {
    return data[0] == value &&
           std::memcmp(data.data(), data.data() + 1, data.size_bytes() - sizeof value) == 0;
}

/// A rank's own payload, in lines of its own.
class Payload {
public:
    explicit Payload(std::size_t count)
        : data_(static_cast<double*>(::operator new(
              std::max<std::size_t>(count, 1) * sizeof(double), std::align_val_t{alignment}))),
          count_(count) {
        std::fill_n(data_.get(), count_, 0.0);
    }
    [[nodiscard]] std::span<double> span() const noexcept { return {data_.get(), count_}; }

    /// element i becomes first + i * step.
    void fill(double first, double step) const noexcept {
        for (std::size_t i = 0; i < count_; ++i) {
            data_.get()[i] = first + static_cast<double>(i) * step;
        }
    }
    void fill(double value) const noexcept { bench::fill(span(), value); }
    [[nodiscard]] bool is_all(double value) const noexcept { return are_all(span(), value); }
    [[nodiscard]] bool all_are(double first, double step) const noexcept {
        for (std::size_t i = 0; i < count_; ++i) {
            if (data_.get()[i] != first + static_cast<double>(i) * step) {
                return false;
            }
        }
        return true;
    }

private:
    static constexpr std::size_t alignment = 4096;
    struct Free {
        void operator()(double* data) const noexcept {
            ::operator delete(data, std::align_val_t{alignment});
        }
    };
    std::unique_ptr<double, Free> data_;
    std::size_t count_;
};

/// Values repeat after a while, so that sums stay exact.
inline double value_of(std::uint64_t operation) noexcept {
    return static_cast<double>(operation % 1024);
}

template <class Barrier>
class BarrierTask {
public:
    class Group {
    public:
        template <class... Arguments>
        explicit Group(const Case& what, Arguments&&... arguments)
            : barrier_(what.ranks, std::forward<Arguments>(arguments)...),
              counters_(static_cast<std::size_t>(what.ranks)) {}
        BarrierTask enter(int rank) { return BarrierTask(*this, rank); }

    private:
        friend class BarrierTask;
        Barrier barrier_;
        /// Plain on purpose: the barrier under test is what must order them.
        std::vector<Padded<std::uint64_t>> counters_;
    };

    bool step() {
        barrier_.arrive_and_wait();
        return true;
    }

    /// Between two barriers every counter must show this round.
    bool verify() {
        counters_[rank_].value = ++round_;
        barrier_.arrive_and_wait();
        const bool together =
            std::all_of(counters_.begin(), counters_.end(),
                        [this](const auto& counter) { return counter.value == round_; });
        barrier_.arrive_and_wait();
        return together;
    }

private:
    BarrierTask(Group& group, int rank)
        : barrier_(group.barrier_.join(rank)), counters_(group.counters_),
          rank_(static_cast<std::size_t>(rank)) {}

    typename Barrier::Member barrier_;
    std::span<Padded<std::uint64_t>> counters_;
    std::size_t rank_;
    std::uint64_t round_ = 0;
};

/// What the tasks with a payload have in common: the group, the turn of the roots.
template <class Shared, class Task>
class PayloadGroup {
public:
    template <class... Arguments>
    explicit PayloadGroup(const Case& what, Arguments&&... arguments)
        : what_(what), shared_(what.ranks, std::forward<Arguments>(arguments)...) {}
    Task enter(int rank) { return Task(shared_.join(rank), what_, rank); }

private:
    Case what_;
    Shared shared_;
};

/// The root writes its whole payload anew for each operation and every rank reads all of its own,
/// as in any use. Readers would otherwise find most of an unchanged payload in their own caches.
template <class Shared>
class BroadcastTask {
public:
    using Group = PayloadGroup<Shared, BroadcastTask>;

    BroadcastTask(typename Shared::Member member, const Case& what, int rank)
        : member_(std::move(member)), data_(what.count()), rank_(rank), ranks_(what.ranks),
          stays_(what.op == Operation::broadcast_stream) {}

    bool step() {
        const double value = value_of(operation_);
        const int root = next_root();
        if (rank_ == root) {
            data_.fill(value);
        }
        member_.broadcast(data_.span(), root);
        return data_.is_all(value);
    }

    bool verify() {
        const double value = value_of(operation_);
        const int root = next_root();
        data_.fill(rank_ == root ? value : -1, rank_ == root ? 1 : 0);
        member_.broadcast(data_.span(), root);
        return data_.all_are(value, 1);
    }

private:
    int next_root() noexcept {
        const auto turn = operation_++ % static_cast<std::uint64_t>(ranks_);
        return stays_ ? 0 : static_cast<int>(turn);
    }

    typename Shared::Member member_;
    Payload data_;
    int rank_, ranks_;
    bool stays_;
    std::uint64_t operation_ = 0;
};

/// reduce and allreduce: rank r contributes value + r everywhere. The input is written anew for
/// each operation and the result is read whole, as in any use. Both times are part of the
/// measurement, the same for all contestants.
template <class Shared>
class ReductionTask {
public:
    using Group = PayloadGroup<Shared, ReductionTask>;

    ReductionTask(typename Shared::Member member, const Case& what, int rank)
        : member_(std::move(member)), input_(what.count()), output_(what.count()), rank_(rank),
          ranks_(what.ranks), rooted_(what.op == Operation::reduce) {}

    bool step() {
        const double value = value_of(operation_);
        input_.fill(value + rank_);
        return !combine() || output_.is_all(expected(value));
    }

    bool verify() {
        const double value = value_of(operation_);
        input_.fill(value + rank_, 1);
        output_.fill(-1);
        return !combine() || output_.all_are(expected(value), ranks_);
    }

private:
    /// Whether this rank has a result.
    bool combine() {
        const auto turn = operation_++ % static_cast<std::uint64_t>(ranks_);
        const int root = static_cast<int>(turn);
        if (rooted_) {
            member_.reduce(input_.span(), output_.span(), root);
            return rank_ == root;
        }
        member_.allreduce(input_.span(), output_.span());
        return true;
    }
    [[nodiscard]] double expected(double value) const noexcept {
        return ranks_ * value + ranks_ * (ranks_ - 1) / 2.0;
    }

    typename Shared::Member member_;
    Payload input_, output_;
    int rank_, ranks_;
    bool rooted_;
    std::uint64_t operation_ = 0;
};

} // namespace corymb::bench
