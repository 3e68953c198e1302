// SPDX-License-Identifier: Apache-2.0
// Teams whose ranks are on several nodes: within a node they share memory, between nodes a carrier
// transports their messages. docs/cluster.md, "Running plans".
#pragma once

#include <corymb/cluster.hpp>
#include <corymb/export.hpp>
#include <corymb/request.hpp>
#include <corymb/team.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace corymb {

/// Brings messages to ranks on other nodes, such as the point-to-point part of an MPI. Messages
/// between two ranks on one channel arrive in the order in which they were sent. Used by one rank,
/// by one thread at a time. Functions may throw Error, which breaks the team.
class CORYMB_EXPORT Carrier {
public:
    /// Messages with data and notifications do not overtake each other within their channel only.
    /// Other operations than blocking ones have further pairs of channels: 2 k + data and
    /// 2 k + notifications, nonblocking ones with k from 1 to lanes(), persistent ones with k from
    /// 9 to 8 + own_lanes().
    enum class Channel : std::uint32_t { data, notifications };
    using Ticket = std::uint64_t;
    /// The message of a receive.
    struct Arrival {
        std::size_t bytes = 0;
        int mark = 0;
    };

    Carrier() = default;
    Carrier(const Carrier&) = delete;
    Carrier& operator=(const Carrier&) = delete;
    virtual ~Carrier();

    /// Pairs of channels for nonblocking operations, which need one each; so many operations can
    /// overlap, at most 8. Equal on all ranks, always. 0 if not overridden.
    [[nodiscard]] virtual int lanes() const noexcept;
    /// Pairs of channels for persistent operations. Each operation that is made takes a pair for as
    /// long as the team lives, even if it goes: channels are cheap where they are numbers. Equal on
    /// all ranks, always. 0 if not overridden.
    [[nodiscard]] virtual int own_lanes() const noexcept;
    /// Begins to send, at most 1 GiB; never waits for the receiver. `data` must stay until `test`
    /// says so. `mark`, from 0 to 32,767, comes along.
    virtual Ticket send(const void* data, std::size_t bytes, Rank to, Channel channel,
                        int mark) = 0;
    /// Begins to receive the next message of `from`. A longer one than `room` is an error of
    /// `test`.
    virtual Ticket receive(void* data, std::size_t room, Rank from, Channel channel) = 0;
    /// Looks once, and lets the carrier go on. True: it is done, the ticket is used up, and
    /// `arrival` of a receive is filled in.
    virtual bool test(Ticket ticket, Arrival& arrival) = 0;
    /// After a failure: gives the ticket up before its memory goes. Does nothing for a ticket that
    /// is used up; a ticket whose `test` has thrown is used up.
    virtual void abandon(Ticket ticket) noexcept = 0;
};

/// Measures the cost of messages between nodes. All nodes meet some others for a short while, to
/// find classes that differ by half or more; then each class is measured between two nodes. Takes
/// about 1.5 `budget` if the network is not slow, whatever the number of nodes. Collective over all
/// ranks, which get equal results. Throws Errc::invalid_argument for a single node or places that
/// are no ClusterTeamOptions, Errc::timeout when a message takes longer than `deadline`; the
/// carrier then has none of the measurement's memory any more.
CORYMB_EXPORT Networks
measure_networks(Carrier& carrier, const std::vector<int>& node_of_rank, Rank rank,
                 std::chrono::nanoseconds budget = std::chrono::seconds(1),
                 std::chrono::nanoseconds deadline = std::chrono::seconds(60));
/// The network for a team, found by rank 0: the one of $CORYMB_NETWORK (`networks_from`), or the
/// one in this user's cache (beside the machine's model) under `key`, a line that names nodes and
/// transport. If there is none, it is measured, once in a process, and kept there. With
/// CORYMB_NETWORK=measure the cache is not asked. Collective. Throws as `measure_networks`, and
/// Errc::invalid_argument for a variable with another value.
CORYMB_EXPORT Networks known_networks(Carrier& carrier, const std::vector<int>& node_of_rank,
                                      Rank rank, const std::string& key,
                                      std::chrono::nanoseconds budget = std::chrono::seconds(1),
                                      std::chrono::nanoseconds deadline = std::chrono::seconds(60));
/// Whether `known_networks` for so many nodes would do without a measurement, or refuse
/// $CORYMB_NETWORK; for the process that is to be rank 0. Reads a file.
[[nodiscard]] CORYMB_EXPORT bool knows_network(const std::string& key, int nodes);

