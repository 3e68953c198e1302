// SPDX-License-Identifier: Apache-2.0
// What a user would write first: each rank shows where its data are, all meet, those who need data
// copy them, and all meet again. Messages go through pipes.
#include "../threads/peers/library_barriers.hpp"
#include "../threads/peers/padded.hpp"
#include "contestant.hpp"
#include "shared.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <barrier>
#include <cerrno>
#include <cstring>
#include <functional>
#include <new>
#include <optional>
#include <system_error>
#include <vector>

namespace corymb::bench {
namespace {

/// std::barrier among threads; between processes pthread's, which is the only one that works there.
class Meeting {
public:
    explicit Meeting(const Cell& cell) {
        if (!cell.between_processes) {
            threads_.emplace(cell.ranks);
            return;
        }
        pthread_barrierattr_t shared;
        pthread_barrierattr_init(&shared);
        pthread_barrierattr_setpshared(&shared, PTHREAD_PROCESS_SHARED);
        const int error =
            pthread_barrier_init(&processes_, &shared, static_cast<unsigned>(cell.ranks));
        pthread_barrierattr_destroy(&shared);
        if (error != 0) {
            throw std::system_error(error, std::generic_category(), "pthread_barrier_init");
        }
    }
    void wait() {
        if (threads_) {
            threads_->arrive_and_wait();
        } else {
            pthread_barrier_wait(&processes_);
        }
    }

private:
    std::optional<std::barrier<>> threads_;
    pthread_barrier_t processes_{};
};

/// Where the data of each rank are, and room for them between processes.
class Shown {
public:
    explicit Shown(const Cell& cell)
        : cell_(cell), stride_(stride_of(cell)),
          places_(sizeof(Meeting) + sizeof(Padded<const double*>) * ranks() +
                  stride_ * (ranks() + 1)),
          meeting_(new(places_.data() + meeting_place()) Meeting(cell)) {}
    Shown(const Shown&) = delete;
    Shown& operator=(const Shown&) = delete;
    ~Shown() { meeting_->~Meeting(); }

    [[nodiscard]] Meeting& meeting() const noexcept { return *meeting_; }
    [[nodiscard]] const Cell& cell() const noexcept { return cell_; }
    /// A process copies what others are to read to where they can.
    void show(int rank, std::span<const double> data) const {
        const double* where = data.data();
        if (cell_.between_processes) {
            double* room = room_of(static_cast<std::size_t>(rank));
            std::ranges::copy(data, room);
            where = room;
        }
        pointer(rank) = where;
    }
    [[nodiscard]] const double* of(int rank) const noexcept { return pointer(rank); }
    /// For a result that all ranks make together.
    [[nodiscard]] double* result() const noexcept { return room_of(ranks()); }

private:
    static std::size_t stride_of(const Cell& cell) {
        const std::size_t parts = std::max<std::size_t>(cell.input_parts(0, 0), 1);
        return (parts * cell.bytes + padding - 1) / padding * padding;
    }
    [[nodiscard]] std::size_t ranks() const noexcept {
        return static_cast<std::size_t>(cell_.ranks);
    }
    [[nodiscard]] std::size_t rooms_place() const noexcept {
        return sizeof(Padded<const double*>) * ranks();
    }
    [[nodiscard]] std::size_t meeting_place() const noexcept {
        return rooms_place() + stride_ * (ranks() + 1);
    }
    [[nodiscard]] const double*& pointer(int rank) const noexcept {
        auto* all = reinterpret_cast<Padded<const double*>*>(places_.data());
        return all[rank].value;
    }
    [[nodiscard]] double* room_of(std::size_t index) const noexcept {
        return reinterpret_cast<double*>(places_.data() + rooms_place() + stride_ * index);
    }

    Cell cell_;
    std::size_t stride_;
    SharedMapping places_;
    Meeting* meeting_;
};

class PointersMember final : public CellMember {
public:
    PointersMember(const Shown& shown, int rank) : shown_(shown), rank_(rank) {}

