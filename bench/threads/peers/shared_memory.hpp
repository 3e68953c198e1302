// SPDX-License-Identifier: Apache-2.0
// Group operations as a textbook builds them from shared variables and any barrier. Up to
// `staged_bytes_max` the payload is staged in shared memory, with one barrier an operation; more is
// read straight out of the owner's buffer, which needs a second one.
#pragma once

#include "padded.hpp"
#include "waiting.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <functional>
#include <span>
#include <vector>

namespace corymb::bench {

template <class Barrier>
class SharedMemory {
public:
    static constexpr std::size_t staged_bytes_max = 4096;

    SharedMemory(int size, std::size_t bytes, Waiting waiting)
        : barrier_(size, waiting), size_(static_cast<std::size_t>(size)),
          stride_((bytes + padding - 1) / padding * padding / sizeof(double)),
          owners_(static_cast<std::size_t>(size)) {
        const bool staged = bytes <= staged_bytes_max;
        for (auto& stage : stages_) {
            stage.resize(staged ? stride_ * size_ : stride_);
        }
    }

    class Member {
    public:
        void broadcast(std::span<double> data, int root) {
            const bool mine = rank_ == static_cast<std::size_t>(root);
            if (data.size_bytes() <= staged_bytes_max) {
                double* stage = next_stage();
                if (mine) {
                    std::memcpy(stage, data.data(), data.size_bytes());
                }
                barrier_.arrive_and_wait();
                if (!mine) {
                    std::memcpy(data.data(), stage, data.size_bytes());
                }
                return;
            }
            publish(data.data(), nullptr);
            barrier_.arrive_and_wait();
            if (!mine) {
                const auto& owner = home_->owners_[static_cast<std::size_t>(root)].value;
                std::memcpy(data.data(), owner.input, data.size_bytes());
            }
            barrier_.arrive_and_wait();
        }

        void reduce(std::span<const double> input, std::span<double> output, int root) {
            const auto target = static_cast<std::size_t>(root);
            if (input.size_bytes() <= staged_bytes_max) {
                const double* stage = gather(input);
                if (rank_ == target) {
                    sum_staged(stage, output);
                }
                return;
            }
            publish(input.data(), output.data());
            barrier_.arrive_and_wait();
            sum_segment(input.size(), home_->owners_[target].value.output);
            barrier_.arrive_and_wait();
        }

        void allreduce(std::span<const double> input, std::span<double> output) {
            if (input.size_bytes() <= staged_bytes_max) {
                sum_staged(gather(input), output);
                return;
            }
            double* stage = next_stage();
            publish(input.data(), nullptr);
            barrier_.arrive_and_wait();
            sum_segment(input.size(), stage);
            barrier_.arrive_and_wait();
            std::memcpy(output.data(), stage, output.size_bytes());
        }

    private:
        friend class SharedMemory;
        Member(SharedMemory& home, int rank)
            : home_(&home), barrier_(home.barrier_.join(rank)),
              rank_(static_cast<std::size_t>(rank)) {}

        /// Two stages in turn: whoever writes one again has passed the barrier of the other, which
        /// every reader of the first reached only after reading.
        double* next_stage() noexcept {
            parity_ = 1 - parity_;
            return home_->stages_[parity_].data();
        }

        void publish(const double* input, double* output) noexcept {
            home_->owners_[rank_].value = {input, output};
        }

        const double* gather(std::span<const double> input) {
            double* stage = next_stage();
            std::memcpy(stage + rank_ * home_->stride_, input.data(), input.size_bytes());
            barrier_.arrive_and_wait();
            return stage;
        }

        void sum_staged(const double* stage, std::span<double> output) const noexcept {
            std::copy_n(stage, output.size(), output.begin());
            for (std::size_t rank = 1; rank < home_->size_; ++rank) {
                std::transform(output.begin(), output.end(), stage + rank * home_->stride_,
                               output.begin(), std::plus<>());
            }
        }

        /// This rank's share of the elements, summed over all inputs in rank order.
        void sum_segment(std::size_t count, double* output) const noexcept {
            const auto& owners = home_->owners_;
            const std::size_t begin = count * rank_ / home_->size_;
            const std::size_t end = count * (rank_ + 1) / home_->size_;
            std::copy(owners[0].value.input + begin, owners[0].value.input + end, output + begin);
            for (std::size_t rank = 1; rank < home_->size_; ++rank) {
                std::transform(output + begin, output + end, owners[rank].value.input + begin,
                               output + begin, std::plus<>());
            }
        }

        SharedMemory* home_;
        typename Barrier::Member barrier_;
        std::size_t rank_;
        std::size_t parity_ = 0;
    };
    Member join(int rank) { return Member(*this, rank); }

private:
    struct Owner {
        const double* input = nullptr;
        double* output = nullptr;
    };

    Barrier barrier_;
    std::size_t size_;
    std::size_t stride_; ///< Elements from one rank's stage to the next.
    std::array<std::vector<double>, 2> stages_;
    std::vector<Padded<Owner>> owners_;
};

} // namespace corymb::bench
