// SPDX-License-Identifier: Apache-2.0
#include "message/tuning.hpp"

#include <corymb/error.hpp>
#include <corymb/mailbox_model.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

namespace corymb {

namespace {

/// So many PUs, spread over the whole machine.
std::vector<int> spread(int count, int size) {
    std::vector<int> places;
    for (std::int64_t i = 0; i < count; ++i) {
        places.push_back(static_cast<int>(i * size / count));
    }
    return places;
}

std::string rounded(double value) {
    return std::to_string(std::llround(value));
}

} // namespace

MailboxChoice choose_mailbox(const Machine& machine, int size, bool with_srbp) {
    if (size < 1) {
        throw Error(Errc::invalid_argument,
                    "a group has at least 1 member, not " + std::to_string(size));
    }
    const int simulated = std::min({size, message::tuning::members_most.value(), machine.size()});
    if (simulated < 2) {
        return {MailboxProtocol::ring, "ring: there are no two members on CPUs of their own"};
    }
    const std::vector<int> places = spread(simulated, machine.size());
    MailboxChoice choice;
    double best = 0;
    std::string times;
    for (const auto protocol :
         {MailboxProtocol::ring, MailboxProtocol::nvp, MailboxProtocol::srbp}) {
        if (protocol == MailboxProtocol::srbp && (!with_srbp || size > machine.size())) {
            continue;
        }
        MailboxScenario scenario;
        scenario.protocol = protocol;
        scenario.silent_members = size - simulated;
        scenario.rounds = message::tuning::rounds;
        const double time = simulate_round_trip(machine, places, scenario);
        times +=
            (times.empty() ? "" : ", ") + std::string(to_string(protocol)) + " " + rounded(time);
        if (best == 0 || time < best * message::tuning::better) {
            best = time;
            choice.protocol = protocol;
        }
    }
    choice.reason = std::string(to_string(choice.protocol)) + ": round trips of " + times +
                    (machine.unit == TimeUnit::cycles ? " cycles" : " ns") + ", simulated on " +
                    (machine.name.empty() ? "a model without a name" : machine.name);
    return choice;
}

} // namespace corymb
