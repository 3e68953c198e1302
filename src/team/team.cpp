// SPDX-License-Identifier: Apache-2.0
#include "team/member.hpp"

#include <corymb/team.hpp>

#include <utility>

namespace corymb {

namespace {

void check_root(Rank root, int size) {
    if (root < 0 || root >= size) {
        throw Error(Errc::invalid_argument, "root " + std::to_string(root) +
                                                " is out of range; the team has ranks 0 to " +
                                                std::to_string(size - 1));
    }
}

} // namespace

Team::Team(std::shared_ptr<detail::TeamShared> shared, Rank rank)
    : member_(new detail::Member(std::move(shared), rank),
              [](detail::Member* member) { delete member; }) {}

Team::Team(Team&& other) noexcept = default;
Team& Team::operator=(Team&& other) noexcept = default;
Team::~Team() = default;

Rank Team::rank() const noexcept {
    return member_ ? member_->rank : -1;
}
int Team::size() const noexcept {
    return member_ ? member_->shared->fabric.size() : 0;
}

void Team::barrier() {
    member_->barrier();
}

void Team::run_broadcast(void* data, std::size_t bytes, Rank root) {
    check_root(root, size());
    if (bytes == 0) {
        return;
    }
    team::Operands operands;
    operands.output = static_cast<std::byte*>(data);
    operands.bytes = bytes;
    // Whole lines are not shared between blocks; a payload within one line is one block.
    operands.element_bytes = bytes % cache_line_bytes == 0 ? cache_line_bytes : std::size_t{1};
    member_->run({Collective::broadcast, root, team::size_class(bytes), false}, operands);
}

void Team::run_reduction(Collective op, const void* input, void* output, std::size_t count,
                         const Reduction& reduction, Rank root) {
    check_root(root, size());
    if (count == 0) {
        return;
    }
    if (reduction.element_bytes > cell_bytes) {
        throw Error(Errc::invalid_argument, "an element of a reduction may have at most " +
                                                std::to_string(cell_bytes) + " bytes");
    }
    team::Operands operands;
    operands.input = static_cast<const std::byte*>(input);
    operands.output = static_cast<std::byte*>(output);
    operands.bytes = count * reduction.element_bytes;
    operands.element_bytes = reduction.element_bytes;
    operands.combine = reduction.combine;
    operands.context = reduction.context;
    member_->run({op, root, team::size_class(operands.bytes), !reduction.commutative}, operands);
}

const Plan& Team::plan(Collective op, std::uint64_t bytes, Rank root) {
    check_root(root, size());
    const bool barrier = op == Collective::barrier;
    return member_->shared
        ->plan({op, barrier ? 0 : root, barrier ? 0 : team::size_class(bytes), false})
        .plan;
}

ThreadTeam::ThreadTeam(int size, const TeamOptions& options) {
    if (size < 1) {
        throw Error(Errc::invalid_argument,
                    "a team has at least one rank, not " + std::to_string(size));
    }
    auto memory = std::make_shared<HeapMemory>();
    const Arena arena(*memory);
    shared_ = std::make_shared<detail::TeamShared>(memory, arena, size, options);
}

Team ThreadTeam::join(Rank rank) {
    shared_->take(rank);
    return Team(shared_, rank);
}

int ThreadTeam::size() const noexcept {
    return shared_->fabric.size();
}

} // namespace corymb
