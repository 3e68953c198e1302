// SPDX-License-Identifier: Apache-2.0
// Active messages and global pointers.
#include "c/give_back.hpp"
#include "c/known_options.hpp"
#include "c/mailbox_handles.hpp"
#include "c/numbers.hpp"
#include "c/of_rank.hpp"

#include <corymb.h>
#include <corymb/active_message.hpp>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <span>
#include <string>
#include <utility>
#include <vector>

struct corymb_active_messages
    : corymb::c::Holder<corymb_active_messages, corymb::c::OfRank<corymb::ActiveMessages>> {
    static constexpr std::uint64_t live_tag = 0x636F72796D62000E;
    static constexpr const char* name = "the active messages";
};

struct corymb_active_call
    : corymb::c::Holder<corymb_active_call, corymb::c::OfRank<corymb::ActiveCall>> {
    static constexpr std::uint64_t live_tag = 0x636F72796D62000F;
    static constexpr const char* name = "the active call";
};

namespace corymb::c {

namespace {

constexpr std::chrono::minutes usual_deadline{1};

ActiveMessages taken_from(corymb_mailbox** mailbox, std::int64_t deadline_ns) {
    require_unused(*mailbox);
    Mailbox& box = held(*mailbox).object;
    const auto deadline = time_of(deadline_ns, "deadline_ns");
    if (box.message_bytes() <= active_header_bytes) {
        refuse("active messages need a mailbox whose messages are longer than " +
               std::to_string(active_header_bytes) + " bytes; set message_bytes of its group");
    }
    return ActiveMessages(std::move(box), deadline.count() == 0 ? usual_deadline : deadline);
}

ActiveMessages::Handler handler_of(corymb_active_handler handler, void* context) {
    return [=](Rank from, std::span<const std::byte> argument, std::span<std::byte> answer) {
        std::size_t bytes = 0;
        const corymb_status status = handler(from, argument.data(), argument.size(), answer.data(),
                                             answer.size(), &bytes, context);
        if (status != CORYMB_OK) { // Words that an answer has room for.
            throw Error(errc_of(status), std::string("returned ") + corymb_status_name(status));
        }
        return bytes;
    };
}

GlobalAddress address_of(const corymb_global_address& given) {
    return {given.owner, given.region, given.offset};
}

std::span<std::byte> bytes_of(void* memory, std::size_t bytes, const char* what) {
    if (bytes != 0) {
        require(memory, what);
    }
    return {static_cast<std::byte*>(memory), bytes};
}

std::span<const std::byte> bytes_of(const void* memory, std::size_t bytes, const char* what) {
    return bytes_of(const_cast<void*>(memory), bytes, what); // Nothing is written through it.
}

void give_answer(const std::vector<std::byte>& found, void* answer, std::size_t room,
                 std::size_t* bytes) {
    if (bytes != nullptr) {
        *bytes = found.size();
    }
    if (answer == nullptr) {
        return;
    }
    if (found.size() > room) {
        throw Error(Errc::mismatch, "the answer has " + std::to_string(found.size()) +
                                        " bytes, and there is room for " + std::to_string(room));
    }
    std::copy(found.begin(), found.end(), static_cast<std::byte*>(answer));
}

template <class Serve>
corymb_status serve_with(corymb_active_messages* active, std::size_t* served,
                         const Serve& serve) noexcept {
    return use(active, [&](ActiveMessages& own) {
        const std::size_t count = serve(own);
        if (served != nullptr) {
            *served = count;
        }
    });
}

} // namespace

} // namespace corymb::c

using namespace corymb;

corymb_status corymb_active_messages_create(corymb_mailbox** mailbox, int64_t deadline_ns,
                                            corymb_active_messages** active) noexcept {
    const corymb_status status =
        c::give_handle(active, "corymb_active_messages_create: active", [&] {
            c::require(mailbox, "corymb_active_messages_create: mailbox");
            return c::OfRank(c::taken_from(mailbox, deadline_ns));
        });
    return status == CORYMB_OK ? corymb_mailbox_free(mailbox) : status;
}

std::int64_t c::number_of(const corymb_active_messages* active, corymb_number_kind number,
                          std::int64_t otherwise) noexcept {
    if (!is_live(active)) {
        return otherwise;
    }
    const ActiveMessages& own = active->held->object;
    switch (number) {
    case CORYMB_NUMBER_RANK: return own.rank();
    case CORYMB_NUMBER_SIZE: return own.size();
    case CORYMB_NUMBER_BYTES_MAX: return static_cast<std::int64_t>(own.bytes_max());
    default: return otherwise;
    }
}

