// SPDX-License-Identifier: Apache-2.0
#include "mpi_policy/world.hpp"

#include <algorithm>
#include <cstddef>
#include <span>
#include <sstream>
#include <stdexcept>
#include <utility>

namespace corymb::mpi {

namespace {

std::string name_of(Verdict verdict) {
    switch (verdict) {
    case Verdict::open: return "open";
    case Verdict::corymb: return "corymb";
    case Verdict::mpi: return "MPI";
    }
    return "";
}

Operation operation_of(const std::string& name) {
    for (std::size_t i = 0; i < translated_operations; ++i) {
        if (traits_of(static_cast<Operation>(i)).name == name) {
            return static_cast<Operation>(i);
        }
    }
    throw std::invalid_argument("no operation " + name);
}

/// What came of a trial that has just been settled.
std::string outcome(const Trial& trial, Verdict verdict) {
    const Trial::Result& result = trial.result();
    std::string text = result.corymb_ns == 0
                           ? "not known"
                           : "corymb " + std::to_string(result.corymb_ns) + " ns, MPI " +
                                 std::to_string(result.mpi_ns) + " ns";
    text += ": " + name_of(verdict);
    return text + (verdict == Verdict::open
                       ? ", tried once more"
                       : ", checked after " + std::to_string(trial.calls_until_next()) + " calls");
}

} // namespace

void combine(std::vector<Agreement>& of_ranks) {
    for (const Agreement::By by : Agreement::all_ways) {
        const auto first = of_ranks.front().words(by);
        std::vector<std::uint64_t> all(first.begin(), first.end());
        for (const Agreement& one : std::span(of_ranks).subspan(1)) {
            for (std::size_t i = 0; i < all.size(); ++i) {
                all[i] = Agreement::combined(by, all[i], one.words(by)[i]);
            }
        }
        for (Agreement& one : of_ranks) {
            one.take(by, all);
        }
    }
}

Command Command::parse(const std::string& line) {
    Command command;
    std::istringstream words(line);
    words >> command.name;
    for (std::string word; words >> word;) {
        const std::size_t at = word.find('=');
        if (at == std::string::npos) {
            command.words.push_back(word);
            continue;
        }
        std::istringstream list(word.substr(at + 1));
        for (std::string value; std::getline(list, value, '/');) {
            command.values[word.substr(0, at)].push_back(std::stoll(value));
        }
    }
    return command;
}

bool Command::has(const std::string& word) const {
    return std::find(words.begin(), words.end(), word) != words.end();
}

std::int64_t Command::value(const std::string& key, std::size_t rank,
                            std::int64_t otherwise) const {
    const auto found = values.find(key);
    return found == values.end() ? otherwise
                                 : found->second[std::min(rank, found->second.size() - 1)];
}

/// Who did which calls, in a row as one.
class World::Log {
public:
    void call(const std::string& who) {
        if (who != who_) {
            flush();
            who_ = who;
        }
        ++calls_;
    }
    void say(const std::string& what) {
        flush();
        text_ += what + "\n";
    }
    [[nodiscard]] std::string text() {
        flush();
        return text_;
    }

private:
    void flush() {
        if (calls_ > 0) {
            text_ += std::to_string(std::exchange(calls_, 0)) + " by " + who_ + "\n";
        }
        who_.clear();
    }

