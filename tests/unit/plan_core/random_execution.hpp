// SPDX-License-Identifier: Apache-2.0
// A second, deliberately simple executor of plans: queues of strings between ranks, in an order
// that a random generator chooses. It shares nothing with the checker, so the two can judge each
// other.
#pragma once

#include "base/random.hpp"
#include "plan/cells.hpp"

#include <corymb/plan.hpp>

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace corymb::test {

/// How an execution ended.
struct Outcome {
    bool finished = false; ///< False: nobody could move any more.
    std::string wrong;     ///< What was wrong at the end; empty if the results are right.
};

/// Runs the plan once. Place p of rank r's input is the text "<r.p>"; combining appends texts, so
/// that order and multiplicity show. Input and output are the same memory as far as they may be.
/// `tight` gives channels the least room that is guaranteed, otherwise they have no limit. Data by
/// pull is read, and data by push written, when the receiver runs; a rank's memory is poisoned when
/// it ends.
class RandomExecution {
public:
    /// With `brackets`, combining shows which operands belong together; then there is no verdict.
    RandomExecution(const Plan& plan, std::uint64_t seed, bool tight, bool brackets = false)
        : plan_(plan), random_(seed), tight_(tight), brackets_(brackets),
          ranks_(plan.steps.size()) {
        for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
            // A buffer that a rank need not have is there all the same: writing to it shows.
            ranks_[rank].buffers[0].resize(inputs() * plan.block_count);
            ranks_[rank].buffers[1].resize(outputs() * plan.block_count, "?");
            ranks_[rank].buffers[2].resize(plan.scratch_blocks, "?");
            for (std::size_t place = 0; place < ranks_[rank].buffers[0].size(); ++place) {
                ranks_[rank].buffers[0][place] = token(rank, place);
            }
        }
        if (plan.op == Collective::broadcast) {
            auto& root = ranks_[static_cast<std::size_t>(plan.root)];
            root.buffers[1] = root.buffers[0];
        }
        entered_.assign(ranks_.size(), false);
    }

    Outcome run(bool ordered) {
        std::vector<std::size_t> live;
        for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
            live.push_back(rank);
        }
        std::size_t idle = 0; // attempts since somebody moved
        std::size_t at = 0;
        while (!live.empty() && idle < live.size()) {
            if (idle == 0) {
                at = random_.below(static_cast<std::uint32_t>(live.size()));
            }
            const std::size_t place = (at + idle) % live.size();
            const std::size_t rank = live[place];
            if (ranks_[rank].next == plan_.steps[rank].size()) {
                leave(rank);
                live.erase(live.begin() + static_cast<std::ptrdiff_t>(place));
                idle = 0;
            } else if (try_step(rank)) {
                idle = 0;
            } else {
                ++idle;
            }
        }
        Outcome outcome;
        outcome.finished = live.empty();
        outcome.wrong = wrong_.empty() && outcome.finished ? verdict(ordered) : wrong_;
        return outcome;
    }

    /// The first place of a rank's output at its end.
    [[nodiscard]] std::string first_result(Rank rank) const {
        return results_.at(static_cast<std::size_t>(rank)).front();
    }

