// SPDX-License-Identifier: Apache-2.0
// The collectives as the entry points call them, in all forms. Each runs on the communicator's
// team, or is passed to the MPI below, and returns MPI's error code. Parameters are the standard's.
#pragma once

#include "below/call.hpp"
#include "below/host.hpp"

namespace corymb::mpi {

/// An array of counts of either width.
class Counts {
public:
    Counts(const int* narrow) noexcept : narrow_(narrow) {}
    Counts(const MPI_Count* wide) noexcept : wide_(wide) {}
    [[nodiscard]] bool exists() const noexcept { return narrow_ != nullptr || wide_ != nullptr; }
    [[nodiscard]] MPI_Count operator[](int rank) const noexcept {
        return narrow_ != nullptr ? narrow_[rank] : wide_[rank];
    }
    /// Whether they are the same array.
    bool operator==(const Counts&) const noexcept = default;

private:
    const int* narrow_ = nullptr;
    const MPI_Count* wide_ = nullptr;
};

/// An array of displacements of either width.
class Displacements {
public:
    Displacements(const int* narrow) noexcept : narrow_(narrow) {}
    Displacements(const MPI_Aint* wide) noexcept : wide_(wide) {}
    [[nodiscard]] bool exists() const noexcept { return narrow_ != nullptr || wide_ != nullptr; }
    [[nodiscard]] MPI_Aint operator[](int rank) const noexcept {
        return narrow_ != nullptr ? narrow_[rank] : wide_[rank];
    }

private:
    const int* narrow_ = nullptr;
    const MPI_Aint* wide_ = nullptr;
};

int barrier(const Call& call, MPI_Comm comm);
int bcast(const Call& call, void* buffer, MPI_Count count, MPI_Datatype type, int root,
          MPI_Comm comm);
int gather(const Call& call, const void* in, MPI_Count in_count, MPI_Datatype in_type, void* out,
           MPI_Count out_count, MPI_Datatype out_type, int root, MPI_Comm comm);
int scatter(const Call& call, const void* in, MPI_Count in_count, MPI_Datatype in_type, void* out,
            MPI_Count out_count, MPI_Datatype out_type, int root, MPI_Comm comm);
int allgather(const Call& call, const void* in, MPI_Count in_count, MPI_Datatype in_type, void* out,
              MPI_Count out_count, MPI_Datatype out_type, MPI_Comm comm);
int alltoall(const Call& call, const void* in, MPI_Count in_count, MPI_Datatype in_type, void* out,
             MPI_Count out_count, MPI_Datatype out_type, MPI_Comm comm);
int gatherv(const Call& call, const void* in, MPI_Count in_count, MPI_Datatype in_type, void* out,
            Counts out_counts, Displacements out_places, MPI_Datatype out_type, int root,
            MPI_Comm comm);
int scatterv(const Call& call, const void* in, Counts in_counts, Displacements in_places,
             MPI_Datatype in_type, void* out, MPI_Count out_count, MPI_Datatype out_type, int root,
             MPI_Comm comm);
int allgatherv(const Call& call, const void* in, MPI_Count in_count, MPI_Datatype in_type,
               void* out, Counts out_counts, Displacements out_places, MPI_Datatype out_type,
               MPI_Comm comm);
int alltoallv(const Call& call, const void* in, Counts in_counts, Displacements in_places,
              MPI_Datatype in_type, void* out, Counts out_counts, Displacements out_places,
              MPI_Datatype out_type, MPI_Comm comm);
int alltoallw(const Call& call, const void* in, Counts in_counts, Displacements in_places,
              const MPI_Datatype* in_types, void* out, Counts out_counts, Displacements out_places,
              const MPI_Datatype* out_types, MPI_Comm comm);
int reduce(const Call& call, const void* in, void* out, MPI_Count count, MPI_Datatype type,
           MPI_Op op, int root, MPI_Comm comm);
int allreduce(const Call& call, const void* in, void* out, MPI_Count count, MPI_Datatype type,
              MPI_Op op, MPI_Comm comm);
int reduce_scatter(const Call& call, const void* in, void* out, Counts counts, MPI_Datatype type,
                   MPI_Op op, MPI_Comm comm);
int reduce_scatter_block(const Call& call, const void* in, void* out, MPI_Count count,
                         MPI_Datatype type, MPI_Op op, MPI_Comm comm);
int scan(const Call& call, const void* in, void* out, MPI_Count count, MPI_Datatype type, MPI_Op op,
         MPI_Comm comm);
int exscan(const Call& call, const void* in, void* out, MPI_Count count, MPI_Datatype type,
           MPI_Op op, MPI_Comm comm);

/// Operations among neighbours: counted, and left to the MPI below. The parameters describe the
/// data from each neighbour, for the summary: of one count or a count for each, of one type or a
/// type for each.
int neighbours(const Call& call, MPI_Count out_count, MPI_Datatype out_type, MPI_Comm comm);
int neighbours(const Call& call, Counts out_counts, MPI_Datatype out_type, MPI_Comm comm);
int neighbours(const Call& call, Counts out_counts, const MPI_Datatype* out_types, MPI_Comm comm);

/// Bytes that lists describe, in a call that the MPI has accepted.
[[nodiscard]] std::uint64_t listed_bytes(int parts, Counts counts, MPI_Datatype type);
[[nodiscard]] std::uint64_t listed_bytes(int parts, Counts counts, const MPI_Datatype* types);
/// A program found this name here and the MPI below does not have it.
int missing_function(const char* name);

} // namespace corymb::mpi