    std::string text_;
    std::string who_;
    int calls_ = 0;
};

std::string World::settle(bool is_request, Operation operation, std::uint64_t bytes) {
    std::vector<Agreement> agreements(ranks_.size());
    std::vector<Trial::Evidence> evidence;
    const auto choice_of = [&](Rank& rank) -> Choice& {
        return is_request ? rank.request_choice : rank.choice;
    };
    for (Rank& rank : ranks_) {
        evidence.push_back(choice_of(rank).trial(operation, bytes).evidence(are_cpus_shared_));
    }
    for (std::size_t i = 0; i < ranks_.size(); ++i) {
        evidence[i].ask(agreements[i]);
    }
    combine(agreements);
    std::string text;
    for (std::size_t i = 0; i < ranks_.size(); ++i) {
        Choice& choice = choice_of(ranks_[i]);
        Trial& trial = choice.trial(operation, bytes);
        const Verdict verdict = trial.decide(evidence[i]);
        choice.settle(operation, bytes, verdict);
        const std::string mine = outcome(trial, verdict);
        if (i > 0 && mine != text) {
            throw std::logic_error("ranks differ: " + text + " and " + mine);
        }
        text = mine;
    }
    return text;
}

bool World::waits_for_plan(Operation operation, std::uint64_t bytes, Log& log) {
    if (ranks_.front().costly_plans.wait_of(operation, bytes) == nullptr) {
        return false;
    }
    std::vector<std::uint64_t> least;
    for (Rank& rank : ranks_) {
        least.push_back(rank.costly_plans.wait_of(operation, bytes)->ns());
    }
    std::vector<Agreement> agreements(ranks_.size());
    for (std::size_t i = 0; i < ranks_.size(); ++i) {
        agreements[i].smallest(least[i]);
    }
    combine(agreements);
    bool is_over = false;
    for (std::size_t i = 0; i < ranks_.size(); ++i) {
        Rank& rank = ranks_[i];
        CostlyPlans::Wait& wait = *rank.costly_plans.wait_of(operation, bytes);
        rank.costly_plans.decide(wait, operation, bytes, least[i]);
        is_over = wait.is_over();
        if (!is_over) {
            rank.choice.postpone(operation, bytes, wait.calls());
            static_cast<void>(rank.choice.next(operation, bytes));
        }
    }
    log.say("calls have taken " + std::to_string(least.front() / 1'000'000) +
            " ms: " + (is_over ? "a plan pays" : "too early for a plan"));
    return !is_over;
}

void World::compare(Log& log) {
    std::vector<SyncPoints::Comparison> comparisons;
    std::vector<Agreement> agreements(ranks_.size());
    for (Rank& rank : ranks_) {
        comparisons.push_back(rank.points.comparison(rank.request_choice.is_open()));
    }
    for (std::size_t i = 0; i < ranks_.size(); ++i) {
        ranks_[i].points.ask(agreements[i], comparisons[i]);
    }
    combine(agreements);
    bool are_together = false;
    for (std::size_t i = 0; i < ranks_.size(); ++i) {
        are_together = ranks_[i].points.decide(comparisons[i]);
    }
    if (has_requests_) {
        log.say(are_together ? "all ranks are together" : "ranks are apart");
    }
    if (are_together) {
        for (const auto [operation, bytes] : ranks_.front().tried) {
            log.say(settle(true, operation, bytes));
        }
        for (Rank& rank : ranks_) {
            rank.tried.clear();
        }
    }
}

void World::blocking(const Command& command, Operation operation, std::uint64_t bytes, Log& log) {
    bool is_point = false;
    for (Rank& rank : ranks_) {
        is_point = rank.points.begin_blocking();
    }
    if (is_point) {
        compare(log);
    }
    std::vector<Verdict> verdicts;
    for (Rank& rank : ranks_) {
        verdicts.push_back(rank.choice.next(operation, bytes));
    }
    if (verdicts.front() == Verdict::open && waits_for_plan(operation, bytes, log)) {
        verdicts.assign(ranks_.size(), Verdict::mpi);
    }
    bool is_over = false;
    std::string who;
    for (std::size_t i = 0; i < ranks_.size(); ++i) {
        Rank& rank = ranks_[i];
        const std::int64_t corymb_ns = command.value("corymb", i, 1000);
        const std::int64_t mpi_ns = command.value("mpi", i, 1000);
        rank.now_ns += command.value("late", i, 0);
        if (verdicts[i] != Verdict::open) {
            who = name_of(verdicts[i]);
            if (auto* const wait = rank.costly_plans.wait_of(operation, bytes); wait != nullptr) {
                wait->add(static_cast<std::uint64_t>(mpi_ns));
            }
            continue;
        }
        Trial& trial = rank.choice.trial(operation, bytes);
        const Trial::Attempt attempt = trial.begin(measure_of(operation, are_cpus_shared_));
        const std::int64_t began_ns = rank.now_ns;
        rank.now_ns += attempt.is_for_mpi ? mpi_ns : corymb_ns;
        if (trial.measure() == Measure::taken) {
            trial.add(attempt, {0, attempt.is_for_mpi ? command.value("mpi-cpu", i, mpi_ns)
                                                      : command.value("corymb-cpu", i, corymb_ns)});
        } else {
            trial.add(attempt, {began_ns, rank.now_ns});
        }
        who = std::string(attempt.is_for_mpi ? "MPI" : "corymb") +
              (attempt.counts ? ", counted" : ", tried");
        is_over = trial.is_over();
    }
    std::int64_t last_ns = 0; // Nobody leaves a barrier before all have come.
    for (const Rank& rank : ranks_) {
        last_ns = std::max(last_ns, rank.now_ns);
    }
    for (Rank& rank : ranks_) {
        rank.now_ns = last_ns;
    }
    log.call(who);
    if (is_over) {
        log.say(settle(false, operation, bytes));
    }
}

World::Kind::Kind(std::size_t ranks) : facts(2 * ranks) {
    for (std::size_t rank = 0; rank < ranks; ++rank) {
        ends.emplace_back(shared, facts.data(), rank, ranks);
    }
}

Verdict World::settle_in_memory(std::size_t rank, Operation operation, std::uint64_t bytes,
                                Log& log) {
    auto& kind = kinds_[Choice::place(operation, bytes)];
    if (kind == nullptr) {
        kind = std::make_unique<Kind>(ranks_.size());
    }
    Choice& choice = ranks_[rank].request_choice;
    Trial& trial = choice.trial(operation, bytes);
    End& end = kind->ends[rank];
    if (!end.has_told() && (trial.has_all() || end.calls() >= tuning::calls_until_given_up)) {
        tell(end, trial, are_cpus_shared_);
    }
    if (!settles(end, choice, trial, operation, bytes, ranks_.size())) {
        return trial.until_settled();
    }
    const Verdict verdict = choice.next(operation, bytes);
    log.say("rank " + std::to_string(rank) + ": " + outcome(trial, verdict));
    return verdict;
}

std::string World::request_of(std::size_t rank, const Command& command, Operation operation,
                              std::uint64_t bytes, Log& log) {
    Rank& own = ranks_[rank];
    Verdict verdict = has_one_memory_
                          ? own.request_choice.next(operation, bytes)
                          : own.request_choice.next(operation, bytes, own.points.reached());
    if (verdict == Verdict::open && own.request_choice.trial(operation, bytes).is_over()) {
        verdict = has_one_memory_ ? settle_in_memory(rank, operation, bytes, log) : Verdict::corymb;
    }
    if (verdict != Verdict::open) {
        return name_of(verdict);
    }
    Trial& trial = own.request_choice.trial(operation, bytes);
    const Trial::Attempt attempt = trial.begin(Measure::longest);
    if (!command.has("incomplete")) {
        trial.add(attempt, {0, command.value(attempt.is_for_mpi ? "mpi" : "corymb", rank, 1000)});
    }
    if (trial.is_over()) {
        own.tried.push_back({operation, bytes});
    }
    return std::string(attempt.is_for_mpi ? "MPI" : "corymb") +
           (attempt.counts ? ", counted" : ", tried");
}

void World::request(const Command& command, Operation operation, std::uint64_t bytes, Log& log) {
    const std::int64_t only = command.value("only", 0, -1);
    std::string who;
    for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
        if (only < 0 || only == static_cast<std::int64_t>(rank)) {
            has_requests_ = true;
            ranks_[rank].points.count_nonblocking();
            who = request_of(rank, command, operation, bytes, log);
        }
    }
    log.call(who);
}

