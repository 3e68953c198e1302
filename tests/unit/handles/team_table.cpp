// SPDX-License-Identifier: Apache-2.0
#include "handles/table.hpp"

#include <array>
#include <functional>

// The forms of one operation: blocking, nonblocking, persistent.
#define FORMS(Handle, name, ...)                                                                   \
    {#Handle "::" #name, Kind::acts,                                                               \
     [](Handle& t) {                                                                               \
         t.name(__VA_ARGS__);                                                                      \
     }},                                                                                           \
        {#Handle "::i" #name, Kind::acts,                                                          \
         [](Handle& t) {                                                                           \
             static_cast<void>(t.i##name(__VA_ARGS__));                                            \
         }},                                                                                       \
    {                                                                                              \
        #Handle "::" #name "_init", Kind::acts, [](Handle& t) {                                    \
            static_cast<void>(t.name##_init(__VA_ARGS__));                                         \
        }                                                                                          \
    }
#define PACKED_FORMS(name, ...)                                                                    \
    {"Team::" #name " (packed)", Kind::acts,                                                       \
     [](Team& t) {                                                                                 \
         t.name(__VA_ARGS__);                                                                      \
     }},                                                                                           \
        {"Team::i" #name " (packed)", Kind::acts,                                                  \
         [](Team& t) {                                                                             \
             static_cast<void>(t.i##name(__VA_ARGS__));                                            \
         }},                                                                                       \
    {                                                                                              \
        "Team::" #name "_init (packed)", Kind::acts, [](Team& t) {                                 \
            static_cast<void>(t.name##_init(__VA_ARGS__));                                         \
        }                                                                                          \
    }
#define GIVES(Handle, kind, name, ...)                                                             \
    {#Handle "::" #name, Kind::kind, [](Handle& t) {                                               \
         static_cast<void>(t.name(__VA_ARGS__));                                                   \
     }}

namespace corymb::handles {

namespace {

std::array<int, 4> from;
std::array<int, 4> to;
const std::array<std::size_t, 2> counts{1, 1};

std::span<const int> in(std::size_t count = 1) {
    return std::span<const int>(from).first(count);
}
std::span<int> out(std::size_t count = 1) {
    return std::span<int>(to).first(count);
}
Parts parts() {
    return {counts, {}};
}
Packed<int> packed(std::size_t count = 1) {
    return strided(to.data(), 1, count, 1);
}
CollectiveOperation sum() {
    return {Collective::allreduce, 0, from.data(), to.data(), 1, reduction_of<int, std::plus<>>()};
}

} // namespace

// What a team within a node and one over several nodes have in common.
#define COMMON_CALLS(Handle)                                                                       \
    FORMS(Handle, barrier), FORMS(Handle, broadcast, out()), FORMS(Handle, reduce, in(), out()),   \
        FORMS(Handle, allreduce, in(), out()), FORMS(Handle, gather, in(), out(2)),                \
        FORMS(Handle, scatter, in(2), out()), FORMS(Handle, allgather, in(), out(2)),              \
        FORMS(Handle, alltoall, in(2), out(2)), FORMS(Handle, reduce_scatter, in(2), out()),       \
        FORMS(Handle, scan, in(), out()), FORMS(Handle, exscan, in(), out()),                      \
        FORMS(Handle, gatherv, in(), out(2), parts()),                                             \
        FORMS(Handle, scatterv, in(2), parts(), out()),                                            \
        FORMS(Handle, allgatherv, in(), out(2), parts()),                                          \
        FORMS(Handle, alltoallv, in(2), parts(), out(2), parts()),                                 \
        FORMS(Handle, reduce_scatterv, in(2), parts(), out()), GIVES(Handle, asks, rank),          \
        GIVES(Handle, asks, size), GIVES(Handle, acts, progress), {                                \
        #Handle "::complete_all", Kind::acts, [](Handle& t) {                                      \
            t.complete_all();                                                                      \
        }                                                                                          \
    }

// The operations on data that does not lie in one piece.
#define PACKED_CALLS                                                                               \
    PACKED_FORMS(broadcast, packed()), PACKED_FORMS(reduce, packed(), packed()),                   \
        PACKED_FORMS(allreduce, packed(), packed()), PACKED_FORMS(gather, packed(), packed(2)),    \
        PACKED_FORMS(scatter, packed(2), packed()), PACKED_FORMS(allgather, packed(), packed(2)),  \
        PACKED_FORMS(alltoall, packed(2), packed(2)),                                              \
        PACKED_FORMS(reduce_scatter, packed(2), packed()), PACKED_FORMS(scan, packed(), packed()), \
        PACKED_FORMS(exscan, packed(), packed()), PACKED_FORMS(send, packed(), 1),                 \
        PACKED_FORMS(recv, packed(), 1)

const Calls<Team>& team_calls() {
    static const Calls<Team> all{
        COMMON_CALLS(Team),
        PACKED_CALLS,
        {"Team::run", Kind::acts,
         [](Team& t) {
             t.run(sum());
         }},
        GIVES(Team, acts, start, sum()),
        GIVES(Team, acts, prepare, sum()),
        {"Team::broadcast (value)", Kind::acts,
         [](Team& t) {
             static_cast<void>(t.broadcast(1));
         }},
        {"Team::allreduce (value)", Kind::acts,
         [](Team& t) {
             static_cast<void>(t.allreduce(1));
         }},
        {"Team::send", Kind::acts,
         [](Team& t) {
             t.send(in(), 1);
         }},
        {"Team::recv", Kind::acts,
         [](Team& t) {
             t.recv(out(), 1);
         }},
        {"Team::sendrecv", Kind::acts,
         [](Team& t) {
             t.sendrecv(in(), 1, out(), 1);
         }},
        GIVES(Team, acts, isend, in(), 1),
        GIVES(Team, acts, irecv, out(), 1),
        GIVES(Team, acts, send_init, in(), 1),
        GIVES(Team, acts, recv_init, out(), 1),
        GIVES(Team, acts, split, 0),
        GIVES(Team, acts, shrink),
        GIVES(Team, acts, plan, Collective::barrier),
        {"Team::warm_up", Kind::acts,
         [](Team& t) {
             t.warm_up(Collective::barrier);
         }},
        GIVES(Team, acts, chosen_plan, Collective::barrier),
        GIVES(Team, acts, statistics),
        GIVES(Team, any_thread, chosen_plans),
        GIVES(Team, any_thread_if_any, memory),
        {"Team::leave", Kind::acts_if_any,
         [](Team& t) {
             t.leave();
         }},
        {"Team::set_limits", Kind::acts,
         [](Team& t) {
             t.set_limits({});
         }},
        GIVES(Team, acts, limits),
        {"Team::limited", Kind::acts,
         [](Team& t) {
             t.limited({}, [] {});
         }},
        {"Team::abandon", Kind::any_thread,
         [](Team& t) {
             t.abandon("of a test");
         }},
    };
    return all;
}

const Calls<ThreadTeam>& thread_team_calls() {
    static const Calls<ThreadTeam> all{
        GIVES(ThreadTeam, any_thread, join, 1),
        GIVES(ThreadTeam, asks, size),
        {"ThreadTeam::abandon", Kind::any_thread,
         [](ThreadTeam& t) {
             t.abandon(0, "a test");
         }},
    };
    return all;
}

const Calls<ProcessTeam>& process_team_calls() {
    static const Calls<ProcessTeam> all{
        GIVES(ProcessTeam, any_thread, join, 1),
        GIVES(ProcessTeam, any_thread, try_meet),
        GIVES(ProcessTeam, asks, size),
        GIVES(ProcessTeam, asks, first_rank),
        GIVES(ProcessTeam, asks, ranks_here),
        GIVES(ProcessTeam, any_thread, notes),
        {"ProcessTeam::abandon", Kind::any_thread,
         [](ProcessTeam& t) {
             t.abandon(0, "a test");
         }},
    };
    return all;
}

const Calls<Request>& request_calls() {
    static const Calls<Request> all{
        {"Request::start", Kind::acts,
         [](Request& r) {
             r.start();
         }},
        {"Request::wait", Kind::acts,
         [](Request& r) {
             r.wait();
         }},
        GIVES(Request, acts, test),
        GIVES(Request, acts, cancel),
        GIVES(Request, acts, await_ready),
        {"Request::await_suspend", Kind::acts,
         [](Request& r) {
             r.await_suspend({});
         }},
        {"Request::await_resume", Kind::acts,
         [](Request& r) {
             r.await_resume();
         }},
        GIVES(Request, asks, valid),
        GIVES(Request, asks, is_persistent),
        GIVES(Request, asks, is_active),
    };
    return all;
}

} // namespace corymb::handles
