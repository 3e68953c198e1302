// SPDX-License-Identifier: Apache-2.0
#include "remote/remote_state.hpp"

#include "remote/build_mark.hpp"
#include "remote/failures.hpp"
#include "remote/look.hpp"
#include "remote/tuning.hpp"

#include <corymb/error.hpp>

#include <array>
#include <cstring>
#include <string>

namespace corymb::detail {

RemoteState::RemoteState(Transport of_messages, const RemoteOptions& options,
                         std::uint32_t group_mark, bool is_shared)
    : transport(std::move(of_messages)), scheduler(SchedulerOptions{.wait = options.wait}),
      objects(transport.rank(), group_mark), over_(static_cast<std::size_t>(transport.size())),
      is_lost_(static_cast<std::size_t>(transport.size())),
      deadlock_after_ns_(options.deadlock_after.count()),
      knows_(static_cast<std::size_t>(transport.size()), !is_shared) {
    if (transport.is_successor()) {
        throw Error(Errc::invalid_argument,
                    "rank " + std::to_string(transport.rank()) +
                        " has left this group already, and the others may have calls and pointers "
                        "to what it was; make a new group",
                    {transport.rank()});
    }
    trace_ = TraceFile::open(group_mark, transport.rank(), transport.size());
    calls_.set_log(trace_ == nullptr ? nullptr : &trace_->calls());
    knows_[static_cast<std::size_t>(transport.rank())] = true;
    self = std::shared_ptr<RemoteState>(this, [](RemoteState* /*not owned*/) {});
    turns().place = this;
    turns().add(*this);
}

RemoteState::~RemoteState() {
    turns().abandon_all(); // Tasks have calls under way, and use objects.
    self.reset();
    turns().remove(*this);
    look_.reset();
    if (trace_ != nullptr) {
        try {
            trace_->write();
        } catch (...) { // The file stays as it is.
        }
    }
}

SchedulerState& RemoteState::turns() noexcept {
    return SchedulerAccess::state(scheduler);
}

RemoteState::Started RemoteState::begin_call(Rank to, const Ending& ending, const CallChain& chain,
                                             const RemoteFunction& function, std::size_t bytes,
                                             const Reply::Writes& write, PostAwait* until_sent,
                                             const RemoteId* object) {
    CallHeader header;
    header.function = function.id();
    if (chain != nullptr) {
        header.kind = CallHeader::chained;
        const auto write_both = [&](RemoteWriter& writer) {
            write_chain(writer, chain);
            write(writer);
        };
        return begin(to, ending, header, size_of_chain(chain) + bytes, Reply::Writes(write_both),
                     until_sent, object);
    }
    return begin(to, ending, header, bytes, write, until_sent, object);
}

std::uint32_t RemoteState::begin_named(Rank to, const Ending& ending, std::string_view name,
                                       const ByteParts& argument) {
    require_name(name);
    CallHeader header;
    header.kind = CallHeader::named;
    const auto write = [&](RemoteWriter& writer) {
        write_named(writer, name, argument);
    };
    return begin(to, ending, header, size_of_named(name, argument), Reply::Writes(write), nullptr,
                 nullptr)
        .call;
}

RemoteState::Started RemoteState::begin(Rank to, const Ending& ending, CallHeader header,
                                        std::size_t bytes, const Reply::Writes& write,
                                        PostAwait* until_sent, const RemoteId* object) {
    if (object != nullptr && !routes.is_empty()) {
        if (Route* const route = routes.find(*object); route != nullptr && route->is_flushing) {
            return keep_for_later(*route, ending, header, bytes, write, until_sent);
        }
    }
    require_callable(to);
    if (ending.waits != nullptr || ending.counts != nullptr) {
        header.call = calls_.add(to, ending);
    }
    Started started{header.call, false};
    try {
        started.is_sent = send(to, header, bytes, write, until_sent);
    } catch (...) {
        if (header.call != Reply::nobody) {
            calls_.take_back(header.call);
        }
        std::rethrow_exception(reason_of(to, std::current_exception()));
    }
    if (ending.counts != nullptr) {
        ending.counts->add();
    }
    return started;
}

std::uint32_t RemoteState::expect(Rank from, AnswerAwait& waits) {
    require_callable(from);
    return calls_.add(from, {&waits, nullptr, false});
}

std::uint32_t RemoteState::begin_call_here(const Ending& ending) {
    return calls_.add(transport.rank(), ending);
}

void RemoteState::end_call_here(std::uint32_t call) noexcept {
    calls_.take_back(call);
}

bool RemoteState::is_pause_due() noexcept {
    const bool is_due = ++calls_here_ >= remote::tuning::own_calls_of_a_turn;
    calls_here_ = is_due ? 0 : calls_here_;
    return is_due;
}

void RemoteState::stop_call(std::uint32_t call) noexcept {
    calls_.neglect(call);
    if (!routes.is_empty() && routes.drop(call)) {
        calls_.take_back(call);
        return;
    }
    send_stop(call);
}

void RemoteState::stop_calls(const Scope& scope) noexcept {
    calls_.for_each([&](std::uint32_t call, Rank /*to*/, const Ending& ending) {
        if (ending.counts == &scope) {
            calls_.note_stopped(call);
            send_stop(call);
        }
    });
}

void stop_told(RemoteState& of, const Scope& scope) noexcept {
    of.stop_calls(scope);
}

void RemoteState::send_stop(std::uint32_t call) noexcept {
    try {
        CallHeader header;
        header.kind = CallHeader::stop;
        header.call = call;
        send(calls_.to(call), header);
    } catch (...) { // The rank has gone, or there is no memory: the call goes on.
    }
}

void RemoteState::stop_sending(const PostAwait& waits, std::uint32_t call) noexcept {
    if (outgoing_.stop(waits) || routes.stop(waits)) {
        end_unsent(call);
    }
}

void RemoteState::drop_sending(const PostAwait& waits, std::uint32_t call) noexcept {
    if (call != Reply::nobody) {
        calls_.neglect(call);
    }
    static_cast<void>(outgoing_.stop(waits) || routes.stop(waits));
}

void RemoteState::end_unsent(std::uint32_t call) noexcept {
    if (call != Reply::nobody) {
        calls_.take_back(call).counts->end_one(nullptr);
    }
}

void RemoteState::greet(Rank to) {
    knows_[static_cast<std::size_t>(to)] = true;
    const BuildMark& own = own_build();
    CallHeader header;
    header.kind = CallHeader::hello;
    const auto write = [&own](RemoteWriter& writer) {
        write_all(writer, own.mark, own.program);
    };
    send(to, header, size_of_all(own.mark, own.program), Reply::Writes(write));
}

void RemoteState::meet(Rank other, RemoteReader& hello) {
    const auto mark = RemoteCodec<std::string>::read(hello);
    const auto program = RemoteCodec<std::string>::read(hello);
    if (mark != own_build().mark) {
        foreign_[other] = "rank " + std::to_string(transport.rank()) + " runs " +
                          own_build().program + ", and rank " + std::to_string(other) + " runs " +
                          program + ": all ranks must run one build of the program";
    }
}

bool RemoteState::send(Rank to, const CallHeader& header) {
    const auto nothing = [](RemoteWriter& /*to*/) {
    };
    return send(to, header, 0, Reply::Writes(nothing));
}

bool RemoteState::send(Rank to, const CallHeader& header, std::size_t bytes,
                       const Reply::Writes& write, PostAwait* until_sent) {
    if (to == transport.rank()) [[unlikely]] {
        deliver(header, bytes, write);
        return true;
    }
    if (!knows_[static_cast<std::size_t>(to)]) [[unlikely]] {
        greet(to);
    }
    const std::size_t whole = sizeof header + bytes;
    const auto fill = [&](std::span<std::byte> room) {
        RemoteWriter writer(room);
        writer.put(&header, sizeof header);
        write(writer);
        writer.require_full();
        return whole;
    };
    if (whole <= transport.message_bytes(to) && !outgoing_.has(to) &&
        transport.send_in_place(to, whole, fill)) [[likely]] {
        return true;
    }
    Outgoing::Message message;
    message.bytes.resize(whole);
    static_cast<void>(fill(message.bytes));
    message.waits = until_sent;
    outgoing_.push(to, std::move(message));
    turns().look_soon();
    return false;
}

void RemoteState::deliver(const CallHeader& header, std::size_t bytes, const Reply::Writes& write) {
    const bool is_call = header.kind == CallHeader::request || header.kind == CallHeader::chained ||
                         header.kind == CallHeader::named || header.kind == CallHeader::flush;
    std::array<std::byte, 256> small;
    std::vector<std::byte> large(is_call || bytes > small.size() ? bytes : 0);
    const std::span<std::byte> room =
        large.empty() ? std::span(small).first(bytes) : std::span(large);
    RemoteWriter writer(room);
    write(writer);
    writer.require_full();
    if (is_call) {
        parked_.put_off({{}, transport.rank(), header, std::move(large), nullptr});
        turns().look_soon();
    } else {
        take(transport.rank(), header, room);
    }
}

void RemoteState::send_answer(const Reply& reply, std::size_t bytes, const Reply::Writes& write) {
    CallHeader header;
    header.kind = CallHeader::answer;
    header.call = reply.call();
    note_served(reply);
    try {
        send(reply.to(), header, bytes, write);
    } catch (const Error&) {
        if (!transport.has_left(reply.to())) { // Else nobody waits any more.
            throw;
        }
    }
}

void RemoteState::send_failure(const Reply& reply, const std::exception_ptr& thrown) noexcept {
    if (!reply.is_wanted()) {
        return;
    }
    note_served(reply);
    try {
        const Failure failure = failure_of(thrown);
        CallHeader header;
        header.kind = CallHeader::failure;
        header.call = reply.call();
        const auto write = [&failure](RemoteWriter& to) {
            RemoteCodec<Failure>::write(to, failure);
        };
        send(reply.to(), header, RemoteCodec<Failure>::size(failure), Reply::Writes(write));
    } catch (...) { // The caller has gone, or there is no memory.
    }
}

void RemoteState::serve(const Reply& reply, Task<> task, const char* runs, bool has_joined) {
    Served* const noted = reply.is_wanted() ? &note(reply) : nullptr;
    Strand& begun = TaskAccess::start(
        turns(), task, noted != nullptr ? noted->stop.get_token() : turns().stop.get_token(),
        false);
    begun.chain = std::exchange(request_chain, nullptr);
    begun.serves = std::exchange(request_serves, 0);
    if (noted != nullptr) {
        noted->task = &begun;
        noted->runs = runs;
    }
    if (has_joined) {
        begun.chain->holder = &begun;
    }
}

RemoteState::Served& RemoteState::note(const Reply& reply) {
    return served_.insert_or_assign({reply.to(), reply.call()}, Served()).first->second;
}

std::stop_source RemoteState::keep(const Reply& reply) {
    return reply.is_wanted() ? note(reply).stop : std::stop_source(std::nostopstate);
}

void RemoteState::note_served(const Reply& reply) noexcept {
    if (!served_.empty()) {
        served_.erase({reply.to(), reply.call()});
    }
}

RemoteId RemoteState::add_named(std::string_view name, const NewObject& object) {
    const RemoteId made = objects.add_named(name, object);
    parked_.revive(made);
    return made;
}

bool RemoteState::serve_revived() noexcept {
    const std::size_t count = parked_.revived(); // They may put off others.
    for (std::size_t i = 0; i < count && parked_.has_revived(); ++i) {
        const ParkedRequests::Parked request = parked_.take_revived();
        RemoteReader body(request.body);
        run_any(request.from, request.header, body);
    }
    return count != 0;
}

bool RemoteState::is_late(Rank from) const noexcept {
    return over_[static_cast<std::size_t>(from)] <
           over_[static_cast<std::size_t>(transport.rank())];
}

void RemoteState::refuse_parked() noexcept {
    for (const auto& one :
         parked_.take_if([this](const auto& each) { return is_late(each.from); })) {
        send_failure(Reply(*this, one.from, one.header.call), one.why);
    }
}

void RemoteState::push_on() noexcept {
    if (!outgoing_.is_empty()) [[unlikely]] {
        outgoing_.flush(transport,
                        [this](Rank to, const std::exception_ptr& why) { lose(to, why); });
        wake_at_end();
    }
}

bool RemoteState::look() noexcept {
    push_on();
    const bool has_revived = parked_.has_revived() && serve_revived();
    try {
        const auto take_in = [this](Rank from, std::span<const std::byte> message) {
            long_messages_.receive(from, message, [this, from](const auto& header, auto body) {
                take(from, header, body);
            });
        };
        return transport.probe(take_in, static_cast<std::size_t>(
                                            remote::tuning::requests_of_a_look.value())) != 0 ||
               has_revived;
    } catch (...) { // A broken invariant of a mailbox; nothing more can be received.
        turns().keep_error(std::current_exception());
        return false;
    }
}

void RemoteState::look_after() noexcept {
    for (const auto& [gone, why] : transport.ended()) {
        take_in_last();
        lose(gone, why);
    }
    for (Rank rank = 0; rank < transport.size(); ++rank) {
        if (!is_lost_[static_cast<std::size_t>(rank)] && rank != transport.rank() &&
            transport.has_left(rank)) {
            take_in_last();
            lose(rank, transport.departure(rank));
        }
    }
    watch_for_deadlock();
}

void RemoteState::take_in_last() noexcept {
    const auto looks = static_cast<std::size_t>(transport.size()) *
                       (transport.capacity() /
                            static_cast<std::size_t>(remote::tuning::requests_of_a_look.value()) +
                        1); // Each takes in the messages of one rank at least.
    for (std::size_t i = 0; i < looks && look(); ++i) {
    }
}

std::exception_ptr RemoteState::reason_of(Rank to, const std::exception_ptr& thrown) noexcept {
    try {
        std::rethrow_exception(thrown);
    } catch (const Error& error) {
        return error.code() != Errc::team_broken && transport.has_left(to) ? transport.departure(to)
                                                                           : thrown;
    } catch (...) {
        return thrown;
    }
}

std::int64_t RemoteState::add_events(Events& to) {
    const std::int64_t longest_ns = transport.add_events(to);
    try {
        outgoing_.for_each_receiver(
            [&](Rank receiver, std::size_t /*messages*/) { transport.add_room(to, receiver); });
        return longest_ns;
    } catch (const Error&) { // A receiver has gone: the next look finds that.
        return remote::tuning::nap_ns;
    }
}

channel::WaiterCpus* RemoteState::cpus() noexcept {
    return transport.cpus();
}

void RemoteState::take(Rank from, const CallHeader& header, std::span<const std::byte> body) {
    RemoteReader reader(body);
    switch (header.kind) {
    case CallHeader::request:
    case CallHeader::chained:
    case CallHeader::named:
    case CallHeader::flush:
        if (parked_.has_revived()) [[unlikely]] { // They came before.
            serve_revived();
        }
        run_any(from, header, reader);
        break;
    case CallHeader::answer: calls_.end(header.call, from, &reader, nullptr); break;
    case CallHeader::failure:
        calls_.end(header.call, from, nullptr,
                   exception_of(RemoteCodec<Failure>::read(reader), from));
        break;
    case CallHeader::look: show(from, header.call); break;
    case CallHeader::stop: ask_to_stop(from, header.call); break;
    case CallHeader::hello: meet(from, reader); break;
    case CallHeader::over:
        ++over_[static_cast<std::size_t>(from)];
        wake_at_end();
        break;
    default: take_note(from, header, reader); break;
    }
}

void RemoteState::ask_to_stop(Rank caller, std::uint32_t call) noexcept {
    if (const auto found = served_.find({caller, call}); found != served_.end()) {
        std::stop_source(found->second.stop).request_stop();
    } else {
        drop_parked(caller, call);
    }
}

void RemoteState::require_own_build(Rank from) {
    if (!foreign_.empty() && foreign_.contains(from)) [[unlikely]] {
        throw Error(Errc::mismatch, foreign_[from], {from, transport.rank()});
    }
}

void RemoteState::run(Rank from, const CallHeader& header, const RemoteReader& arguments) noexcept {
    Incoming request{Reply(*this, from, header.call), arguments};
    try {
        require_own_build(from);
        request_chain =
            header.kind == CallHeader::chained ? read_chain(request.arguments) : nullptr;
        request_from = from;
        functions_.find(header.function)(request);
    } catch (const ObjectExpected& expected) {
        park(expected.id(), request.reply, header, arguments);
    } catch (const ObjectHeld& held) {
        hold_back(held.by(), request.reply, header, arguments);
    } catch (const ObjectAway& away) {
        send_back(from, header, away.id(), arguments);
    } catch (...) {
        send_failure(request.reply, std::current_exception());
    }
    request_from = -1;
    request_serves = 0;
}

/// In the handler of the ObjectExpected that the request has thrown.
void RemoteState::park(const RemoteId& object, const Reply& reply, const CallHeader& header,
                       RemoteReader arguments) noexcept {
    try {
        if (is_late(reply.to())) {
            throw;
        }
        const auto body = arguments.take(arguments.left());
        parked_.park(
            {object, reply.to(), header, {body.begin(), body.end()}, std::current_exception()});
    } catch (...) {
        send_failure(reply, std::current_exception());
    }
}

void RemoteState::run_named(Rank from, const CallHeader& header, RemoteReader& arguments) noexcept {
    const Reply reply(*this, from, header.call);
    bool is_over = false;
    try {
        const std::string_view name = read_name(arguments);
        const auto handler = named.find(name, transport.rank()); // Kept while it runs.
        NamedRequest request(reply, name, arguments.take(arguments.left()));
        try {
            (*handler)(request);
        } catch (...) {
            is_over = request.is_over(); // The caller has its answer, or will get one.
            throw;
        }
        if (!request.is_over()) {
            reply.answer();
        }
    } catch (...) {
        if (!is_over) {
            send_failure(reply, std::current_exception());
        }
    }
}

bool RemoteState::end_own() {
    CallHeader header;
    header.kind = CallHeader::over;
    for (Rank to = 0; to < transport.size(); ++to) {
        if (to == transport.rank() || is_lost_[static_cast<std::size_t>(to)]) {
            continue;
        }
        try {
            send(to, header);
        } catch (const Error&) {
            lose(to, std::current_exception());
        }
    }
    ++over_[static_cast<std::size_t>(transport.rank())];
    refuse_parked();
    return is_end();
}

/// Whether the task of each rank that is there has ended as often as this rank's, and has been told
/// of that.
bool RemoteState::is_end() const noexcept {
    const std::uint64_t own = over_[static_cast<std::size_t>(transport.rank())];
    for (std::size_t rank = 0; rank < over_.size(); ++rank) {
        if (over_[rank] < own && !is_lost_[rank]) {
            return false;
        }
    }
    return outgoing_.is_empty();
}

void RemoteState::wake_at_end() noexcept {
    if (end_waits_ != nullptr && is_end()) {
        std::exchange(end_waits_, nullptr)->wake();
    }
}

void RemoteState::lose(Rank gone, const std::exception_ptr& thrown) noexcept {
    const std::exception_ptr why = reason_of(gone, thrown);
    is_lost_[static_cast<std::size_t>(gone)] = true;
    outgoing_.drop(gone, why);
    calls_.end_all(gone, why);
    for (auto& [call, served] : served_) { // Its callers wait no more.
        if (call.first == gone) {
            served.stop.request_stop();
        }
    }
    drop_parked_of(gone);
    lose_routes(gone);
    moves.lose(gone);
    wake_at_end();
}

} // namespace corymb::detail
