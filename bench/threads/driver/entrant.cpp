// SPDX-License-Identifier: Apache-2.0
#include "entrant.hpp"

#include "../worker/time.hpp"

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <sstream>
#include <system_error>
#include <utility>

namespace corymb::bench {

namespace {

std::string seconds_text(std::int64_t duration_ns) {
    char text[32];
    std::snprintf(text, sizeof text, "%.1f s", static_cast<double>(duration_ns) * 1e-9);
    return text;
}

} // namespace

void Entrant::skip(const std::string& reason) {
    child_.reset();
    skipped_ = reason;
}

std::string Entrant::why_silent(std::int64_t waited_ns) {
    const auto status = child_->exit_status();
    if (!status) {
        return "no answer within " + seconds_text(waited_ns) + ", process ended";
    }
    if (*status == 127) {
        return "the program or its runtime library cannot be loaded (exit status 127)";
    }
    return "its process ended with status " + std::to_string(*status);
}

bool Entrant::ask(const std::string& command, std::int64_t deadline_ns, std::string& answer) {
    const std::int64_t begin = wall_ns();
    if (!command.empty()) {
        child_->send(command); // A failure shows as the end of its answers.
    }
    const auto line = child_->receive(deadline_ns);
    if (!line) {
        skip(why_silent(wall_ns() - begin));
        return false;
    }
    for (const std::string prefix : {"skip ", "failed "}) {
        if (line->starts_with(prefix)) {
            skip(line->substr(prefix.size()));
            return false;
        }
    }
    answer = *line;
    return true;
}

bool Entrant::run_first(std::int64_t deadline_ns) {
    std::string answer;
    if (!ask("first", deadline_ns, answer)) {
        return false;
    }
    std::istringstream words(answer);
    std::string first;
    std::uint64_t wrong = 0;
    if (!(words >> first >> wrong) || first != "first") {
        skip("its worker answered \"" + answer + "\"");
        return false;
    }
    first_ns_.assign(std::istream_iterator<double>(words), {});
    if (wrong != 0) {
        skip("wrong results: " + std::to_string(wrong) + " in its first operations");
        return false;
    }
    return true;
}

bool Entrant::run(std::uint64_t operations, std::int64_t deadline_ns, Sample& sample) {
    std::string answer;
    if (!ask("run " + std::to_string(operations), deadline_ns, answer)) {
        return false;
    }
    std::istringstream words(answer);
    std::string done;
    std::uint64_t wrong = 0;
    if (!(words >> done >> sample.operation_ns >> sample.cpu_ns >> wrong) || done != "done") {
        skip("its worker answered \"" + answer + "\"");
        return false;
    }
    if (wrong != 0) {
        skip("wrong results: " + std::to_string(wrong) + " in " + std::to_string(operations) +
             " operations");
        return false;
    }
    return true;
}

void Entrant::adapt(std::int64_t slot_ns, double operation_ns) noexcept {
    // The operation itself is short when one rank is late; the waiting is what takes time.
    const double each = std::max(operation_ns, 1.0) + (late_ ? static_cast<double>(late_ns) : 0.0);
    const double wanted = static_cast<double>(slot_ns) / each;
    const double now = static_cast<double>(operations_);
    const double next = std::clamp(wanted, now / 8, now * 8);
    operations_ = static_cast<std::uint64_t>(std::max(next, 1.0));
}

void Entrant::prepare(const Case& what, std::int64_t slot_ns, std::int64_t deadline_ns) {
    const std::string path = program_path(contestant_.program);
    if (path.empty()) {
        skip(why_absent(contestant_.program));
        return;
    }
    try {
        child_ = std::make_unique<Child>(worker_command(contestant_, what, path),
                                         contestant_.environment);
    } catch (const std::system_error& error) {
        skip(error.what());
        return;
    }
    late_ = what.regime == Regime::late;
    const bool crowded = what.regime == Regime::oversubscribed;
    std::string answer;
    if (!ask("", deadline_ns, answer) || !run_first(deadline_ns) ||
        !ask(crowded ? "verify 3" : "verify 40", deadline_ns, answer)) {
        return;
    }
    if (answer != "verified 0") {
        skip("wrong results when verified: \"" + answer + "\"");
        return;
    }
    Sample sample;
    for (int attempt = 0; attempt < 8 && !late_; ++attempt) {
        if (!run(operations_, deadline_ns, sample)) {
            return;
        }
        const double took = sample.operation_ns * static_cast<double>(operations_);
        adapt(slot_ns, sample.operation_ns);
        if (took * 8 > static_cast<double>(slot_ns)) {
            break;
        }
    }
    if (late_) {
        operations_ = static_cast<std::uint64_t>(std::max<std::int64_t>(slot_ns / late_ns, 1));
    }
    child_->stop();
}

void Entrant::take_turn(std::int64_t slot_ns, std::int64_t deadline_ns) {
    const std::int64_t begin = wall_ns();
    Sample sample;
    child_->resume();
    if (run(operations_, deadline_ns, sample)) {
        child_->stop();
        operation_ns_.push_back(sample.operation_ns);
        cpu_ns_.push_back(sample.cpu_ns);
        adapt(slot_ns, sample.operation_ns);
    } else if (!operation_ns_.empty() && skipped_.starts_with("no answer")) {
        skipped_.clear(); // What it did before counts; it only has no more turns.
    }
    used_ns_ += wall_ns() - begin;
}

Outcome Entrant::outcome() const {
    Outcome outcome;
    outcome.contestant = contestant_;
    outcome.skipped = skipped_;
    if (skipped_.empty()) {
        outcome.operation_ns = quartiles(operation_ns_);
        outcome.cpu_ns = quartiles(cpu_ns_).median;
        outcome.slots = operation_ns_.size();
        outcome.first_ns = first_ns_;
        if (operation_ns_.empty()) {
            outcome.skipped = "no time left for a slot; give more with --seconds";
        }
    }
    return outcome;
}

} // namespace corymb::bench
