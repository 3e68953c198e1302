// SPDX-License-Identifier: Apache-2.0
// corymb in a cell, as it is without options: a team, mailboxes, broadcast rings or a multicast.
#include "contestant.hpp"

#include <corymb/broadcast_ring.hpp>
#include <corymb/mailbox.hpp>
#include <corymb/multicast.hpp>
#include <corymb/process.hpp>
#include <corymb/team.hpp>

#include <unistd.h>

#include <chrono>
#include <cstring>
#include <functional>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

namespace corymb::bench {
namespace {

constexpr std::chrono::seconds patience{20}; ///< A cell in which a wait is longer has failed.

/// A descriptor that goes with this object; none among threads.
class Descriptor {
public:
    explicit Descriptor(int number = -1) noexcept : number_(number) {}
    Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    ~Descriptor() {
        if (number_ >= 0) {
            close(number_);
        }
    }
    [[nodiscard]] int number() const noexcept { return number_; }

private:
    int number_;
};

void require(bool is_met, const char* what) {
    if (!is_met) {
        throw std::runtime_error(what);
    }
}

class TeamMember final : public CellMember {
public:
    TeamMember(Team team, WaitingOp op) : team_(std::move(team)), op_(op) {}

    void call(int root, std::span<const double> input, std::span<double> output) override {
        switch (op_) {
        case WaitingOp::reduce: team_.reduce(input, output, std::plus<>(), root); return;
        case WaitingOp::allreduce: team_.allreduce(input, output); return;
        case WaitingOp::scatter: team_.scatter(input, output, root); return;
        case WaitingOp::gather: team_.gather(input, output, root); return;
        case WaitingOp::alltoall: team_.alltoall(input, output); return;
        case WaitingOp::broadcast: broadcast(root, input, output); return;
        default: team_.barrier(); return;
        }
    }

private:
    void broadcast(int root, std::span<const double> input, std::span<double> output) {
        if (team_.rank() != root) {
            team_.broadcast(output, root);
            return;
        }
        // The root's data are sent from where they are; a broadcast does not write to them.
        team_.broadcast(std::span(const_cast<double*>(input.data()), input.size()), root);
    }

    Team team_;
    WaitingOp op_;
};

class TeamGroup final : public CellGroup {
public:
    explicit TeamGroup(const Cell& cell) : op_(cell.op) {
        options_.deadline = patience;
        if (cell.between_processes) {
            descriptor_.emplace(make_team_descriptor(cell.ranks));
        } else {
            threads_.emplace(cell.ranks, options_);
        }
    }
    std::unique_ptr<CellMember> join(int rank) override {
        if (threads_) {
            return std::make_unique<TeamMember>(threads_->join(rank), op_);
        }
        AttachOptions attach;
        attach.descriptor = descriptor_->number();
        attach.rank = rank;
        attach.team = options_;
        return std::make_unique<TeamMember>(Team::attach(attach), op_);
    }

private:
    WaitingOp op_;
    TeamOptions options_;
    std::optional<ThreadTeam> threads_;
    std::optional<Descriptor> descriptor_;
};

class MailMember final : public CellMember {
public:
    explicit MailMember(Mailbox box) : box_(std::move(box)) {}

