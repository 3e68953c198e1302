// SPDX-License-Identifier: Apache-2.0
#include "cluster/patient_carrier.hpp"

#include "base/clock.hpp"

#include <corymb/error.hpp>

#include <chrono>
#include <thread>

namespace corymb::cluster {

namespace {

constexpr std::int64_t limit_ns = 60'000'000'000;
constexpr std::int64_t yielding_ns = 5'000'000;
/// Then somebody else is being measured, who needs the CPU.
constexpr std::int64_t dozing_ns = 20'000'000;
constexpr int eager_looks = 100;

} // namespace

Carrier::Ticket PatientCarrier::begin_send(const void* data, std::size_t bytes, Rank to, int mark) {
    return carrier_->send(data, bytes, to, Carrier::Channel::data, mark);
}

Carrier::Arrival PatientCarrier::wait(Carrier::Ticket ticket) {
    Carrier::Arrival arrival;
    const std::int64_t since = now_ns();
    for (int look = 0; !carrier_->test(ticket, arrival); ++look) {
        if (look < eager_looks) {
            continue;
        }
        const std::int64_t waited = now_ns() - since;
        if (waited > limit_ns) {
            carrier_->abandon(ticket);
            throw Error(Errc::timeout, "measuring the network: another node has not answered for a "
                                       "minute");
        }
        if (waited < yielding_ns) {
            std::this_thread::yield();
        } else {
            std::this_thread::sleep_for(std::chrono::microseconds(waited < dozing_ns ? 50 : 1000));
        }
    }
    return arrival;
}

void PatientCarrier::send(const void* data, std::size_t bytes, Rank to, int mark) {
    wait(begin_send(data, bytes, to, mark));
}

Carrier::Arrival PatientCarrier::receive(void* data, std::size_t room, Rank from) {
    return wait(carrier_->receive(data, room, from, Carrier::Channel::data));
}

} // namespace corymb::cluster