/// The insides of the nodes, for the default choice of plans.
struct Insides {
    std::vector<NodeKind> kinds; ///< Each machine has a PU for each rank of the node, in order.
    std::vector<int> of_node;    ///< Index in `kinds`; -1: nothing is known of the node.
};

/// Each node's part of the model by which teams on its machine plan, measured where one is cached,
/// with the CPUs of its ranks. `local` is the team of the ranks on this node. The result is on rank
/// 0 of all nodes; elsewhere it is empty. If nodes are alike (one processor, ranks in equal places
/// on it), the first one's costs stand for all. A node is left unknown if it has one rank, if its
/// ranks share CPUs, or if its topology cannot be found out. Collective. Throws Errc::timeout.
CORYMB_EXPORT Insides known_insides(const Team& local, Carrier& carrier,
                                    const std::vector<int>& node_of_rank, Rank rank,
                                    std::chrono::nanoseconds deadline = std::chrono::seconds(60));

/// "2 nodes as measured, 1 by topology, not measured, 3 of which nothing is known"; or
/// "".
[[nodiscard]] CORYMB_EXPORT std::string to_text(const Insides& insides);

struct ClusterTeamOptions {
    /// The node of each rank, counted from 0; every node has a rank.
    std::vector<int> node_of_rank;
    Rank rank = 0; ///< This rank's number in the whole team.
    /// For the default choice of plans; equal on all ranks.
    Networks networks{{{20'000, 2'000, 1, 1}}, {}};
    /// Asked on rank 0 only: `known_insides`. Empty, or where nothing is known: ranks are thought
    /// to be 100 ns from each other, with copies of 10 GB/s.
    Insides insides{};
    /// Asked on rank 0 only, which hands its plans to the others. Empty: make_cluster_plan on
    /// `networks`.
    PlanSource plans;
    /// The best few plans of a blocking operation that is called again and again are timed beside
    /// each other, on data of the team's own; the fastest is kept (docs/cluster.md, "Rehearsals").
    /// Equal on all ranks.
    bool rehearse = true;
};

/// This rank's exchange with other nodes, in all operations so far. Plans that ranks hand to each
/// other and rehearsals are not counted.
struct Carried {
    std::uint64_t bytes_in = 0;
    std::uint64_t bytes_out = 0;
    std::uint64_t messages_in = 0; ///< Notifications, too.
    std::uint64_t messages_out = 0;
    std::uint64_t rounds = 0; ///< How often it has waited for messages after sending or working.

    bool operator==(const Carried&) const = default;
};

/// A rank's handle on a team over several nodes. As in Team, all ranks call the same operations in
/// the same order, by one thread at a time. A failed operation breaks the team for this node; other
/// nodes notice when they miss its messages.
class CORYMB_EXPORT ClusterTeam {
public:
    /// `local` is the team of the ranks on this node, in increasing order; no other use may be made
    /// of it. `carrier` outlives the team. Throws Errc::invalid_argument where these do not fit.
    ClusterTeam(Team&& local, Carrier& carrier, const ClusterTeamOptions& options);
    ClusterTeam(ClusterTeam&& other) noexcept;
    ClusterTeam& operator=(ClusterTeam&& other) noexcept;
    ClusterTeam(const ClusterTeam&) = delete;
    ClusterTeam& operator=(const ClusterTeam&) = delete;
    ~ClusterTeam();

    [[nodiscard]] Rank rank() const noexcept;
    [[nodiscard]] int size() const noexcept;

    // Operations, arguments and errors as of Team. Errc::unsupported where there is no plan for
    // several nodes: a source of the caller's own has none, or no scheme serves so many ranks.

