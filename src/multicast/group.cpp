// SPDX-License-Identifier: Apache-2.0
#include "base/clock.hpp"
#include "group/name_meeting.hpp"
#include "multicast/member.hpp"

#include <utility>

namespace corymb {

using detail::MulticastMember;

namespace {

/// A call of the handle. Throws Errc::invalid_argument for an empty one, for one of a parent
/// process and while another thread is in a call.
detail::InCall<MulticastMember> in_call(const std::shared_ptr<MulticastMember>& member) {
    if (member == nullptr) {
        refuse_empty("multicast handle", "it was moved from");
    }
    return detail::InCall(*member);
}

detail::MulticastShared& checked(const std::shared_ptr<detail::MulticastShared>& group) {
    if (group == nullptr) {
        refuse_empty("multicast group", "it was moved from");
    }
    return *group;
}

} // namespace

MulticastGroup::MulticastGroup(int size, const MulticastOptions& options) {
    const auto make = [&](std::shared_ptr<SharedMemory> memory) {
        return std::make_shared<detail::MulticastShared>(size, options, std::move(memory));
    };
    shared_ =
        options.name.empty()
            ? make(options.between_processes ? SharedMemory::create() : nullptr)
            : group::meet(std::string(options.name), group::Kind::multicast, size, make,
                          [](std::shared_ptr<SharedMemory> memory) {
                              return std::make_shared<detail::MulticastShared>(std::move(memory));
                          });
}

MulticastGroup::MulticastGroup(std::shared_ptr<detail::MulticastShared> shared) noexcept
    : shared_(std::move(shared)) {}

MulticastGroup MulticastGroup::open(int descriptor) {
    return MulticastGroup(
        std::make_shared<detail::MulticastShared>(SharedMemory::open(descriptor)));
}

int MulticastGroup::make_descriptor() const {
    return checked(shared_).make_descriptor();
}

Multicast MulticastGroup::initiator(Rank rank, Multicast::Handler handler) {
    checked(shared_).check_not_forked();
    if (rank < 0 || rank >= shared_->size) {
        throw Error(Errc::invalid_argument, "rank " + std::to_string(rank) +
                                                " is not one of the group's 0 to " +
                                                std::to_string(shared_->size - 1));
    }
    return Multicast(std::make_shared<MulticastMember>(shared_, rank, std::move(handler)));
}

Multicast MulticastGroup::join(Rank rank, Multicast::Handler handler) {
    Multicast own = initiator(rank, std::move(handler));
    own.join();
    return own;
}

int MulticastGroup::size() const noexcept {
    return shared_ == nullptr ? 0 : shared_->size;
}

std::string MulticastGroup::topology() const {
    return checked(shared_).reason;
}

std::vector<MulticastUnderWay> MulticastGroup::under_way() const {
    checked(shared_).check_not_forked();
    std::vector<MulticastUnderWay> found;
    for (std::uint32_t slot = 0; slot < shared_->core.shape().slots; ++slot) {
        if (const std::uint64_t number = shared_->core.under_way(slot)) {
            const auto& call = shared_->record(slot);
            found.push_back({call.initiator.load(std::memory_order_relaxed), number,
                             static_cast<int>(shared_->core.named(slot)),
                             shared_->late(slot, call.begin_ns.load(std::memory_order_relaxed))});
        }
    }
    return found;
}

int MulticastGroup::members() const noexcept {
    return shared_ == nullptr ? 0 : static_cast<int>(shared_->core.members());
}

Multicast::Multicast(std::shared_ptr<MulticastMember> member) : member_(std::move(member)) {}

Multicast::~Multicast() {
    if (member_) {
        member_->retire();
    }
}

Multicast& Multicast::operator=(Multicast&& other) noexcept {
    if (this != &other) {
        if (member_) {
            member_->retire();
        }
        member_ = std::move(other.member_);
    }
    return *this;
}

Rank Multicast::rank() const noexcept {
    return member_ == nullptr ? -1 : member_->rank;
}

int Multicast::size() const noexcept {
    return member_ == nullptr ? 0 : member_->shared->size;
}

void Multicast::join() {
    in_call(member_)->join();
}

void Multicast::leave() {
    in_call(member_)->leave();
}

bool Multicast::is_member() const noexcept {
    return member_ != nullptr && member_->is_member;
}

int Multicast::poll() {
    return in_call(member_)->poll();
}

int Multicast::sleep(std::chrono::nanoseconds limit) {
    return in_call(member_)->sleep(bounded_ns(limit));
}

MulticastToken Multicast::call(std::function<void()> fn) {
    if (!fn) {
        throw Error(Errc::invalid_argument, "Multicast::call was given an empty function");
    }
    const auto own = in_call(member_);
    if (own->shared->is_machine_wide()) {
        throw Error(Errc::invalid_argument,
                    "a function cannot be called in other processes: name handlers with "
                    "Multicast::on and send them a message");
    }
    return own->call(std::move(fn), 0, {});
}

void Multicast::on(std::uint32_t number, Handler handler) {
    if (!handler) {
        throw Error(Errc::invalid_argument, "Multicast::on was given an empty handler");
    }
    in_call(member_)->add_handler(number, std::move(handler));
}

MulticastToken Multicast::send(std::span<const std::byte> message, std::uint32_t handler) {
    if (message.size() > multicast_message_bytes) {
        throw Error(Errc::invalid_argument, "a multicast message has at most 56 bytes, not " +
                                                std::to_string(message.size()) +
                                                "; send where the rest is");
    }
    return in_call(member_)->call(nullptr, handler, message);
}

Multicast::Quiescent::Quiescent(Multicast& of) : member_(of.member_), was_member_(of.is_member()) {
    in_call(member_)->leave();
}

Multicast::Quiescent::~Quiescent() {
    if (was_member_ && !member_->user.is_inherited()) {
        const OneUser::Call call = member_->user.enter_when_free();
        member_->join(); // Cannot throw: it has left, outside of a call.
    }
}

} // namespace corymb
