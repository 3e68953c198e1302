// SPDX-License-Identifier: Apache-2.0
// Ranks that call each other by names, and their calls.
#include "c/give_back.hpp"
#include "c/known_options.hpp"
#include "c/numbers.hpp"
#include "c/remote_handles.hpp"

#include <corymb.h>

#include <algorithm>
#include <chrono>
#include <span>
#include <string>
#include <vector>

struct corymb_remote_group : corymb::c::Holder<corymb_remote_group, corymb::RemoteGroup> {
    static constexpr std::uint64_t live_tag = 0x636F72796D620010;
    static constexpr const char* name = "the remote group";
};

namespace corymb::c {

namespace {

RemoteOptions remote_options(const corymb_remote_options* given) {
    RemoteOptions options;
    if (given != nullptr) {
        const auto known = as_known(*given, "corymb_remote_options_init");
        options.wait = wait_policy(known.wait);
        options.message_bytes = known.message_bytes;
        options.capacity = known.capacity;
        options.between_processes = known.between_processes != 0;
        options.name = known.name == nullptr ? std::string_view() : known.name;
    }
    return options;
}

RequestInHandler& in_handler(corymb_remote_request* request) {
    require(request, "the request");
    require(request->call, "the call of the request");
    return *static_cast<RequestInHandler*>(request->call);
}

void give_answer(const std::vector<std::byte>& found, void* answer, std::size_t room) {
    if (answer == nullptr) {
        return;
    }
    if (found.size() > room) {
        throw Error(Errc::mismatch, "the answer has " + std::to_string(found.size()) +
                                        " bytes, and there is room for " + std::to_string(room));
    }
    std::copy(found.begin(), found.end(), static_cast<std::byte*>(answer));
}

/// The time that is left of a limit; 0 stands for none.
std::chrono::nanoseconds left_of(std::chrono::steady_clock::time_point begin,
                                 std::chrono::nanoseconds limit) {
    const auto left = begin + limit - std::chrono::steady_clock::now();
    return limit.count() == 0 ? limit : std::max(left, decltype(left)(1));
}

} // namespace

void run_handler(NamedRequest& request, const std::shared_ptr<OneUser>& user, const char* name,
                 std::span<const std::byte> argument, corymb_remote_handler handler,
                 void* context) {
    RequestInHandler call{&request, user};
    corymb_remote_request given{request.from(), name, argument.data(), argument.size(), &call};
    const corymb_status status = handler(&given, context);
    if (status != CORYMB_OK) {
        throw Error(errc_of(status),
                    "'" + std::string(name) + "' has returned " + corymb_status_name(status));
    }
}

} // namespace corymb::c

using namespace corymb;

corymb_status corymb_remote_group_create(int size, const corymb_remote_options* options,
                                         corymb_remote_group** group) noexcept {
    return c::give_handle(group, "corymb_remote_group_create: group",
                          [&] { return RemoteGroup(size, c::remote_options(options)); });
}

corymb_status corymb_remote_group_open(int descriptor, corymb_remote_group** group) noexcept {
    return c::give_handle(group, "corymb_remote_group_open: group",
                          [&] { return RemoteGroup::open(descriptor); });
}

corymb_status corymb_remote_group_join(corymb_remote_group* group, int rank,
                                       corymb_remote** own) noexcept {
    return c::give_handle(own, "corymb_remote_group_join: own",
                          [&] { return c::OfRank(c::RemotePlace(c::held(group).join(rank))); });
}

int c::descriptor_of(const corymb_remote_group* group) {
    return held(group).make_descriptor();
}

void c::give_back(corymb_remote_group*& group) {
    c::free_held(group);
}

std::int64_t c::number_of(const corymb_remote* own, corymb_number_kind number,
                          std::int64_t otherwise) noexcept {
    if (!is_live(own)) {
        return otherwise;
    }
    const RemoteRank& rank = own->held->object.rank;
    return number == CORYMB_NUMBER_RANK   ? rank.rank()
           : number == CORYMB_NUMBER_SIZE ? rank.size()
                                          : otherwise;
}

void c::give_back(corymb_remote*& own) {
    c::free_unused(own);
}

corymb_status corymb_remote_offer(corymb_remote* own, const char* name,
                                  corymb_remote_handler handler, void* context) noexcept {
    return c::guarded([&] {
        auto& of = c::held(own);
        const auto call = of.user->enter();
        c::require(name, "corymb_remote_offer: name");
        c::require(handler, "corymb_remote_offer: handler");
        const auto run = [=, user = of.user, served = of.object.served.get(),
                          offered = std::string(name)](NamedRequest& request) {
            ++*served;
            c::run_handler(request, user, offered.c_str(), request.argument(), handler, context);
        };
        offer_function(of.object.rank, name, run);
    });
}

corymb_status corymb_remote_answer(corymb_remote_request* request, const void* answer,
                                   size_t bytes) noexcept {
    return c::guarded([&] {
        c::in_handler(request).request->answer(
            c::bytes_at(answer, bytes, "corymb_remote_answer: answer"));
    });
}

corymb_status corymb_remote_later(corymb_remote_request* request,
                                  corymb_remote_reply** reply) noexcept {
    return c::give_handle(reply, "corymb_remote_later: reply", [&] {
        const c::RequestInHandler& call = c::in_handler(request);
        return c::OfRank(call.request->later(), call.user);
    });
}