corymb_status corymb_active_messages_on(corymb_active_messages* active, uint16_t number,
                                        corymb_active_handler handler, void* context) noexcept {
    return c::use(active, [&](ActiveMessages& own) {
        c::require(handler, "corymb_active_messages_on: handler");
        own.on(number, c::handler_of(handler, context));
    });
}

corymb_status corymb_active_messages_call(corymb_active_messages* active, int to, uint16_t number,
                                          const void* argument, size_t bytes,
                                          corymb_active_call** call) noexcept {
    return c::begin_of(active, call, "corymb_active_messages_call: call", [&](ActiveMessages& own) {
        return own.call(to, number,
                        c::bytes_of(argument, bytes, "corymb_active_messages_call: argument"));
    });
}

corymb_status corymb_active_messages_poll(corymb_active_messages* active, size_t* served) noexcept {
    return c::serve_with(active, served, [](ActiveMessages& own) { return own.poll(); });
}

corymb_status corymb_active_messages_serve(corymb_active_messages* active, int64_t limit_ns,
                                           size_t* served) noexcept {
    return c::serve_with(active, served, [&](ActiveMessages& own) {
        return own.serve(c::time_of(limit_ns, "limit_ns"));
    });
}

void c::give_back(corymb_active_messages*& active) {
    c::free_unused(active);
}

corymb_status corymb_active_call_wait(corymb_active_call** call, int64_t limit_ns, void* answer,
                                      size_t room, size_t* bytes) noexcept {
    const corymb_status status = c::guarded([&] {
        c::require(call, "corymb_active_call_wait: call");
        auto& of = c::held(*call);
        const auto mark = of.user->enter();
        c::give_answer(of.object.wait(c::time_of(limit_ns, "limit_ns")), answer, room, bytes);
    });
    if (call != nullptr && c::is_live(*call) && (*call)->held->object.is_taken()) {
        c::free_held(*call);
    }
    return status;
}

corymb_status corymb_active_call_test(corymb_active_call* call, int* done) noexcept {
    return c::use(call, [&](ActiveCall& own) {
        c::require(done, "corymb_active_call_test: done");
        *done = 0;
        *done = own.test() ? 1 : 0;
    });
}

void c::give_back(corymb_active_call*& call) {
    c::free_unused(call);
}

corymb_status corymb_active_messages_offer(corymb_active_messages* active, void* memory,
                                           size_t bytes, corymb_global_address* address) noexcept {
    return c::use(active, [&](ActiveMessages& own) {
        c::require(address, "corymb_active_messages_offer: address");
        *address = {-1, 0, 0};
        const GlobalAddress made =
            own.offer(c::bytes_of(memory, bytes, "corymb_active_messages_offer: memory")).address;
        *address = {made.owner, made.region, made.offset};
    });
}

corymb_status corymb_active_messages_withdraw(corymb_active_messages* active,
                                              corymb_global_address address) noexcept {
    return c::use(active, [&](ActiveMessages& own) {
        own.withdraw(GlobalPointer<std::byte>{c::address_of(address)});
    });
}

corymb_status corymb_active_messages_get(corymb_active_messages* active, corymb_global_address from,
                                         void* to, size_t bytes, int64_t limit_ns) noexcept {
    return c::use(active, [&](ActiveMessages& own) {
        own.get_bytes(c::address_of(from), c::bytes_of(to, bytes, "corymb_active_messages_get: to"),
                      c::time_of(limit_ns, "limit_ns"));
    });
}

corymb_status corymb_active_messages_put(corymb_active_messages* active, corymb_global_address to,
                                         const void* value, size_t bytes,
                                         int64_t limit_ns) noexcept {
    return c::use(active, [&](ActiveMessages& own) {
        own.put_bytes(c::address_of(to),
                      c::bytes_of(value, bytes, "corymb_active_messages_put: value"),
                      c::time_of(limit_ns, "limit_ns"));
    });
}

corymb_status corymb_active_messages_compare_exchange(corymb_active_messages* active,
                                                      corymb_global_address at,
                                                      const void* expected, const void* desired,
                                                      void* was, size_t bytes,
                                                      int64_t limit_ns) noexcept {
    constexpr const char* what = "corymb_active_messages_compare_exchange: a value";
    return c::use(active, [&](ActiveMessages& own) {
        own.compare_exchange_bytes(c::address_of(at), c::bytes_of(expected, bytes, what),
                                   c::bytes_of(desired, bytes, what), c::bytes_of(was, bytes, what),
                                   c::time_of(limit_ns, "limit_ns"));
    });
}