private:
    struct Message {
        std::vector<std::string> data;
        std::size_t owner = 0; // for pull: whose blocks
        Blocks where;
        Blocks room{}; // for push: what may be written
    };
    struct Member {
        std::array<std::vector<std::string>, 3> buffers;
        std::size_t next = 0;
        bool posted = false; // a rendezvous send stands in the channel
        std::vector<Message> publications;
        std::map<std::pair<std::size_t, std::uint32_t>, bool> has_read;
    };
    using EdgeKey = std::tuple<std::size_t, std::size_t, int>; // from, to, 0 signal 1 line 2 cells

    static std::string token(std::size_t rank, std::size_t place) {
        return "<" + std::to_string(rank) + "." + std::to_string(place) + ">";
    }

    /// Parts of the two buffers.
    [[nodiscard]] std::size_t inputs() const {
        const bool many = plan_.op == Collective::scatter || plan_.op == Collective::alltoall ||
                          plan_.op == Collective::reduce_scatter;
        return many ? plan_.steps.size() : 1;
    }
    [[nodiscard]] std::size_t outputs() const {
        const bool many = plan_.op == Collective::gather || plan_.op == Collective::allgather ||
                          plan_.op == Collective::alltoall;
        return many ? plan_.steps.size() : 1;
    }

    /// The place of input that may be the same memory as one of output, or none.
    [[nodiscard]] std::size_t same_memory(std::size_t rank, std::size_t place) const {
        constexpr std::size_t none = static_cast<std::size_t>(-1);
        if (plan_.op == Collective::broadcast || plan_.op == Collective::alltoall) {
            return none;
        }
        const std::size_t own = rank * plan_.block_count;
        if (outputs() > 1) {
            return place >= own && place < own + plan_.block_count ? place - own : none;
        }
        return inputs() > 1 ? own + place : place;
    }

    std::vector<std::string> taken(std::size_t owner, const Blocks& blocks) const {
        const auto& buffer = ranks_[owner].buffers[static_cast<std::size_t>(blocks.buffer)];
        const auto first = buffer.begin() + blocks.first;
        return {first, first + blocks.count};
    }

    bool try_step(std::size_t rank) {
        Member& me = ranks_[rank];
        const Step& step = plan_.steps[rank][me.next];
        const auto peer = static_cast<std::size_t>(step.peer);
        entered_[rank] = true;
        switch (step.kind) {
        case StepKind::signal: edges_[{rank, peer, 0}].push_back({}); break;
        case StepKind::wait:
            if (!pop({peer, rank, 0}, nullptr)) {
                return false;
            }
            break;
        case StepKind::send:
            if (!try_send(rank, step)) {
                return false;
            }
            break;
        case StepKind::offer:
            if (!try_offer(rank, step)) {
                return false;
            }
            break;
        case StepKind::recv:
        case StepKind::fold:
        case StepKind::put:
        case StepKind::put_fold: {
            Message message;
            if (!pop({peer, rank, channel(step.via)}, &message)) {
                return false;
            }
            store(rank, step, message);
            break;
        }
        case StepKind::publish:
            me.publications.push_back({taken(rank, step.from), rank, step.from});
            break;
        case StepKind::read:
        case StepKind::read_fold:
            if (ranks_[peer].publications.size() <= step.ordinal) {
                return false;
            }
            store(rank, step, ranks_[peer].publications[step.ordinal]);
            break;
        case StepKind::copy: store(rank, step, {taken(rank, step.from), rank, step.from}); break;
        }
        ++me.next;
        return true;
    }

    static int channel(Mechanism via) {
        return via == Mechanism::cells ? 2 : via == Mechanism::network ? 3 : 1;
    }

    bool try_offer(std::size_t rank, const Step& step) {
        auto& queue = edges_[{rank, static_cast<std::size_t>(step.peer), channel(step.via)}];
        if (tight_ && queue.size() >= line_slots) {
            return false;
        }
        queue.push_back({{}, rank, step.from, step.to});
        return true;
    }

    template <class Queue>
    [[nodiscard]] bool has_room(const Queue& queue, const Step& step) const {
        if (step.via != Mechanism::cells) {
            return step.via == Mechanism::network || queue.size() < line_slots;
        }
        std::uint64_t need = plan::cells_of(plan_, step.from);
        for (const Message& message : queue) {
            need += plan::cells_of(plan_, message.where);
        }
        return need <= plan_.cell_slots;
    }

    bool try_send(std::size_t rank, const Step& step) {
        Member& me = ranks_[rank];
        const EdgeKey key{rank, static_cast<std::size_t>(step.peer), channel(step.via)};
        auto& queue = edges_[key];
        const bool is_long =
            step.via == Mechanism::cells && plan::cells_of(plan_, step.from) > plan_.cell_slots;
        if (me.posted) { // goes on when the receiver has taken everything
            me.posted = !queue.empty();
            return queue.empty();
        }
        if (tight_ && !is_long && !has_room(queue, step)) {
            return false;
        }
        queue.push_back({taken(rank, step.from), rank, step.from});
        if (tight_ && is_long) {
            me.posted = true;
            --me.next; // undone by the caller: the step runs again
            return true;
        }
        return true;
    }

    bool pop(const EdgeKey& key, Message* message) {
        auto& queue = edges_[key];
        if (queue.empty()) {
            return false;
        }
        if (message != nullptr) {
            *message = queue.front();
        }
        queue.pop_front();
        return true;
    }

    void store(std::size_t rank, const Step& step, const Message& message) {
        std::vector<std::string> incoming = message.data;
        if (step.via == Mechanism::pull || step.kind == StepKind::put_fold) {
            Blocks where = message.where;
            if (step.kind == StepKind::read || step.kind == StepKind::read_fold) {
                where.first += step.offset; // A part of what was published.
                where.count = step.to.count;
            }
            incoming = taken(message.owner, where);
        } else if (step.kind == StepKind::put) {
            incoming = taken(rank, step.from);
        }
        const bool folds = step.kind == StepKind::fold || step.kind == StepKind::read_fold ||
                           step.kind == StepKind::put_fold;
        const auto own = folds ? taken(rank, step.from) : std::vector<std::string>{};
        const bool puts = step.via == Mechanism::push;
        deposit(step, puts ? message.owner : rank, puts ? message.room : step.to, incoming,
                folds ? &own : nullptr);
    }

    void deposit(const Step& step, std::size_t rank, const Blocks& where,
                 const std::vector<std::string>& incoming, const std::vector<std::string>* with) {
        auto& to = ranks_[rank].buffers[static_cast<std::size_t>(where.buffer)];
        for (std::uint32_t k = 0; k < where.count; ++k) {
            std::string text = incoming[k];
            if (with != nullptr) {
                const std::string& own = (*with)[k];
                text = step.incoming_first ? incoming[k] + own : own + incoming[k];
                text = brackets_ ? "(" + text + ")" : text;
            }
            to[where.first + k] = text;
            auto& input = ranks_[rank].buffers[0];
            if (const std::size_t same = same_memory(rank, where.first + k);
                where.buffer == Buffer::output && same < input.size()) {
                input[same] = text;
            }
        }
    }

    void leave(std::size_t rank) {
        if (plan_.op == Collective::barrier) {
            for (std::size_t other = 0; other < ranks_.size(); ++other) {
                if (!entered_[other] && other != rank) {
                    wrong_ = "a rank left the barrier too early";
                }
            }
        }
        results_[rank] = ranks_[rank].buffers[1];
        for (auto& buffer : ranks_[rank].buffers) {
            for (auto& block : buffer) {
                block = "poison";
            }
        }
    }

    std::string expected(std::size_t rank, std::size_t place) const {
        const std::size_t part = place / plan_.block_count;
        const std::size_t block = place % plan_.block_count;
        const std::size_t own_place = rank * plan_.block_count + block;
        switch (plan_.op) {
        case Collective::broadcast: return token(static_cast<std::size_t>(plan_.root), place);
        case Collective::gather:
        case Collective::allgather: return token(part, block);
        case Collective::scatter: return token(static_cast<std::size_t>(plan_.root), own_place);
        case Collective::alltoall: return token(part, own_place);
        case Collective::reduce_scatter: return combined(ranks_.size(), own_place);
        case Collective::scan: return combined(rank + 1, place);
        case Collective::exscan: return combined(rank, place);
        default: return combined(ranks_.size(), place);
        }
    }

    std::string combined(std::size_t ranks, std::size_t place) const {
        std::string text;
        for (std::size_t rank = 0; rank < ranks; ++rank) {
            text += token(rank, place);
        }
        return text;
    }

    static std::size_t number_at(const std::string& text, std::size_t at) {
        const bool digit = at < text.size() && text[at] >= '0' && text[at] <= '9';
        return digit ? std::stoul(text.substr(at, 9)) : 0;
    }

    /// The same tokens in rank order.
    std::string sorted(const std::string& text) const {
        const std::size_t dot = text.find('.');
        const std::size_t block = dot == std::string::npos ? 0 : number_at(text, dot + 1);
        std::vector<std::size_t> times(ranks_.size(), 0);
        for (std::size_t at = 0; at < text.size();) {
            const std::size_t end = text.find('>', at);
            if (text[at] != '<' || end == std::string::npos) {
                return text;
            }
            const std::size_t rank = number_at(text, at + 1);
            if (rank >= times.size() || text.substr(at, end + 1 - at) != token(rank, block)) {
                return text;
            }
            ++times[rank];
            at = end + 1;
        }
        std::string result;
        for (std::size_t rank = 0; rank < times.size(); ++rank) {
            for (std::size_t k = 0; k < times[rank]; ++k) {
                result += token(rank, block);
            }
        }
        return result;
    }

    std::string verdict(bool ordered) const {
        if (plan_.op == Collective::barrier) {
            return "";
        }
        for (const auto& [rank, output] : results_) {
            const bool at_root = plan_.op == Collective::reduce || plan_.op == Collective::gather;
            if ((at_root && static_cast<Rank>(rank) != plan_.root) ||
                (plan_.op == Collective::exscan && rank == 0)) {
                continue;
            }
            for (std::size_t place = 0; place < output.size(); ++place) {
                const std::string got = ordered ? output[place] : sorted(output[place]);
                if (got != expected(rank, place)) {
                    return "rank " + std::to_string(rank) + " place " + std::to_string(place) +
                           ": " + output[place];
                }
            }
        }
        for (const auto& [key, queue] : edges_) {
            if (!queue.empty()) {
                return "a message was never received";
            }
        }
        return "";
    }

    const Plan& plan_;
    Random random_;
    bool tight_;
    bool brackets_;
    std::vector<Member> ranks_;
    std::vector<bool> entered_;
    std::map<EdgeKey, std::deque<Message>> edges_;
    std::map<std::size_t, std::vector<std::string>> results_;
    std::string wrong_;
};

/// How the first place of a rank's result comes about, operands and brackets.
inline std::string expression_of(const Plan& plan, Rank rank) {
    RandomExecution execution(plan, 1, true, true);
    static_cast<void>(execution.run(true));
    return execution.first_result(rank);
}

} // namespace corymb::test
