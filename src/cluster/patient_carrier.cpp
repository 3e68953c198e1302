// SPDX-License-Identifier: Apache-2.0
#include "cluster/patient_carrier.hpp"

#include "base/make_room.hpp"
#include "base/wait_clock.hpp"

#include <corymb/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <thread>

namespace corymb::cluster {

namespace {

constexpr std::int64_t yielding_ns = 5'000'000;
/// After this, other ranks are being measured and need the CPU.
constexpr std::int64_t dozing_ns = 20'000'000;
constexpr int eager_looks = 100;

} // namespace

PatientCarrier::~PatientCarrier() {
    for (const Carrier::Ticket ticket : begun_) {
        carrier_->abandon(ticket);
    }
}

Carrier::Ticket PatientCarrier::begin_send(const void* data, std::size_t bytes, Rank to, int mark) {
    make_room(begun_, begun_.size() + 1);
    begun_.push_back(carrier_->send(data, bytes, to, Carrier::Channel::data, mark));
    return begun_.back();
}

Carrier::Arrival PatientCarrier::wait(Carrier::Ticket ticket) {
    Carrier::Arrival arrival;
    if (const auto own = std::ranges::find(begun_, ticket); own != begun_.end()) {
        begun_.erase(own); // The ticket is over when this returns or throws.
    }
    WaitClock clock;
    for (int look = 0; !carrier_->test(ticket, arrival); ++look) {
        if (look < eager_looks) {
            continue;
        }
        const std::int64_t waited = clock.waited_ns();
        if (waited > deadline_.count()) {
            carrier_->abandon(ticket);
            throw Error(Errc::timeout,
                        fmt::format("getting to know the nodes: another one has not answered for "
                                    "{:.3g} s",
                                    std::chrono::duration<double>(deadline_).count()));
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
