// SPDX-License-Identifier: Apache-2.0
#include "communicator/reasons.hpp"

namespace corymb::mpi {

const char* text_of(Reason reason) noexcept {
    switch (reason) {
    case Reason::none: return "taken over";
    case Reason::early: return "the first calls on a communicator, which may not live long";
    case Reason::arguments: return "arguments that MPI refuses";
    case Reason::bounds: return "a rank's lists name more than the others send";
    case Reason::no_kernel: return "a datatype and an operator that only the MPI combines";
    case Reason::no_hook:
        return "requests of others cannot go on while this MPI waits; between nodes a thread goes "
               "on with them if the program asks for MPI_THREAD_MULTIPLE";
    case Reason::passed_by:
        return "requests of a rank are completed past corymb: by Fortran's mpi_f08, by a tool "
               "before corymb, or as CORYMB_MPI=blocking says";
    case Reason::not_by_thread: return "an operator that only the MPI's own threads may call";
    case Reason::no_tags: return "no tags are left for persistent requests between nodes";
    case Reason::no_translation: return "this operation is the MPI's";
    case Reason::alone: return "the communicator has one rank";
    case Reason::between_groups: return "an intercommunicator";
    case Reason::beyond_world: return "a communicator with processes outside of MPI_COMM_WORLD";
    case Reason::no_team: return "no team";
    case Reason::trial: return "tried, to see which of the two is faster";
    case Reason::slower: return "it was the faster one when tried";
    case Reason::nodes_apart:
        return "between nodes a team is made in a blocking call, and requests have it then, too";
    case Reason::planning: return "first for about as long as it takes to make a plan";
    }
    return "";
}

const char* text_of(Objection objection) noexcept {
    switch (objection) {
    case Objection::switched_off: return "CORYMB_MPI=off";
    case Objection::no_library: return "a rank cannot load libcorymb";
    case Objection::too_many: return "a rank has its limit of teams";
    case Objection::no_memory: return "the memory of a team could not be made";
    case Objection::not_initialised: return "a rank has not called MPI_Init";
    case Objection::no_messages: return "no communicator for messages between nodes could be made";
    case Objection::not_shared: return "a rank cannot map the memory of another on its node";
    case Objection::not_attached: return "a rank could not attach";
    case Objection::wrong_network: return "CORYMB_NETWORK says no costs, or names other nodes";
    case Objection::other_memory: return "the ranks do not see the same memory";
    case Objection::not_yet: return "it is too early";
    }
    return "";
}

} // namespace corymb::mpi
