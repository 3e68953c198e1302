// SPDX-License-Identifier: Apache-2.0
#include "remote/routes.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace corymb::detail {

CallHeader Route::Message::header() const noexcept {
    CallHeader header;
    std::memcpy(&header, bytes.data(), sizeof header);
    return header;
}

Route& Routes::get(const RemoteId& of) {
    if (Route* const found = find(of); found != nullptr) {
        return *found;
    }
    Route made;
    made.object = whole_of(of);
    made.to = made.known = {of.rank, 0};
    return map_of(of).try_emplace(made.object, std::move(made)).first->second;
}

void Routes::begin_flush(Route& route) noexcept {
    route.is_flushing = true;
    route.next_flushing = flushing_;
    flushing_ = &route;
}

void Routes::end_flush(Route& route) noexcept {
    Route** at = &flushing_;
    while (*at != &route) {
        at = &(*at)->next_flushing;
    }
    *at = std::exchange(route.next_flushing, nullptr);
    route.is_flushing = false;
}

Route* Routes::flushed_to(Rank to) const noexcept {
    Route* one = flushing_;
    while (one != nullptr && one->to.rank != to) {
        one = one->next_flushing;
    }
    return one;
}

Route* Routes::next_to_forget(const RemoteId& but) noexcept {
    const std::size_t buckets = others_.bucket_count();
    for (std::size_t seen = 0; seen < buckets; ++seen) {
        hand_ = hand_ + 1 < buckets ? hand_ + 1 : 0;
        for (auto one = others_.begin(hand_); one != others_.end(hand_); ++one) {
            if (!one->second.is_flushing && one->first != whole_of(but)) {
                return &one->second;
            }
        }
    }
    return nullptr;
}

bool Routes::drop_if(const auto& is_meant) noexcept {
    for (Route* route = flushing_; route != nullptr; route = route->next_flushing) {
        for (auto* const kept : {&route->returned, &route->later}) {
            const auto found = std::find_if(kept->begin(), kept->end(), is_meant);
            if (found != kept->end()) {
                kept->erase(found);
                return true;
            }
        }
    }
    return false;
}

bool Routes::drop(std::uint32_t call) noexcept {
    return drop_if([call](const Route::Message& message) { return message.header().call == call; });
}

bool Routes::stop(const PostAwait& waits) noexcept {
    return drop_if([&waits](const Route::Message& message) { return message.waits == &waits; });
}

} // namespace corymb::detail
