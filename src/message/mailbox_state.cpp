// SPDX-License-Identifier: Apache-2.0
#include "message/mailbox_state.hpp"

#include "base/clock.hpp"
#include "base/usable_cpus.hpp"
#include "group/slices.hpp"

#include <corymb/error.hpp>

#include <algorithm>
#include <bit>
#include <exception>
#include <iterator>
#include <mutex>
#include <string>
#include <utility>

namespace corymb::detail {

using channel::LookOnce;
using channel::SlotMessage;
using message::Box;

namespace {

/// Calls a member function at the end of a scope, whatever ends it.
template <class T>
class AtEnd {
public:
    AtEnd(T& object, void (T::*call)() noexcept) noexcept : object_(object), call_(call) {}
    AtEnd(const AtEnd&) = delete;
    AtEnd& operator=(const AtEnd&) = delete;
    ~AtEnd() { (object_.*call_)(); }

private:
    T& object_;
    void (T::*call_)() noexcept;
};

[[noreturn]] void throw_ended(const std::vector<MailboxShared::Ended>& members, const char* what) {
    std::string names;
    std::vector<Rank> ranks;
    for (const auto& [other, pid, is_away] : members) {
        names += (names.empty() ? "rank " : ", rank ") + std::to_string(other) + " (pid " +
                 std::to_string(pid) + ")";
        ranks.push_back(other);
    }
    throw Error(Errc::team_broken, names + " ended without closing its mailbox: " + what,
                std::move(ranks));
}

std::string members(int size) {
    return "the group has " + std::to_string(size) + (size == 1 ? " member" : " members");
}

} // namespace

MailboxState::MailboxState(std::shared_ptr<MailboxShared> with, Rank number)
    : group(std::move(with)), rank(number),
      is_srbp(group->options.protocol == MailboxProtocol::srbp),
      is_nvp(group->options.protocol == MailboxProtocol::nvp),
      message_bytes_(group->options.message_bytes), out_(static_cast<std::size_t>(group->size)),
      box_(&group->post.box(number)),
      waiting_(group->options.wait, is_short_of_time(group->size), &group->cpus) {
    auto& post = group->post;
    const auto size = static_cast<std::size_t>(group->size);
    if (is_srbp) {
        shared_in_ = {post.shared_ring(rank), post.shared_shape()};
    } else {
        vector_ = &post.vector(rank);
        in_.resize(size);
        sources_.resize(message::Vector::words(size));
    }
    static_cast<void>(group->look_after()); // Nobody may have noticed that the holder has ended.
    {
        const std::lock_guard lock(group->memory());
        const std::uint32_t state = box_->state.load(std::memory_order_relaxed);
        if (state == Box::open) {
            throw Error(Errc::invalid_argument, "rank " + std::to_string(rank) + " is taken",
                        {rank});
        }
        if (state != Box::free) {
            succeed();
        }
        group->take(static_cast<std::size_t>(rank));
        box_->state.store(Box::open, std::memory_order_relaxed);
    }
    box_->room.wake_if_parked(); // What was not read is out of the way.
}

void MailboxState::succeed() {
    if (is_srbp) {
        throw Error(Errc::invalid_argument,
                    "rank " + std::to_string(rank) + " has left, and with srbp each rank joins " +
                        "once: nobody else knows how much of a ring that all share is its own; " +
                        "make the group with ring or nvp",
                    {rank});
    }
    is_successor = true;
    box_->spot.retract();
    const auto& post = group->post;
    for (std::size_t source = 0; source < in_.size(); ++source) {
        if (message::Ring* const ring = post.find_ring(static_cast<Rank>(source), rank)) {
            in_[source] = channel::MessageReceiver<Env>::successor(*ring, post.ring_shape());
            sources_[source / message::Vector::peers_per_word] |=
                std::uint64_t{1} << source % message::Vector::peers_per_word;
            has_sources_ = true;
        }
    }
}

MailboxState::~MailboxState() {
    if (!user.is_inherited()) {
        change_if_possible(group->memory(), [this] { // With the lock, as has_left needs it.
            box_->state.store(Box::closed, std::memory_order_relaxed);
        });
    }
}

void MailboxState::check_rank(Rank to) const {
    if (to < 0 || to >= group->size) {
        throw Error(Errc::invalid_argument,
                    "there is no rank " + std::to_string(to) + "; " + members(group->size));
    }
}

bool MailboxState::has_left(Rank to) {
    check_rank(to);
    Out& way = out_[static_cast<std::size_t>(to)];
    Box& box = way.box == nullptr ? group->post.box(to) : *way.box;
    if (box.state.load(std::memory_order_relaxed) < Box::closed) {
        return false;
    }
    // The member left with the lock held: a rank that takes the lock afterwards sees all its
    // messages.
    const std::lock_guard lock(group->memory());
    // With one ring for all senders, its last message may be behind one that has not come yet.
    return !(is_srbp && shared_in_.has_more());
}

MailboxState::Out& MailboxState::out_or_why_not(Rank to, std::size_t bytes) {
    if (is_filling) {
        throw Error(Errc::invalid_argument,
                    "the callback of send_in_place may not send: return first");
    }
    check_rank(to);
    if (bytes > message_bytes_) {
        throw Error(
            Errc::invalid_argument,
            "a message of " + std::to_string(bytes) + " bytes is longer than these " +
                "mailboxes carry; make the group with message_bytes of at least that, not " +
                std::to_string(message_bytes_));
    }
    Out& way = out_[static_cast<std::size_t>(to)];
    if (way.box == nullptr) {
        open(way, to);
    }
    if (const auto state = way.box->state.load(std::memory_order_relaxed); state >= Box::closed) {
        if (state == Box::ended) {
            const std::lock_guard lock(group->memory());
            throw_ended({{to, group->process_of(static_cast<std::size_t>(to)), true}},
                        "send it nothing more");
        }
        throw Error(Errc::invalid_argument,
                    "rank " + std::to_string(to) + " has closed its mailbox: send it nothing more",
                    {to});
    }
    return way;
}

void MailboxState::suspect(Rank to) {
    if (!group->is_machine_wide() || now_ns() - looked_at_ < group::look_every_ns) {
        return;
    }
    looked_at_ = now_ns();
    for (const auto& ended : group->look_after()) {
        if (ended.rank == to && ended.is_away) {
            throw_ended({ended}, "send it nothing more");
        }
    }
}

bool MailboxState::wait_for_room(Rank to, std::int64_t limit_ns) {
    const auto wait = [&](std::int64_t ns) {
        Out& way = out(to, 0); // Throws once the receiver has closed its mailbox.
        channel::LookOnce now;
        auto has_room = [&]() noexcept {
            return is_srbp ? way.shared_ring.has_room(now) : way.ring.has_room(now);
        };
        return channel::wait_until(waiting_, has_room, ns, way.box->room);
    };
    return group::wait_in_slices(limit_ns, group::look_every_ns, wait,
                                 [&](bool /*is_last*/) { suspect(to); });
}

void MailboxState::open(Out& to, Rank number) {
    auto& post = group->post;
    if (is_srbp) {
        to.shared_ring = {post.shared_ring(number), post.shared_shape(),
                          static_cast<std::size_t>(rank)};
    } else {
        to.ring =
            channel::MessageSender<Env>::successor(post.ring(rank, number), post.ring_shape());
        to.vector = &post.vector(number);
    }
    to.box = &post.box(number);
}

void MailboxState::notify(Out& to) noexcept {
    if (is_nvp || (!is_srbp && !to.is_announced)) {
        to.vector->notify(static_cast<std::size_t>(rank));
        to.is_announced = true;
    }
    to.box->spot.wake_if_parked();
}

void MailboxState::collect() {
    vector_->collect([this](std::size_t index, std::uint64_t bits) {
        sources_[index] |= bits;
        has_sources_ = true;
        for (; bits != 0; bits &= bits - 1) {
            const auto source = index * message::Vector::peers_per_word +
                                static_cast<std::size_t>(std::countr_zero(bits));
            if (!in_[source].is_open()) {
                in_[source] = {group->post.ring(static_cast<Rank>(source), rank),
                               group->post.ring_shape()};
            }
        }
    });
}

template <class Receiver, class Call>
std::size_t MailboxState::drain(Receiver& receiver, std::size_t most, const Call& call) {
    // Unless there is more to come: then room is told in quarters, not a message at a time.
    struct Settles {
        Settles(Receiver& of, Box& in) noexcept : receiver(of), box(in) {}
        Settles(const Settles&) = delete;
        Settles& operator=(const Settles&) = delete;
        ~Settles() {
            if (is_on) {
                receiver.settle();
            }
            if (count != 0) {
                box.room.wake_if_parked();
            }
        }
        Receiver& receiver;
        Box& box;
        bool is_on = true;
        std::size_t count = 0;
    } settles(receiver, *box_);
    const std::size_t quarter = std::max<std::size_t>(receiver.slots() / 4, 1);
    LookOnce now;
    SlotMessage message;
    std::size_t& count = settles.count;
    while (count < most && receiver.receive(now, message)) {
        if (count != 0 && count % quarter == 0) {
            box_->room.wake_if_parked(); // A sender that waits for room need not wait for the end.
        }
        const AtEnd used(receiver, &Receiver::release);
        ++count;
        call(message);
    }
    settles.is_on = count < most;
    return count;
}

std::size_t MailboxState::probe(Handler handler, void* self, std::size_t most) {
    struct Probing {
        explicit Probing(bool& mark) noexcept : is_on(mark) { is_on = true; }
        Probing(const Probing&) = delete;
        Probing& operator=(const Probing&) = delete;
        ~Probing() { is_on = false; }
        bool& is_on;
    };
    const Probing probing(is_probing);
    if (is_srbp) {
        // At most one lap of the ring, so that a probe ends whatever the senders do.
        return drain(shared_in_, std::min<std::size_t>(most, shared_in_.slots()),
                     [handler, self](const SlotMessage& message) {
                         handler(self, static_cast<Rank>(message.source), message.bytes,
                                 message.length);
                     });
    }
    // One source is looked at first: with nobody else there is no turn to keep, and no bit to take.
    std::size_t count = 0;
    if (has_lone_source()) {
        count = drain_source(static_cast<std::size_t>(std::countr_zero(sources_[0])), handler, self,
                             most);
        if (!vector_->any_besides(sources_[0])) {
            return count;
        }
    }
    collect();
    return count + (has_sources_ ? probe_sources(handler, self, most - count) : 0);
}

std::size_t MailboxState::drain_source(std::size_t source, Handler handler, void* self,
                                       std::size_t most) {
    auto& receiver = in_[source];
    return drain(receiver, std::min<std::size_t>(most, receiver.slots()),
                 [=](const SlotMessage& message) {
                     handler(self, static_cast<Rank>(source), message.bytes, message.length);
                 });
}

std::size_t MailboxState::probe_sources(Handler handler, void* self, std::size_t most) {
    constexpr std::size_t bits = message::Vector::peers_per_word;
    const std::size_t first = next_ / bits;
    // The bits of next_ and the sources behind it.
    const std::uint64_t behind = ~std::uint64_t{0} << next_ % bits;
    std::size_t count = probe_word(first, behind, handler, self, most);
    std::uint64_t rest = sources_[first];
    for (std::size_t index = first + 1; index < sources_.size(); ++index) {
        count += probe_word(index, ~std::uint64_t{0}, handler, self, most - count);
        rest |= sources_[index];
    }
    for (std::size_t index = 0; index < first; ++index) {
        count += probe_word(index, ~std::uint64_t{0}, handler, self, most - count);
        rest |= sources_[index];
    }
    count += probe_word(first, ~behind, handler, self, most - count);
    has_sources_ = (rest | sources_[first]) != 0;
    return count;
}

std::size_t MailboxState::probe_word(std::size_t index, std::uint64_t sources, Handler handler,
                                     void* self, std::size_t most) {
    constexpr std::size_t bits = message::Vector::peers_per_word;
    std::size_t count = 0;
    for (std::uint64_t left = sources_[index] & sources; left != 0 && count < most;
         left &= left - 1) {
        const auto bit = static_cast<std::size_t>(std::countr_zero(left));
        const std::size_t source = index * bits + bit;
        // Set first, so that it holds also when the handler throws.
        next_ = source + 1 < in_.size() ? source + 1 : 0;
        const std::size_t lap = std::min<std::size_t>(most - count, in_[source].slots());
        const std::size_t got = drain_source(source, handler, self, lap);
        count += got;
        if (is_nvp && got < lap) {
            sources_[index] &= ~(std::uint64_t{1} << bit);
        }
    }
    return count;
}

bool MailboxState::has_message() {
    LookOnce now;
    SlotMessage message;
    if (is_srbp) {
        return shared_in_.receive(now, message);
    }
    collect();
    for (std::size_t index = 0; index < sources_.size(); ++index) {
        for (std::uint64_t left = sources_[index]; left != 0; left &= left - 1) {
            const auto bit = static_cast<std::size_t>(std::countr_zero(left));
            if (in_[index * message::Vector::peers_per_word + bit].receive(now, message)) {
                return true;
            }
            if (is_nvp) { // The bit came after its message had been read.
                sources_[index] &= ~(std::uint64_t{1} << bit);
            }
        }
    }
    return false;
}

void MailboxState::tell_ended(bool is_last) {
    if (!group->is_machine_wide()) {
        return;
    }
    looked_at_ = now_ns();
    const auto ended = group->look_after();
    if (has_message()) {
        return; // Messages that the members, or others, have sent come first.
    }
    std::vector<MailboxShared::Ended> news;
    std::set_difference(ended.begin(), ended.end(), told_ended_.begin(), told_ended_.end(),
                        std::back_inserter(news));
    if (!news.empty()) {
        told_ended_ = ended;
        throw_ended(news, "nothing more comes from there");
    }
    if (is_last && is_srbp && !ended.empty() && shared_in_.is_held_up()) {
        throw_ended(ended, "it held a place in this rank's ring, and nothing that was sent to it "
                           "later can be read; make a new group");
    }
}

bool MailboxState::wait(std::int64_t limit_ns) {
    std::exception_ptr broken;
    auto look = [this, &broken]() noexcept {
        try {
            return has_message();
        } catch (...) { // A broken invariant, for the end of the wait.
            broken = std::current_exception();
            return true;
        }
    };
    const auto wait = [&](std::int64_t ns) {
        const bool is_there = channel::wait_until(waiting_, look, ns, box_->spot);
        if (broken != nullptr) [[unlikely]] {
            std::rethrow_exception(broken);
        }
        return is_there;
    };
    return group::wait_in_slices(limit_ns, group->slice_ns(), wait,
                                 [this](bool is_last) { tell_ended(is_last); });
}

} // namespace corymb::detail
