// SPDX-License-Identifier: Apache-2.0
#include "base/clock.hpp"
#include "channel/env.hpp"
#include "group/group.hpp"
#include "multicast/board.hpp"
#include "multicast/progress.hpp"
#include "trace/looks.hpp"

#include <utility>

namespace corymb::trace {

namespace {

using Core = multicast::Core<channel::StandardEnv>;
using State = MulticastLate::State;

std::optional<State> state_of(multicast::Progress progress) {
    switch (progress) {
    case multicast::Progress::done: break;
    case multicast::Progress::told: return State::told;
    case multicast::Progress::running: return State::running;
    case multicast::Progress::untold: return State::untold;
    case multicast::Progress::lost: return State::ended;
    }
    return std::nullopt;
}

class Look {
public:
    Look(const multicast::Board& board, group::Head& places)
        : board_(board), places_(places), order_(board_.order()),
          core_(board_.core(), board_.shape()) {}

    [[nodiscard]] TracedGroup group() {
        TracedGroup found;
        found.kind = "multicast";
        found.about = board_.settings().reason;
        found.size = board_.size();
        std::vector<std::uint64_t> behind(static_cast<std::size_t>(found.size));
        for (std::uint32_t slot = 0; slot < core_.shape().slots; ++slot) {
            found.sequence += core_.number(slot);
            if (const std::uint64_t number = core_.under_way(slot)) {
                found.calls.push_back(call(slot, number));
                for (const MulticastLate& late : found.calls.back().late) {
                    ++behind[static_cast<std::size_t>(late.rank)];
                }
            }
        }
        for (Rank rank = 0; rank < found.size; ++rank) {
            const multicast::Position p = position_of(rank);
            if (core_.is_held(p)) {
                TracedMember one;
                one.rank = rank;
                const std::uint32_t pid =
                    unlocked(places_.place(static_cast<std::size_t>(rank)).pid);
                one.pid = static_cast<int>(pid);
                one.state = !core_.is_member(p)         ? "quiescent"
                            : core_.spot(p).is_parked() ? "sleeping"
                                                        : "polling";
                one.process = process_of(pid);
                one.behind = behind[static_cast<std::size_t>(rank)];
                found.members.push_back(std::move(one));
            }
        }
        return found;
    }

private:
    [[nodiscard]] multicast::Position position_of(Rank rank) const {
        return order_.position_of[static_cast<std::size_t>(rank)];
    }
    [[nodiscard]] MulticastUnderWay call(std::uint32_t slot, std::uint64_t number) const {
        const multicast::CallRecord& record = board_.call(slot);
        MulticastUnderWay found{record.initiator.load(std::memory_order_relaxed),
                                number,
                                static_cast<int>(core_.named(slot)),
                                {}};
        const std::chrono::nanoseconds by(now_ns() -
                                          record.begin_ns.load(std::memory_order_relaxed));
        for (Rank rank = 0; rank < board_.size(); ++rank) {
            if (const auto state =
                    state_of(multicast::progress_of(core_, slot, position_of(rank)))) {
                const auto& place = places_.place(static_cast<std::size_t>(rank));
                const std::uint32_t pid =
                    unlocked(*state == State::ended ? place.lost_pid : place.pid);
                found.late.push_back({rank, *state, by, static_cast<int>(pid)});
            }
        }
        return found;
    }

    multicast::Board board_;
    group::Head& places_;
    multicast::Preorder order_;
    Core core_;
};

} // namespace

std::optional<TracedGroup> look_at_multicast(const Arena& arena) {
    const auto board = multicast::Board::find(arena);
    if (!board) {
        return std::nullopt;
    }
    return Look(*board, *group::find(arena, group::Kind::multicast)).group();
}

} // namespace corymb::trace