    void barrier();
    template <class T = detail::Deduced, Elements Data>
    void broadcast(Data&& data, Rank root = 0) {
        run(detail::broadcast_wish(detail::write_to<T, Data>(data), root));
    }
    template <class T = detail::Deduced, Elements In, Elements Out = detail::NoOutput<In>,
              class Op = std::plus<>>
    void reduce(In&& input, Out&& output, Op op = {}, Rank root = 0) {
        run(reduce_wish(detail::buffers<T, In, Out>(input, output), op, root));
    }
    template <class T = detail::Deduced, Elements In, Elements Out, class Op = std::plus<>>
    void allreduce(In&& input, Out&& output, Op op = {}) {
        run(allreduce_wish(detail::buffers<T, In, Out>(input, output), op));
    }
    template <class T = detail::Deduced, Elements In, Elements Out = detail::NoOutput<In>>
    void gather(In&& input, Out&& output, Rank root = 0) {
        run(parts_wish(Collective::gather, detail::buffers<T, In, Out>(input, output), root));
    }
    template <class T = detail::Deduced, Elements Out, Elements In = detail::NoInput<Out>>
    void scatter(In&& input, Out&& output, Rank root = 0) {
        run(parts_wish(Collective::scatter, detail::buffers<T, In, Out>(input, output), root));
    }
    template <class T = detail::Deduced, Elements In, Elements Out>
    void allgather(In&& input, Out&& output) {
        run(parts_wish(Collective::allgather, detail::buffers<T, In, Out>(input, output), 0));
    }
    template <class T = detail::Deduced, Elements In, Elements Out>
    void alltoall(In&& input, Out&& output) {
        run(parts_wish(Collective::alltoall, detail::buffers<T, In, Out>(input, output), 0));
    }
    template <class T = detail::Deduced, Elements In, Elements Out, class Op = std::plus<>>
    void reduce_scatter(In&& input, Out&& output, Op op = {}) {
        run(parts_wish(Collective::reduce_scatter, detail::buffers<T, In, Out>(input, output), 0,
                       reduction_of<detail::ValueOf<Out>>(op)));
    }
    template <class T = detail::Deduced, Elements In, Elements Out, class Op = std::plus<>>
    void scan(In&& input, Out&& output, Op op = {}) {
        run(parts_wish(Collective::scan, detail::buffers<T, In, Out>(input, output), 0,
                       reduction_of<detail::ValueOf<Out>>(op)));
    }
    template <class T = detail::Deduced, Elements In, Elements Out, class Op = std::plus<>>
    void exscan(In&& input, Out&& output, Op op = {}) {
        run(parts_wish(Collective::exscan, detail::buffers<T, In, Out>(input, output), 0,
                       reduction_of<detail::ValueOf<Out>>(op)));
    }

    // The vector operations, arguments and errors as in Team. If ranks do not know all lengths, the
    // ranks of a node first tell each other the lengths that they know.

    template <class T = detail::Deduced, Elements In, Elements Out = detail::NoOutput<In>>
    void gatherv(In&& input, Out&& output, Parts parts, Rank root = 0) {
        run(detail::gatherv_wish(Collective::gather, detail::buffers<T, In, Out>(input, output),
                                 parts, root));
    }
    template <class T = detail::Deduced, Elements Out, Elements In = detail::NoInput<Out>>
    void scatterv(In&& input, Parts parts, Out&& output, Rank root = 0) {
        run(detail::scatterv_wish(Collective::scatter, detail::buffers<T, In, Out>(input, output),
                                  parts, root));
    }
    template <class T = detail::Deduced, Elements In, Elements Out>
    void allgatherv(In&& input, Out&& output, Parts parts) {
        run(detail::gatherv_wish(Collective::allgather, detail::buffers<T, In, Out>(input, output),
                                 parts, Rank{0}));
    }
    template <class T = detail::Deduced, Elements In, Elements Out>
    void alltoallv(In&& input, Parts input_parts, Out&& output, Parts output_parts) {
        run(detail::alltoallv_wish(detail::buffers<T, In, Out>(input, output), input_parts,
                                   output_parts));
    }
    template <class T = detail::Deduced, Elements In, Elements Out, class Op = std::plus<>>
    void reduce_scatterv(In&& input, Parts parts, Out&& output, Op op = {}) {
        run(detail::reduce_scatterv_wish(detail::buffers<T, In, Out>(input, output), parts, op));
    }

    // Nonblocking forms, as in Team: they return at once; docs/requests.md has the rules of a
    // Request. All ranks start them in one order; blocking operations may come in between anywhere.
    // The plan of a new operation and size is made on the way. They need a carrier with `lanes`,
    // otherwise Errc::unsupported; if there is no plan, the request reports it.

