// SPDX-License-Identifier: Apache-2.0
#include "handles/table.hpp"

#include <array>
#include <chrono>

#define DOES(Handle, kind, name, ...)                                                              \
    {#Handle "::" #name, Kind::kind, [](Handle& h) {                                               \
         static_cast<void>(h.name(__VA_ARGS__));                                                   \
     }}

namespace corymb::handles {

namespace {

constexpr std::chrono::milliseconds soon{1};
std::array<std::byte, 4> bytes;
} // namespace

const Calls<Mailbox>& mailbox_calls() {
    static const std::array<std::span<const std::byte>, 1> batch{bytes};
    static const Calls<Mailbox> all{
        DOES(Mailbox, acts, send, 1, bytes),
        DOES(Mailbox, acts, send_value, 1, 'x'),
        {"Mailbox::send (limit)", Kind::acts,
         [](Mailbox& box) {
             static_cast<void>(box.send(1, bytes, soon));
         }},
        DOES(Mailbox, acts, send_batch, 1, batch),
        DOES(Mailbox, acts, send_in_place, 1, 4,
             [](std::span<std::byte>) -> std::size_t { return 0; }),
        DOES(Mailbox, acts, probe, [](Rank, std::span<const std::byte>) {}),
        DOES(Mailbox, acts, probe_values<char>, [](Rank, char) {}),
        DOES(Mailbox, acts, wait, soon),
        DOES(Mailbox, acts, wait_for_room, 1, soon),
        DOES(Mailbox, acts, has_left, 1),
        DOES(Mailbox, asks, rank),
        DOES(Mailbox, asks, size),
        DOES(Mailbox, asks, message_bytes),
    };
    return all;
}

const Calls<MailboxGroup>& mailbox_group_calls() {
    static const Calls<MailboxGroup> all{
        DOES(MailboxGroup, any_thread, join, 1),    DOES(MailboxGroup, any_thread, memory),
        DOES(MailboxGroup, looks, make_descriptor), DOES(MailboxGroup, asks, size),
        DOES(MailboxGroup, asks, protocol),         DOES(MailboxGroup, asks, reason),
    };
    return all;
}

const Calls<BroadcastPublisher>& publisher_calls() {
    using P = BroadcastPublisher;
    static const Calls<P> all{
        DOES(BroadcastPublisher, acts, try_publish, bytes.data(), bytes.size()),
        {"BroadcastPublisher::publish", Kind::acts,
         [](P& p) {
             p.publish(bytes.data(), bytes.size(), soon);
         }},
        {"BroadcastPublisher::publish_value", Kind::acts,
         [](P& p) {
             p.publish_value('x', soon);
         }},
        {"BroadcastPublisher::drop", Kind::acts,
         [](P& p) {
             p.drop(0);
         }},
        DOES(BroadcastPublisher, acts, take_dropped),
        DOES(BroadcastPublisher, asks, published),
    };
    return all;
}

const Calls<BroadcastReader>& reader_calls() {
    static const Calls<BroadcastReader> all{
        DOES(BroadcastReader, acts, probe, [](const BroadcastMessage&) {}),
        DOES(BroadcastReader, acts, probe_values<char>, [](char, const BroadcastMessage&) {}),
        DOES(BroadcastReader, acts, wait, soon),
        DOES(BroadcastReader, acts, at_end),
        DOES(BroadcastReader, asks, number),
        DOES(BroadcastReader, asks, policy),
        DOES(BroadcastReader, asks, last),
    };
    return all;
}

const Calls<BroadcastRing>& ring_calls() {
    static const Calls<BroadcastRing> all{
        DOES(BroadcastRing, any_thread, publisher),  DOES(BroadcastRing, any_thread, reader),
        DOES(BroadcastRing, any_thread, readers),    DOES(BroadcastRing, any_thread, memory),
        DOES(BroadcastRing, looks, make_descriptor),
    };
    return all;
}

const Calls<Multicast>& multicast_calls() {
    static const Calls<Multicast> all{
        {"Multicast::join", Kind::acts,
         [](Multicast& m) {
             m.join();
         }},
        {"Multicast::leave", Kind::acts,
         [](Multicast& m) {
             m.leave();
         }},
        DOES(Multicast, acts, poll),
        DOES(Multicast, acts, sleep, soon),
        DOES(Multicast, acts, call, [] {}),
        DOES(Multicast, acts, send, bytes),
        {"Multicast::on", Kind::acts,
         [](Multicast& m) {
             m.on(1, [](std::span<const std::byte>) {});
         }},
        {"Multicast::Quiescent", Kind::acts,
         [](Multicast& m) {
             const Multicast::Quiescent quiescent(m);
         }},
        DOES(Multicast, asks, rank),
        DOES(Multicast, asks, size),
        DOES(Multicast, asks, is_member),
    };
    return all;
}

const Calls<MulticastToken>& token_calls() {
    static const Calls<MulticastToken> all{
        DOES(MulticastToken, acts_if_any, test),
        {"MulticastToken::wait", Kind::acts_if_any,
         [](MulticastToken& t) {
             t.wait(soon);
         }},
        DOES(MulticastToken, any_thread_if_any, late),
        DOES(MulticastToken, asks, is_complete),
        DOES(MulticastToken, asks, members),
    };
    return all;
}

const Calls<MulticastGroup>& multicast_group_calls() {
    static const Calls<MulticastGroup> all{
        DOES(MulticastGroup, any_thread, join, 1),   DOES(MulticastGroup, any_thread, initiator, 1),
        DOES(MulticastGroup, any_thread, under_way), DOES(MulticastGroup, looks, make_descriptor),
        DOES(MulticastGroup, looks, topology),       DOES(MulticastGroup, asks, size),
        DOES(MulticastGroup, asks, members),
    };
    return all;
}

} // namespace corymb::handles
