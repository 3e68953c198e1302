// SPDX-License-Identifier: Apache-2.0
#include "remote/object_lock.hpp"

#include <algorithm>
#include <utility>

namespace corymb::detail {

CallRule held_by(const CallChain& chain, const RemoteId& object) noexcept {
    for (const ChainLink* link = chain.get(); link != nullptr; link = link->before.get()) {
        const RemoteId& held = link->object;
        if (held.rank == object.rank && held.slot == object.slot &&
            held.generation == object.generation) {
            return link->rule;
        }
    }
    return CallRule::interleaved;
}

std::vector<Rank> ranks_of(const CallChain& chain) {
    std::vector<Rank> ranks;
    for (const ChainLink* link = chain.get(); link != nullptr; link = link->before.get()) {
        ranks.push_back(link->object.rank);
    }
    std::ranges::reverse(ranks);
    return ranks;
}

std::string text_of(const CallChain& chain) {
    std::string text;
    for (const ChainLink* link = chain.get(); link != nullptr; link = link->before.get()) {
        text = "object " + std::to_string(link->object.slot) + " of rank " +
               std::to_string(link->object.rank) + (text.empty() ? "" : " -> ") + text;
    }
    return text;
}

namespace {

constexpr std::size_t link_bytes =
    sizeof(Rank) + 2 * sizeof(std::uint32_t) + sizeof(CallRule); ///< On the way.

std::uint32_t length_of(const CallChain& chain) noexcept {
    std::uint32_t length = 0;
    for (const ChainLink* link = chain.get(); link != nullptr; link = link->before.get()) {
        ++length;
    }
    return length;
}

} // namespace

std::size_t size_of_chain(const CallChain& chain) noexcept {
    return sizeof(std::uint32_t) + length_of(chain) * link_bytes;
}

void write_chain(RemoteWriter& to, const CallChain& chain) {
    RemoteCodec<std::uint32_t>::write(to, length_of(chain));
    for (const ChainLink* link = chain.get(); link != nullptr; link = link->before.get()) {
        write_all(to, link->object.rank, link->object.slot, link->object.generation, link->rule);
    }
}

CallChain read_chain(RemoteReader& from) {
    std::vector<ChainLink> links; // From the last one on.
    for (auto left = RemoteCodec<std::uint32_t>::read(from); left != 0; --left) {
        ChainLink link;
        link.object.rank = RemoteCodec<Rank>::read(from);
        link.object.slot = RemoteCodec<std::uint32_t>::read(from);
        link.object.generation = RemoteCodec<std::uint32_t>::read(from);
        link.rule = RemoteCodec<CallRule>::read(from);
        links.push_back(std::move(link));
    }
    CallChain chain;
    while (!links.empty()) {
        links.back().before = std::move(chain);
        chain = std::make_shared<const ChainLink>(std::move(links.back()));
        links.pop_back();
    }
    return chain;
}

void ObjectLock::leave(CallRule rule) noexcept {
    if (rule == CallRule::exclusive) {
        has_writer_ = false;
    } else {
        --readers_;
    }
    let_in();
}

void ObjectLock::forget(const ObjectEntry& entry) noexcept {
    std::erase(waiting_, &entry);
    let_in(); // Those behind it may have waited for it alone.
}

void ObjectLock::let_in() noexcept {
    while (!waiting_.empty() && is_free(waiting_.front()->rule)) {
        ObjectEntry& first = *waiting_.front();
        waiting_.pop_front();
        enter(first.rule);
        first.is_in = true;
        if (first.waits != nullptr) {
            std::exchange(first.waits, nullptr)->wake();
        }
    }
}

} // namespace corymb::detail