    [[nodiscard]] Request ibarrier();
    template <class T = detail::Deduced, Elements Data>
    [[nodiscard]] Request ibroadcast(Data&& data, Rank root = 0) {
        return start(detail::broadcast_wish(detail::write_to<T, Data>(data), root));
    }
    template <class T = detail::Deduced, Elements In, Elements Out = detail::NoOutput<In>,
              class Op = std::plus<>>
    [[nodiscard]] Request ireduce(In&& input, Out&& output, Op op = {}, Rank root = 0) {
        return keep_operator(Mode::nonblocking, op, [&](const Op& with) {
            return reduce_wish(detail::kept_buffers<T, In, Out>(input, output), with, root);
        });
    }
    template <class T = detail::Deduced, Elements In, Elements Out, class Op = std::plus<>>
    [[nodiscard]] Request iallreduce(In&& input, Out&& output, Op op = {}) {
        return keep_operator(Mode::nonblocking, op, [&](const Op& with) {
            return allreduce_wish(detail::kept_buffers<T, In, Out>(input, output), with);
        });
    }
    template <class T = detail::Deduced, Elements In, Elements Out = detail::NoOutput<In>>
    [[nodiscard]] Request igather(In&& input, Out&& output, Rank root = 0) {
        return start(
            parts_wish(Collective::gather, detail::kept_buffers<T, In, Out>(input, output), root));
    }
    template <class T = detail::Deduced, Elements Out, Elements In = detail::NoInput<Out>>
    [[nodiscard]] Request iscatter(In&& input, Out&& output, Rank root = 0) {
        return start(
            parts_wish(Collective::scatter, detail::kept_buffers<T, In, Out>(input, output), root));
    }
    template <class T = detail::Deduced, Elements In, Elements Out>
    [[nodiscard]] Request iallgather(In&& input, Out&& output) {
        return start(
            parts_wish(Collective::allgather, detail::kept_buffers<T, In, Out>(input, output), 0));
    }
    template <class T = detail::Deduced, Elements In, Elements Out>
    [[nodiscard]] Request ialltoall(In&& input, Out&& output) {
        return start(
            parts_wish(Collective::alltoall, detail::kept_buffers<T, In, Out>(input, output), 0));
    }
    template <class T = detail::Deduced, Elements In, Elements Out, class Op = std::plus<>>
    [[nodiscard]] Request ireduce_scatter(In&& input, Out&& output, Op op = {}) {
        return keep_parts(Mode::nonblocking, Collective::reduce_scatter,
                          detail::kept_buffers<T, In, Out>(input, output), op);
    }
    template <class T = detail::Deduced, Elements In, Elements Out, class Op = std::plus<>>
    [[nodiscard]] Request iscan(In&& input, Out&& output, Op op = {}) {
        return keep_parts(Mode::nonblocking, Collective::scan,
                          detail::kept_buffers<T, In, Out>(input, output), op);
    }
    template <class T = detail::Deduced, Elements In, Elements Out, class Op = std::plus<>>
    [[nodiscard]] Request iexscan(In&& input, Out&& output, Op op = {}) {
        return keep_parts(Mode::nonblocking, Collective::exscan,
                          detail::kept_buffers<T, In, Out>(input, output), op);
    }

    template <class T = detail::Deduced, Elements In, Elements Out = detail::NoOutput<In>>
    [[nodiscard]] Request igatherv(In&& input, Out&& output, Parts parts, Rank root = 0) {
        return start(detail::gatherv_wish(
            Collective::gather, detail::kept_buffers<T, In, Out>(input, output), parts, root));
    }
    template <class T = detail::Deduced, Elements Out, Elements In = detail::NoInput<Out>>
    [[nodiscard]] Request iscatterv(In&& input, Parts parts, Out&& output, Rank root = 0) {
        return start(detail::scatterv_wish(
            Collective::scatter, detail::kept_buffers<T, In, Out>(input, output), parts, root));
    }
    template <class T = detail::Deduced, Elements In, Elements Out>
    [[nodiscard]] Request iallgatherv(In&& input, Out&& output, Parts parts) {
        return start(detail::gatherv_wish(Collective::allgather,
                                          detail::kept_buffers<T, In, Out>(input, output), parts,
                                          Rank{0}));
    }
    template <class T = detail::Deduced, Elements In, Elements Out>
    [[nodiscard]] Request ialltoallv(In&& input, Parts input_parts, Out&& output,
                                     Parts output_parts) {
        return start(detail::alltoallv_wish(detail::kept_buffers<T, In, Out>(input, output),
                                            input_parts, output_parts));
    }
    template <class T = detail::Deduced, Elements In, Elements Out, class Op = std::plus<>>
    [[nodiscard]] Request ireduce_scatterv(In&& input, Parts parts, Out&& output, Op op = {}) {
        return keep_operator(Mode::nonblocking, op, [&](const Op& with) {
            return detail::reduce_scatterv_wish(detail::kept_buffers<T, In, Out>(input, output),
                                                parts, with);
        });
    }

