// SPDX-License-Identifier: Apache-2.0
#include "multicast/member.hpp"

#include <corymb/usable_cpus.hpp>

#include <new>
#include <utility>

namespace corymb::detail {

namespace {

constexpr std::int64_t default_deadline_ns = 300'000'000'000;
constexpr int size_max = 1 << 20; // The counters' bias is far above.

void check(int size, const MulticastOptions& options) {
    const auto refuse = [](const std::string& text) {
        throw Error(Errc::invalid_argument, text);
    };
    if (size < 1 || size > size_max) {
        refuse("a multicast group has 1 to 1048576 ranks, not " + std::to_string(size));
    }
    if (options.calls < 1 || options.calls > 64) {
        refuse("MulticastOptions::calls must be 1 to 64, not " + std::to_string(options.calls));
    }
    if (options.fan_out < 1) {
        refuse("MulticastOptions::fan_out must be at least 1, not " +
               std::to_string(options.fan_out));
    }
    if (options.deadline.count() < 0) {
        refuse("MulticastOptions::deadline is negative; give the longest wait, or 0 for 5 minutes");
    }
    if (options.topology == MulticastTopology::tree) {
        if (!options.plan) {
            refuse("MulticastTopology::tree needs MulticastOptions::plan, a planned broadcast");
        }
        if (options.plan->size() != size) {
            refuse("MulticastOptions::plan is for " + std::to_string(options.plan->size()) +
                   " ranks, the group has " + std::to_string(size));
        }
    }
}

multicast::Preorder order_of(int size, const MulticastOptions& options) {
    check(size, options);
    switch (options.topology) {
    case MulticastTopology::binary: return multicast::binary_order(size);
    case MulticastTopology::tree: return multicast::plan_order(*options.plan);
    case MulticastTopology::flat:
    case MulticastTopology::split: break;
    }
    // A plan that is given still says who is near whom.
    const bool follows_plan = options.topology == MulticastTopology::split && options.plan &&
                              options.plan->size() == size;
    return follows_plan ? multicast::plan_order(*options.plan) : multicast::flat_order(size);
}

multicast::Shape shape_of(const multicast::Preorder& order, const MulticastOptions& options) {
    multicast::Shape shape;
    shape.size = static_cast<std::uint32_t>(order.rank_at.size());
    shape.slots = static_cast<std::uint32_t>(options.calls);
    shape.skipping = options.skipping;
    if (options.topology == MulticastTopology::split) {
        shape.fan_out = static_cast<std::uint32_t>(options.fan_out);
    } else {
        shape.end = order.end;
    }
    return shape;
}

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
    : size(ranks), order(order_of(ranks, options)),
      deadline_ns(options.deadline.count() > 0 ? options.deadline.count() : default_deadline_ns),
      waiting(settings_of(ranks, options)),
      block_(new_block(Core::bytes(shape_of(order, options)))),
      core(block_.get(), shape_of(order, options), Reach::process),
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
