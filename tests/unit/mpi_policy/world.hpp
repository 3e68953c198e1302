// SPDX-License-Identifier: Apache-2.0
// The ranks of one communicator in one thread: they make the calls that a scenario names, agree by
// combining their words, and say who did which call. Times are the scenario's.
#pragma once

#include "channel/env.hpp"
#include "channel/first_comer.hpp"
#include "policy/choice.hpp"
#include "policy/costly_plans.hpp"
#include "policy/cpu_share.hpp"
#include "policy/early_calls.hpp"
#include "policy/request_term.hpp"
#include "policy/sync_points.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace corymb::mpi {

/// Gives each agreement what all of them together say.
void combine(std::vector<Agreement>& of_ranks);

/// A command of a scenario: a name, words, and `key=value` pairs. A value may be a list by rank.
struct Command {
    std::string name;
    std::vector<std::string> words;
    std::map<std::string, std::vector<std::int64_t>> values;

    [[nodiscard]] static Command parse(const std::string& line);
    [[nodiscard]] bool has(const std::string& word) const;
    [[nodiscard]] std::int64_t value(const std::string& key, std::size_t rank,
                                     std::int64_t otherwise) const;
};

class World {
public:
    explicit World(std::size_t ranks) : ranks_(ranks) {}

    /// Does what a command says; returns what became of it.
    [[nodiscard]] std::string run(const Command& command);

private:
    struct Tried {
        Operation operation;
        std::uint64_t bytes;
    };
    struct Rank {
        Choice choice;
        Choice request_choice;
        CostlyPlans costly_plans;
        EarlyCalls early;
        SyncPoints points;
        std::vector<Tried> tried;
        std::int64_t now_ns = 0;
        CpuShare share;
        std::uint64_t ran_ns = 0;
        std::uint64_t waited_ns = 0;
    };
    class Log;
    using End = channel::FirstComerEnd<channel::StandardEnv, told_words>;
    /// What ranks of one node share for calls of a kind.
    struct Kind {
        explicit Kind(std::size_t ranks);
        End::Shared shared;
        std::vector<End::Shared::Facts> facts;
        std::vector<End> ends; ///< By rank.
    };

    [[nodiscard]] std::string call(const Command& command, bool is_request);
    void blocking(const Command& command, Operation operation, std::uint64_t bytes, Log& log);
    void request(const Command& command, Operation operation, std::uint64_t bytes, Log& log);
    /// Who does the call of one rank.
    [[nodiscard]] std::string request_of(std::size_t rank, const Command& command,
                                         Operation operation, std::uint64_t bytes, Log& log);
    /// The verdict for a call whose trial is over, where ranks see one memory.
    [[nodiscard]] Verdict settle_in_memory(std::size_t rank, Operation operation,
                                           std::uint64_t bytes, Log& log);
    /// Whether the calls are left to the MPI until a plan pays.
    [[nodiscard]] bool waits_for_plan(Operation operation, std::uint64_t bytes, Log& log);
    [[nodiscard]] std::string settle(bool is_request, Operation operation, std::uint64_t bytes);
    void compare(Log& log);
    [[nodiscard]] std::string early(const Command& command);
    [[nodiscard]] std::string runs(const Command& command);

    std::vector<Rank> ranks_;
    bool has_requests_ = false;
    bool are_cpus_shared_ = false;
    bool has_one_memory_ = false;
    std::map<std::size_t, std::unique_ptr<Kind>> kinds_; ///< By Choice::place.
};

} // namespace corymb::mpi