    // Persistent forms, as in Team: they return at once; Request::start starts the operation, any
    // number of times. All ranks make them in one order, and start them in any. The plan of a new
    // operation and size is made on the way. Up to 512 at a time, and in all as many as the carrier
    // has `own_lanes`, otherwise Errc::unsupported; if there is no plan, the request reports it.

    [[nodiscard]] Request barrier_init();
    template <class T = detail::Deduced, Elements Data>
    [[nodiscard]] Request broadcast_init(Data&& data, Rank root = 0) {
        return prepare(detail::broadcast_wish(detail::write_to<T, Data>(data), root));
    }
    template <class T = detail::Deduced, Elements In, Elements Out = detail::NoOutput<In>,
              class Op = std::plus<>>
    [[nodiscard]] Request reduce_init(In&& input, Out&& output, Op op = {}, Rank root = 0) {
        return keep_operator(Mode::persistent, op, [&](const Op& with) {
            return reduce_wish(detail::kept_buffers<T, In, Out>(input, output), with, root);
        });
    }
    template <class T = detail::Deduced, Elements In, Elements Out, class Op = std::plus<>>
    [[nodiscard]] Request allreduce_init(In&& input, Out&& output, Op op = {}) {
        return keep_operator(Mode::persistent, op, [&](const Op& with) {
            return allreduce_wish(detail::kept_buffers<T, In, Out>(input, output), with);
        });
    }
    template <class T = detail::Deduced, Elements In, Elements Out = detail::NoOutput<In>>
    [[nodiscard]] Request gather_init(In&& input, Out&& output, Rank root = 0) {
        return prepare(
            parts_wish(Collective::gather, detail::kept_buffers<T, In, Out>(input, output), root));
    }
    template <class T = detail::Deduced, Elements Out, Elements In = detail::NoInput<Out>>
    [[nodiscard]] Request scatter_init(In&& input, Out&& output, Rank root = 0) {
        return prepare(
            parts_wish(Collective::scatter, detail::kept_buffers<T, In, Out>(input, output), root));
    }
    template <class T = detail::Deduced, Elements In, Elements Out>
    [[nodiscard]] Request allgather_init(In&& input, Out&& output) {
        return prepare(
            parts_wish(Collective::allgather, detail::kept_buffers<T, In, Out>(input, output), 0));
    }
    template <class T = detail::Deduced, Elements In, Elements Out>
    [[nodiscard]] Request alltoall_init(In&& input, Out&& output) {
        return prepare(
            parts_wish(Collective::alltoall, detail::kept_buffers<T, In, Out>(input, output), 0));
    }
    template <class T = detail::Deduced, Elements In, Elements Out, class Op = std::plus<>>
    [[nodiscard]] Request reduce_scatter_init(In&& input, Out&& output, Op op = {}) {
        return keep_parts(Mode::persistent, Collective::reduce_scatter,
                          detail::kept_buffers<T, In, Out>(input, output), op);
    }
    template <class T = detail::Deduced, Elements In, Elements Out, class Op = std::plus<>>
    [[nodiscard]] Request scan_init(In&& input, Out&& output, Op op = {}) {
        return keep_parts(Mode::persistent, Collective::scan,
                          detail::kept_buffers<T, In, Out>(input, output), op);
    }
    template <class T = detail::Deduced, Elements In, Elements Out, class Op = std::plus<>>
    [[nodiscard]] Request exscan_init(In&& input, Out&& output, Op op = {}) {
        return keep_parts(Mode::persistent, Collective::exscan,
                          detail::kept_buffers<T, In, Out>(input, output), op);
    }

    template <class T = detail::Deduced, Elements In, Elements Out = detail::NoOutput<In>>
    [[nodiscard]] Request gatherv_init(In&& input, Out&& output, Parts parts, Rank root = 0) {
        return prepare(detail::gatherv_wish(
            Collective::gather, detail::kept_buffers<T, In, Out>(input, output), parts, root));
    }
    template <class T = detail::Deduced, Elements Out, Elements In = detail::NoInput<Out>>
    [[nodiscard]] Request scatterv_init(In&& input, Parts parts, Out&& output, Rank root = 0) {
        return prepare(detail::scatterv_wish(
            Collective::scatter, detail::kept_buffers<T, In, Out>(input, output), parts, root));
    }
    template <class T = detail::Deduced, Elements In, Elements Out>
    [[nodiscard]] Request allgatherv_init(In&& input, Out&& output, Parts parts) {
        return prepare(detail::gatherv_wish(Collective::allgather,
                                            detail::kept_buffers<T, In, Out>(input, output), parts,
                                            Rank{0}));
    }
    template <class T = detail::Deduced, Elements In, Elements Out>
    [[nodiscard]] Request alltoallv_init(In&& input, Parts input_parts, Out&& output,
                                         Parts output_parts) {
        return prepare(detail::alltoallv_wish(detail::kept_buffers<T, In, Out>(input, output),
                                              input_parts, output_parts));
    }
    template <class T = detail::Deduced, Elements In, Elements Out, class Op = std::plus<>>
    [[nodiscard]] Request reduce_scatterv_init(In&& input, Parts parts, Out&& output, Op op = {}) {
        return keep_operator(Mode::persistent, op, [&](const Op& with) {
            return detail::reduce_scatterv_wish(detail::kept_buffers<T, In, Out>(input, output),
                                                parts, with);
        });
    }

