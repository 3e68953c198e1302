// SPDX-License-Identifier: Apache-2.0
#include "corymb_calls.hpp"

namespace corymb::bench {

namespace {

/// A member function as the session calls it.
template <void (Work::*Member)()>
void call(void* state) {
    (static_cast<Work*>(state)->*Member)();
}

void nothing(void* /*state*/) {}

void renew_inputs(void* state, int iteration) {
    payload_renew(&static_cast<Work*>(state)->data(), iteration);
}

int has_right_result(void* state) {
    return payload_is_right(&static_cast<Work*>(state)->data());
}

void start_and_wait(Request& request) {
    request.start();
    request.wait();
}

void nonblocking_once(void* state) {
    auto& work = *static_cast<Work*>(state);
    work.start_nonblocking();
    work.wait();
}

void persistent_once(void* state) {
    auto& work = *static_cast<Work*>(state);
    work.start_persistent();
    work.wait();
}

} // namespace

void Work::blocking() {
    const Rank root = data_.root;
    switch (data_.operation) {
    case op_barrier: team_.barrier(); break;
    case op_broadcast: team_.broadcast(output(), root); break;
    case op_reduce: team_.reduce(input(), output(), std::plus<>{}, root); break;
    case op_allreduce: team_.allreduce(input(), output()); break;
    case op_gather: team_.gather(input(), output(), root); break;
    case op_scatter: team_.scatter(input(), output(), root); break;
    case op_allgather: team_.allgather(input(), output()); break;
    case op_alltoall: team_.alltoall(input(), output()); break;
    case op_reduce_scatter: team_.reduce_scatter(input(), output()); break;
    case op_scan: team_.scan(input(), output()); break;
    default: team_.exscan(input(), output()); break;
    }
}

Request Work::nonblocking() const {
    const Rank root = data_.root;
    switch (data_.operation) {
    case op_barrier: return team_.ibarrier();
    case op_broadcast: return team_.ibroadcast(output(), root);
    case op_reduce: return team_.ireduce(input(), output(), std::plus<>{}, root);
    case op_allreduce: return team_.iallreduce(input(), output());
    case op_gather: return team_.igather(input(), output(), root);
    case op_scatter: return team_.iscatter(input(), output(), root);
    case op_allgather: return team_.iallgather(input(), output());
    case op_alltoall: return team_.ialltoall(input(), output());
    case op_reduce_scatter: return team_.ireduce_scatter(input(), output());
    case op_scan: return team_.iscan(input(), output());
    default: return team_.iexscan(input(), output());
    }
}

Request Work::persistent() const {
    const Rank root = data_.root;
    switch (data_.operation) {
    case op_barrier: return team_.barrier_init();
    case op_broadcast: return team_.broadcast_init(output(), root);
    case op_reduce: return team_.reduce_init(input(), output(), std::plus<>{}, root);
    case op_allreduce: return team_.allreduce_init(input(), output());
    case op_gather: return team_.gather_init(input(), output(), root);
    case op_scatter: return team_.scatter_init(input(), output(), root);
    case op_allgather: return team_.allgather_init(input(), output());
    case op_alltoall: return team_.alltoall_init(input(), output());
    case op_reduce_scatter: return team_.reduce_scatter_init(input(), output());
    case op_scan: return team_.scan_init(input(), output());
    default: return team_.exscan_init(input(), output());
    }
}

void Work::start_nonblocking() {
    request_ = nonblocking();
}

void Work::start_persistent() {
    request_.start();
}

void Work::test() {
    if (request_.is_active()) {
        static_cast<void>(request_.test());
    }
}

void Work::wait() {
    if (request_.is_active()) {
        request_.wait();
    }
}

void Work::pingpong() {
    const Rank partner = pingpong_partner(&data_);
    if (data_.rank % 2 == 1) {
        team_.recv(output(), partner);
        team_.send(input(), partner);
    } else {
        team_.send(input(), partner);
        team_.recv(output(), partner);
    }
}

void Work::pingpong_nonblocking() {
    const Rank partner = pingpong_partner(&data_);
    if (data_.rank % 2 == 1) {
        team_.irecv(output(), partner).wait();
        team_.isend(input(), partner).wait();
    } else {
        team_.isend(input(), partner).wait();
        team_.irecv(output(), partner).wait();
    }
}

void Work::pingpong_persistent() {
    const bool answers = data_.rank % 2 == 1;
    start_and_wait(answers ? receive_ : request_);
    start_and_wait(answers ? request_ : receive_);
}

void Work::choose_pingpong(std::string_view mode, actions& chosen) {
    const Rank partner = pingpong_partner(&data_);
    if (partner < 0) {
        chosen.once = nothing;
    } else if (mode == "blocking") {
        chosen.once = call<&Work::pingpong>;
    } else if (mode == "nonblocking") {
        chosen.once = call<&Work::pingpong_nonblocking>;
    } else {
        request_ = team_.send_init(input(), partner);
        receive_ = team_.recv_init(output(), partner);
        chosen.once = call<&Work::pingpong_persistent>;
    }
}

bool Work::choose(std::string_view mode, actions& chosen) {
    const bool starts = mode == "nonblocking" || mode == "persistent";
    if (!starts && mode != "blocking") {
        return false;
    }
    chosen = {};
    chosen.state = this;
    chosen.renew = renew_inputs;
    chosen.is_right = has_right_result;
    if (data_.operation == op_pingpong) {
        choose_pingpong(mode, chosen);
        return true;
    }
    if (!starts) {
        chosen.once = call<&Work::blocking>;
        return true;
    }
    chosen.test = call<&Work::test>;
    chosen.wait = call<&Work::wait>;
    if (mode == "nonblocking") {
        chosen.once = nonblocking_once;
        chosen.start = call<&Work::start_nonblocking>;
    } else {
        request_ = persistent();
        chosen.once = persistent_once;
        chosen.start = call<&Work::start_persistent>;
    }
    return true;
}

} // namespace corymb::bench
