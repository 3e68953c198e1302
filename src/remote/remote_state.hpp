// SPDX-License-Identifier: Apache-2.0
// A rank's part in a group whose ranks call each other: the calls that it has begun, the requests
// that it serves, and its objects. Its messages travel as the Transport says.
//
// A message has a CallHeader. A request is served where it arrives: a plain function at once, a
// task by the scheduler. No rank ever waits in order to send: what finds no room stands in a queue
// of the sender and is tried again, while the sender goes on receiving. So ranks that all call each
// other go on, whatever room there is. A queue is bounded by the tasks of its rank: each waits for
// the answer of its call, or until its message is on its way; answers are bounded by the calls.
#pragma once

#include "remote/begun_calls.hpp"
#include "remote/call_header.hpp"
#include "remote/functions.hpp"
#include "remote/group_lists.hpp"
#include "remote/long_messages.hpp"
#include "remote/migrations.hpp"
#include "remote/named_functions.hpp"
#include "remote/object_table.hpp"
#include "remote/outgoing.hpp"
#include "remote/parked_requests.hpp"
#include "remote/routes.hpp"
#include "remote/scheduler_state.hpp"
#include "remote/source.hpp"
#include "remote/trace_file.hpp"
#include "remote/transport.hpp"

#include <corymb/remote.hpp>
#include <corymb/waits.hpp>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <typeinfo>
#include <utility>
#include <vector>

namespace corymb::detail {

class Look;

struct RemoteState final : Source {
    /// `is_shared`: other ranks may be in other processes.
    RemoteState(Transport of_messages, const RemoteOptions& options, std::uint32_t group_mark,
                bool is_shared);
    ~RemoteState();

    // The caller's side.
    using Ending = BegunCalls::Ending;
    struct Started {
        std::uint32_t call; ///< Reply::nobody: there is no answer.
        bool is_sent;       ///< False: it stands in the queue of the receiver.
    };
    /// Throws as Mailbox::send. `until_sent` is told when the message has left the queue. `object`
    /// is the one that is called, if any.
    Started begin_call(Rank to, const Ending& ending, const CallChain& chain,
                       const RemoteFunction& function, std::size_t bytes,
                       const Reply::Writes& write, PostAwait* until_sent,
                       const RemoteId* object = nullptr);
    /// As begin_call, for a function that is found by its name. Throws Errc::invalid_argument for
    /// what cannot be a name.
    std::uint32_t begin_named(Rank to, const Ending& ending, std::string_view name,
                              const ByteParts& argument);
    /// `waits` learns when that rank has gone. Returns a call that is never answered. Throws
    /// Errc::team_broken if it has gone already.
    [[nodiscard]] std::uint32_t expect(Rank from, AnswerAwait& waits);
    void expect_no_more(std::uint32_t call) noexcept { calls_.take_back(call); }
    /// Whether a call of this rank by itself may run at once: it does not wait for its object, or
    /// behind others that have.
    [[nodiscard]] bool is_ready(const RemoteId* object) noexcept {
        return !parked_.has_revived() && (object == nullptr || (objects.is_made(*object) &&
                                                                (is_still() || is_near(*object))));
    }
    /// Where calls of the object go.
    [[nodiscard]] Rank way_to(const RemoteId& object) noexcept {
        return routes.is_empty() ? object.rank : way_of_moved(object);
    }
    /// Begins a call of this rank by itself, whose answer comes from its Reply.
    [[nodiscard]] std::uint32_t begin_call_here(const Ending& ending);
    /// Who is to answer it.
    [[nodiscard]] Rank receiver_of(std::uint32_t call) const noexcept { return calls_.to(call); }
    /// Such a call was not served.
    void end_call_here(std::uint32_t call) noexcept;
    /// Counts calls of this rank by itself: a task pauses after some of them.
    [[nodiscard]] bool is_pause_due() noexcept;
    /// The caller waits no more for an answer.
    void stop_call(std::uint32_t call) noexcept;
    /// As stop_call, for the calls that a scope counts, which still waits for their ends.
    void stop_calls(const Scope& scope) noexcept;
    /// The caller waits no more for room.
    void stop_sending(const PostAwait& waits, std::uint32_t call) noexcept;
    /// As stop_sending, when the scope of the caller may have gone.
    void drop_sending(const PostAwait& waits, std::uint32_t call) noexcept;
    /// The request of a call was never sent: its scope does not wait for it.
    void end_unsent(std::uint32_t call) noexcept;

