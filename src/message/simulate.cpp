// SPDX-License-Identifier: Apache-2.0
#include "base/random.hpp"
#include "message/replay.hpp"

#include <corymb/error.hpp>

#include <algorithm>
#include <string>
#include <vector>

namespace corymb {

namespace {

using message::Replay;
using message::Turn;

constexpr int repeats = 8; ///< Repetitions of the collectives.

[[noreturn]] void refuse(const std::string& text) {
    throw Error(Errc::invalid_argument, text);
}

void check(const Machine& machine, std::span<const int> placement,
           const MailboxScenario& scenario) {
    if (placement.size() < 2) {
        refuse("messages need at least 2 ranks, not " + std::to_string(placement.size()));
    }
    std::vector<bool> used(static_cast<std::size_t>(machine.size()));
    for (const int pu : placement) {
        if (pu < 0 || pu >= machine.size() || used[static_cast<std::size_t>(pu)]) {
            refuse("PU " + std::to_string(pu) + " is named twice, or is none of the model's " +
                   std::to_string(machine.size()));
        }
        used[static_cast<std::size_t>(pu)] = true;
    }
    if (scenario.protocol == MailboxProtocol::automatic) {
        refuse("automatic is no protocol to be simulated; take ring, nvp or srbp");
    }
    if (scenario.message_bytes > std::size_t{1} << 20U || scenario.rounds < 1 ||
        scenario.rounds > 1 << 20 || scenario.silent_members < 0 ||
        scenario.silent_members > 1 << 20 || scenario.look < 0) {
        refuse("a scenario has messages of at most 1 MiB, 1 to 2^20 rounds, 0 to 2^20 silent "
               "members and a look of at least 0");
    }
}

class Study {
public:
    Study(const Machine& machine, std::span<const int> placement, const MailboxScenario& scenario)
        : replay_(machine, placement, scenario), size_(static_cast<int>(placement.size())),
          random_(scenario.seed) {}

    void round_trips(int rounds, MailboxTimes& times) {
        const int partners = std::min(size_ - 1, std::max(1, rounds / 4));
        const int each = std::max(1, rounds / partners);
        const auto [least, most] = distances();
        double sum = 0, near = 0, far = 0, data = 0;
        int nears = 0, fars = 0;
        for (int i = 0; i < partners; ++i) {
            const auto rank =
                static_cast<Rank>(1 + static_cast<std::int64_t>(i) * (size_ - 1) / partners);
            const double distance = replay_.charges().distance(0, rank);
            double own = 0;
            static_cast<void>(round_trip(rank, data)); // Lines come to where they will be.
            for (int k = 0; k < each; ++k) {
                own += round_trip(rank, data) / each;
            }
            sum += own;
            near += distance == least ? own : 0;
            far += distance == most ? own : 0;
            nears += distance == least ? 1 : 0;
            fars += distance == most ? 1 : 0;
        }
        times.round_trip = sum / partners;
        times.nearest = nears == 0 ? times.round_trip : near / nears;
        times.farthest = fars == 0 ? times.round_trip : far / fars;
        times.notification = sum > 0 ? 1 - data / (sum * (each + 1)) : 0;
    }

    [[nodiscard]] double gather() {
        return repeated([this](std::vector<Replay::Member>& members) {
            members[0].turns = {{size_ - 1, {}}};
            for (std::size_t rank = 1; rank < members.size(); ++rank) {
                members[rank].turns = {{0, {0}}};
            }
        });
    }

    [[nodiscard]] double collective() {
        return repeated([this](std::vector<Replay::Member>& members) {
            for (Rank rank = 0; rank < size_; ++rank) {
                std::vector<Rank> children;
                for (const Rank child : {2 * rank + 1, 2 * rank + 2}) {
                    if (child < size_) {
                        children.push_back(child);
                    }
                }
                const auto count = static_cast<int>(children.size());
                auto& turns = members[static_cast<std::size_t>(rank)].turns;
                if (rank == 0) {
                    turns = {{count, children}};
                } else {
                    turns = {{count, {(rank - 1) / 2}}, {count + 1, children}};
                }
            }
        });
    }

    [[nodiscard]] const Replay& replay() const noexcept { return replay_; }

private:
    [[nodiscard]] std::pair<double, double> distances() const {
        double least = replay_.charges().distance(0, 1), most = least;
        for (Rank rank = 2; rank < size_; ++rank) {
            least = std::min(least, replay_.charges().distance(0, rank));
            most = std::max(most, replay_.charges().distance(0, rank));
        }
        return {least, most};
    }
    [[nodiscard]] std::size_t somewhere() noexcept {
        return random_.below(static_cast<std::uint32_t>(replay_.looks()));
    }
    double round_trip(Rank rank, double& data) {
        std::vector<Replay::Member> members(static_cast<std::size_t>(size_));
        const double begin = random_.unit() * replay_.idle_probe();
        members[0] = {{{0, {rank}}, {1, {}}}, begin, somewhere()};
        members[static_cast<std::size_t>(rank)] = {{{1, {0}}}, 0, somewhere()};
        const Replay::Outcome outcome = replay_.run(members);
        data += outcome.data;
        return outcome.end - begin;
    }
    /// All begin at once; their looking begins anywhere.
    template <class Fill>
    [[nodiscard]] double repeated(const Fill& fill) {
        double sum = 0;
        for (int i = 0; i < repeats; ++i) {
            std::vector<Replay::Member> members(static_cast<std::size_t>(size_));
            for (auto& member : members) {
                member.at = somewhere();
            }
            fill(members);
            sum += replay_.run(members).end;
        }
        return sum / repeats;
    }

    Replay replay_;
    int size_;
    Random random_;
};

} // namespace

MailboxTimes simulate_mailbox(const Machine& machine, std::span<const int> placement,
                              const MailboxScenario& scenario) {
    check(machine, placement, scenario);
    MailboxTimes times;
    times.simulated_on = machine.name;
    Study study(machine, placement, scenario);
    study.round_trips(scenario.rounds, times);
    times.idle_probe = study.replay().idle_probe();
    times.gather = study.gather();
    times.collective = study.collective();
    return times;
}

double simulate_round_trip(const Machine& machine, std::span<const int> placement,
                           const MailboxScenario& scenario) {
    check(machine, placement, scenario);
    MailboxTimes times;
    Study(machine, placement, scenario).round_trips(scenario.rounds, times);
    return times.round_trip;
}

} // namespace corymb
