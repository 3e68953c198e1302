// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <corymb/call_rule.hpp>
#include <corymb/detail/remote_codec.hpp>
#include <corymb/detail/remote_id.hpp>
#include <corymb/detail/remote_object.hpp>
#include <corymb/detail/strand.hpp>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

namespace corymb::detail {

/// An object that a call holds, and what the calls hold that have led to it.
struct ChainLink {
    RemoteId object; ///< Without group and offset.
    CallRule rule = CallRule::exclusive;
    CallChain before;
    // On the rank of the object alone:
    std::uint32_t slot = 0;                 ///< The place of the object.
    mutable const Strand* holder = nullptr; ///< The task of the call; set when it begins.
};
/// How the chain holds the object; interleaved: not at all.
[[nodiscard]] CallRule held_by(const CallChain& chain, const RemoteId& object) noexcept;
/// The ranks of the objects, from the first call on, and the chain for people.
[[nodiscard]] std::vector<Rank> ranks_of(const CallChain& chain);
[[nodiscard]] std::string text_of(const CallChain& chain);
[[nodiscard]] std::size_t size_of_chain(const CallChain& chain) noexcept;
void write_chain(RemoteWriter& to, const CallChain& chain);
[[nodiscard]] CallChain read_chain(RemoteReader& from);

/// Readers and writers of one object: first come, first served.
class ObjectLock {
public:
    /// Whether a call may enter now. It has entered then.
    [[nodiscard]] bool try_enter(CallRule rule) noexcept {
        const bool can = waiting_.empty() && is_free(rule);
        if (can) {
            enter(rule);
        }
        return can;
    }
    /// Beside others that are shared, before those that wait.
    void enter_again() noexcept { ++readers_; }
    void wait(ObjectEntry& entry) { waiting_.push_back(&entry); }
    void leave(CallRule rule) noexcept;
    /// One that has not entered.
    void forget(const ObjectEntry& entry) noexcept;
    /// In their order.
    [[nodiscard]] const std::deque<ObjectEntry*>& waiting() const noexcept { return waiting_; }

private:
    [[nodiscard]] bool is_free(CallRule rule) const noexcept {
        return !has_writer_ && (rule == CallRule::shared || readers_ == 0);
    }
    void enter(CallRule rule) noexcept {
        has_writer_ = rule == CallRule::exclusive;
        readers_ += rule == CallRule::shared ? 1 : 0;
    }
    void let_in() noexcept;

    std::size_t readers_ = 0;
    bool has_writer_ = false;
    std::deque<ObjectEntry*> waiting_;
};

} // namespace corymb::detail