    // The called side.
    void send_answer(const Reply& reply, std::size_t bytes, const Reply::Writes& write);
    void send_failure(const Reply& reply, const std::exception_ptr& thrown) noexcept;
    void serve(const Reply& reply, Task<> task, const char* runs, bool has_joined);
    /// As ObjectTable::add_named. Requests that wait for the object are served in the next look.
    RemoteId add_named(std::string_view name, const NewObject& object);
    /// As Migrations::require_here, for the request that is being begun.
    void require_here(const RemoteId& id) {
        if ((id.rank != transport.rank() || !is_still()) && !id.is_named()) [[unlikely]] {
            moves.require_here(id, request_from);
        }
    }
    /// Whether `require_here` would throw.
    [[nodiscard]] bool is_away(const RemoteId& id) const noexcept {
        return (id.rank != transport.rank() || !is_still()) && !id.is_named() && moves.is_away(id);
    }
    /// Requests that were kept back are served in the next look.
    void revive(ParkedRequests::Requests& requests) noexcept { parked_.revive(requests); }
    /// A message about where an object is.
    void send_object_note(Rank to, const CallHeader& header, const RemoteId& id,
                          const Whereabouts& at);
    /// Tells who has made the object; `waits` learns when it knows. False: it has gone.
    [[nodiscard]] bool tell_moved(Rank home, const RemoteId& id, const Whereabouts& at,
                                  AnswerTaker& waits) noexcept;
    /// Keeps the number of routes to other ranks' objects within bounds.
    void forget_some_route(const RemoteId& but) noexcept;
    [[nodiscard]] bool is_lost(Rank rank) const noexcept {
        return rank >= 0 && is_lost_[static_cast<std::size_t>(rank)];
    }
    /// Throws Errc::invalid_argument for a number that is no rank's.
    void require_rank(Rank to) const;
    /// As `require_rank`. Throws Errc::team_broken for a rank that has gone.
    void require_callable(Rank to) const;
    /// Sends what there is room for now. For calls that are begun and answered between looks.
    void push_on() noexcept;
    /// A request that is answered later: asks to stop when its caller waits no more.
    [[nodiscard]] std::stop_source keep(const Reply& reply);

    /// What this rank shows of its tasks. Takes time in proportion to them.
    [[nodiscard]] RankWaits waits();
    /// Asks another rank for that. Throws as begin_call.
    std::uint32_t begin_look(Rank to, AnswerTaker& taker);
    void neglect_look(std::uint32_t call) noexcept { calls_.neglect(call); }

    /// Tells the others that this rank's task has ended. True: so have those of all.
    bool end_own();
    /// Whom to wake when all have; null: nobody.
    void await_end(EndOfAll* waits) noexcept { end_waits_ = waits; }

    // As a source of the scheduler.
    bool look() noexcept override;
    void look_after() noexcept override;
    [[nodiscard]] std::int64_t add_events(Events& to) override;
    [[nodiscard]] channel::WaiterCpus* cpus() noexcept override;

    /// What the calls hold that have led to the request which is being begun.
    CallChain request_chain;
    /// Who has sent it; -1: none is being begun.
    Rank request_from = -1;
    /// Is to run a method of the object in this slot, less 1; 0: of none.
    std::uint32_t request_serves = 0;
    Transport transport;
    Scheduler scheduler;
    ObjectTable objects;
    Routes routes{transport.rank()};
    Migrations moves{*this};
    GroupLists groups;
    NamedFunctions named;
    /// For those that may outlive this rank's part. Does not own it.
    std::shared_ptr<RemoteState> self;

private:
    [[nodiscard]] SchedulerState& turns() noexcept;
    /// Whether it is sent; else it is queued.
    bool send(Rank to, const CallHeader& header, std::size_t bytes, const Reply::Writes& write,
              PostAwait* until_sent = nullptr);
    bool send(Rank to, const CallHeader& header); ///< Without a body.
    /// To this rank itself.
    void deliver(const CallHeader& header, std::size_t bytes, const Reply::Writes& write);
    void greet(Rank to);
    void meet(Rank other, RemoteReader& hello);
    struct Served {
        std::stop_source stop;
        const Strand* task = nullptr; ///< Null: a named function answers.
        const char* runs = nullptr;   ///< The name of the type of what the task runs.
    };
    Served& note(const Reply& reply);
    void note_served(const Reply& reply) noexcept;
    void send_stop(std::uint32_t call) noexcept;
    void show(Rank to, std::uint32_t call) noexcept;
    /// Throws Errc::mismatch for a rank that runs another program.
    void require_own_build(Rank from);
    void ask_to_stop(Rank caller, std::uint32_t call) noexcept;
    void take(Rank from, const CallHeader& header, std::span<const std::byte> body);
    Started begin(Rank to, const Ending& ending, CallHeader header, std::size_t bytes,
                  const Reply::Writes& write, PostAwait* until_sent,
                  const RemoteId* object = nullptr);
    void run_any(Rank from, const CallHeader& header, RemoteReader& arguments) noexcept;
    // redirect.cpp:
    [[nodiscard]] bool is_still() const noexcept {
        return routes.is_empty() && objects.is_still() && !moves.has_returned();
    }
    [[nodiscard]] Rank way_of_moved(const RemoteId& object) noexcept;
    [[nodiscard]] bool is_near(const RemoteId& object) noexcept;
    Started keep_for_later(Route& route, const Ending& ending, CallHeader header, std::size_t bytes,
                           const Reply::Writes& write, PostAwait* waits);
    void send_back(Rank to, CallHeader header, const RemoteId& id, RemoteReader request) noexcept;
    void take_returned(Rank from, CallHeader header, RemoteReader& body);
    void begin_flush(Route& route) noexcept;
    void take_flush(Rank from, RemoteReader& body) noexcept;
    void take_flushed(Rank from, RemoteReader& body, bool is_withheld) noexcept;
    void end_flush(Route& route) noexcept;
    void send_kept(Rank to, const Route::Message& message) noexcept;
    void fail_kept(const Route::Message& message, const std::exception_ptr& why) noexcept;
    void lose_routes(Rank gone) noexcept;
    void take_note(Rank from, const CallHeader& header, RemoteReader& body);

