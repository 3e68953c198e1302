// SPDX-License-Identifier: Apache-2.0
// Messages of ranks that measure the network: one after the other, waited for.
#pragma once

#include <corymb/cluster_team.hpp>

#include <cstddef>

namespace corymb::cluster {

class PatientCarrier {
public:
    explicit PatientCarrier(Carrier& carrier) : carrier_(&carrier) {}

    /// Begins; `wait` ends it.
    [[nodiscard]] Carrier::Ticket begin_send(const void* data, std::size_t bytes, Rank to,
                                             int mark);
    /// Throws Errc::timeout after a minute.
    Carrier::Arrival wait(Carrier::Ticket ticket);
    void send(const void* data, std::size_t bytes, Rank to, int mark = 0);
    Carrier::Arrival receive(void* data, std::size_t room, Rank from);

private:
    Carrier* carrier_;
};

} // namespace corymb::cluster
