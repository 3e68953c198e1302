// SPDX-License-Identifier: Apache-2.0
// Runs a checked plan with MPI's point-to-point messages: between nodes and, in this form, also
// within them. Every step becomes a few MPI calls, so it ends when the plan does, and leaves
// nothing behind on the communicator.
#pragma once

#include <corymb/plan.hpp>

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <map>
#include <utility>
#include <vector>

namespace corymb::bench {

/// A rank's program for parts of `count` doubles; reductions add. One object a rank and plan.
///
/// What the plan lends (pull, network) is sent out of its place and waited for at the end; what it
/// copies into a channel (line, cells of one slot) is copied first; longer cells wait for the
/// receiver, which check_plan has allowed for.
class PlanRunner {
public:
    /// `comm` is the runner's own: no other messages on it. `plan` must have passed check_plan and
    /// have as many ranks as `comm`; it must outlive the runner.
    PlanRunner(const Plan& plan, std::size_t count, MPI_Comm comm)
        : plan_(plan), count_(count), comm_(comm) {
        MPI_Comm_rank(comm, &rank_);
        scratch_.resize(doubles_before(plan.scratch_blocks));
        readers_ = readers_of(plan, rank_);
    }

    /// One operation. Buffers as docs/plan.md says; null where the operation has none.
    void run(const double* input, double* output) {
        input_ = input;
        output_ = output;
        std::size_t publication = 0;
        for (const Step& step : plan_.steps[static_cast<std::size_t>(rank_)]) {
            if (step.kind == StepKind::publish) {
                publish(step, readers_[publication++]);
            } else {
                perform(step);
            }
        }
        MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
        requests_.clear();
        copies_.clear();
    }

    /// Bytes that this rank took via the network in all runs.
    [[nodiscard]] std::uint64_t network_bytes() const noexcept { return network_bytes_; }

private:
    enum Tag { tag_signal = 1, tag_message, tag_publication };

    static std::vector<std::vector<Rank>> readers_of(const Plan& plan, Rank publisher) {
        std::vector<std::vector<Rank>> readers;
        for (const Step& step : plan.steps[static_cast<std::size_t>(publisher)]) {
            readers.resize(readers.size() + (step.kind == StepKind::publish ? 1 : 0));
        }
        for (Rank rank = 0; rank < plan.size(); ++rank) {
            for (const Step& step : plan.steps[static_cast<std::size_t>(rank)]) {
                const bool reads = step.kind == StepKind::read || step.kind == StepKind::read_fold;
                if (reads && step.peer == publisher) {
                    readers[step.ordinal].push_back(rank);
                }
            }
        }
        return readers;
    }

    /// Parts are cut in blocks at whole elements.
    [[nodiscard]] std::size_t doubles_before(std::size_t place) const {
        if (plan_.block_count == 0) {
            return 0;
        }
        const std::size_t block = (count_ + plan_.block_count - 1) / plan_.block_count;
        const std::size_t within = place % plan_.block_count * block;
        return place / plan_.block_count * count_ + (within < count_ ? within : count_);
    }
    [[nodiscard]] int length(const Blocks& blocks) const {
        return blocks.count == 0 ? 0
                                 : static_cast<int>(doubles_before(blocks.first + blocks.count) -
                                                    doubles_before(blocks.first));
    }
    [[nodiscard]] const double* source(const Blocks& blocks) const {
        const double* base = blocks.buffer == Buffer::input    ? input_
                             : blocks.buffer == Buffer::output ? output_
                                                               : scratch_.data();
        return blocks.count == 0 ? nullptr : base + doubles_before(blocks.first);
    }
    [[nodiscard]] double* target(const Blocks& blocks) {
        double* base = blocks.buffer == Buffer::output ? output_ : scratch_.data();
        return blocks.count == 0 ? nullptr : base + doubles_before(blocks.first);
    }

    void start(const double* data, int count, Rank peer, int tag, bool lent) {
        if (!lent && count > 0) {
            copies_.emplace_back(data, data + count);
            data = copies_.back().data();
        }
        requests_.emplace_back();
        MPI_Isend(data, count, MPI_DOUBLE, peer, tag, comm_, &requests_.back());
    }

    void send(const Step& step) {
        const int count = length(step.from);
        const bool is_long = step.via == Mechanism::cells &&
                             static_cast<std::size_t>(count) * sizeof(double) > cell_bytes;
        if (is_long) {
            MPI_Send(source(step.from), count, MPI_DOUBLE, step.peer, tag_message, comm_);
            return;
        }
        const bool lent = step.via == Mechanism::pull || step.via == Mechanism::network;
        start(source(step.from), count, step.peer, tag_message, lent);
    }

    void publish(const Step& step, const std::vector<Rank>& readers) {
        for (const Rank reader : readers) {
            start(source(step.from), length(step.from), reader, tag_publication,
                  step.via == Mechanism::pull);
        }
    }

    void perform(const Step& step) {
        switch (step.kind) {
        case StepKind::signal: start(nullptr, 0, step.peer, tag_signal, true); break;
        case StepKind::wait: receive(step, nullptr, tag_signal); break;
        case StepKind::send: send(step); break;
        case StepKind::recv: receive(step, target(step.to), tag_message); break;
        case StepKind::read: receive(step, target(step.to), tag_publication); break;
        case StepKind::fold: fold(step, tag_message); break;
        case StepKind::read_fold: fold(step, tag_publication); break;
        case StepKind::copy:
            std::memmove(target(step.to), source(step.from),
                         static_cast<std::size_t>(length(step.from)) * sizeof(double));
            break;
        case StepKind::publish: break; // has its readers
        }
    }

    void receive(const Step& step, double* into, int tag) {
        const int count = length(step.to);
        MPI_Recv(into, count, MPI_DOUBLE, step.peer, tag, comm_, MPI_STATUS_IGNORE);
        if (step.via == Mechanism::network) {
            network_bytes_ += static_cast<std::uint64_t>(count) * sizeof(double);
        }
    }

    void fold(const Step& step, int tag) {
        incoming_.resize(static_cast<std::size_t>(length(step.to)));
        receive(step, incoming_.data(), tag);
        const double* own = source(step.from);
        double* to = target(step.to);
        for (std::size_t i = 0; i < incoming_.size(); ++i) {
            to[i] = own[i] + incoming_[i];
        }
    }

    const Plan& plan_;
    std::size_t count_;
    MPI_Comm comm_;
    Rank rank_ = 0;
    const double* input_ = nullptr;
    double* output_ = nullptr;
    std::vector<double> scratch_, incoming_;
    std::vector<std::vector<Rank>> readers_; // by publication of this rank
    std::vector<MPI_Request> requests_;
    std::deque<std::vector<double>> copies_; // on their way
    std::uint64_t network_bytes_ = 0;
};

} // namespace corymb::bench
