// SPDX-License-Identifier: Apache-2.0
// Mailboxes.
#include "c/known_options.hpp"
#include "c/slots.hpp"
#include "c/text.hpp"

#include <corymb.h>
#include <corymb/mailbox.hpp>

#include <memory>
#include <optional>
#include <span>
#include <vector>

struct corymb_mailbox_group : corymb::c::SlotBase<corymb_mailbox_group> {
    static constexpr std::uint64_t live_tag = 0x636F72796D620006;
    static constexpr const char* name = "the mailbox group";
    mutable std::optional<corymb::MailboxGroup> group;
};

struct corymb_mailbox : corymb::c::SlotBase<corymb_mailbox> {
    static constexpr std::uint64_t live_tag = 0x636F72796D620007;
    static constexpr const char* name = "the mailbox";
    corymb::Mailbox box;
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

MailboxOptions mailbox_options(const corymb_mailbox_options* given) {
    MailboxOptions options;
    if (given != nullptr) {
        const auto known = as_known(*given, "corymb_mailbox_options_init");
        options.protocol = protocol_of(known.protocol);
        options.wait = wait_policy(known.wait);
        options.message_bytes = known.message_bytes;
        options.capacity = known.capacity;
        options.between_processes = known.between_processes != 0;
    }
    return options;
}

corymb_mailbox_group* new_group(MailboxGroup&& made) {
    corymb_mailbox_group& handle = AllSlots<corymb_mailbox_group>::take();
    handle.group.emplace(std::move(made));
    return &handle;
}

} // namespace

} // namespace corymb::c

using namespace corymb;

corymb_status corymb_mailbox_group_create(int size, const corymb_mailbox_options* options,
                                          corymb_mailbox_group** group) noexcept {
    return c::guarded([&] {
        c::require(group, "corymb_mailbox_group_create: group");
        *group = nullptr;
        *group = c::new_group(MailboxGroup(size, c::mailbox_options(options)));
    });
}

corymb_status corymb_mailbox_group_attach(int descriptor, corymb_mailbox_group** group) noexcept {
    return c::guarded([&] {
        c::require(group, "corymb_mailbox_group_attach: group");
        *group = nullptr;
        *group = c::new_group(MailboxGroup::attach(descriptor));
    });
}

corymb_status corymb_mailbox_group_make_descriptor(const corymb_mailbox_group* group,
                                                   int* descriptor) noexcept {
    return c::guarded([&] {
        c::require(descriptor, "corymb_mailbox_group_make_descriptor: descriptor");
        *descriptor = -1;
        *descriptor = c::live(group).group->make_descriptor();
    });
}

corymb_status corymb_mailbox_group_join(corymb_mailbox_group* group, int rank,
                                        corymb_mailbox** mailbox) noexcept {
    return c::guarded([&] {
        c::require(mailbox, "corymb_mailbox_group_join: mailbox");
        *mailbox = nullptr;
        Mailbox joined = c::live(group).group->join(rank);
        corymb_mailbox& handle = c::AllSlots<corymb_mailbox>::take();
        handle.box = std::move(joined);
        *mailbox = &handle;
    });
}

corymb_status corymb_mailbox_group_protocol(const corymb_mailbox_group* group,
                                            corymb_mailbox_protocol* protocol) noexcept {
    return c::guarded([&] {
        c::require(protocol, "corymb_mailbox_group_protocol: protocol");
        *protocol = c::protocol_of(c::live(group).group->protocol());
    });
}

corymb_status corymb_mailbox_group_reason(const corymb_mailbox_group* group, char** text) noexcept {
    return c::guarded([&] {
        c::require(text, "corymb_mailbox_group_reason: text");
        *text = nullptr;
        *text = c::new_text(c::live(group).group->reason());
    });
}

corymb_status corymb_mailbox_group_memory(const corymb_mailbox_group* group,
                                          size_t* bytes) noexcept {
    return c::guarded([&] {
        c::require(bytes, "corymb_mailbox_group_memory: bytes");
        *bytes = c::live(group).group->memory();
    });
}

corymb_status corymb_mailbox_group_free(corymb_mailbox_group** group) noexcept {
    return c::guarded([&] {
        c::require(group, "corymb_mailbox_group_free: group");
        if (*group == nullptr) {
            return;
        }
        corymb_mailbox_group& handle = c::live(*group);
        *group = nullptr;
        handle.group.reset();
        c::AllSlots<corymb_mailbox_group>::give_back(handle);
    });
}

int corymb_mailbox_rank(const corymb_mailbox* mailbox) noexcept {
    return c::is_live(mailbox) ? mailbox->box.rank() : -1;
}

int corymb_mailbox_size(const corymb_mailbox* mailbox) noexcept {
    return c::is_live(mailbox) ? mailbox->box.size() : 0;
}

corymb_status corymb_mailbox_send(corymb_mailbox* mailbox, int to, const void* data, size_t bytes,
                                  int* sent) noexcept {
    return c::guarded([&] {
        c::require(sent, "corymb_mailbox_send: sent");
        *sent = 0;
        *sent = c::live(mailbox).box.send(to, data, bytes) ? 1 : 0;
    });
}

corymb_status corymb_mailbox_send_batch(corymb_mailbox* mailbox, int to,
                                        const void* const* messages, const size_t* bytes,
                                        size_t count, size_t* sent) noexcept {
    return c::guarded([&] {
        c::require(sent, "corymb_mailbox_send_batch: sent");
        *sent = 0;
        Mailbox& box = c::live(mailbox).box;
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
    return c::guarded([&] {
        c::require(sent, "corymb_mailbox_send_in_place: sent");
        *sent = 0;
        c::require(writer, "corymb_mailbox_send_in_place: writer");
        const bool was_room =
            c::live(mailbox).box.send_in_place(to, bytes, [=](std::span<std::byte> place) {
                return writer(place.data(), place.size(), context);
            });
        *sent = was_room ? 1 : 0;
    });
}

corymb_status corymb_mailbox_probe(corymb_mailbox* mailbox, corymb_message_handler handler,
                                   void* context, size_t most, size_t* count) noexcept {
    size_t done = 0;
    const corymb_status status = c::guarded([&] {
        c::require(handler, "corymb_mailbox_probe: handler");
        static_cast<void>(c::live(mailbox).box.probe(
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
    return c::guarded([&] {
        c::require(ready, "corymb_mailbox_wait: ready");
        *ready = 0;
        *ready = c::live(mailbox).box.wait(c::time_of(limit_ns, "limit_ns")) ? 1 : 0;
    });
}

corymb_status corymb_mailbox_free(corymb_mailbox** mailbox) noexcept {
    return c::guarded([&] {
        c::require(mailbox, "corymb_mailbox_free: mailbox");
        if (*mailbox == nullptr) {
            return;
        }
        corymb_mailbox& handle = c::live(*mailbox);
        *mailbox = nullptr;
        handle.box = Mailbox();
        c::AllSlots<corymb_mailbox>::give_back(handle);
    });
}
