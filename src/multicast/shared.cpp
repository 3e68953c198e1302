// SPDX-License-Identifier: Apache-2.0
#include "multicast/shared.hpp"

#include "base/clock.hpp"
#include "base/process_state.hpp"
#include "base/usable_cpus.hpp"
#include "multicast/progress.hpp"

#include <corymb/error.hpp>

#include <cstring>
#include <iterator>
#include <mutex>
#include <stdexcept>
#include <utility>

namespace corymb::detail {

using multicast::Board;
using multicast::CallRecord;

namespace {

constexpr std::int64_t default_deadline_ns = 300'000'000'000;

Board make_board(Arena& arena, int ranks, const multicast::Resolved& topology) {
    const MulticastOptions& options = topology.options;
    const multicast::Preorder order = multicast::order_of(ranks, options);
    Board::Settings settings;
    settings.deadline_ns =
        options.deadline.count() > 0 ? bounded_ns(options.deadline) : default_deadline_ns;
    settings.wait_policy = options.wait_policy;
    settings.reason = topology.reason;
    return Board::make(arena, multicast::shape_of(order, options), order, settings);
}

Board find_board(const Arena& arena) {
    const std::lock_guard lock(arena.memory());
    return *Board::find(arena);
}

channel::WaitLadder::Settings waiting_of(const Board& board, Arena& arena) {
    channel::WaitLadder::Settings settings;
    settings.policy = board.settings().wait_policy;
    settings.oversubscribed = is_short_of_time(board.size());
    settings.cpus = &channel::WaiterCpus::of(arena);
    return settings;
}

} // namespace

MulticastShared::MulticastShared(int ranks, const MulticastOptions& options,
                                 std::shared_ptr<SharedMemory> to)
    : MulticastShared(multicast::resolved(ranks, options), ranks, std::move(to)) {}

MulticastShared::MulticastShared(const multicast::Resolved& topology, int ranks,
                                 std::shared_ptr<SharedMemory> to)
    : Group(group::Kind::multicast, static_cast<std::size_t>(ranks), std::move(to)),
      board_(make_board(arena(), ranks, topology)), size(ranks), order(board_.order()),
      reason(board_.settings().reason), deadline_ns(board_.settings().deadline_ns),
      waiting(waiting_of(board_, arena())), core(board_.core(), board_.shape(), memory().reach()),
      calls_(std::make_unique<Call[]>(core.shape().slots)) {
    publish();
}

MulticastShared::MulticastShared(std::shared_ptr<SharedMemory> with)
    : Group(group::Kind::multicast, std::move(with)), board_(find_board(arena())),
      size(board_.size()), order(board_.order()), reason(board_.settings().reason),
      deadline_ns(board_.settings().deadline_ns), waiting(waiting_of(board_, arena())),
      core(board_.core(), board_.shape()), calls_(std::make_unique<Call[]>(core.shape().slots)) {}

void MulticastShared::take_place(Rank rank) {
    const std::lock_guard lock(memory());
    const multicast::Position p = position_of(rank);
    if (core.is_held(p)) {
        bury(rank, rank + 1);
    }
    if (core.is_held(p)) {
        const std::string by =
            is_machine_wide() ? " by process " + std::to_string(place_of(rank).pid) : std::string();
        throw Error(Errc::invalid_argument, "rank " + std::to_string(rank) +
                                                " of the multicast group is taken already" + by);
    }
    take(static_cast<std::size_t>(rank));
    core.hold(p);
}

void MulticastShared::release_place(Rank rank) noexcept {
    change_if_possible(memory(), [&] {
        core.release(position_of(rank));
        give_back(static_cast<std::size_t>(rank));
    });
}

void MulticastShared::bury(Rank first, Rank end) {
    bury_ended(static_cast<std::size_t>(first), static_cast<std::size_t>(end),
               [this](std::size_t rank) {
                   const multicast::Position p = position_of(static_cast<Rank>(rank));
                   const bool was_held = core.is_held(p);
                   if (was_held) {
                       core.bury(p);
                   }
                   return was_held;
               });
}

void MulticastShared::look_after() {
    const std::lock_guard lock(memory());
    bury(0, size);
}

int MulticastShared::lost_pid(Rank rank) {
    const std::lock_guard lock(memory());
    return static_cast<int>(place_of(rank).lost_pid);
}

std::string MulticastShared::name_of(Rank rank) {
    if (!is_machine_wide()) {
        return "rank " + std::to_string(rank);
    }
    const std::lock_guard lock(memory());
    const std::uint32_t pid = process_of(static_cast<std::size_t>(rank));
    return "rank " + std::to_string(rank) + " (pid " + std::to_string(pid) + process_state(pid) +
           ")";
}

void MulticastShared::note_trouble(std::uint32_t slot, Rank rank) noexcept {
    CallRecord& of = record(slot);
    if (!of.trouble.replace(CallRecord::none, CallRecord::being_written,
                            std::memory_order_relaxed)) {
        return;
    }
    if (!is_machine_wide()) {
        calls_[slot].error = std::current_exception();
    }
    of.by = rank;
    of.code = CallRecord::foreign;
    std::string_view text = "an exception without a text";
    try {
        throw;
    } catch (const Error& error) {
        of.code = static_cast<std::int32_t>(error.code());
        text = error.what();
        text.copy(of.text, std::size(of.text) - 1);
    } catch (const std::exception& error) {
        text = error.what();
        text.copy(of.text, std::size(of.text) - 1);
    } catch (...) {
        text.copy(of.text, std::size(of.text) - 1);
    }
    of.trouble.store(CallRecord::written, std::memory_order_relaxed);
}

void MulticastShared::prepare(std::uint32_t slot, Rank initiator, std::function<void()> fn,
                              std::int64_t begin_ns) {
    CallRecord& of = record(slot);
    calls_[slot].fn = std::move(fn);
    of.initiator.store(initiator, std::memory_order_relaxed);
    of.begin_ns.store(begin_ns, std::memory_order_relaxed);
    of.trouble.store(CallRecord::none, std::memory_order_relaxed);
    std::memset(of.text, 0, sizeof of.text);
}

std::exception_ptr MulticastShared::finish(std::uint32_t slot) {
    const CallRecord& of = record(slot);
    calls_[slot].fn = nullptr;
    std::exception_ptr error = std::exchange(calls_[slot].error, nullptr);
    if (of.trouble.load(std::memory_order_relaxed) == CallRecord::written && is_machine_wide()) {
        const std::string text =
            name_of(of.by) + " threw in the multicast call: " + std::string(of.text);
        error = of.code == CallRecord::foreign
                    ? std::make_exception_ptr(std::runtime_error(text))
                    : std::make_exception_ptr(Error(static_cast<Errc>(of.code), text, {of.by}));
    }
    core.finish(slot);
    return error;
}

std::vector<Rank> MulticastShared::lost_in(std::uint32_t slot) const {
    std::vector<Rank> lost;
    for (Rank rank = 0; rank < size; ++rank) {
        if (core.was_lost(slot, position_of(rank))) {
            lost.push_back(rank);
        }
    }
    return lost;
}

std::vector<MulticastLate> MulticastShared::late(std::uint32_t slot, std::int64_t begin_ns) {
    using Progress = multicast::Progress;
    using State = MulticastLate::State;
    std::vector<MulticastLate> found;
    const auto by = std::chrono::nanoseconds(now_ns() - begin_ns);
    const auto add = [&](Rank rank, State state) {
        found.push_back({rank, state, by, 0});
    };
    for (Rank rank = 0; rank < size; ++rank) {
        switch (multicast::progress_of(core, slot, position_of(rank))) {
        case Progress::done: break;
        case Progress::told: add(rank, State::told); break;
        case Progress::running: add(rank, State::running); break;
        case Progress::untold: add(rank, State::untold); break;
        case Progress::lost: add(rank, State::ended); break;
        }
    }
    if (is_machine_wide() && !found.empty()) {
        const std::lock_guard lock(memory());
        for (MulticastLate& one : found) {
            const group::Place& place = place_of(one.rank);
            one.pid = static_cast<int>(one.state == State::ended ? place.lost_pid : place.pid);
        }
    }
    return found;
}

} // namespace corymb::detail