    /// Goes on with all operations under way as far as it can at once, and resumes coroutines whose
    /// operations are done. Bounded but for the coroutines' own work, and for planning on rank 0.
    /// Returns how many operations are still under way.
    std::size_t progress();
    /// Repeats `progress` until no operation is under way. Throws when the team breaks. If there
    /// was no plan for an operation, its request reports it.
    void complete_all();

    /// For bindings: any of the operations above, without types.
    void run(const detail::Wish& wish);
    /// The nonblocking form. `keep` lives as long as the operation: the state of an operator.
    [[nodiscard]] Request start(const detail::Wish& wish,
                                std::shared_ptr<const void> keep = nullptr);
    /// The persistent form.
    [[nodiscard]] Request prepare(const detail::Wish& wish,
                                  std::shared_ptr<const void> keep = nullptr);

    [[nodiscard]] const Carried& carried() const noexcept;
    /// The plan that an operation runs with; the next one may choose another. Collective where it
    /// is not known yet. A rank has the steps of its node only: `make_cluster_plan` has all.
    [[nodiscard]] ChosenPlan plan(Collective op, std::uint64_t bytes = 8, Rank root = 0);
    /// The plans that this rank has needed so far, of operations of all forms.
    [[nodiscard]] std::vector<ChosenPlan> chosen_plans() const;
    /// Breaks the team on behalf of this rank, on its node.
    void abandon(const std::string& why);

private:
    enum class Mode : std::uint8_t { nonblocking, persistent };
    static void check_equal(std::size_t wanted, std::size_t has);
    template <class T, class Op>
    detail::Wish reduce_wish(const detail::Buffers<T>& of, const Op& op, Rank root) const {
        if (rank() == root) {
            check_equal(of.in.size(), of.out.size());
        }
        return {Collective::reduce, root,         of.in.data(),
                of.out.data(),      of.in.size(), reduction_of<T>(op)};
    }
    template <class T, class Op>
    detail::Wish allreduce_wish(const detail::Buffers<T>& of, const Op& op) const {
        check_equal(of.in.size(), of.out.size());
        return {Collective::allreduce, 0, of.in.data(), of.out.data(), of.in.size(),
                reduction_of<T>(op)};
    }
    template <class T>
    detail::Wish parts_wish(Collective op, const detail::Buffers<T>& of, Rank root,
                            std::optional<Reduction> with = {}) const {
        detail::Wish wish = detail::parts_wish(op, of, root, rank(), size());
        wish.reduction = with ? *with : wish.reduction;
        return wish;
    }
    /// `wish_with(op)`, with an operator that outlives the caller's.
    template <class Op, class MakeWish>
    [[nodiscard]] Request keep_operator(Mode mode, const Op& op, const MakeWish& wish_with) {
        if constexpr (detail::is_stateless<Op>) {
            const detail::Wish wish = wish_with(op);
            return mode == Mode::persistent ? prepare(wish) : start(wish);
        } else {
            auto kept = std::make_shared<const Op>(op);
            const detail::Wish wish = wish_with(*kept);
            return mode == Mode::persistent ? prepare(wish, std::move(kept))
                                            : start(wish, std::move(kept));
        }
    }
    template <class T, class Op>
    [[nodiscard]] Request keep_parts(Mode mode, Collective what, const detail::Buffers<T>& of,
                                     const Op& op) {
        return keep_operator(mode, op, [&](const Op& with) {
            return parts_wish(what, of, 0, reduction_of<T>(with));
        });
    }
    struct State;
    std::unique_ptr<State> state_;
};

} // namespace corymb
