// SPDX-License-Identifier: Apache-2.0
#include <corymb/detail/copies.hpp>

#include <corymb/error.hpp>
#include <corymb/finish.hpp>
#include <corymb/remote.hpp>
#include <corymb/scheduler.hpp>

#include <algorithm>
#include <iterator>

namespace corymb::detail {

namespace {

/// An entry of an unordered map: the links of its list, and its bucket.
template <class Map>
std::size_t bytes_of(const Map& map) noexcept {
    return map.size() * (sizeof(typename Map::value_type) + 2 * sizeof(void*)) +
           map.bucket_count() * sizeof(void*);
}

} // namespace

Copies::KeptPieces::iterator Copies::drop(KeptPieces::iterator at, bool is_forgotten) noexcept {
    Kept& kept = at->second;
    kept_bytes_ -= std::exchange(kept.bytes, 0);
    kept.value.reset();
    kept.forgotten += is_forgotten ? 1 : 0;
    return kept.fetches == 0 ? kept_.erase(at) : std::next(at);
}

void Copies::drop_all(bool is_forgotten) noexcept {
    for (auto at = kept_.begin(); at != kept_.end();) {
        at = drop(at, is_forgotten);
    }
}

void Copies::forget(const std::vector<Piece>& pieces) noexcept {
    for (const Piece piece : pieces) {
        if (const auto found = kept_.find(piece); found != kept_.end()) {
            drop(found, true);
        }
    }
}

Copies::Fetch::Fetch(std::shared_ptr<Copies> to, Piece piece)
    : copies_(std::move(to)), piece_(piece) {
    Kept& kept = copies_->kept_[piece];
    ++kept.fetches;
    forgotten_ = kept.forgotten;
}

Copies::Fetch::~Fetch() {
    if (copies_ != nullptr) {
        const auto found = copies_->kept_.find(piece_);
        if (--found->second.fetches == 0 && found->second.value == nullptr) {
            copies_->kept_.erase(found);
        }
    }
}

void Copies::Fetch::keep(std::shared_ptr<const void> value, std::size_t bytes) {
    Copies& all = *copies_;
    Kept& kept = all.kept_.find(piece_)->second;
    if (kept.forgotten != forgotten_ || bytes > all.most_bytes_) {
        return;
    }
    if (all.kept_bytes_ + bytes > all.most_bytes_) {
        all.drop_all(false);
    }
    all.kept_bytes_ += bytes - kept.bytes;
    kept.value = std::move(value);
    kept.bytes = bytes;
}

bool Copies::hand_out(Piece piece, Rank to) {
    Owned& owned = owned_[piece];
    if (owned.changes != 0) {
        return false;
    }
    const auto at = std::ranges::lower_bound(owned.holders, to);
    if (at == owned.holders.end() || *at != to) {
        owned.holders.insert(at, to);
    }
    return true;
}

Copies::Changing::Changing(Copies& of, std::vector<Piece> pieces)
    : copies_(of.shared_from_this()), pieces_(std::move(pieces)) {
    for (const Piece piece : pieces_) {
        ++copies_->owned_[piece].changes;
    }
}

Copies::Changing::~Changing() {
    for (const Piece piece : pieces_) {
        const auto found = copies_->owned_.find(piece);
        if (--found->second.changes == 0 && found->second.holders.empty()) {
            copies_->owned_.erase(found);
        }
    }
}

std::size_t Copies::overhead() const noexcept {
    std::size_t bytes = sizeof *this + bytes_of(kept_) + bytes_of(owned_);
    for (const auto& [piece, owned] : owned_) {
        bytes += owned.holders.capacity() * sizeof(Rank);
    }
    return bytes;
}

CopiesPlace::CopiesPlace(std::string_view name, std::size_t most_bytes)
    : copies_(std::make_shared<Copies>(most_bytes)), end_(name, copies_) {
    copies_->end_ = end_.on(here());
}

} // namespace corymb::detail
