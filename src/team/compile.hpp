// SPDX-License-Identifier: Apache-2.0
// Plan -> Program: looks up, and makes where missing, the shared memory that one rank's steps use.
#pragma once

#include "base/assert.hpp"
#include "plan/copies.hpp"
#include "plan/proven.hpp"
#include "plan/step_kind.hpp"
#include "team/addresses.hpp"
#include "team/program.hpp"
#include "team/row_of_waits.hpp"
#include "team/translation.hpp"

#include <corymb/error.hpp>
#include <corymb/team.hpp>

#include <algorithm>
#include <string>
#include <unordered_map>
#include <vector>

namespace corymb::team {

template <class Env>
class Compiler {
public:
    using Peers = std::unordered_map<Rank, std::unique_ptr<Peer<Env>>>;

    /// `peers` outlives all programs compiled with it: the counts of the edges live there.
    Compiler(Fabric<Env>& fabric, Rank rank, Peers& peers)
        : fabric_(&fabric), rank_(rank), peers_(&peers) {}

    /// `number` is the plan's within the team, `readers` are its publication_readers. Throws
    /// Errc::invalid_plan for a step that no engine can run, Errc::io if a channel is shorter than
    /// the plan counts on.
    Program<Env> compile(const plan::ProvenPlan& plan, std::uint64_t number,
                         const Readers& readers) {
        return compile_part(*plan, number, readers);
    }

    /// As `compile`, for a part of a plan that cannot be proven alone: one message, or what the
    /// ranks of a node do in a plan that was proven for all nodes. There the steps by
    /// Mechanism::network name ranks of all nodes.
    Program<Env> compile_part(const Plan& plan, std::uint64_t number, const Readers& readers) {
        Program<Env> program;
        program.block_count = plan.block_count;
        program.scratch_blocks = plan.scratch_blocks;
        own_end_ = nullptr;
        ends_.clear();
        number_ = number;
        cell_slots_ = plan.cell_slots;
        const auto& steps = plan.steps[static_cast<std::size_t>(rank_)];
        std::uint32_t far = 0;
        for (std::size_t index = 0; index < steps.size(); ++index) {
            const Step& step = steps[index];
            CompiledStep<Env> compiled;
            compiled.number = static_cast<std::uint32_t>(index);
            compiled.code = opcode(step);
            compiled.fold = plan::is_folding(step.kind);
            compiled.incoming_first = step.incoming_first;
            compiled.awaited = compiled.code == Opcode::far ? -1 : step.peer;
            compiled.to = places_of(step.to, plan.block_count);
            compiled.from = places_of(step.from, plan.block_count);
            if (compiled.code == Opcode::far) {
                compiled.cells = far++;
            } else if (step.kind == StepKind::publish) {
                compiled.end = &end(program, readers, rank_, true);
            } else if (step.kind == StepKind::read || step.kind == StepKind::read_fold) {
                compiled.end = &end(program, readers, step.peer, false);
                compiled.cells = excerpt(*compiled.end, plan, step);
            } else if (step.kind != StepKind::copy) {
                compiled.peer = &peer(step.peer);
                connect(*compiled.peer, compiled.code);
                compiled.cells = copied_cells(plan, *compiled.peer, compiled.code);
                if (plan::is_acknowledgement(step)) {
                    name_acknowledged(compiled, plan, index);
                }
            }
            CORYMB_ASSERT(compiled.code == Opcode::copy || compiled.code == Opcode::far ||
                          (compiled.peer != nullptr) != (compiled.end != nullptr));
            CORYMB_DEBUG_ASSERT(is_connected(compiled));
            CORYMB_DEBUG_ASSERT(says(compiled, step, plan.block_count));
            program.steps.push_back(compiled);
        }
        CORYMB_ASSERT(program.steps.size() == steps.size());
        CORYMB_ASSERT(program.block_count == plan.block_count &&
                      program.scratch_blocks == plan.scratch_blocks);
        mark_rows(program.steps);
        return program;
    }

private:
    static Opcode opcode(const Step& step) {
        if (step.via == Mechanism::network) {
            return Opcode::far;
        }
        if (step.via == Mechanism::exchange) {
            switch (step.kind) {
            case StepKind::signal: return Opcode::meet_signal;
            case StepKind::wait: return Opcode::meet_wait;
            case StepKind::send: return Opcode::meet_put;
            default: return Opcode::meet_take;
            }
        }
        const bool pull = step.via == Mechanism::pull;
        switch (step.kind) {
        case StepKind::signal: return pull ? Opcode::signal_lent : Opcode::signal;
        case StepKind::wait: return pull ? Opcode::wait_lent : Opcode::wait;
        case StepKind::copy: return Opcode::copy;
        case StepKind::send:
            if (pull) {
                return Opcode::post;
            }
            return step.via == Mechanism::line ? Opcode::send_line : Opcode::send_cells;
        case StepKind::recv:
        case StepKind::fold:
            if (pull) {
                return Opcode::pull;
            }
            return step.via == Mechanism::line ? Opcode::receive_line : Opcode::receive_cells;
        case StepKind::publish:
            if (step.from.count == 0) {
                return Opcode::raise;
            }
            return pull ? Opcode::publish_address : Opcode::publish_line;
        case StepKind::read:
        case StepKind::read_fold:
            if (step.to.count == 0) {
                return Opcode::observe;
            }
            return pull ? Opcode::read_address : Opcode::read_line;
        case StepKind::offer: return Opcode::offer;
        case StepKind::put:
        case StepKind::put_fold: return Opcode::put;
        }
        throw Error(Errc::invalid_plan,
                    "step kind " + std::to_string(static_cast<int>(step.kind)) + " cannot be run");
    }

