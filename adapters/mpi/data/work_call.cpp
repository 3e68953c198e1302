// SPDX-License-Identifier: Apache-2.0
// Work as a call of libcorymb: 16 operations in three forms.
#include "data/work.hpp"

namespace corymb::mpi {

namespace {

const std::size_t* list(const SmallList<std::size_t, small_ranks>& numbers) noexcept {
    return numbers.empty() ? nullptr : numbers.data();
}

/// Calls the function of the form; functions of requests have one parameter more.
struct Caller {
    Form form;
    corymb_request** request;

    template <class Run, class Start, class Make, class... Parameters>
    corymb_status operator()(Run run, Start start, Make make, Parameters... parameters) const {
        switch (form) {
        case Form::blocking: break;
        case Form::nonblocking: return start(parameters..., request);
        case Form::persistent: return make(parameters..., request);
        }
        return run(parameters...);
    }
};

// The names of the three functions of an operation.
#define CORYMB_MPI_FORMS(name) all.name, all.i##name, all.name##_init

corymb_status call_vector(const Work& work, const Caller& call, corymb_team* team) noexcept {
    const Library& all = library();
    const std::size_t* const in_counts = list(work.parts->in.counts);
    const std::size_t* const in_places = list(work.parts->in.displacements);
    const std::size_t* const out_counts = list(work.parts->out.counts);
    const std::size_t* const out_places = list(work.parts->out.displacements);
    switch (work.op) {
    case CORYMB_GATHER:
        return call(CORYMB_MPI_FORMS(gatherv), work.input, work.count, work.output, out_counts,
                    out_places, work.type, work.root, team);
    case CORYMB_SCATTER:
        return call(CORYMB_MPI_FORMS(scatterv), work.input, in_counts, in_places, work.output,
                    work.count, work.type, work.root, team);
    case CORYMB_ALLGATHER:
        return call(CORYMB_MPI_FORMS(allgatherv), work.input, work.count, work.output, out_counts,
                    out_places, work.type, team);
    case CORYMB_ALLTOALL:
        return call(CORYMB_MPI_FORMS(alltoallv), work.input, in_counts, in_places, work.output,
                    out_counts, out_places, work.type, team);
    default:
        return call(CORYMB_MPI_FORMS(reduce_scatterv), work.input, work.output, in_counts,
                    work.type, work.with, team);
    }
}

} // namespace

corymb_status Work::call(Form form, corymb_team* team, corymb_request** request) const noexcept {
    const Library& all = library();
    const Caller to{form, request};
    if (parts) {
        return call_vector(*this, to, team);
    }
    switch (op) {
    case CORYMB_BARRIER: return to(CORYMB_MPI_FORMS(barrier), team);
    case CORYMB_BROADCAST: return to(CORYMB_MPI_FORMS(broadcast), output, count, type, root, team);
    case CORYMB_REDUCE:
        return to(CORYMB_MPI_FORMS(reduce), input, output, count, type, with, root, team);
    case CORYMB_ALLREDUCE:
        return to(CORYMB_MPI_FORMS(allreduce), input, output, count, type, with, team);
    case CORYMB_GATHER: return to(CORYMB_MPI_FORMS(gather), input, output, count, type, root, team);
    case CORYMB_SCATTER:
        return to(CORYMB_MPI_FORMS(scatter), input, output, count, type, root, team);
    case CORYMB_ALLGATHER: return to(CORYMB_MPI_FORMS(allgather), input, output, count, type, team);
    case CORYMB_ALLTOALL: return to(CORYMB_MPI_FORMS(alltoall), input, output, count, type, team);
    case CORYMB_REDUCE_SCATTER:
        return to(CORYMB_MPI_FORMS(reduce_scatter), input, output, count, type, with, team);
    case CORYMB_SCAN: return to(CORYMB_MPI_FORMS(scan), input, output, count, type, with, team);
    case CORYMB_EXSCAN: return to(CORYMB_MPI_FORMS(exscan), input, output, count, type, with, team);
    case CORYMB_COLLECTIVE_MAX: break;
    }
    return CORYMB_INVALID_ARGUMENT;
}

#undef CORYMB_MPI_FORMS

corymb_status Work::call(Form form, corymb_cluster_team* team,
                         corymb_request** request) const noexcept {
    const Library& all = library();
    if (parts) {
        const corymb_part_lists lists{list(parts->in.counts), list(parts->in.displacements),
                                      list(parts->out.counts), list(parts->out.displacements)};
        switch (form) {
        case Form::blocking: break;
        case Form::nonblocking:
            return all.cluster_start_parts(op, input, output, count, lists, type, with, root, team,
                                           request);
        case Form::persistent:
            return all.cluster_prepare_parts(op, input, output, count, lists, type, with, root,
                                             team, request);
        }
        return all.cluster_run_parts(op, input, output, count, lists, type, with, root, team);
    }
    switch (form) {
    case Form::blocking: break;
    case Form::nonblocking:
        return all.cluster_start(op, input, output, count, type, with, root, team, request);
    case Form::persistent:
        return all.cluster_prepare(op, input, output, count, type, with, root, team, request);
    }
    return all.cluster_run(op, input, output, count, type, with, root, team);
}

} // namespace corymb::mpi
