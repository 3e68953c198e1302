// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "remote/call_header.hpp"

#include <corymb/rank.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <span>
#include <utility>
#include <vector>

namespace corymb::detail {

/// Puts the messages together again that Outgoing has cut.
class LongMessages {
public:
    /// Takes the next message of a rank. Calls `take(header, body)` if it is whole, or the last
    /// part of a long one. A message of a rank that has gone stays partial: parts that were not
    /// read yet are no messages of their own.
    template <class Take>
    void receive(Rank from, std::span<const std::byte> message, const Take& take) {
        if (!partial_.empty()) [[unlikely]] {
            if (const auto found = partial_.find(from); found != partial_.end()) {
                Partial& partial = found->second;
                partial.body.insert(partial.body.end(), message.begin(), message.end());
                if (partial.body.size() >= partial.length) {
                    const Partial whole = std::move(partial);
                    partial_.erase(found);
                    take(whole.header, whole.body);
                }
                return;
            }
        }
        CallHeader header;
        std::memcpy(&header, message.data(), sizeof header);
        message = message.subspan(sizeof header);
        header.is_long == 0 ? take(header, message) : begin(from, header, message);
    }

private:
    struct Partial {
        CallHeader header;
        std::vector<std::byte> body;
        std::size_t length; ///< The whole body's.
    };
    void begin(Rank from, const CallHeader& header, std::span<const std::byte> first) {
        std::uint64_t length = 0;
        std::memcpy(&length, first.data(), sizeof length);
        first = first.subspan(sizeof length);
        Partial partial{header, {}, static_cast<std::size_t>(length) - sizeof header};
        partial.body.reserve(partial.length);
        partial.body.assign(first.begin(), first.end());
        partial_.insert_or_assign(from, std::move(partial));
    }
    std::map<Rank, Partial> partial_; ///< By sender.
};

} // namespace corymb::detail
