// SPDX-License-Identifier: Apache-2.0
// What a thread does while a call of it waits. A thread may run several calls in turns, each on a
// stack of its own (include/corymb/boost/stack_task.hpp). Then a call that waits is suspended, and
// the others go on.
#pragma once

#include "channel/env.hpp"
#include "channel/event_count.hpp"
#include "channel/patience.hpp"
#include "channel/waiter_cpus.hpp"

#include <cstdint>

namespace corymb {
class Request;
} // namespace corymb

namespace corymb::channel {

/// A time that is still left, in nanoseconds. Not owning.
class TimeLeft {
public:
    template <class F>
    explicit TimeLeft(F& f) noexcept
        : self_(&f),
          call_([](void* self) noexcept -> std::int64_t { return (*static_cast<F*>(self))(); }) {}
    std::int64_t operator()() const noexcept { return call_(self_); }

private:
    void* self_;
    std::int64_t (*call_)(void*) noexcept;
};

class Meanwhile {
public:
    struct Wait {
        Look look;                               ///< What it is for.
        Look stop;                               ///< Whether it has to end without.
        TimeLeft time_left;                      ///< How long nobody need ask.
        EventCount<StandardEnv>* spot = nullptr; ///< Where the thread is woken; or
        EventCount<StandardEnv, Sleepers::many>* shared_spot = nullptr; ///< here; or nowhere.
        WaiterCpus* cpus = nullptr;                                     ///< The group's.
    };
    /// `alone`: there are no others any more; the thread waits by itself.
    enum class Outcome : std::uint8_t { satisfied, stopped, alone };

    Meanwhile() = default;
    Meanwhile(const Meanwhile&) = delete;
    Meanwhile& operator=(const Meanwhile&) = delete;

    virtual Outcome wait(const Wait& wait) noexcept = 0;
    /// Completes the request, or throws its error. False: there are no others any more.
    virtual bool complete(Request& request) = 0;

protected:
    ~Meanwhile() = default;
};

/// What a wait of the call that runs on this thread asks; null: the thread waits by itself.
[[nodiscard]] Meanwhile* meanwhile() noexcept;
void set_meanwhile(Meanwhile* others) noexcept;

/// Lets others go on for so long, or for one turn. False: the thread waits by itself.
[[nodiscard]] bool rest_meanwhile(std::int64_t ns) noexcept;

} // namespace corymb::channel
