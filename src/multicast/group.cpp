// SPDX-License-Identifier: Apache-2.0
#include "base/clock.hpp"
#include "multicast/member.hpp"
#include "multicast/options.hpp"

#include <corymb/usable_cpus.hpp>

#include <new>
#include <utility>

namespace corymb::detail {

namespace {

constexpr std::int64_t default_deadline_ns = 300'000'000'000;
channel::WaitLadder::Settings settings_of(int size, const MulticastOptions& options) {
    channel::WaitLadder::Settings settings;
    settings.policy = options.wait_policy;
    settings.oversubscribed = size > usable_cpus().count();
    return settings;
}

std::byte* new_block(std::size_t bytes) {
    return static_cast<std::byte*>(::operator new(bytes, std::align_val_t{line_pair_bytes}));
}

} // namespace

void MulticastShared::FreeBlock::operator()(std::byte* block) const noexcept {
    ::operator delete(block, std::align_val_t{line_pair_bytes});
}

MulticastShared::MulticastShared(int ranks, const MulticastOptions& options)
    : size(ranks), topology(multicast::resolved(ranks, options)),
      order(multicast::order_of(ranks, topology.options)),
      deadline_ns(options.deadline.count() > 0 ? options.deadline.count() : default_deadline_ns),
      waiting(settings_of(ranks, options)),
      block_(new_block(Core::bytes(multicast::shape_of(order, topology.options)))),
      core(block_.get(), multicast::shape_of(order, topology.options), Reach::process),
      calls(std::make_unique<Call[]>(static_cast<std::size_t>(options.calls))),
      taken(static_cast<std::size_t>(ranks)) {}

std::exception_ptr MulticastShared::finish(std::uint32_t slot) noexcept {
    Call& call = calls[slot];
    call.fn = nullptr;
    call.failed.store(false, std::memory_order_relaxed);
    std::exception_ptr error = std::exchange(call.error, nullptr);
    core.finish(slot);
    return error;
}

void MulticastShared::orphan(std::uint32_t slot) {
    const std::lock_guard lock(mutex);
    orphans_.push_back(slot);
}

void MulticastShared::finish_orphans() {
    const std::lock_guard lock(mutex);
    std::erase_if(orphans_, [&](std::uint32_t slot) {
        if (!core.is_complete(slot)) {
            return false;
        }
        finish(slot);
        return true;
    });
}

std::vector<MulticastLate> MulticastShared::late(std::uint32_t slot, std::int64_t begin_ns) const {
    using Progress = multicast::Progress;
    using State = MulticastLate::State;
    std::vector<MulticastLate> found;
    const auto by = std::chrono::nanoseconds(now_ns() - begin_ns);
    for (Rank rank = 0; rank < size; ++rank) {
        switch (core.progress(slot, order.position_of[static_cast<std::size_t>(rank)])) {
        case Progress::done: break;
        case Progress::told: found.push_back({rank, State::told, by}); break;
        case Progress::running: found.push_back({rank, State::running, by}); break;
        case Progress::untold: found.push_back({rank, State::untold, by}); break;
        }
    }
    return found;
}

} // namespace corymb::detail

namespace corymb {

using detail::MulticastMember;

MulticastGroup::MulticastGroup(int size, const MulticastOptions& options)
    : shared_(std::make_shared<detail::MulticastShared>(size, options)) {}

Multicast MulticastGroup::attach(Rank rank, Multicast::Handler handler) {
    if (rank < 0 || rank >= shared_->size) {
        throw Error(Errc::invalid_argument, "rank " + std::to_string(rank) +
                                                " is not one of the group's 0 to " +
                                                std::to_string(shared_->size - 1));
    }
    {
        const std::lock_guard lock(shared_->mutex);
        if (shared_->taken[static_cast<std::size_t>(rank)]) {
            throw Error(Errc::invalid_argument, "rank " + std::to_string(rank) +
                                                    " of the multicast group is attached already");
        }
        shared_->taken[static_cast<std::size_t>(rank)] = true;
    }
    return Multicast(std::make_shared<MulticastMember>(shared_, rank, std::move(handler)));
}

int MulticastGroup::size() const noexcept {
    return shared_->size;
}

std::string MulticastGroup::topology() const {
    return shared_->topology.reason;
}

std::vector<MulticastUnderWay> MulticastGroup::under_way() const {
    std::vector<MulticastUnderWay> found;
    for (std::uint32_t slot = 0; slot < shared_->core.shape().slots; ++slot) {
        if (const std::uint64_t number = shared_->core.under_way(slot)) {
            const auto& call = shared_->calls[slot];
            found.push_back({call.initiator.load(std::memory_order_relaxed), number,
                             static_cast<int>(shared_->core.named(slot)),
                             shared_->late(slot, call.begin_ns.load(std::memory_order_relaxed))});
        }
    }
    return found;
}

int MulticastGroup::members() const noexcept {
    return static_cast<int>(shared_->core.members());
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
    return member_->rank;
}

int Multicast::size() const noexcept {
    return member_->shared->size;
}

void Multicast::join() {
    member_->join();
}

void Multicast::leave() {
    member_->leave();
}

bool Multicast::is_member() const noexcept {
    return member_->is_member;
}

int Multicast::poll() {
    return member_->poll();
}

int Multicast::sleep(std::chrono::nanoseconds limit) {
    return member_->sleep(limit.count());
}

MulticastToken Multicast::call(std::function<void()> fn) {
    if (!fn) {
        throw Error(Errc::invalid_argument, "Multicast::call was given an empty function");
    }
    return member_->call(std::move(fn), {});
}

MulticastToken Multicast::send(std::span<const std::byte> message) {
    if (message.size() > multicast_message_bytes) {
        throw Error(Errc::invalid_argument, "a multicast message has at most 56 bytes, not " +
                                                std::to_string(message.size()) +
                                                "; send where the rest is");
    }
    return member_->call(nullptr, message);
}

Multicast::Quiescent::Quiescent(Multicast& of) : member_(of.member_), was_member_(of.is_member()) {
    member_->leave();
}

Multicast::Quiescent::~Quiescent() {
    if (was_member_) {
        member_->join(); // Cannot throw: it has left, outside of a call.
    }
}

} // namespace corymb
