// SPDX-License-Identifier: Apache-2.0
// The calling side of objects that move: see routes.hpp.
#include "remote/remote_state.hpp"

#include "remote/tuning.hpp"

#include <corymb/error.hpp>

#include <cstring>
#include <string>
#include <utility>

namespace corymb::detail {

namespace {

Route::Message copy_of(const CallHeader& header, RemoteReader& body) {
    const auto rest = body.take(body.left());
    Route::Message message{std::vector<std::byte>(sizeof header + rest.size()), nullptr};
    std::memcpy(message.bytes.data(), &header, sizeof header);
    if (!rest.empty()) {
        std::memcpy(message.bytes.data() + sizeof header, rest.data(), rest.size());
    }
    return message;
}

std::exception_ptr gone() {
    return std::make_exception_ptr(Error(Errc::invalid_argument, object_is_gone));
}

std::exception_ptr stopped_early() {
    return std::make_exception_ptr(
        Error(Errc::interrupted, "the call was asked to stop before it began"));
}

} // namespace

Rank RemoteState::way_of_moved(const RemoteId& object) noexcept {
    Route* const route = routes.find(object);
    if (object.is_named() || route == nullptr) {
        return object.rank;
    }
    if (route->is_flushing) {
        return transport.rank(); // Until then they are kept here.
    }
    const bool has_left = route->to.rank == transport.rank() && !parked_.has_revived() &&
                          objects.find(object) == ObjectTable::no_slot;
    if (route->known.rank >= 0 && (has_left || (route->is_home && is_lost(route->to.rank)))) {
        route->to = route->known;
    } else if (is_lost(route->to.rank) && route->to.rank != object.rank) {
        routes.erase(object); // It may have moved on before.
        return object.rank;
    }
    return route->to.rank;
}

bool RemoteState::is_near(const RemoteId& object) noexcept {
    if (object.is_named()) {
        return true;
    }
    if (const Route* const route = routes.find(object); route != nullptr && route->is_flushing) {
        return false;
    }
    const std::uint32_t slot = objects.find(object);
    // One that is gone is refused at once.
    return slot != ObjectTable::no_slot
               ? objects.hold(slot) == nullptr
               : object.rank == transport.rank() && routes.find(object) == nullptr;
}

RemoteState::Started RemoteState::keep_for_later(Route& route, const Ending& ending,
                                                 CallHeader header, std::size_t bytes,
                                                 const Reply::Writes& write, PostAwait* waits) {
    Route::Message message{std::vector<std::byte>(sizeof header + bytes), waits};
    if (ending.waits != nullptr || ending.counts != nullptr) {
        header.call = calls_.add(transport.rank(), ending);
    }
    try {
        RemoteWriter writer(message.bytes);
        writer.put(&header, sizeof header);
        write(writer);
        writer.require_full();
        route.later.push_back(std::move(message));
    } catch (...) {
        if (header.call != Reply::nobody) {
            calls_.take_back(header.call);
        }
        throw;
    }
    if (ending.counts != nullptr) {
        ending.counts->add();
    }
    return {header.call, false};
}

void RemoteState::take_returned(Rank from, CallHeader header, RemoteReader& body) {
    const RemoteId id = RemoteCodec<CalledObject>::read(body).id;
    const auto told = RemoteCodec<Whereabouts>::read(body);
    header.kind = RemoteCodec<std::uint16_t>::read(body);
    header.is_long = 0; // That it came in several parts says nothing of how it goes.
    Route& route = routes.get(id);
    route.learn(told);
    route.has_returned = true;
    if (header.call == Reply::nobody || calls_.redirect(header.call, from, transport.rank())) {
        route.returned.push_back(copy_of(header, body));
    }
    if (!route.is_flushing) { // Also if nobody waits for the call any more.
        begin_flush(route);
    }
    forget_some_route(id);
}

void RemoteState::begin_flush(Route& route) noexcept {
    routes.begin_flush(route);
    try {
        if (!is_lost(route.to.rank)) {
            CallHeader header;
            header.kind = CallHeader::flush;
            send_object_note(route.to.rank, header, route.object, {});
            return;
        }
    } catch (...) { // It has gone just now.
    }
    end_flush(route);
}

void RemoteState::take_flushed(Rank from, RemoteReader& body, bool is_withheld) noexcept {
    const RemoteId id = RemoteCodec<CalledObject>::read(body).id;
    const auto told = RemoteCodec<Whereabouts>::read(body);
    Route* const route = routes.find(id);
    if (route != nullptr && route->is_flushing && route->to.rank == from) {
        route->learn(told);
        route->is_leaving = route->is_leaving && !is_withheld;
        end_flush(*route);
    }
}

void RemoteState::end_flush(Route& route) noexcept {
    const RemoteId id = route.object;
    const bool has_moved = std::exchange(route.has_returned, false);
    const auto returned = std::exchange(route.returned, {});
    const auto later = std::exchange(route.later, {});
    routes.end_flush(route);
    bool is_gone = route.known.rank < 0;
    const bool is_dead_end = route.to.rank != id.rank && is_lost(route.known.rank);
    if (route.is_home || (route.known.moves > route.to.moves && !is_dead_end)) {
        route.to = route.known;
    } else if (is_dead_end || is_lost(route.to.rank)) {
        route.to = route.known = {id.rank, 0}; // Whatever its maker knows is newer then.
    } else if (has_moved && route.to.rank != id.rank) {
        route.to.rank = id.rank; // Who has made it knows.
    } else {
        is_gone = is_gone || has_moved;
    }
    const Rank to = route.to.rank;
    if (!route.is_home && (is_gone || (route.is_leaving && returned.empty() && later.empty()))) {
        routes.erase(id);
    } else {
        route.is_leaving = false;
    }
    for (const auto* const kept : {&returned, &later}) {
        for (const Route::Message& message : *kept) {
            if (is_gone) {
                fail_kept(message, gone());
            } else {
                send_kept(to, message);
            }
        }
    }
}

void RemoteState::send_kept(Rank to, const Route::Message& message) noexcept {
    CallHeader header = message.header();
    try {
        if (is_lost(to)) {
            std::rethrow_exception(transport.departure(to));
        }
        if (header.call != Reply::nobody && !calls_.redirect(header.call, transport.rank(), to)) {
            return;
        }
        const auto body = std::span(message.bytes).subspan(sizeof header);
        const auto write = [body](RemoteWriter& writer) {
            writer.put(body.data(), body.size());
        };
        if (send(to, header, body.size(), Reply::Writes(write), message.waits) &&
            message.waits != nullptr) {
            message.waits->settle(nullptr);
        }
        if (header.call != Reply::nobody && calls_.is_stopped(header.call)) {
            send_stop(header.call);
        }
    } catch (...) {
        fail_kept(message, reason_of(to, std::current_exception()));
    }
}

void RemoteState::fail_kept(const Route::Message& message, const std::exception_ptr& why) noexcept {
    const CallHeader header = message.header();
    if (message.waits != nullptr) {
        message.waits->settle(why);
    } else if (header.call != Reply::nobody) {
        calls_.end(header.call, calls_.to(header.call), nullptr, why);
    }
}

void RemoteState::lose_routes(Rank gone_rank) noexcept {
    while (Route* const route = routes.flushed_to(gone_rank)) {
        end_flush(*route);
    }
}

void RemoteState::forget_some_route(const RemoteId& but) noexcept {
    const auto most = static_cast<std::size_t>(remote::tuning::moved_objects_known.value());
    if (routes.to_others() <= most) {
        return;
    }
    if (Route* const victim = routes.next_to_forget(but)) {
        victim->is_leaving = true;
        begin_flush(*victim);
    }
}

void RemoteState::send_object_note(Rank to, const CallHeader& header, const RemoteId& id,
                                   const Whereabouts& at) {
    const CalledObject of{whole_of(id)};
    const auto write = [&](RemoteWriter& writer) {
        write_all(writer, of, at);
    };
    send(to, header, size_of_all(of, at), Reply::Writes(write));
}

bool RemoteState::tell_moved(Rank home, const RemoteId& id, const Whereabouts& at,
                             AnswerTaker& waits) noexcept {
    CallHeader header;
    header.kind = CallHeader::moved;
    try {
        header.call = calls_.add(home, {&waits, nullptr, false});
        send_object_note(home, header, id, at);
        return true;
    } catch (...) { // It has gone, or there is no memory.
        if (header.call != Reply::nobody) {
            calls_.take_back(header.call);
        }
        return false;
    }
}

void RemoteState::send_back(Rank to, CallHeader header, const RemoteId& id,
                            RemoteReader request) noexcept {
    if (is_lost(to)) {
        return;
    }
    const Reply reply(*this, to, header.call);
    try {
        const CalledObject of{whole_of(id)};
        const Whereabouts at = moves.where(id);
        const std::uint16_t kind = header.kind;
        const auto body = request.take(request.left());
        header.kind = CallHeader::returned;
        header.is_long = 0; // As in take_returned.
        const auto write = [&](RemoteWriter& writer) {
            write_all(writer, of, at, kind);
            writer.put(body.data(), body.size());
        };
        moves.note_returned(to, id);
        send(to, header, size_of_all(of, at, kind) + body.size(), Reply::Writes(write));
    } catch (...) {
        send_failure(reply, std::current_exception());
    }
}

void RemoteState::take_flush(Rank from, RemoteReader& body) noexcept {
    const RemoteId id = RemoteCodec<CalledObject>::read(body).id;
    moves.note_flushed(from, id);
    const std::uint32_t slot = objects.find(id);
    const Hold* const hold = slot == ObjectTable::no_slot ? nullptr : objects.hold(slot);
    try {
        CallHeader header;
        header.kind =
            hold != nullptr && hold->has_of(from) ? CallHeader::withheld : CallHeader::flushed;
        send_object_note(from, header, id, moves.where(id));
    } catch (...) { // It has gone.
    }
}

void RemoteState::take_note(Rank from, const CallHeader& header, RemoteReader& body) {
    switch (header.kind) {
    case CallHeader::returned: take_returned(from, header, body); break;
    case CallHeader::flushed: take_flushed(from, body, false); break;
    case CallHeader::withheld: take_flushed(from, body, true); break;
    case CallHeader::moved: {
        const RemoteId id = RemoteCodec<CalledObject>::read(body).id;
        moves.note_moved(id, RemoteCodec<Whereabouts>::read(body));
        Reply(*this, from, header.call).answer();
        break;
    }
    case CallHeader::settled: {
        const RemoteId id = RemoteCodec<CalledObject>::read(body).id;
        moves.settle(id, from, RemoteCodec<Whereabouts>::read(body).rank >= 0);
        break;
    }
    default: break;
    }
}

/// In the handler of the ObjectHeld that the request has thrown.
void RemoteState::hold_back(Hold& by, const Reply& reply, const CallHeader& header,
                            RemoteReader arguments) noexcept {
    try {
        const auto body = arguments.take(arguments.left());
        by.requests.push_back(
            {{}, reply.to(), header, {body.begin(), body.end()}, std::current_exception()});
    } catch (...) {
        send_failure(reply, std::current_exception());
    }
}

ParkedRequests::Requests RemoteState::take_kept_back(const auto& is_meant) noexcept {
    ParkedRequests::Requests taken = parked_.take_revived_if(is_meant);
    objects.for_each_hold([&](Hold& hold) {
        taken.splice(taken.end(), ParkedRequests::take_if(hold.requests, is_meant));
    });
    return taken;
}

void RemoteState::drop_parked(Rank from, std::uint32_t call) noexcept {
    const auto is_meant = [from, call](const auto& each) {
        return each.from == from && each.header.call == call;
    };
    for (const auto& one : parked_.take_if(is_meant)) {
        send_failure(Reply(*this, one.from, one.header.call), one.why);
    }
    for (const auto& one : take_kept_back(is_meant)) {
        send_failure(Reply(*this, one.from, one.header.call), stopped_early());
    }
}

void RemoteState::drop_parked_of(Rank gone) noexcept {
    const auto is_over = [gone](const auto& each) {
        return each.from == gone && each.header.call != Reply::nobody;
    };
    static_cast<void>(parked_.take_if(is_over));
    static_cast<void>(take_kept_back(is_over));
}

void RemoteState::require_rank(Rank to) const {
    if (to < 0 || to >= transport.size()) {
        throw Error(Errc::invalid_argument, "there is no rank " + std::to_string(to) +
                                                "; the group has the ranks 0 to " +
                                                std::to_string(transport.size() - 1));
    }
}

void RemoteState::require_callable(Rank to) const {
    require_rank(to);
    if (is_lost(to)) {
        std::rethrow_exception(transport.departure(to));
    }
}

void RemoteState::run_any(Rank from, const CallHeader& header, RemoteReader& arguments) noexcept {
    switch (header.kind) {
    case CallHeader::named: run_named(from, header, arguments); break;
    case CallHeader::flush: take_flush(from, arguments); break;
    default: run(from, header, arguments); break;
    }
}

} // namespace corymb::detail
