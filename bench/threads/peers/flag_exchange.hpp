// SPDX-License-Identifier: Apache-2.0
// The floor for two ranks: what the cache line between the two cores costs, and nothing else.
#pragma once

#include "padded.hpp"
#include "waiting.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <span>

namespace corymb::bench {

enum class Store : unsigned char { plain, exchange };

/// Two lines, one writer each: store the own one, poll the other.
template <Store store, bool pausing>
class FlagExchange {
public:
    FlagExchange(int /*size*/, Waiting /*waiting*/) {}

    class Member {
    public:
        void arrive_and_wait() noexcept {
            ++sequence_;
            if constexpr (store == Store::exchange) {
                mine_->exchange(sequence_, std::memory_order_acq_rel);
            } else {
                mine_->store(sequence_, std::memory_order_release);
            }
            while (other_->load(std::memory_order_acquire) < sequence_) {
                if constexpr (pausing) {
                    relax();
                }
            }
        }

    private:
        friend class FlagExchange;
        using Flag = std::atomic<std::uint64_t>;
        Member(Flag& mine, const Flag& other) : mine_(&mine), other_(&other) {}
        Flag* mine_;
        const Flag* other_;
        std::uint64_t sequence_ = 0;
    };
    Member join(int rank) {
        const auto own = static_cast<std::size_t>(rank);
        return Member(flags_[own].value, flags_[1 - own].value);
    }

private:
    std::array<Padded<std::atomic<std::uint64_t>>, 2> flags_;
};

/// Group operations of two ranks written by hand. Up to 56 bytes travel in the flag's own line, two
/// lines a direction; more are copied once, straight out of the peer's buffer.
class FlagTransfer {
public:
    FlagTransfer(int /*size*/, std::size_t /*bytes*/, Waiting /*waiting*/) {}

    class Member {
    public:
        /// Short payloads: the roots must take turns, which is what frees the line.
        void broadcast(std::span<double> data, int root) noexcept {
            if (rank_ == root) {
                send(data);
            } else {
                receive(data.size(), [&](const double* from) {
                    std::memcpy(data.data(), from, data.size_bytes());
                });
            }
            finish(data.size());
        }

        void reduce(std::span<const double> input, std::span<double> output, int root) noexcept {
            if (rank_ != root) {
                send(input);
            } else {
                add_incoming(input, output);
            }
            finish(input.size());
        }

        void allreduce(std::span<const double> input, std::span<double> output) noexcept {
            send(input);
            add_incoming(input, output);
            finish(input.size());
        }

    private:
        friend class FlagTransfer;
        Member(FlagTransfer& home, int rank) : home_(&home), rank_(rank) {}

        void send(std::span<const double> data) noexcept {
            Line& line = home_->line(rank_, sent_);
            if (data.size() <= line.payload.size()) {
                std::copy(data.begin(), data.end(), line.payload.begin());
            } else {
                line.pointer = data.data();
            }
            line.sequence.store(++sent_, std::memory_order_release);
        }

        template <class Use>
        void receive(std::size_t count, Use use) noexcept {
            const Line& line = home_->line(1 - rank_, received_);
            ++received_;
            poll(line.sequence, received_);
            use(count <= line.payload.size() ? line.payload.data() : line.pointer);
        }

        void add_incoming(std::span<const double> input, std::span<double> output) noexcept {
            receive(input.size(), [&](const double* from) {
                std::transform(input.begin(), input.end(), from, output.begin(), std::plus<>());
            });
        }

        /// A long payload stays with its owner, who must not return before the reader is done.
        void finish(std::size_t count) noexcept {
            if (count <= payload_max) {
                return;
            }
            ++finished_;
            home_->done_[index()].value.store(finished_, std::memory_order_release);
            poll(home_->done_[1 - index()].value, finished_);
        }

        static void poll(const std::atomic<std::uint64_t>& flag, std::uint64_t goal) noexcept {
            while (flag.load(std::memory_order_acquire) < goal) {
                relax();
            }
        }
        [[nodiscard]] std::size_t index() const noexcept { return static_cast<std::size_t>(rank_); }

        FlagTransfer* home_;
        int rank_;
        std::uint64_t sent_ = 0, received_ = 0, finished_ = 0;
    };
    Member join(int rank) { return Member(*this, rank); }

private:
    static constexpr std::size_t payload_max = 7;
    struct alignas(padding) Line {
        std::atomic<std::uint64_t> sequence{0};
        std::array<double, payload_max> payload{};
        const double* pointer = nullptr; ///< Long payloads only, so that its line does not matter.
    };
    Line& line(int from, std::uint64_t message) noexcept {
        return lines_[static_cast<std::size_t>(from)][message % 2];
    }

    std::array<std::array<Line, 2>, 2> lines_;
    std::array<Padded<std::atomic<std::uint64_t>>, 2> done_;
};

} // namespace corymb::bench
