// SPDX-License-Identifier: Apache-2.0
// corymb-bench-waiting: cells of the waiting map, corymb and the plain way in turns, three runs a
// cell. One JSON object a line; bench/README.md says how to read them.
#include "../engine/turns.hpp"
#include "../threads/arguments.hpp"
#include "../threads/statistics.hpp"
#include "../threads/worker/time.hpp"
#include "worker.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace corymb::bench {
namespace {

constexpr std::size_t runs = 3, turns = 4;
/// Fewer milliseconds a turn have too few calls among busy neighbours, more gain little.
constexpr double turn_ns_min = 12e6, turn_ns_max = 50e6;
/// Nobody waits longer for a turn: longer than the waits of corymb, which then say what is missing.
constexpr double patience_s = 30;

struct Options {
    std::vector<Cell> cells;
    double seconds = 600;
    std::uint64_t seed = 1;
};

Options options_from(const std::vector<std::string>& words) {
    Options options;
    for (std::size_t i = 0; i < words.size(); ++i) {
        const std::string value = i + 1 < words.size() ? words[i + 1] : "";
        if (words[i] == "--seconds") {
            options.seconds = number(value, 0.5, 86400.0, words[i]);
            ++i;
        } else if (words[i] == "--seed") {
            options.seed = number(value, std::uint64_t{0}, UINT64_MAX, words[i]);
            ++i;
        } else if (words[i].starts_with("-")) {
            throw UsageError("unknown option " + words[i] + "; there are --seconds and --seed");
        } else {
            options.cells.push_back(cell_from(words[i]));
        }
    }
    if (options.cells.empty()) {
        throw UsageError("which cells? for example: barrier/2/0/1/none/threads");
    }
    return options;
}

struct Figures {
    double first = 0, median = 0, p99 = 0; ///< Nanoseconds.
    std::size_t samples = 0;               ///< What median and percentile are of.
};

/// A contestant in one run of a cell.
class Entrant {
public:
    Entrant(const Cell& cell, MakeGroup make, double turn_ns)
        : cell_(cell), turn_ns_(turn_ns), board_(cell.ranks),
          worker_(start_contestant(cell_, make, board_)) {
        wait();
        run(1);
        first_ns_ = static_cast<double>(board_.last_end(0) - board_.last_begin());
        // The calls of a turn grow until they fill a part of it; these do not count yet.
        for (double took = 0; took < turn_ns_ / 8;) {
            calls_ = std::min(std::max(calls_ * 4, least_calls()), turn_calls_max);
            took = run(calls_);
            adapt(took);
            if (calls_ == turn_calls_max) {
                break;
            }
        }
    }
    Entrant(const Entrant&) = delete;
    Entrant& operator=(const Entrant&) = delete;

    Turn take_turn() {
        const bool has_time = used_ns_ < 2 * turn_ns_ * static_cast<double>(turns);
        if (taken_ == turns || (taken_ > 0 && !has_time)) {
            return Turn::passed;
        }
        const double took = run(calls_);
        keep();
        adapt(took);
        ++taken_;
        used_ns_ += took;
        return Turn::taken;
    }

    [[nodiscard]] Figures figures() const {
        return {first_ns_, quantile(samples_, 0.5), quantile(samples_, 0.99), samples_.size()};
    }

private:
    /// One to begin with, and rounds: a figure is the mean of one.
    [[nodiscard]] std::size_t least_calls() const {
        return 1 + static_cast<std::size_t>(cell_.round());
    }
    void wait() const {
        if (!board_.wait_for_ranks(patience_s)) {
            const std::string why = board_.failure();
            throw std::runtime_error(why.empty() ? "a turn took more than 30 s" : why);
        }
    }
    double run(std::size_t calls) {
        board_.begin_turn(static_cast<std::uint32_t>(calls));
        wait();
        return static_cast<double>(board_.last_end(calls - 1) - board_.last_begin());
    }
    void adapt(double took) {
        const double wanted = turn_ns_ / std::max(took, 1.0) * static_cast<double>(calls_);
        const double most = static_cast<double>(std::min(calls_ * 8, turn_calls_max));
        calls_ = static_cast<std::size_t>(
            std::clamp(wanted, static_cast<double>(least_calls()), std::max(most, 1.0)));
    }
    /// Between two moments in which the last rank was through with a call.
    void keep() {
        const auto round = static_cast<std::size_t>(cell_.round());
        for (std::size_t call = 0; call + round < calls_; call += round) {
            const std::int64_t took = board_.last_end(call + round) - board_.last_end(call);
            samples_.push_back(static_cast<double>(took) / static_cast<double>(round));
        }
    }

