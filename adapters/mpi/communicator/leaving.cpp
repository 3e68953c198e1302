// SPDX-License-Identifier: Apache-2.0
#include "communicator/leaving.hpp"

#include "communicator/group.hpp"

namespace corymb::mpi {

namespace {

thread_local constinit const Leaving* innermost = nullptr;

} // namespace

Leaving::Leaving(MPI_Comm comm) noexcept : comm_(comm), outer_(innermost) {
    innermost = this;
    group_generation.fetch_add(1, std::memory_order_release); // Nobody remembers it.
}

Leaving::~Leaving() {
    innermost = outer_;
}

bool Leaving::has(MPI_Comm comm) noexcept {
    for (const Leaving* one = innermost; one != nullptr; one = one->outer_) {
        if (one->comm_ == comm) {
            return true;
        }
    }
    return false;
}

} // namespace corymb::mpi

#define CORYMB_MPI_ENTRY extern "C" __attribute__((visibility("default")))

using namespace corymb::mpi;

CORYMB_MPI_ENTRY int MPI_Comm_free(MPI_Comm* comm) {
    const Leaving leaving(comm != nullptr ? *comm : host().comm_null);
    return host().Comm_free(comm);
}

CORYMB_MPI_ENTRY int MPI_Comm_disconnect(MPI_Comm* comm) {
    const Leaving leaving(comm != nullptr ? *comm : host().comm_null);
    return host().Comm_disconnect(comm);
}