std::string World::call(const Command& command, bool is_request) {
    const Operation operation = operation_of(command.words.at(0));
    const std::uint64_t bytes =
        tried_bytes(operation, command.words.size() > 1 ? std::stoull(command.words[1]) : 0);
    Log log;
    for (std::int64_t i = 0; i < command.value("times", 0, 1); ++i) {
        if (is_request) {
            request(command, operation, bytes, log);
        } else {
            blocking(command, operation, bytes, log);
        }
    }
    return log.text();
}

std::string World::early(const Command& command) {
    Log log;
    for (std::int64_t i = 0; i < command.value("times", 0, 1); ++i) {
        bool do_agree = false;
        std::vector<std::uint64_t> most;
        for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
            EarlyCalls& calls = ranks_[rank].early;
            do_agree = calls.begin_blocking();
            RequestSample sample;
            sample.add(command.value("request-ns", rank, 0), 0);
            most.push_back(static_cast<std::uint64_t>(calls.time_ns(
                static_cast<std::uint64_t>(command.value("requests", rank, 0)), sample)));
        }
        if (do_agree) {
            std::vector<Agreement> agreements(ranks_.size());
            for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
                agreements[rank].largest(most[rank]);
            }
            combine(agreements);
            bool is_time = false;
            for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
                is_time = ranks_[rank].early.is_long_enough(most[rank]);
            }
            log.say("calls have taken " + std::to_string(most.front() / 1'000'000) +
                    " ms: " + (is_time ? "a team" : "too early"));
            if (is_time) {
                return log.text();
            }
        }
        for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
            ranks_[rank].early.add(command.value("ns", rank, 0));
        }
        log.call("MPI");
    }
    return log.text();
}

