// SPDX-License-Identifier: Apache-2.0
// Mailboxes.
#include "c/give_back.hpp"
#include "c/held.hpp"
#include "c/known_options.hpp"
#include "c/numbers.hpp"
#include "c/of_rank.hpp"
#include "c/text.hpp"

#include <corymb.h>
#include <corymb/machine.hpp>
#include <corymb/mailbox.hpp>

#include <optional>
#include <span>
#include <vector>

struct corymb_mailbox_group : corymb::c::Holder<corymb_mailbox_group, corymb::MailboxGroup> {
    static constexpr std::uint64_t live_tag = 0x636F72796D620006;
    static constexpr const char* name = "the mailbox group";
};

struct corymb_mailbox : corymb::c::Holder<corymb_mailbox, corymb::c::OfRank<corymb::Mailbox>> {
    static constexpr std::uint64_t live_tag = 0x636F72796D620007;
    static constexpr const char* name = "the mailbox";
};

namespace corymb::c {

namespace {

MailboxProtocol protocol_of(corymb_mailbox_protocol given) {
    switch (given) {
    case CORYMB_MAILBOX_AUTOMATIC: return MailboxProtocol::automatic;
    case CORYMB_MAILBOX_RING: return MailboxProtocol::ring;
    case CORYMB_MAILBOX_NVP: return MailboxProtocol::nvp;
    case CORYMB_MAILBOX_SRBP: return MailboxProtocol::srbp;
    default: break;
    }
    refuse("there is no mailbox protocol " + std::to_string(static_cast<int>(given)) +
           "; use a value of corymb_mailbox_protocol");
}

corymb_mailbox_protocol protocol_of(MailboxProtocol given) {
    switch (given) {
    case MailboxProtocol::automatic: break;
    case MailboxProtocol::ring: return CORYMB_MAILBOX_RING;
    case MailboxProtocol::nvp: return CORYMB_MAILBOX_NVP;
    case MailboxProtocol::srbp: return CORYMB_MAILBOX_SRBP;
    }
    return CORYMB_MAILBOX_AUTOMATIC;
}

/// `machine` outlives the options.
MailboxOptions mailbox_options(const corymb_mailbox_options* given,
                               std::optional<Machine>& machine) {
    MailboxOptions options;
    if (given != nullptr) {
        const auto known = as_known(*given, "corymb_mailbox_options_init");
        options.protocol = protocol_of(known.protocol);
        options.wait = wait_policy(known.wait);
        options.message_bytes = known.message_bytes;
        options.capacity = known.capacity;
        options.between_processes = known.between_processes != 0;
        options.name = known.name == nullptr ? std::string_view() : known.name;
        if (known.machine_json != nullptr) {
            options.machine = &machine.emplace(machine_from_json(known.machine_json));
        }
    }
    return options;
}

} // namespace

} // namespace corymb::c

using namespace corymb;

corymb_status corymb_mailbox_group_create(int size, const corymb_mailbox_options* options,
                                          corymb_mailbox_group** group) noexcept {
    return c::give_handle(group, "corymb_mailbox_group_create: group", [&] {
        std::optional<Machine> machine;
        return MailboxGroup(size, c::mailbox_options(options, machine));
    });
}

corymb_status corymb_mailbox_group_open(int descriptor, corymb_mailbox_group** group) noexcept {
    return c::give_handle(group, "corymb_mailbox_group_open: group",
                          [&] { return MailboxGroup::open(descriptor); });
}

corymb_status corymb_mailbox_group_join(corymb_mailbox_group* group, int rank,
                                        corymb_mailbox** mailbox) noexcept {
    return c::give_handle(mailbox, "corymb_mailbox_group_join: mailbox",
                          [&] { return c::OfRank(c::held(group).join(rank)); });
}

corymb_status corymb_mailbox_group_protocol(const corymb_mailbox_group* group,
                                            corymb_mailbox_protocol* protocol) noexcept {
    return c::give_value(protocol, "corymb_mailbox_group_protocol: protocol",
                         CORYMB_MAILBOX_AUTOMATIC,
                         [&] { return c::protocol_of(c::held(group).protocol()); });
}

corymb_status corymb_mailbox_group_reason(const corymb_mailbox_group* group, char** text) noexcept {
    return c::give_value<char*>(text, "corymb_mailbox_group_reason: text", nullptr,
                                [&] { return c::new_text(c::held(group).reason()); });
}

std::size_t c::memory_of(const corymb_mailbox_group* group) {
    return held(group).memory();
}

