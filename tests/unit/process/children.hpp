// SPDX-License-Identifier: Apache-2.0
// Child processes of a test, made by fork: each runs a function and says by its exit status whether
// all went well. They never outlive the test.
#pragma once

#include "limits.hpp"
#include "plan/generate/families.hpp"
#include "refuse_call.hpp"
#include "team/sample_plans.hpp"

#include <corymb/process.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <optional>
#include <signal.h>
#include <string>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace corymb::process_test {

using std::chrono_literals::operator""s;
using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""us;

/// Thrown by `require` in a child.
struct Unmet : std::runtime_error {
    using std::runtime_error::runtime_error;
};

inline void require(bool holds, const std::string& what) {
    if (!holds) {
        throw Unmet(what);
    }
}

class Children {
public:
    Children() = default;
    Children(const Children&) = delete;
    Children& operator=(const Children&) = delete;
    ~Children() {
        for (const pid_t pid : pids_) {
            if (pid > 0) {
                ::kill(pid, SIGKILL);
                ::waitpid(pid, nullptr, 0);
            }
        }
    }

    /// Starts a child; returns its number.
    std::size_t start(const std::function<void()>& life) {
        const pid_t pid = ::fork();
        if (pid == 0) {
            ::prctl(PR_SET_PDEATHSIG, SIGKILL);
            std::_Exit(status_of(life));
        }
        pids_.push_back(pid);
        return pids_.size() - 1;
    }

    [[nodiscard]] pid_t pid(std::size_t child) const { return pids_[child]; }
    /// Somebody else has waited for it.
    void forget(std::size_t child) { pids_[child] = -1; }
    void signal(std::size_t child, int number) const { ::kill(pids_[child], number); }

    /// The status as of waitpid; kills a child that takes too long.
    int wait(std::size_t child, std::chrono::seconds longest = test_limit()) {
        const auto end = std::chrono::steady_clock::now() + longest;
        int status = 0;
        while (::waitpid(pids_[child], &status, WNOHANG) == 0) {
            if (std::chrono::steady_clock::now() > end) {
                ADD_FAILURE() << "child " << child << " hangs";
                ::kill(pids_[child], SIGKILL);
                ::waitpid(pids_[child], &status, 0);
                break;
            }
            std::this_thread::sleep_for(1ms);
        }
        pids_[child] = -1;
        return status;
    }

    void expect_all_good() {
        for (std::size_t child = 0; child < pids_.size(); ++child) {
            if (pids_[child] > 0) {
                EXPECT_EQ(wait(child), 0) << "child " << child;
            }
        }
    }

private:
    static int status_of(const std::function<void()>& life) {
        try {
            life();
            return 0;
        } catch (const std::exception& error) {
            std::fprintf(stderr, "child %d: %s\n", static_cast<int>(::getpid()), error.what());
            return 1;
        }
    }

    std::vector<pid_t> pids_;
};

/// A descriptor that is closed at the end.
class Descriptor {
public:
    explicit Descriptor(int number) : number_(number) {}
    /// Of what others can attach.
    explicit Descriptor(const auto& group) : number_(group.make_descriptor()) {}
    ~Descriptor() { ::close(number_); }
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    [[nodiscard]] int number() const noexcept { return number_; }

private:
    int number_;
};

/// That of a team.
class TeamDescriptor : public Descriptor {
public:
    explicit TeamDescriptor(int size) : Descriptor(make_team_descriptor(size)) {}
};

/// Calls `life(team)` for each rank of this process, each in a thread of its own; throws what one
/// of them throws.
template <class Life>
void in_threads(ProcessTeam& process, const Life& life) {
    std::vector<std::exception_ptr> failures(static_cast<std::size_t>(process.ranks_here()));
    {
        std::vector<std::jthread> crew;
        for (std::size_t thread = 0; thread < failures.size(); ++thread) {
            crew.emplace_back([&, thread] {
                try {
                    Team team = process.join(process.first_rank() + static_cast<Rank>(thread));
                    life(team);
                } catch (...) {
                    failures[thread] = std::current_exception();
                }
            });
        }
    }
    for (const auto& failure : failures) {
        if (failure) {
            std::rethrow_exception(failure);
        }
    }
}

/// In which ranks write into each other's buffers; nothing for short payloads.
inline std::optional<Plan> pushing_plan(const PlanNeed& need) {
    const CostView costs(std::vector<std::int32_t>(static_cast<std::size_t>(need.size), 0), {10},
                         {30});
    const GenerateInput input{.costs = costs,
                              .root = need.root,
                              .bytes = need.bytes,
                              .ordered = need.ordered,
                              .via = Mechanism::pull};
    const auto family = std::ranges::find(families(), "direct-push", &Family::name);
    return family->applies(need.op, input) ? std::optional(family->make(need.op, input))
                                           : std::nullopt;
}

/// Small plans over one mechanism, so that tests do not wait for the planner. With push, long
/// payloads go by it.
inline TeamOptions plans_over(Mechanism via, std::chrono::nanoseconds deadline = test_limit()) {
    TeamOptions options;
    options.deadline = deadline;
    options.plans = [via](const PlanNeed& need) {
        if (via == Mechanism::push) {
            if (auto plan = pushing_plan(need)) {
                return *std::move(plan);
            }
        }
        const Mechanism fits = need.bytes <= line_payload_bytes ? Mechanism::line
                               : via == Mechanism::push         ? Mechanism::pull
                                                                : via;
        switch (need.op) {
        case Collective::broadcast:
            return team_test::star_broadcast(need.size, need.root, need.bytes, fits);
        case Collective::reduce: return team_test::chain_reduce(need.size, need.bytes, fits);
        default: return team_test::dissemination(need.size);
        }
    };
    return options;
}

inline AttachOptions by_descriptor(const Descriptor& team, const TeamOptions& options,
                                   int ranks_here = 1) {
    AttachOptions attach;
    attach.descriptor = team.number();
    attach.ranks_here = ranks_here;
    attach.team = options;
    return attach;
}

} // namespace corymb::process_test
