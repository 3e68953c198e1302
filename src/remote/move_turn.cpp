// SPDX-License-Identifier: Apache-2.0
#include <corymb/detail/remote_migration.hpp>

#include "remote/failures.hpp"
#include "remote/functions.hpp"
#include "remote/remote_state.hpp"

#include <corymb/error.hpp>

#include <optional>
#include <string>
#include <utility>

namespace corymb::detail {

namespace {

[[noreturn]] void refuse_move(const std::string& text) {
    throw Error(Errc::invalid_argument, text);
}

constexpr ObjectAccess alone{CallRule::exclusive, false, 1};

} // namespace

struct MoveTurn::Parts {
    RemoteState* here;
    RemoteId id;
    const MovableType* type;
    std::optional<ObjectUse> use; ///< None: it waits until no call of the object runs.
    std::uint32_t slot = 0;
    std::shared_ptr<Hold> hold;
    std::shared_ptr<Departure> departure;

    void require_movable() const {
        const NewObject& whole = here->objects.whole(slot);
        if (whole.end == nullptr) {
            refuse_move(
                "an object that was offered belongs to its rank and cannot move: only one that "
                "was made by `create` can");
        }
        if (id.offset != 0 || *whole.type != *type->type) {
            refuse_move("the pointer is to a part of a " + readable(whole.type->name()) +
                        ": move the object by a pointer to the whole");
        }
        if (Hold* const other = here->objects.hold(slot); other != nullptr) {
            throw ObjectHeld(*other); // Another move came before.
        }
    }
    void require_there() const {
        if (here->objects.find(id) != slot || here->objects.hold(slot) != hold.get()) {
            refuse_move(object_is_gone);
        }
    }
};

MoveTurn::MoveTurn(RemoteState& here, const RemoteId& id, const MovableType& type)
    : parts_(new Parts{&here, id, &type, {}, 0, nullptr, nullptr}) {
    if (id.is_named()) {
        refuse_move("a distributed object stays on its rank");
    }
    parts_->use.emplace(here, id, *type.type, alone);
    parts_->slot = parts_->use->slot();
    parts_->require_movable();
    auto hold = std::make_shared<Hold>();
    hold->keeps = Hold::Keeps::exclusive;
    here.objects.set_hold(parts_->slot, hold);
    parts_->hold = std::move(hold);
}

MoveTurn::MoveTurn(MoveTurn&& other) noexcept = default;

MoveTurn::~MoveTurn() {
    if (parts_ != nullptr && parts_->hold != nullptr && parts_->departure == nullptr) {
        parts_->here->moves.release(parts_->slot, parts_->hold);
    }
}

Task<> MoveTurn::move(Rank to) {
    Parts& own = *parts_;
    RemoteState& here = *own.here;
    here.require_rank(to);
    if (to == here.transport.rank()) {
        co_return;
    }
    if (!own.use->is_in()) {
        co_await own.use->enter();
    }
    own.require_there();
    if (here.objects.uses(own.slot) != 1) {
        own.hold->keeps = Hold::Keeps::nothing;
        own.hold->is_for_idle = true;
        own.use.reset();
        here.revive(own.hold->requests);
        co_await own.hold->moment.acquire();
        own.require_there();
        own.hold->keeps = Hold::Keeps::nothing; // For this call of it.
        own.use.emplace(here, own.id, *own.type->type, alone);
    }
    own.departure = here.moves.begin(own.id, *own.type, to, own.hold, std::move(*own.use));
    own.use.reset();
    while (!own.departure->is_over()) {
        co_await own.hold->moment.acquire();
    }
    if (own.departure->failure() != nullptr) {
        std::rethrow_exception(own.departure->failure());
    }
}

void send_object(RemoteState& here, Rank to, AnswerTaker& waits, const RemoteFunction& function,
                 std::size_t bytes, const Reply::Writes& write) {
    static_cast<void>(
        here.begin_call(to, {&waits, nullptr}, nullptr, function, bytes, write, nullptr));
}

void take_object(RemoteState& here, const Arrival& arrival, const NewObject& object) {
    here.moves.arrive(arrival, object, here.request_from);
}

void require_no_method_of(const Strand& own, const RemoteId& object) {
    const ObjectTable& objects = remote_state(own).objects;
    const std::uint32_t slot = objects.find(object);
    if (slot != ObjectTable::no_slot && own.serves == slot + 1) {
        throw Error(Errc::deadlock,
                    "a method cannot wait until its own object has moved, since the move waits for "
                    "the method: post the move (post_migration), or begin it elsewhere");
    }
}

} // namespace corymb::detail