    void run(Rank from, const CallHeader& header, const RemoteReader& arguments) noexcept;
    void run_named(Rank from, const CallHeader& header, RemoteReader& arguments) noexcept;
    /// Serves the requests whose objects have been made. Whether there were any.
    bool serve_revived() noexcept;
    void park(const RemoteId& object, const Reply& reply, const CallHeader& header,
              RemoteReader arguments) noexcept;
    void hold_back(Hold& by, const Reply& reply, const CallHeader& header,
                   RemoteReader arguments) noexcept;
    /// Refuses the parked requests that nothing in this run can serve.
    void refuse_parked() noexcept;
    /// Whether the request of `from` belongs to a run in which this rank's task has ended.
    [[nodiscard]] bool is_late(Rank from) const noexcept;
    void drop_parked(Rank from, std::uint32_t call) noexcept;
    /// Nobody waits for the requests of that rank any more.
    void drop_parked_of(Rank gone) noexcept;
    /// Takes out the requests whose objects were made before, for which `is_meant(request)`.
    [[nodiscard]] ParkedRequests::Requests take_kept_back(const auto& is_meant) noexcept;
    /// What a call of a rank throws that takes nothing more, for what the transport has thrown.
    [[nodiscard]] std::exception_ptr reason_of(Rank to, const std::exception_ptr& thrown) noexcept;
    /// All that a rank that has left or ended has sent.
    void take_in_last() noexcept;
    void lose(Rank gone, const std::exception_ptr& thrown) noexcept;
    /// Looks for a deadlock when the task of `run` has waited for long.
    void watch_for_deadlock() noexcept;
    void end_deadlock(const Look& look);
    /// Writes the last look to the trace file, which there is; also one that is not over.
    void note_shown(const Look& look, const std::optional<Deadlock>& found) noexcept;
    [[nodiscard]] bool is_end() const noexcept;
    void wake_at_end() noexcept;

    std::unique_ptr<TraceFile> trace_; ///< Null: there is none.
    BegunCalls calls_;
    Outgoing outgoing_;
    LongMessages long_messages_;
    /// What is answered later, by caller and call.
    std::map<std::pair<Rank, std::uint32_t>, Served> served_;
    ParkedRequests parked_;
    FunctionCache functions_;
    /// By rank: how many of its tasks have ended. A rank that is gone is not asked.
    std::vector<std::uint64_t> over_;
    EndOfAll* end_waits_ = nullptr;
    int calls_here_ = 0;             ///< Since the last pause.
    std::vector<bool> is_lost_;      ///< By rank: it has left, or its process has ended.
    std::int64_t deadlock_after_ns_; ///< 0: no look.
    std::uint64_t watched_turn_ = 0; ///< The last turn of the task of `run`, when it was watched.
    std::int64_t look_at_ns_ = 0;
    std::int64_t look_pause_ns_ = 0; ///< To the next look if the task still waits.
    std::unique_ptr<Look> look_;     ///< Null: none is under way.
    std::vector<bool> knows_;        ///< By rank: it was told which build this one is.
    /// Ranks of other builds, whose calls are refused, with the reason.
    std::map<Rank, std::string> foreign_;
};

} // namespace corymb::detail