    void call(int root, std::span<const double> input, std::span<double> output) override {
        if (!input.empty()) {
            shown_.show(rank_, input);
        }
        shown_.meeting().wait();
        if (shown_.cell().op == WaitingOp::barrier) {
            return;
        }
        if (shown_.cell().op == WaitingOp::allreduce) {
            add_share();
            shown_.meeting().wait();
            std::copy_n(shown_.result(), output.size(), output.begin());
            return; // The results are written next behind the first meeting of the next call.
        }
        if (!output.empty()) {
            take(root, output);
        }
        shown_.meeting().wait();
    }

private:
    void take(int root, std::span<double> output) const {
        const std::size_t count = shown_.cell().count();
        const auto own = static_cast<std::size_t>(rank_);
        switch (shown_.cell().op) {
        case WaitingOp::reduce: add(0, count, output.data()); return;
        case WaitingOp::scatter: copy(shown_.of(root) + own * count, output.data()); return;
        case WaitingOp::gather:
            for (int rank = 0; rank < shown_.cell().ranks; ++rank) {
                copy(shown_.of(rank), output.data() + static_cast<std::size_t>(rank) * count);
            }
            return;
        case WaitingOp::alltoall:
            for (int rank = 0; rank < shown_.cell().ranks; ++rank) {
                copy(shown_.of(rank) + own * count,
                     output.data() + static_cast<std::size_t>(rank) * count);
            }
            return;
        default: copy(shown_.of(root), output.data()); return;
        }
    }
    void copy(const double* from, double* to) const { std::memcpy(to, from, shown_.cell().bytes); }
    /// The elements from `begin` to `end` of all inputs together.
    void add(std::size_t begin, std::size_t end, double* sum) const {
        std::copy(shown_.of(0) + begin, shown_.of(0) + end, sum);
        for (int rank = 1; rank < shown_.cell().ranks; ++rank) {
            const double* next = shown_.of(rank) + begin;
            std::transform(sum, sum + (end - begin), next, sum, std::plus<>());
        }
    }
    /// This rank's share of the elements, so that no rank adds all of them.
    void add_share() const {
        const auto all = static_cast<std::size_t>(shown_.cell().ranks);
        const auto own = static_cast<std::size_t>(rank_);
        const std::size_t count = shown_.cell().count();
        const std::size_t begin = count * own / all;
        add(begin, count * (own + 1) / all, shown_.result() + begin);
    }

    const Shown& shown_;
    int rank_;
};

class Pointers final : public CellGroup {
public:
    explicit Pointers(const Cell& cell) : shown_(cell) {}
    std::unique_ptr<CellMember> join(int rank) override {
        return std::make_unique<PointersMember>(shown_, rank);
    }

private:
    Shown shown_;
};

class PipeMember final : public CellMember {
public:
    PipeMember(int from, int to, int rank) : from_(from), to_(to), rank_(rank) {}
    void call(int /*root*/, std::span<const double> input, std::span<double> output) override {
        if (rank_ == 0) {
            pass(std::as_bytes(input), [this](const std::byte* place, std::size_t bytes) {
                return write(to_, place, bytes);
            });
        }
        pass(std::as_writable_bytes(output),
             [this](std::byte* place, std::size_t bytes) { return read(from_, place, bytes); });
        if (rank_ != 0) {
            pass(std::as_bytes(output), [this](const std::byte* place, std::size_t bytes) {
                return write(to_, place, bytes);
            });
        }
    }

private:
    template <class Bytes, class Part>
    static void pass(Bytes left, const Part& part) {
        while (!left.empty()) {
            const ssize_t done = part(left.data(), left.size());
            if (done <= 0 && errno != EINTR) {
                throw std::system_error(errno, std::generic_category(), "a pipe");
            }
            left = left.subspan(static_cast<std::size_t>(std::max<ssize_t>(done, 0)));
        }
    }
    int from_, to_, rank_;
};

/// One from each rank to the next.
class Pipes final : public CellGroup {
public:
    explicit Pipes(const Cell& cell) : pipes_(static_cast<std::size_t>(cell.ranks)) {
        for (auto& ends : pipes_) {
            if (pipe(ends.data()) != 0) {
                throw std::system_error(errno, std::generic_category(), "a pipe");
            }
        }
    }
    ~Pipes() override {
        for (const auto& ends : pipes_) {
            close(ends[0]);
            close(ends[1]);
        }
    }
    std::unique_ptr<CellMember> join(int rank) override {
        const auto own = static_cast<std::size_t>(rank);
        const std::size_t before = (own + pipes_.size() - 1) % pipes_.size();
        return std::make_unique<PipeMember>(pipes_[before][0], pipes_[own][1], rank);
    }

private:
    std::vector<std::array<int, 2>> pipes_;
};

} // namespace

std::unique_ptr<CellGroup> plain_group(const Cell& cell) {
    if (cell.op == WaitingOp::mailbox) {
        return std::make_unique<Pipes>(cell);
    }
    return std::make_unique<Pointers>(cell);
}

} // namespace corymb::bench