    void call(int /*root*/, std::span<const double> input, std::span<double> output) override {
        if (box_.rank() == 0) {
            send(std::as_bytes(input));
        }
        const auto keep = [&output](Rank, std::span<const std::byte> message) {
            std::memcpy(output.data(), message.data(), message.size());
        };
        while (box_.probe(keep, 1) == 0) {
            require(box_.wait(patience), "no message has come");
        }
        if (box_.rank() != 0) {
            send(std::as_bytes(output));
        }
    }

private:
    void send(std::span<const std::byte> message) {
        require(box_.send((box_.rank() + 1) % box_.size(), message, patience),
                "there is no room for a message");
    }
    Mailbox box_;
};

class MailGroup final : public CellGroup {
public:
    explicit MailGroup(const Cell& cell)
        : group_(cell.ranks, {.message_bytes = cell.bytes,
                              .capacity = 2,
                              .between_processes = cell.between_processes}),
          descriptor_(cell.between_processes ? group_.make_descriptor() : -1) {}
    std::unique_ptr<CellMember> join(int rank) override {
        const bool is_here = descriptor_.number() < 0;
        return std::make_unique<MailMember>(
            is_here ? group_.join(rank) : MailboxGroup::open(descriptor_.number()).join(rank));
    }

private:
    MailboxGroup group_;
    Descriptor descriptor_;
};

/// A ring for each root, which the other ranks read.
class RingMember final : public CellMember {
public:
    RingMember(std::vector<BroadcastRing> rings, const Cell& cell, int rank)
        : cell_(cell), rank_(rank) {
        for (std::size_t i = 0; i < rings.size(); ++i) {
            if (cell.root_of(i) == rank) {
                publisher_ = rings[i].publisher();
                readers_.emplace_back();
            } else {
                readers_.push_back(rings[i].reader());
            }
        }
    }
    void call(int root, std::span<const double> input, std::span<double> output) override {
        if (root == rank_) {
            publisher_.publish(input.data(), input.size_bytes(), patience);
            return;
        }
        // root = turn * ranks / round, rounded down.
        const int turn = (root * cell_.round() + cell_.ranks - 1) / cell_.ranks;
        BroadcastReader& reader = readers_[static_cast<std::size_t>(turn)];
        const auto keep = [&output](const BroadcastMessage& message) {
            std::memcpy(output.data(), message.bytes.data(), message.bytes.size());
        };
        while (reader.probe(keep, 1) == 0) {
            require(reader.wait(patience), "nothing was published");
        }
    }

private:
    Cell cell_;
    int rank_;
    BroadcastPublisher publisher_;
    std::vector<BroadcastReader> readers_;
};

class RingGroup final : public CellGroup {
public:
    explicit RingGroup(const Cell& cell) : cell_(cell) {
        for (int root = 0; root < cell.round(); ++root) {
            rings_.emplace_back(BroadcastOptions{.message_bytes = cell.bytes,
                                                 .slots = 2,
                                                 .readers = cell.ranks,
                                                 .between_processes = cell.between_processes});
            if (cell.between_processes) {
                descriptors_.emplace_back(rings_.back().make_descriptor());
            }
        }
    }
    std::unique_ptr<CellMember> join(int rank) override {
        std::vector<BroadcastRing> rings = rings_;
        for (std::size_t i = 0; i < descriptors_.size(); ++i) {
            rings[i] = BroadcastRing::open(descriptors_[i].number());
        }
        return std::make_unique<RingMember>(std::move(rings), cell_, rank);
    }

private:
    Cell cell_;
    std::vector<BroadcastRing> rings_;
    std::vector<Descriptor> descriptors_;
};

class MulticastMember final : public CellMember {
public:
    MulticastMember(MulticastGroup group, int rank)
        : place_(group.initiator(rank, [this](std::span<const std::byte> message) {
              std::memcpy(&told_, message.data(), sizeof told_);
              has_been_told_ = true;
          })) {
        if (rank != 0) {
            place_.join();
        }
    }
    void call(int root, std::span<const double> input, std::span<double> output) override {
        if (place_.rank() == root) {
            place_.send(std::as_bytes(input)).wait(patience);
            return;
        }
        while (!std::exchange(has_been_told_, false)) {
            require(place_.sleep(patience) > 0, "no call has come");
        }
        output[0] = told_;
    }

private:
    double told_ = 0;
    bool has_been_told_ = false;
    Multicast place_;
};

class MulticastCell final : public CellGroup {
public:
    explicit MulticastCell(const Cell& cell)
        : group_(cell.ranks, options_for(cell)),
          descriptor_(cell.between_processes ? group_.make_descriptor() : -1) {}
    std::unique_ptr<CellMember> join(int rank) override {
        const bool is_here = descriptor_.number() < 0;
        return std::make_unique<MulticastMember>(
            is_here ? group_ : MulticastGroup::open(descriptor_.number()), rank);
    }

private:
    static MulticastOptions options_for(const Cell& cell) {
        MulticastOptions options;
        options.between_processes = cell.between_processes;
        return options;
    }
    MulticastGroup group_;
    Descriptor descriptor_;
};

} // namespace

std::unique_ptr<CellGroup> corymb_group(const Cell& cell) {
    switch (cell.op) {
    case WaitingOp::mailbox: return std::make_unique<MailGroup>(cell);
    case WaitingOp::ring: return std::make_unique<RingGroup>(cell);
    case WaitingOp::multicast: return std::make_unique<MulticastCell>(cell);
    default: return std::make_unique<TeamGroup>(cell);
    }
}

} // namespace corymb::bench
