// SPDX-License-Identifier: Apache-2.0
#include "multicast/board.hpp"

#include "base/cache_line.hpp"
#include "group/group.hpp"
#include "multicast/core.hpp"

#include <algorithm>
#include <iterator>
#include <new>

namespace corymb::multicast {

/// Calls, position_of, end and, with a gather tree, its parents by position follow.
struct Board::Head {
    std::uint32_t size = 1;
    std::uint32_t slots = 1;
    std::uint32_t fan_out = 0;
    std::uint32_t flat_up_to = 0;
    std::uint32_t skipping = 1;
    std::uint32_t by_messages = 0;
    std::uint32_t gathers = 0;
    std::int64_t deadline_ns = 0;
    WaitPolicy wait_policy = WaitPolicy::ladder;
    char reason[200] = {};
};

namespace {

constexpr std::uint64_t identity = 0x7473'6163'6974'6c75; // "ulticast"
constexpr ArenaKey head_key{0, 0, -1, -1, identity};
constexpr ArenaKey core_key{1, 0, -1, -1, identity};

using StandardCore = Core<channel::StandardEnv>;

} // namespace

std::size_t Board::bytes(const Shape& shape) noexcept {
    return sizeof(Head) + shape.slots * sizeof(CallRecord) +
           std::size_t{shape.size} * (shape.gather.empty() ? 2 : 3) * sizeof(std::uint32_t);
}

std::byte* Board::behind_head() const noexcept {
    return reinterpret_cast<std::byte*>(head_ + 1);
}

CallRecord& Board::call(std::uint32_t slot) const noexcept {
    return std::launder(reinterpret_cast<CallRecord*>(behind_head()))[slot];
}

std::uint32_t* Board::numbers() const noexcept {
    return std::launder(
        reinterpret_cast<std::uint32_t*>(behind_head() + head_->slots * sizeof(CallRecord)));
}

Board Board::make(Arena& arena, const Shape& shape, const Preorder& order,
                  const Settings& settings) {
    static_assert(sizeof(Head) % alignof(CallRecord) == 0);
    auto* const core = arena.find_or_make_sized<std::byte>(core_key, StandardCore::bytes(shape),
                                                           [](void* /*zeros*/) {});
    auto* const head = arena.find_or_make_sized<Head>(head_key, bytes(shape), [&](void* at) {
        auto* const made = new (at) Head;
        made->size = shape.size;
        made->slots = shape.slots;
        made->fan_out = shape.fan_out;
        made->flat_up_to = shape.flat_up_to;
        made->skipping = shape.skipping ? 1 : 0;
        made->by_messages = shape.by_messages ? 1 : 0;
        made->gathers = shape.gather.empty() ? 0 : 1;
        made->deadline_ns = settings.deadline_ns;
        made->wait_policy = settings.wait_policy;
        settings.reason.copy(made->reason, std::size(made->reason) - 1);
        const Board board(made, core);
        for (std::uint32_t slot = 0; slot < shape.slots; ++slot) {
            new (&board.call(slot)) CallRecord;
        }
        std::copy(order.position_of.begin(), order.position_of.end(), board.numbers());
        std::copy(order.end.begin(), order.end.end(), board.numbers() + shape.size);
        for (Position p = 0; !shape.gather.empty() && p < shape.size; ++p) {
            board.numbers()[2 * std::size_t{shape.size} + p] = shape.gather.parent_of(p);
        }
    });
    return {head, core};
}

std::optional<Board> Board::find(const Arena& arena) {
    if (group::find(arena, group::Kind::multicast) == nullptr) {
        return std::nullopt;
    }
    return Board(std::launder(reinterpret_cast<Head*>(arena.find(head_key))), arena.find(core_key));
}

int Board::size() const noexcept {
    return static_cast<int>(head_->size);
}

Board::Settings Board::settings() const {
    return {head_->deadline_ns, head_->wait_policy, head_->reason};
}

Shape Board::shape() const {
    Shape shape;
    shape.size = head_->size;
    shape.slots = head_->slots;
    shape.fan_out = head_->fan_out;
    shape.skipping = head_->skipping != 0;
    shape.flat_up_to = head_->flat_up_to;
    shape.by_messages = head_->by_messages != 0;
    if (shape.fan_out == 0) {
        shape.end.assign(numbers() + shape.size, numbers() + 2 * std::size_t{shape.size});
    }
    if (head_->gathers != 0) {
        shape.gather =
            GatherTree({numbers() + 2 * std::size_t{shape.size}, std::size_t{shape.size}});
    }
    return shape;
}

Preorder Board::order() const {
    const std::size_t size = head_->size;
    Preorder order;
    order.position_of.assign(numbers(), numbers() + size);
    order.end.assign(numbers() + size, numbers() + 2 * size);
    order.rank_at.resize(size);
    for (std::size_t rank = 0; rank < size; ++rank) {
        order.rank_at[order.position_of[rank]] = static_cast<Rank>(rank);
    }
    return order;
}

} // namespace corymb::multicast