    /// How many cells a message by pull may take that goes through them; 0: none does. Within a
    /// process both ends lie in one memory.
    std::uint32_t copied_cells(const Plan& plan, Peer<Env>& peer, Opcode code) {
        if (plan.copied_cells == 0 || peer.process == 0) {
            return 0;
        }
        switch (code) {
        case Opcode::post: connect(peer, Opcode::send_cells); return plan.copied_cells;
        case Opcode::pull: connect(peer, Opcode::receive_cells); return plan.copied_cells;
        case Opcode::signal_lent:
        case Opcode::wait_lent: return plan.copied_cells;
        default: return 0;
        }
    }

    /// An acknowledgement depends on the length of its message.
    void name_acknowledged(CompiledStep<Env>& compiled, const Plan& plan, std::size_t index) {
        const std::size_t message = plan::acknowledged_message(plan, rank_, index);
        const Step& of = plan.steps[static_cast<std::size_t>(rank_)][message];
        compiled.to = places_of(of.to, plan.block_count);
        compiled.from = places_of(of.from, plan.block_count);
    }

    /// For assertions: the step's publication is that of the rank that it names, or of this one.
    bool is_connected(const PublicationEnd<Env>& end, Rank publisher) {
        return end.process == process_of(publisher) &&
               end.publisher_spot == &fabric_->state(publisher).spot;
    }
    /// For assertions: the step's channel is the one of its two ranks, in its direction.
    bool is_connected(const CompiledStep<Env>& step) {
        if (step.peer == nullptr) {
            const bool reads = step.code == Opcode::observe || step.code == Opcode::read_line ||
                               step.code == Opcode::read_address;
            return step.end == nullptr || is_connected(*step.end, reads ? step.awaited : rank_);
        }
        const Peer<Env>& to = *step.peer;
        const bool is_own_spot = to.spot == &fabric_->state(step.awaited).spot &&
                                 to.process == process_of(step.awaited) &&
                                 to.mark.value == fabric_->state(step.awaited).mark.value;
        const auto leads = [&](Kind kind, const void* channel, bool sends) {
            return fabric_->is_edge(kind, sends ? rank_ : to.rank, sends ? to.rank : rank_,
                                    channel);
        };
        switch (step.code) {
        case Opcode::signal:
        case Opcode::signal_lent: return is_own_spot && leads(Kind::signal, to.signal_out, true);
        case Opcode::wait:
        case Opcode::wait_lent: return is_own_spot && leads(Kind::signal, to.signal_in, false);
        case Opcode::send_line:
        case Opcode::post:
        case Opcode::offer: return is_own_spot && leads(Kind::line, to.line_out.ring(), true);
        case Opcode::receive_line:
        case Opcode::pull:
        case Opcode::put: return is_own_spot && leads(Kind::line, to.line_in.ring(), false);
        case Opcode::send_cells:
            return is_own_spot && leads(Kind::cells, to.cells_out.ring(), true);
        case Opcode::receive_cells:
            return is_own_spot && leads(Kind::cells, to.cells_in.ring(), false);
        default: return is_own_spot;
        }
    }

    /// The number of the excerpt for a read; 0: the read takes all of a publication.
    static std::uint32_t excerpt(PublicationEnd<Env>& end, const Plan& plan, const Step& read) {
        std::uint32_t ordinal = read.ordinal;
        const auto& theirs = plan.steps[static_cast<std::size_t>(read.peer)];
        const auto publication = std::ranges::find_if(theirs, [&](const Step& step) {
            return step.kind == StepKind::publish && ordinal-- == 0;
        });
        CORYMB_ASSERT(publication != theirs.end());
        const Blocks& all = publication->from;
        if (read.offset == 0 && read.to.count == all.count) {
            return 0;
        }
        end.excerpts.push_back({places_of(all, plan.block_count),
                                places_of({all.buffer, all.first, read.offset}, plan.block_count)});
        return static_cast<std::uint32_t>(end.excerpts.size());
    }

    std::uint32_t process_of(Rank rank) {
        const std::uint32_t pid = fabric_->state(rank).pid;
        return pid == fabric_->state(rank_).pid ? 0 : pid;
    }

