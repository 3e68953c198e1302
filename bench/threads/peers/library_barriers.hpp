// SPDX-License-Identifier: Apache-2.0
// Barriers that people use today, as members that know their rank.
#pragma once

#include "waiting.hpp"

#include <pthread.h>

#include <barrier>
#include <system_error>

#if defined(CORYMB_BENCH_BOOST)
#include <boost/thread/barrier.hpp>
#endif

namespace corymb::bench {

/// Gives a barrier without ranks the shape of the peers: join(rank) and arrive_and_wait().
template <class Barrier>
class Anonymous {
public:
    Anonymous(int size, Waiting /*waiting*/) : barrier_(size) {}

    class Member {
    public:
        void arrive_and_wait() { barrier_->arrive_and_wait(); }

    private:
        friend class Anonymous;
        explicit Member(Barrier& barrier) : barrier_(&barrier) {}
        Barrier* barrier_;
    };
    Member join(int /*rank*/) { return Member(barrier_); }

private:
    Barrier barrier_;
};

using StdBarrier = Anonymous<std::barrier<>>;

class PosixBarrier {
public:
    explicit PosixBarrier(int size) {
        const int error = pthread_barrier_init(&barrier_, nullptr, static_cast<unsigned>(size));
        if (error != 0) {
            throw std::system_error(error, std::generic_category(), "pthread_barrier_init");
        }
    }
    PosixBarrier(const PosixBarrier&) = delete;
    PosixBarrier& operator=(const PosixBarrier&) = delete;
    ~PosixBarrier() { pthread_barrier_destroy(&barrier_); }
    void arrive_and_wait() noexcept { pthread_barrier_wait(&barrier_); }

private:
    pthread_barrier_t barrier_{};
};
using PthreadBarrier = Anonymous<PosixBarrier>;

#if defined(CORYMB_BENCH_BOOST)
class BoostMutexBarrier {
public:
    explicit BoostMutexBarrier(int size) : barrier_(static_cast<unsigned>(size)) {}
    void arrive_and_wait() { barrier_.wait(); }

private:
    boost::barrier barrier_;
};
using BoostBarrier = Anonymous<BoostMutexBarrier>;
#endif

} // namespace corymb::bench
