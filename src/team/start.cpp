// SPDX-License-Identifier: Apache-2.0
// Team's operations that do not block.
#include "team/call.hpp"
#include "team/member.hpp"
#include "team/whole_scatter.hpp"

#include <corymb/detail/untyped.hpp>
#include <corymb/team.hpp>

#include <cstdint>
#include <utility>

namespace corymb {

namespace {

/// The call of all barriers: making it anew takes as long as a part of one. Never destroyed,
/// because a program's static objects may begin a barrier.
const detail::Call& barrier_call = *new const detail::Call;

/// Nonblocking operations start at once, and are given back when that fails.
detail::Operation* begun(detail::Operation& operation, bool is_persistent) {
    if (!is_persistent) {
        try {
            operation.driver->start(operation);
        } catch (...) {
            operation.driver->forget(operation);
            throw;
        }
    }
    return &operation;
}

/// Does the caller's work around a request and, inside it, the library's.
class Nested final : public detail::Staging {
public:
    Nested(std::shared_ptr<detail::Staging> outer, std::shared_ptr<detail::Staging> inner)
        : outer_(std::move(outer)), inner_(std::move(inner)) {}
    void before() override {
        outer_->before();
        inner_->before();
    }
    void after() override {
        inner_->after();
        outer_->after();
    }

private:
    std::shared_ptr<detail::Staging> outer_, inner_;
};

/// Has `staging` do its work around the operation, and around the staging that it has.
void surround(detail::Operation& operation, std::shared_ptr<detail::Staging> staging) {
    std::shared_ptr<detail::Staging>& own = operation.staging;
    own = own ? std::make_shared<Nested>(std::move(staging), std::move(own)) : std::move(staging);
}

/// Does the first part of the caller's work, unless it is done at each start.
void begin_staging(Team& team, detail::Staging* staging, bool is_persistent) {
    if (staging == nullptr || is_persistent) {
        return;
    }
    try {
        staging->before();
    } catch (...) {
        team.abandon("its function pack has thrown an exception");
        throw;
    }
}

detail::Operation* collective(detail::Member& member, detail::OwnedOperation&& owned,
                              bool is_persistent) {
    const CollectiveOperation& given = owned.operation;
    if (detail::WholeScatter::is_needed_for(given)) [[unlikely]] {
        const auto whole =
            std::make_shared<detail::WholeScatter>(member.whole_rank, member.whole_size, given);
        if (!is_persistent) {
            whole->before();
        }
        detail::Operation* const made =
            collective(member, detail::OwnedOperation(whole->operation(), std::move(owned.keep)),
                       is_persistent);
        surround(*made, whole);
        return made;
    }
    const detail::Call& call = member.call_for(given);
    if (owned.keep == nullptr) {
        owned.keep = call.layout;
    } else if (call.layout != nullptr) { // The operation needs both.
        using Kept = std::pair<std::shared_ptr<const void>, std::shared_ptr<const void>>;
        owned.keep = std::make_shared<const Kept>(std::move(owned.keep), call.layout);
    }
    return begun(member.make(call, is_persistent, std::move(owned.keep)), is_persistent);
}

detail::PairCall message_call(const detail::Member& member, team::Direction direction,
                              const detail::Untyped::Message& message, Rank peer) {
    member.require_one_node("a message between two ranks",
                            "it is not carried between nodes; send it by the library that the "
                            "carrier uses");
    detail::PairCall call = detail::pair_call(member, direction, message.data, message.bytes, peer);
    if (message.contents != 0) {
        team::CallDigest contents;
        contents.add({message.contents, 0});
        call.operands.signature ^= contents.signature();
    }
    return call;
}

/// The operation with its staging, if it has one.
detail::Operation* staged(detail::Operation* operation, std::shared_ptr<detail::Staging> staging) {
    if (staging != nullptr) {
        surround(*operation, std::move(staging));
    }
    return operation;
}

} // namespace

Request Team::ibarrier() {
    return Request(begun(detail::InCall(member())->make(barrier_call, false, nullptr), false));
}

Request Team::barrier_init() {
    return Request(begun(detail::InCall(member())->make(barrier_call, true, nullptr), true));
}

Request Team::start(const CollectiveOperation& operation, std::shared_ptr<const void> keep) {
    return start(detail::OwnedOperation(operation, std::move(keep)));
}

Request Team::prepare(const CollectiveOperation& operation, std::shared_ptr<const void> keep) {
    return prepare(detail::OwnedOperation(operation, std::move(keep)));
}

void Team::run(const detail::OwnedOperation& owned) {
    begin_staging(*this, owned.staging.get(), false);
    run(owned.operation);
    if (owned.staging) {
        owned.staging->after();
    }
}

Request Team::start(detail::OwnedOperation owned) {
    begin_staging(*this, owned.staging.get(), false);
    auto staging = std::move(owned.staging);
    const detail::InCall own(member());
    return Request(staged(collective(*own, std::move(owned), false), std::move(staging)));
}

Request Team::prepare(detail::OwnedOperation owned) {
    auto staging = std::move(owned.staging);
    const detail::InCall own(member());
    return Request(staged(collective(*own, std::move(owned), true), std::move(staging)));
}

Request detail::Untyped::begin(Team& team, bool is_receive, bool is_persistent,
                               const Message& message, Rank peer) {
    begin_staging(team, message.staging.get(), is_persistent);
    const InCall own(team.member());
    const auto direction = is_receive ? team::Direction::receive : team::Direction::send;
    const PairCall call = message_call(*own, direction, message, peer);
    Operation& made = own->pending().make_pair(call.key, call.operands, is_persistent);
    return Request(staged(begun(made, is_persistent), message.staging));
}

std::size_t Team::progress() {
    return detail::InCall(member())->progress();
}

void Team::complete_all() {
    detail::InCall(member())->complete_all();
}

} // namespace corymb
