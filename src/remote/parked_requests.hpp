// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "remote/call_header.hpp"

#include <corymb/rank.hpp>
#include <corymb/remote_object.hpp>

#include <cstddef>
#include <exception>
#include <iterator>
#include <list>
#include <utility>
#include <vector>

namespace corymb::detail {

/// Requests that came before this rank has made the named object that they are for, and those that
/// the rank sends itself meanwhile. In the order in which they came.
class ParkedRequests {
public:
    struct Parked {
        RemoteId object;
        Rank from;
        CallHeader header;
        std::vector<std::byte> body;
        std::exception_ptr why; ///< What the caller gets if the object does not come.
    };
    using Requests = std::list<Parked>;

    [[nodiscard]] std::size_t size() const noexcept { return waiting_.size() + revived_.size(); }
    void park(Parked request) { waiting_.push_back(std::move(request)); }
    /// Is served in the next look, behind those that were revived.
    void put_off(Parked request) { revived_.push_back(std::move(request)); }
    /// The object is there: its requests can be served.
    void revive(const RemoteId& object) noexcept {
        Requests all = take_if([&object](const Parked& one) { return one.object == object; });
        revive(all);
    }
    /// Those that wait have come later.
    void revive(Requests& requests) noexcept { revived_.splice(revived_.begin(), requests); }
    [[nodiscard]] bool has_revived() const noexcept { return !revived_.empty(); }
    [[nodiscard]] std::size_t revived() const noexcept { return revived_.size(); }
    [[nodiscard]] Parked take_revived() noexcept {
        Parked first = std::move(revived_.front());
        revived_.pop_front();
        return first;
    }
    /// Takes out the requests for which `is_over(request)`.
    [[nodiscard]] Requests take_if(const auto& is_over) noexcept {
        return take_if(waiting_, is_over);
    }
    [[nodiscard]] Requests take_revived_if(const auto& is_over) noexcept {
        return take_if(revived_, is_over);
    }
    [[nodiscard]] static Requests take_if(Requests& from, const auto& is_over) noexcept {
        Requests taken;
        for (auto one = from.begin(); one != from.end();) {
            const auto next = std::next(one);
            if (is_over(std::as_const(*one))) {
                taken.splice(taken.end(), from, one);
            }
            one = next;
        }
        return taken;
    }

private:
    Requests waiting_;
    Requests revived_;
};

} // namespace corymb::detail
