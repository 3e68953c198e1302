// SPDX-License-Identifier: Apache-2.0
// The OpenMP runtime's barrier and reduction in the shape of the peers. The ranks are the threads
// of one parallel region; the directives bind to it from inside these functions.
#pragma once

#include "../peers/padded.hpp"
#include "../peers/shared_memory.hpp"
#include "../peers/waiting.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <vector>

namespace corymb::bench {

class OpenMpBarrier {
public:
    OpenMpBarrier(int /*size*/, Waiting /*waiting*/) {}

    class Member {
    public:
        void arrive_and_wait() noexcept {
#pragma omp barrier
        }
    };
    Member join(int /*rank*/) { return {}; }
};

/// Totals of one element; namespace scope makes them shared.
alignas(padding) inline double scalar_total_0 = 0;
alignas(padding) inline double scalar_total_1 = 0;
alignas(padding) inline double scalar_total_2 = 0;

/// broadcast and reduce through shared memory and the runtime's barrier, allreduce by the
/// `reduction` clause of a worksharing loop, whose implied barrier is the only one.
class OpenMpTeam {
public:
    OpenMpTeam(int size, std::size_t bytes, Waiting waiting)
        : size_(size), shared_(size, bytes, waiting) {
        for (auto& total : totals_) {
            total.value.resize(bytes / sizeof(double));
        }
    }

    class Member {
    public:
        void broadcast(std::span<double> data, int root) { shared_.broadcast(data, root); }
        void reduce(std::span<const double> input, std::span<double> output, int root) {
            shared_.reduce(input, output, root);
        }

        /// Three totals in turn: while one is being summed up the previous one may still be read,
        /// and the next one has been cleared since everybody left it.
        void allreduce(std::span<const double> input, std::span<double> output) {
            if (input.size() == 1) {
                output.front() = combine_scalar(input.front());
                turn_ = (turn_ + 1) % 3;
                return;
            }
            auto& total = home_->totals_[turn_].value;
            const std::size_t previous = (turn_ + 2) % 3;
            combine(input, total.data());
            std::copy(total.begin(), total.end(), output.begin());
            if (rank_ == 0) {
                auto& stale = home_->totals_[previous].value;
                std::fill(stale.begin(), stale.end(), 0.0);
            }
            turn_ = (turn_ + 1) % 3;
        }

    private:
        friend class OpenMpTeam;
        Member(OpenMpTeam& home, int rank)
            : home_(&home), shared_(home.shared_.join(rank)), rank_(rank) {}

        void combine(std::span<const double> input, double* total) const {
            const int ranks = home_->size_;
            const std::size_t count = input.size();
            const double* values = input.data();
#pragma omp for schedule(static, 1) reduction(+ : total[ : count])
            for (int rank = 0; rank < ranks; ++rank) {
                for (std::size_t i = 0; i < count; ++i) {
                    total[i] += values[i];
                }
            }
        }

        /// The clause wants the name of a shared variable, hence three loops.
        double combine_scalar(double value) const {
            const int ranks = home_->size_;
            double result = 0;
            if (turn_ == 0) {
#pragma omp for schedule(static, 1) reduction(+ : scalar_total_0)
                for (int rank = 0; rank < ranks; ++rank) {
                    scalar_total_0 += value;
                }
                result = scalar_total_0;
                clear(scalar_total_2);
            } else if (turn_ == 1) {
#pragma omp for schedule(static, 1) reduction(+ : scalar_total_1)
                for (int rank = 0; rank < ranks; ++rank) {
                    scalar_total_1 += value;
                }
                result = scalar_total_1;
                clear(scalar_total_0);
            } else {
#pragma omp for schedule(static, 1) reduction(+ : scalar_total_2)
                for (int rank = 0; rank < ranks; ++rank) {
                    scalar_total_2 += value;
                }
                result = scalar_total_2;
                clear(scalar_total_1);
            }
            return result;
        }
        void clear(double& stale) const noexcept {
            if (rank_ == 0) {
                stale = 0;
            }
        }

        OpenMpTeam* home_;
        SharedMemory<OpenMpBarrier>::Member shared_;
        int rank_;
        std::size_t turn_ = 0;
    };
    Member join(int rank) { return Member(*this, rank); }

private:
    int size_;
    SharedMemory<OpenMpBarrier> shared_;
    std::array<Padded<std::vector<double>>, 3> totals_;
};

} // namespace corymb::bench
