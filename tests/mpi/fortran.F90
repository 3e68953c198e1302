! SPDX-License-Identifier: Apache-2.0
! A program in Fortran, by the module mpi or, with -DF08, by mpi_f08: blocking and nonblocking
! collectives in place and not, and a wait for several.
program fortran
#ifdef F08
    use mpi_f08
#else
    use mpi
#endif
    implicit none
#ifdef F08
    type(MPI_Request) :: requests(2)
#else
    integer :: requests(2)
#endif
    integer :: error, rank, ranks, call, i, wrong, most
    integer :: one(100), sum(100), all(400)
    double precision :: number

    call MPI_Init(error)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
    wrong = 0
    do call = 1, 60
        one = [(rank + i + call, i = 1, 100)]
        call MPI_Allreduce(one, sum, 100, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error)
        do i = 1, 100
            if (sum(i) /= ranks * (i + call) + ranks * (ranks - 1) / 2) wrong = wrong + 1
        end do
        call MPI_Allgather(one, 100, MPI_INTEGER, all, 100, MPI_INTEGER, MPI_COMM_WORLD, error)
        do i = 1, 100 * ranks
            if (all(i) /= (i - 1) / 100 + mod(i - 1, 100) + 1 + call) wrong = wrong + 1
        end do
        number = rank
        call MPI_Allreduce(MPI_IN_PLACE, number, 1, MPI_DOUBLE_PRECISION, MPI_MAX, &
            MPI_COMM_WORLD, error)
        if (number /= ranks - 1) wrong = wrong + 1
        most = merge(call, 0, rank == 0)
        call MPI_Ibcast(most, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, requests(1), error)
        call MPI_Iallreduce(one, sum, 100, MPI_INTEGER, MPI_MAX, MPI_COMM_WORLD, requests(2), &
            error)
        call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, error)
        if (most /= call .or. sum(1) /= ranks + call) wrong = wrong + 1
    end do
    call MPI_Allreduce(MPI_IN_PLACE, wrong, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error)
    if (rank == 0) print '(i0, a)', wrong, ' wrong'
    call MPI_Finalize(error)
end program
