// SPDX-License-Identifier: Apache-2.0
#include "communicator/being_freed.hpp"

#include "communicator/communicator.hpp"

namespace corymb::mpi {

namespace {

thread_local constinit const BeingFreed* innermost = nullptr;

} // namespace

BeingFreed::BeingFreed(MPI_Comm comm) noexcept : comm_(comm), outer_(innermost) {
    innermost = this;
    communicator_generation.fetch_add(1, std::memory_order_release); // Nobody remembers it.
}

BeingFreed::~BeingFreed() {
    innermost = outer_;
}

bool BeingFreed::has(MPI_Comm comm) noexcept {
    for (const BeingFreed* one = innermost; one != nullptr; one = one->outer_) {
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
    const BeingFreed being_freed(comm != nullptr ? *comm : host().comm_null);
    return host().Comm_free(comm);
}

CORYMB_MPI_ENTRY int MPI_Comm_disconnect(MPI_Comm* comm) {
    const BeingFreed being_freed(comm != nullptr ? *comm : host().comm_null);
    return host().Comm_disconnect(comm);
}
