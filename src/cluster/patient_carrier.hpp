// SPDX-License-Identifier: Apache-2.0
// Messages of ranks that measure the network: one after the other, waited for.
#pragma once

#include <corymb/carrier.hpp>

#include <chrono>
#include <cstddef>
#include <vector>

namespace corymb::cluster {

class PatientCarrier {
public:
    /// Each wait ends after `deadline`.
    PatientCarrier(Carrier& carrier, std::chrono::nanoseconds deadline)
        : carrier_(&carrier), deadline_(deadline) {}
    PatientCarrier(const PatientCarrier&) = delete;
    PatientCarrier& operator=(const PatientCarrier&) = delete;
    /// Gives up messages that were begun and not waited for. Their memory must exist until then.
    ~PatientCarrier();

    /// Begins; `wait` ends it.
    [[nodiscard]] Carrier::Ticket begin_send(const void* data, std::size_t bytes, Rank to,
                                             int mark);
    /// Throws Errc::timeout.
    Carrier::Arrival wait(Carrier::Ticket ticket);
    void send(const void* data, std::size_t bytes, Rank to, int mark = 0);
    Carrier::Arrival receive(void* data, std::size_t room, Rank from);

private:
    Carrier* carrier_;
    std::chrono::nanoseconds deadline_;
    std::vector<Carrier::Ticket> begun_;
};

} // namespace corymb::cluster
