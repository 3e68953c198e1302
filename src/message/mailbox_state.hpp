// SPDX-License-Identifier: Apache-2.0
// A member of a group of mailboxes: its ends of the channels to and from the others.
//
// With rings a member keeps a set of sources that may have something. A bit of its notification
// vector puts a source into the set: with `nvp` for every message, and the source leaves the set
// when its ring is found empty; with `ring` for the first message only, and the source stays. A
// source that is alone in the set stays with `nvp`, too: its ring is one word to look at, as the
// vector is, and its bits need not be taken.
#pragma once

#include "base/one_user.hpp"
#include "channel/event_count.hpp"
#include "channel/look_once.hpp"
#include "channel/wait_until.hpp"
#include "message/mailbox_shared.hpp"

#include <corymb/mailbox.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace corymb::detail {

struct MailboxState {
    using Env = message::Env;
    using Handler = void (*)(void* self, Rank from, const std::byte* message, std::size_t bytes);

    /// The ends of the channels to one destination.
    struct Out {
        message::Box* box = nullptr; ///< Null until the first message.
        message::Vector* vector = nullptr;
        channel::MessageSender<Env> ring;
        channel::SynchronisedSender<Env> shared_ring;
        bool is_announced = false;
    };

    MailboxState(std::shared_ptr<MailboxShared> group, Rank number);
    ~MailboxState();
    MailboxState(const MailboxState&) = delete;
    MailboxState& operator=(const MailboxState&) = delete;

    /// The way to `to` for a message of `bytes` bytes. Throws as `Mailbox::send` does.
    Out& out(Rank to, std::size_t bytes) {
        const auto place = static_cast<std::size_t>(to);
        if (place < out_.size() && bytes <= message_bytes_ && !is_filling) [[likely]] {
            Out& way = out_[place];
            if (way.box != nullptr &&
                way.box->state.load(std::memory_order_relaxed) < message::Box::closed) [[likely]] {
                return way;
            }
        }
        return out_or_why_not(to, bytes);
    }
    bool send(Out& to, const void* data, std::size_t bytes) {
        channel::LookOnce now;
        return is_srbp ? to.shared_ring.send(now, data, bytes) : to.ring.send(now, data, bytes);
    }
    /// For a send that found no room: throws when `to` will never read again, which is looked after
    /// now and then.
    void suspect(Rank to);
    /// Waits for room for a message to `to`, at most so long. False: there is none. Throws as
    /// `Mailbox::send` does.
    [[nodiscard]] bool wait_for_room(Rank to, std::int64_t limit_ns);
    /// After one or more messages.
    void notify(Out& to) noexcept;

    /// `to` has closed its mailbox, or ended; all that it sent before can be received now.
    [[nodiscard]] bool has_left(Rank to);

    /// Whether a probe would do nothing, as far as one look tells. This is what most polls of many
    /// peers find.
    [[nodiscard]] bool is_silent() const noexcept {
        return is_srbp ? shared_in_.is_idle() : !has_sources_ && !vector_->any();
    }
    /// Whether a probe would find something.
    [[nodiscard]] bool has_message();
    /// Where the member's thread sleeps for messages.
    [[nodiscard]] channel::EventCount<Env>& events() noexcept { return box_->spot; }
    /// Where senders sleep until there is room for a message to `to`. Throws as `Mailbox::send`.
    [[nodiscard]] channel::EventCount<Env, channel::Sleepers::many>& room_at(Rank to) {
        return out(to, 0).box->room;
    }
    std::size_t probe(Handler handler, void* self, std::size_t most);
    bool wait(std::int64_t limit_ns);

    const std::shared_ptr<MailboxShared> group;
    const Rank rank;
    const bool is_srbp;
    const bool is_nvp;
    bool is_successor = false; ///< Another member had the rank before.
    OneUser user{"mailbox"};
    bool is_probing = false; ///< A callback of `probe` is running.
    bool is_filling = false; ///< A callback of `send_in_place` is running.

private:
    void check_rank(Rank to) const;
    [[gnu::cold, gnu::noinline]] Out& out_or_why_not(Rank to, std::size_t bytes);
    void open(Out& to, Rank number);
    /// Takes the rank over from a member that has left. Call it with the lock.
    void succeed();
    void tell_ended(bool is_last);
    void collect();
    /// One ring to look at, in a group whose vector is one word.
    [[nodiscard]] bool has_lone_source() const noexcept {
        // Not has_single_bit: it counts bits, by a function where a processor may not be able to.
        return sources_.size() == 1 && sources_[0] != 0 && (sources_[0] & (sources_[0] - 1)) == 0;
    }
    /// At most one lap of the source's ring, and at most so many messages.
    std::size_t drain_source(std::size_t source, Handler handler, void* self, std::size_t most);
    std::size_t probe_sources(Handler handler, void* self, std::size_t most);
    std::size_t probe_word(std::size_t index, std::uint64_t sources, Handler handler, void* self,
                           std::size_t most);
    template <class Receiver, class Call>
    std::size_t drain(Receiver& receiver, std::size_t most, const Call& call);

    const std::size_t message_bytes_; // The group's, in a line of this member's own.
    std::vector<Out> out_;
    message::Box* box_;
    // ring, nvp:
    message::Vector* vector_ = nullptr;
    // Receivers by source; open once the source was in the set.
    std::vector<channel::MessageReceiver<Env>> in_;
    std::vector<std::uint64_t> sources_; // The set, 64 sources a word.
    bool has_sources_ = false;           // False only when the set is empty.
    std::size_t next_ = 0;               // Source that comes first in the next probe.
    // srbp:
    channel::SynchronisedReceiver<Env> shared_in_;

    channel::Waiting waiting_;
    std::int64_t looked_at_ = 0;                   // When the other processes were looked after.
    std::vector<MailboxShared::Ended> told_ended_; // Those that `wait` has told.
};

struct MailboxAccess {
    /// The mailbox is open.
    static MailboxState& state(Mailbox& of) noexcept { return *of.state_; }
    /// Throws Errc::invalid_argument for one that is not open.
    static MailboxState& open_state(Mailbox& of);
};

} // namespace corymb::detail