corymb_status corymb_remote_reply_send(corymb_remote_reply** reply, corymb_status status,
                                       const void* answer, size_t bytes) noexcept {
    return c::guarded([&] {
        c::require(reply, "corymb_remote_reply_send: reply");
        auto& of = c::held(*reply);
        {
            const auto call = of.user->enter();
            const auto sent = c::bytes_at(answer, bytes, "corymb_remote_reply_send: answer");
            if (status == CORYMB_OK) {
                of.object.answer(sent);
            } else {
                const std::string text(reinterpret_cast<const char*>(sent.data()), sent.size());
                of.object.fail(std::make_exception_ptr(Error(c::errc_of(status), text)));
            }
        }
        c::free_held(*reply);
    });
}

corymb_status corymb_remote_reply_is_stopped(const corymb_remote_reply* reply,
                                             int* stopped) noexcept {
    return c::give_value(stopped, "corymb_remote_reply_is_stopped: stopped", 0, [&] {
        auto& of = c::held(reply);
        const auto call = of.user->enter();
        return of.object.stop_token().stop_requested() ? 1 : 0;
    });
}

void c::give_back(corymb_remote_reply*& reply) {
    c::free_held(reply);
}

corymb_status corymb_remote_begin(corymb_remote* own, int to, const char* name,
                                  const void* argument, size_t bytes,
                                  corymb_remote_call** call) noexcept {
    const auto checked = [&] {
        c::require(name, "corymb_remote_begin: name");
        return c::bytes_at(argument, bytes, "corymb_remote_begin: argument");
    };
    if (call == nullptr) {
        return c::use(own, [&](c::RemotePlace& of) { post_named(of.rank, to, name, checked()); });
    }
    return c::begin_of(own, call, "corymb_remote_begin: call", [&](c::RemotePlace& of) {
        const auto sent = checked();
        return begin_named(of.rank, to, name, sent);
    });
}

corymb_status corymb_remote_call_wait(corymb_remote_call** call, int64_t limit_ns, void* answer,
                                      size_t room, size_t* bytes) noexcept {
    const corymb_status status = c::guarded([&] {
        c::require(call, "corymb_remote_call_wait: call");
        auto& of = c::held(*call);
        const auto mark = of.user->enter();
        const auto found = of.object.wait(c::time_of(limit_ns, "limit_ns"));
        if (bytes != nullptr) {
            *bytes = found.size();
        }
        c::give_answer(found, answer, room);
    });
    if (call != nullptr && c::is_live(*call) && !(*call)->held->object.valid()) {
        c::free_held(*call);
    }
    return status;
}

corymb_status corymb_remote_call_wait_all(corymb_remote_call** calls, size_t count,
                                          int64_t limit_ns, void* answers, size_t room) noexcept {
    std::exception_ptr first;
    return c::guarded([&] {
        if (count != 0) {
            c::require(calls, "corymb_remote_call_wait_all: calls");
        }
        const auto limit = c::time_of(limit_ns, "limit_ns");
        const auto begin = std::chrono::steady_clock::now();
        for (std::size_t i = 0; i < count; ++i) {
            try {
                auto& of = c::held(calls[i]);
                const auto mark = of.user->enter();
                const auto found = of.object.wait(c::left_of(begin, limit));
                c::give_answer(
                    found, answers == nullptr ? answers : static_cast<char*>(answers) + i * room,
                    room);
            } catch (...) {
                first = first == nullptr ? std::current_exception() : first;
            }
            if (c::is_live(calls[i]) && !calls[i]->held->object.valid()) {
                c::free_held(calls[i]);
            }
        }
        if (first != nullptr) {
            std::rethrow_exception(first);
        }
    });
}

corymb_status corymb_remote_call_test(corymb_remote_call* call, int* done) noexcept {
    return c::use(call, [&](NamedCall& own) {
        c::require(done, "corymb_remote_call_test: done");
        *done = 0;
        *done = own.test() ? 1 : 0;
    });
}

void c::give_back(corymb_remote_call*& call) {
    c::free_unused(call);
}

corymb_status corymb_remote_serve(corymb_remote* own, int64_t limit_ns, size_t* served) noexcept {
    return c::use(own, [&](c::RemotePlace& of) {
        const auto limit = c::time_of(limit_ns, "limit_ns");
        const std::size_t before = *of.served;
        of.rank.scheduler().poll();
        if (*of.served == before && limit.count() != 0) {
            static_cast<void>(serve_until(of.rank, [&] { return *of.served != before; }, limit));
        }
        if (served != nullptr) {
            *served = *of.served - before;
        }
    });
}

corymb_status corymb_remote_descriptor(corymb_remote* own, int* descriptor) noexcept {
    return c::give_value(descriptor, "corymb_remote_descriptor: descriptor", -1,
                         [&] { return c::held(own).object.rank.scheduler().descriptor(); });
}

corymb_status corymb_remote_end(corymb_remote* own) noexcept {
    return c::use(own, [](c::RemotePlace& of) {
        of.rank.run([]() -> Task<> {
            co_return;
        }());
    });
}