int c::descriptor_of(const corymb_mailbox_group* group) {
    return held(group).make_descriptor();
}

std::int64_t c::number_of(const corymb_mailbox* mailbox, corymb_number_kind number,
                          std::int64_t otherwise) noexcept {
    if (!is_live(mailbox)) {
        return otherwise;
    }
    const Mailbox& own = mailbox->held->object;
    return number == CORYMB_NUMBER_RANK   ? own.rank()
           : number == CORYMB_NUMBER_SIZE ? own.size()
                                          : otherwise;
}

void c::give_back(corymb_mailbox_group*& group) {
    c::free_held(group);
}

corymb_status corymb_mailbox_send(corymb_mailbox* mailbox, int to, const void* data, size_t bytes,
                                  int* sent) noexcept {
    return c::give_value(sent, "corymb_mailbox_send: sent", 0,
                         [&] { return c::held(mailbox).object.send(to, data, bytes); });
}

corymb_status corymb_mailbox_wait_for_room(corymb_mailbox* mailbox, int to, int64_t limit_ns,
                                           int* room) noexcept {
    return c::give_value(room, "corymb_mailbox_wait_for_room: room", 0, [&] {
        return c::held(mailbox).object.wait_for_room(to, c::time_of(limit_ns, "limit_ns"));
    });
}

corymb_status corymb_mailbox_send_within(corymb_mailbox* mailbox, int to, const void* data,
                                         size_t bytes, int64_t limit_ns, int* sent) noexcept {
    return c::give_value(sent, "corymb_mailbox_send_within: sent", 0, [&] {
        return c::held(mailbox).object.send(to, data, bytes, c::time_of(limit_ns, "limit_ns"));
    });
}

corymb_status corymb_mailbox_send_batch(corymb_mailbox* mailbox, int to,
                                        const void* const* messages, const size_t* bytes,
                                        size_t count, size_t* sent) noexcept {
    return c::guarded([&] {
        c::require(sent, "corymb_mailbox_send_batch: sent");
        *sent = 0;
        Mailbox& box = c::held(mailbox).object;
        if (count != 0) {
            c::require(messages, "corymb_mailbox_send_batch: messages");
            c::require(bytes, "corymb_mailbox_send_batch: bytes");
        }
        std::vector<std::span<const std::byte>> all;
        all.reserve(count);
        for (size_t i = 0; i < count; ++i) {
            if (bytes[i] != 0) {
                c::require(messages[i], "corymb_mailbox_send_batch: a message");
            }
            all.emplace_back(static_cast<const std::byte*>(messages[i]), bytes[i]);
        }
        *sent = box.send_batch(to, all);
    });
}

corymb_status corymb_mailbox_send_in_place(corymb_mailbox* mailbox, int to, size_t bytes,
                                           corymb_message_writer writer, void* context,
                                           int* sent) noexcept {
    return c::use(mailbox, [&](Mailbox& box) {
        c::require(sent, "corymb_mailbox_send_in_place: sent");
        *sent = 0;
        c::require(writer, "corymb_mailbox_send_in_place: writer");
        const bool was_room = box.send_in_place(to, bytes, [=](std::span<std::byte> place) {
            return writer(place.data(), place.size(), context);
        });
        *sent = was_room ? 1 : 0;
    });
}

corymb_status corymb_mailbox_probe(corymb_mailbox* mailbox, corymb_message_handler handler,
                                   void* context, size_t most, size_t* count) noexcept {
    size_t done = 0;
    const corymb_status status = c::use(mailbox, [&](Mailbox& box) {
        c::require(handler, "corymb_mailbox_probe: handler");
        static_cast<void>(box.probe(
            [&](Rank from, std::span<const std::byte> message) {
                ++done;
                c::check_handler(handler(from, message.data(), message.size(), context));
            },
            most));
    });
    if (count != nullptr) {
        *count = done;
    }
    return status;
}

corymb_status corymb_mailbox_wait(corymb_mailbox* mailbox, int64_t limit_ns, int* ready) noexcept {
    return c::give_value(ready, "corymb_mailbox_wait: ready", 0, [&] {
        return c::held(mailbox).object.wait(c::time_of(limit_ns, "limit_ns"));
    });
}

corymb_status corymb_mailbox_has_left(const corymb_mailbox* mailbox, int member,
                                      int* left) noexcept {
    return c::give_value(left, "corymb_mailbox_has_left: left", 0,
                         [&] { return c::held(mailbox).object.has_left(member); });
}

void c::give_back(corymb_mailbox*& mailbox) {
    c::free_unused(mailbox);
}
