// SPDX-License-Identifier: Apache-2.0
// Helpers of ranks that look for shared memory: team.cpp for one node, node_teams.cpp for
// several.
#pragma once

#include "communicator/communicator.hpp"
#include "policy/agreement.hpp"

#include <corymb.h>

#include <cstdint>
#include <unistd.h>

namespace corymb::mpi {

class Descriptor {
public:
    explicit Descriptor(int number = -1) noexcept : number_(number) {}
    ~Descriptor() { reset(-1); }
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    [[nodiscard]] int number() const noexcept { return number_; }
    void reset(int number) noexcept {
        if (number_ >= 0) {
            ::close(number_);
        }
        number_ = number;
    }

private:
    int number_;
};

/// Different on machines and in containers that cannot share memory: no proof that they can, but
/// where it differs nobody needs to try.
[[nodiscard]] std::uint64_t machine_and_namespace();
/// A random number that is not 0.
[[nodiscard]] std::uint64_t random_number();
/// Collective over the communicator: the objections of all ranks together, and what `agreement`
/// names, too.
[[nodiscard]] std::uint64_t all_objections(const Communicator& communicator, std::uint64_t own,
                                           Agreement agreement = {});
/// Makes the memory of a team; false: none can be had.
[[nodiscard]] bool make_memory(int size, Descriptor& memory);
/// Opens the memory of another process; without success it has no number.
void open_memory(std::uint64_t pid, std::uint64_t descriptor, Descriptor& memory);
/// Whether this process has the memory, and addresses to map it. A process without them would keep
/// the others waiting while they attach.
[[nodiscard]] bool can_map(const Descriptor& memory);
/// Becomes one of the ranks of the memory's team, which is then the communicator's.
[[nodiscard]] corymb_status attach(Communicator& communicator, int descriptor, int size, int rank);
/// The number that rank 0 of the communicator's team has drawn comes through its memory; `rank` is
/// this process's in that team.
[[nodiscard]] bool has_nonce(Communicator& communicator, int rank, std::uint64_t nonce);

/// Collective over the communicator. It ends with a team or a reason, on which all ranks agree, or
/// it is too early for a team between nodes, unless the team is urgent.
void agree_on_team(Communicator& communicator, bool is_urgent) noexcept;

/// Collective over a communicator whose ranks are on several nodes: makes node teams, and messages
/// between them. Returns the ranks' objections (Objection); 0: they have a team. Unless the team is
/// urgent, an unknown network may have to wait.
[[nodiscard]] std::uint64_t agree_on_node_teams(Communicator& communicator, bool is_urgent);

} // namespace corymb::mpi
