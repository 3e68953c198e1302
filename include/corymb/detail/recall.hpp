// SPDX-License-Identifier: Apache-2.0
// The calls by which ranks forget their copies of pieces. Whoever uses `Copies::change` includes
// this file. It stands apart from the library: the table of functions that can be called is filled
// by objects that are destroyed at exit, and a library has none of these.
#pragma once

#include <corymb/detail/copies.hpp>
#include <corymb/error.hpp>
#include <corymb/finish.hpp>
#include <corymb/remote.hpp>
#include <corymb/scheduler.hpp>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <utility>
#include <vector>

namespace corymb::detail {

inline Task<> Copies::Changing::recall() const {
    std::vector<Rank> holders;
    for (const Piece piece : pieces_) {
        const std::vector<Rank>& some = copies_->owned_.find(piece)->second.holders;
        std::vector<Rank> all;
        std::ranges::set_union(holders, some, std::back_inserter(all));
        holders = std::move(all);
    }
    if (holders.empty()) {
        co_return;
    }
    co_await tell(copies_->end_, std::move(holders), pieces_);
    for (const Piece piece : pieces_) { // Nobody was added meanwhile.
        copies_->owned_.find(piece)->second.holders.clear();
    }
}

inline Task<> Copies::tell(Remote<End> own, std::vector<Rank> ranks, std::vector<Piece> pieces) {
    std::size_t told = 0;
    const auto half = ranks.begin() + static_cast<std::ptrdiff_t>((ranks.size() + 1) / 2);
    co_await finish([&] {
        spawn(tell_part(own, std::vector<Rank>(ranks.begin(), half), pieces, told));
        spawn(tell_part(own, std::vector<Rank>(half, ranks.end()), pieces, told));
    });
    if (told != ranks.size()) { // A task that ends by a stop has thrown nothing.
        throw Error(Errc::interrupted, "the task was asked to stop while ranks forgot their copies "
                                       "of what it would write, so it has not written it");
    }
}

inline Task<> Copies::tell_part(Remote<End> own, std::vector<Rank> ranks, std::vector<Piece> pieces,
                                std::size_t& told) {
    const std::size_t count = ranks.size();
    if (count == 0) {
        co_return;
    }
    RemoteId id = RemoteAccess::id(own);
    id.rank = ranks.front();
    ranks.erase(ranks.begin());
    const auto on = RemoteAccess::pointer<End>(id);
    try {
        if (ranks.empty()) {
            co_await on.call<&End::forget>(pieces);
        } else {
            co_await on.call<&End::forget_with>(pieces, ranks);
        }
        ranks.clear();
    } catch (const Error& error) { // It has left, or has ended the structure.
        if (error.code() != Errc::team_broken && error.code() != Errc::invalid_argument) {
            throw;
        }
    }
    if (!ranks.empty()) {
        co_await tell(own, std::move(ranks), std::move(pieces));
    }
    told += count;
}

inline Task<> Copies::End::forget_with(std::vector<Piece> pieces, std::vector<Rank> ranks) {
    copies->forget(pieces);
    co_await tell(copies->end_, std::move(ranks), std::move(pieces));
}

} // namespace corymb::detail