    Cell cell_;
    double turn_ns_;
    Board board_;
    Forked worker_;
    std::size_t calls_ = 0, taken_ = 0;
    double first_ns_ = 0, used_ns_ = 0;
    std::vector<double> samples_;
};

constexpr std::array<MakeGroup, 2> contestants{corymb_group, plain_group};
using RunFigures = std::array<Figures, contestants.size()>;

RunFigures run_cell(const Cell& cell, double turn_ns, std::mt19937_64& random) {
    const std::vector<Forked> neighbours = start_neighbours(cell);
    std::vector<std::unique_ptr<Entrant>> entrants;
    for (const MakeGroup make : contestants) {
        entrants.push_back(std::make_unique<Entrant>(cell, make, turn_ns));
    }
    take_turns(entrants.size(), random,
               [&](std::size_t who) { return entrants[who]->take_turn(); });
    return {entrants[0]->figures(), entrants[1]->figures()};
}

/// In a string of JSON.
std::string quoted(std::string text) {
    for (char& letter : text) {
        letter = letter == '"' || letter == '\\' || letter < ' ' ? '\'' : letter;
    }
    return '"' + text + '"';
}

void print(const Cell& cell, const std::vector<RunFigures>& all, const std::string& skipped) {
    std::printf("{\"type\":\"row\",\"op\":\"%s\",\"ranks\":%d,\"bytes\":%zu,\"cpus\":%d,"
                "\"neighbours\":\"%s\",\"kind\":\"%s\",\"skipped\":%s,\"runs\":[",
                to_string(cell.op).c_str(), cell.ranks, cell.bytes, cell.cpus,
                to_string(cell.neighbours).c_str(),
                cell.between_processes ? "processes" : "threads",
                skipped.empty() ? "null" : quoted(skipped).c_str());
    const char* comma = "";
    for (const auto& [own, peer] : all) {
        std::printf("%s{\"first_us\":%.3f,\"median_us\":%.3f,\"p99_us\":%.3f,\"figures\":%zu,"
                    "\"peer_first_us\":%.3f,\"peer_median_us\":%.3f,\"peer_p99_us\":%.3f,"
                    "\"peer_figures\":%zu}",
                    comma, own.first / 1e3, own.median / 1e3, own.p99 / 1e3, own.samples,
                    peer.first / 1e3, peer.median / 1e3, peer.p99 / 1e3, peer.samples);
        comma = ",";
    }
    std::printf("]}\n");
    std::fflush(stdout);
}

/// As many cells as fit into the time, one at least. Whether any has figures.
bool measure(const Options& options) {
    const auto begin = static_cast<double>(wall_ns());
    const double whole = options.seconds * 1e9;
    const std::size_t all_turns = options.cells.size() * runs * turns * contestants.size();
    // Half of the time goes into starts.
    const double turn_ns =
        std::clamp(whole / 2 / static_cast<double>(all_turns), turn_ns_min, turn_ns_max);
    std::mt19937_64 random(options.seed);
    bool has_figures = false;
    for (std::size_t i = 0; i < options.cells.size(); ++i) {
        std::vector<RunFigures> all;
        std::string skipped;
        try {
            while (all.size() < runs) {
                all.push_back(run_cell(options.cells[i], turn_ns, random));
            }
        } catch (const std::exception& error) {
            skipped = error.what();
            all.clear();
        }
        has_figures = has_figures || skipped.empty();
        print(options.cells[i], all, skipped);
        const double part = (static_cast<double>(wall_ns()) - begin) / whole;
        std::fprintf(stderr, "progress %.3f %zu cells of %zu\n", std::min(part, 1.0), i + 1,
                     options.cells.size());
        if (part >= 1) {
            break;
        }
    }
    return has_figures;
}

} // namespace
} // namespace corymb::bench

int main(int argc, char** argv) {
    try {
        if (!corymb::bench::measure(corymb::bench::options_from({argv + 1, argv + argc}))) {
            std::fprintf(stderr, "corymb-bench-waiting: no peer could be measured\n");
            return 1;
        }
    } catch (const corymb::bench::UsageError& error) {
        std::fprintf(stderr, "corymb-bench-waiting: %s\n", error.what());
        return 2;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "corymb-bench-waiting: %s\n", error.what());
        return 1;
    }
    return 0;
}
