// SPDX-License-Identifier: Apache-2.0
// A replicated table that remembers its operations, in their order, so that whatever was seen of it
// can be compared with a sequential run of them.
#pragma once

#include <corymb/replicated.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace corymb::history_test {

struct Step {
    enum Kind : std::int32_t { put, add, take };
    std::int32_t rank = 0;
    std::int32_t number = 0; ///< Which of the rank's steps.
    Kind kind = put;
    std::int32_t key = 0;
    long value = 0;
};

/// What a sequential run gives.
template <std::size_t Keys>
struct Cells {
    std::array<long, Keys> value{};
    long apply(const Step& step) {
        long& at = value[static_cast<std::size_t>(step.key)];
        const long before = at;
        switch (step.kind) {
        case Step::put: at = step.value; break;
        case Step::add: at += step.value; break;
        case Step::take: at = 0; break;
        }
        return before;
    }
};

struct Table {
    static constexpr std::size_t keys = 8;
    static constexpr std::size_t most = 4096;
    Cells<keys> cells;
    std::size_t count = 0;
    std::array<Step, most> history{};

    long apply(const Step& step) {
        history.at(count++) = step;
        return cells.apply(step);
    }
};

/// Whether the steps of each rank are there once and in their order, as many as there are.
inline bool is_whole(const Table& table) {
    std::vector<std::int32_t> next(64);
    for (std::size_t i = 0; i < table.count; ++i) {
        const Step& step = table.history.at(i);
        if (step.number != next.at(static_cast<std::size_t>(step.rank))++) {
            return false;
        }
    }
    return true;
}
/// A hash of what it holds.
inline std::uint64_t hash_of(const Table& table) {
    std::uint64_t hash = table.count;
    for (std::size_t i = 0; i < table.count; ++i) {
        const Step& step = table.history.at(i);
        for (const long part :
             {static_cast<long>(step.rank), static_cast<long>(step.number),
              static_cast<long>(step.kind), static_cast<long>(step.key), step.value}) {
            hash = (hash ^ static_cast<std::uint64_t>(part)) * 0x100'0000'01b3U;
        }
    }
    return hash;
}

/// A rank's random steps and reads, and what it has seen.
class Witness {
public:
    explicit Witness(Rank rank) : rank_(rank), random_(static_cast<unsigned>(rank) + 1) {}

    template <class Object>
    Task<> update_once(Object& table) {
        const Step step = draw();
        const long before = co_await table.template update<&Table::apply>(step);
        updates_.push_back({step, before});
    }
    void read_once(const Replicated<Table>& table) {
        note(table.read(Look{key()}), updates_.size());
    }
    template <class Object>
    Task<> read_latest_once(const Object& table) {
        const Look look{key()};
        note(co_await table.read_latest(look), updates_.size());
    }
    Task<> do_anything(Replicated<Table>& table) {
        switch (random_() % 4) {
        case 0: co_await update_once(table); break;
        case 1: co_await read_latest_once(table); break;
        default: read_once(table);
        }
    }
    [[nodiscard]] std::size_t updates() const noexcept { return updates_.size(); }

    /// What is wrong, beside the operations as they were in the end; empty: nothing.
    [[nodiscard]] std::string complaint(const Table& end) const {
        Cells<Table::keys> cells;
        std::vector<Cells<Table::keys>> after{cells};
        std::vector<std::size_t> places; ///< By number of this rank's step: behind it.
        for (std::size_t i = 0; i < end.count; ++i) {
            const Step& step = end.history[i];
            const long before = cells.apply(step);
            if (step.rank == rank_) {
                const std::size_t number = places.size();
                if (static_cast<std::size_t>(step.number) != number) {
                    return "a step of this rank is missing, or twice there";
                }
                if (number < updates_.size() && updates_[number].before != before) {
                    return "an update has given something else than in a sequential run";
                }
                places.push_back(i + 1);
            }
            after.push_back(cells);
        }
        if (places.size() < updates_.size() || cells.value != end.cells.value) {
            return "updates that have returned are missing";
        }
        std::size_t seen = 0;
        for (const Seen& one : seen_) {
            const std::size_t own = one.updates == 0 ? 0 : places[one.updates - 1];
            if (one.count < seen || one.count < own) {
                return "a read has seen less than an earlier one, or not this rank's update";
            }
            if (after[one.count].value[static_cast<std::size_t>(one.key)] != one.value) {
                return "a read has seen something else than in a sequential run";
            }
            seen = one.count;
        }
        return {};
    }

private:
    struct Seen {
        std::int32_t key = 0;
        long value = 0;
        std::size_t count = 0;   ///< Operations that it has seen.
        std::size_t updates = 0; ///< By this rank, that had returned.
    };
    struct Look {
        std::int32_t key;
        Seen operator()(const Table& table) const {
            return {key, table.cells.value[static_cast<std::size_t>(key)], table.count, 0};
        }
    };
    struct Update {
        Step step;
        long before;
    };
    std::int32_t key() { return static_cast<std::int32_t>(random_() % Table::keys); }
    Step draw() {
        Step step;
        step.rank = rank_;
        step.number = static_cast<std::int32_t>(updates_.size());
        step.kind = static_cast<Step::Kind>(random_() % 3);
        step.key = key();
        step.value = static_cast<long>(random_() % 1000);
        return step;
    }
    void note(Seen seen, std::size_t updates) {
        seen.updates = updates;
        seen_.push_back(seen);
    }
    Rank rank_;
    std::mt19937 random_;
    std::vector<Update> updates_;
    std::vector<Seen> seen_;
};

} // namespace corymb::history_test