    Peer<Env>& peer(Rank rank) {
        CORYMB_ASSERT(rank >= 0 && rank < fabric_->size()); // A rank may send to itself.
        auto& slot = (*peers_)[rank];
        if (!slot) {
            slot = std::make_unique<Peer<Env>>();
            slot->rank = rank;
            slot->process = process_of(rank);
            slot->mark = fabric_->state(rank).mark;
            slot->spot = &fabric_->state(rank).spot;
        }
        CORYMB_ASSERT(slot->rank == rank);
        return *slot;
    }

    void connect(Peer<Env>& peer, Opcode code) {
        switch (code) {
        case Opcode::signal:
        case Opcode::signal_lent: peer.signal_out = &fabric_->signal(rank_, peer.rank); break;
        case Opcode::wait:
        case Opcode::wait_lent: peer.signal_in = &fabric_->signal(peer.rank, rank_); break;
        case Opcode::meet_signal:
        case Opcode::meet_wait:
        case Opcode::meet_put:
        case Opcode::meet_take:
            if (!peer.has_exchange) {
                peer.has_exchange = true;
                peer.exchange = {fabric_->exchange_line(rank_, peer.rank),
                                 static_cast<std::size_t>(rank_ < peer.rank ? 0 : 1)};
            }
            break;
        case Opcode::send_line:
        case Opcode::post:
        case Opcode::offer:
            if (!peer.has_line_out) {
                peer.has_line_out = true;
                peer.line_out =
                    channel::SlotSender<Env, LineRing<Env>>(fabric_->line(rank_, peer.rank));
            }
            break;
        case Opcode::receive_line:
        case Opcode::pull:
        case Opcode::put:
            if (!peer.has_line_in) {
                peer.has_line_in = true;
                peer.line_in =
                    channel::SlotReceiver<Env, LineRing<Env>>(fabric_->line(peer.rank, rank_));
            }
            break;
        case Opcode::send_cells:
            if (!peer.has_cells_out) {
                peer.has_cells_out = true;
                peer.cells_out =
                    channel::SlotSender<Env, CellRing<Env>>(fabric_->cells(rank_, peer.rank));
            }
            check_room(peer.cells_out.slots(), peer.rank);
            break;
        case Opcode::receive_cells:
            if (!peer.has_cells_in) {
                peer.has_cells_in = true;
                peer.cells_in =
                    channel::SlotReceiver<Env, CellRing<Env>>(fabric_->cells(peer.rank, rank_));
            }
            check_room(peer.cells_in.slots(), peer.rank);
            break;
        default: break;
        }
    }

    /// A channel is shorter than others only for want of memory (Fabric::cells).
    void check_room(std::uint64_t slots, Rank peer) const {
        if (slots < cell_slots_) {
            throw Error(Errc::io, "not enough memory for the channels between ranks " +
                                      std::to_string(rank_) + " and " + std::to_string(peer) +
                                      ": there are " + std::to_string(slots) + " slots of " +
                                      std::to_string(cell_bytes) +
                                      " bytes where the plan counts on " +
                                      std::to_string(cell_slots_) +
                                      "; raise the limit (ulimit -v, or the size of /dev/shm)");
        }
    }

    /// The end of the publication of `publisher`. A rank that reads what it has published itself
    /// has two ends.
    PublicationEnd<Env>& end(Program<Env>& program, const Readers& all, Rank publisher,
                             bool publishes) {
        auto& known = publishes ? own_end_ : ends_[publisher];
        if (known != nullptr) {
            return *known;
        }
        const auto& readers = all.at(publisher);
        PublicationEnd<Env>& made = program.ends.emplace_back();
        made.publication = &fabric_->publication(number_, publisher, readers.size());
        made.process = process_of(publisher);
        made.publisher_spot = &fabric_->state(publisher).spot;
        if (publishes) {
            for (const Rank reader : readers) {
                made.reader_spots.push_back(&fabric_->state(reader).spot);
                made.readers.push_back(reader);
            }
        } else {
            made.reader_index = static_cast<std::size_t>(
                std::lower_bound(readers.begin(), readers.end(), rank_) - readers.begin());
            CORYMB_ASSERT(made.reader_index < readers.size() &&
                          readers[made.reader_index] == rank_);
        }
        return *(known = &made);
    }

    Fabric<Env>* fabric_;
    Rank rank_;                    ///< Invariant: of the fabric, and no peer's.
    Peers* peers_;                 ///< Invariant: the peer of key r has rank r.
    std::uint64_t number_ = 0;     ///< The number of the program that is being compiled.
    std::uint32_t cell_slots_ = 0; ///< Slots that the plan counts on in a channel of cells.
    PublicationEnd<Env>* own_end_ = nullptr;              ///< This rank's end as publisher.
    std::unordered_map<Rank, PublicationEnd<Env>*> ends_; ///< This rank's ends as reader.
};

} // namespace corymb::team