std::string World::runs(const Command& command) {
    std::string text;
    for (std::size_t i = 0; i < ranks_.size(); ++i) {
        Rank& rank = ranks_[i];
        rank.ran_ns += static_cast<std::uint64_t>(command.value("ms", i, 0)) * 1'000'000;
        rank.waited_ns += static_cast<std::uint64_t>(command.value("waits-ms", i, 0)) * 1'000'000;
        rank.share.look(rank.ran_ns, rank.waited_ns);
        text += "rank " + std::to_string(i) +
                (rank.share.is_shared() ? " shares its CPU\n" : " has its CPU to itself\n");
    }
    return text;
}

std::string World::run(const Command& command) {
    if (command.name == "call" || command.name == "request") {
        return call(command, command.name == "request");
    }
    if (command.name == "early") {
        return early(command);
    }
    if (command.name == "runs") {
        return runs(command);
    }
    for (Rank& rank : ranks_) {
        if (command.name == "nodes") {
            rank.costly_plans.begin(rank.choice, static_cast<int>(command.value("ranks", 0, 2)));
        } else if (command.name == "wait-ms") {
            rank.early.wait_for(std::stoll(command.words.at(0)) * 1'000'000);
        } else if (command.name == "shared") {
            are_cpus_shared_ = true;
        } else if (command.name == "one-memory") {
            has_one_memory_ = true;
            rank.points.end();
        } else if (command.name == "always") {
            rank.choice.give_to_corymb();
            rank.request_choice.give_to_corymb();
            rank.points.end();
        } else if (command.name == "refused") { // By the MPI, on all ranks: the call is none.
            const Operation operation = operation_of(command.words.at(0));
            const std::uint64_t bytes = std::stoull(command.words.at(1));
            if (rank.choice.next(operation, bytes) == Verdict::open) {
                Trial& trial = rank.choice.trial(operation, bytes);
                static_cast<void>(trial.begin(measure_of(operation, are_cpus_shared_)));
                trial.take_back();
            } else {
                rank.choice.take_back(operation, bytes);
            }
        } else {
            throw std::invalid_argument("no command " + command.name);
        }
    }
    return "ok\n";
}

} // namespace corymb::mpi
