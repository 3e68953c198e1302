// SPDX-License-Identifier: Apache-2.0
// What a rank shows of its tasks and of what they wait for.
#include "remote/remote_state.hpp"

#include <corymb/waits.hpp>

#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace corymb::detail {

namespace {

using WaitKind = TaskWait::Kind;

/// The tasks of one scheduler, while nothing changes them.
class TaskRows {
public:
    explicit TaskRows(const SchedulerState& of);
    /// Those that can go on are shown as such, the others with what they wait for.
    void show_waits(Rank own);
    void note_call(const CallUnderWay& call, const Scope* counts);
    void note_served(const CallUnderWay& call, const Strand& task, const char* runs);
    void note_lock(std::uint32_t slot, const NewObject& object, const ObjectLock& lock);
    void note_owners();
    [[nodiscard]] std::vector<TaskWait> take() { return std::move(rows_); }

private:
    [[nodiscard]] TaskWait* find(const Strand* strand) {
        const auto found = row_of_.find(strand);
        return found == row_of_.end() ? nullptr : &rows_[found->second];
    }
    void show_wait(const Strand& strand, TaskWait& row, Rank own);
    void wait_for(TaskWait& row, const TaskWait& other) const {
        row.tasks.push_back(static_cast<std::uint32_t>(&other - rows_.data()));
    }
    void wait_for_holders(TaskWait& row, std::uint32_t slot, CallRule rule);

    const SchedulerState& of_;
    std::vector<const Strand*> strands_; ///< By row.
    std::vector<TaskWait> rows_;
    std::unordered_map<const Strand*, std::uint32_t> row_of_;
    std::unordered_map<const Scope*, std::uint32_t> awaited_; ///< By scope: who waits for its end.
    std::unordered_map<const ObjectEntry*, std::uint32_t> entering_;        ///< Who waits to enter.
    std::unordered_map<std::uint32_t, std::vector<const Strand*>> holding_; ///< By place.
};

TaskRows::TaskRows(const SchedulerState& of) : of_(of) {
    for (const auto& strand : of.strands) {
        if (!strand->is_over) {
            row_of_.emplace(strand.get(), static_cast<std::uint32_t>(rows_.size()));
            strands_.push_back(strand.get());
            TaskWait& row = rows_.emplace_back();
            row.wait = strand->turn;
            row.runs = strand.get() == of.main ? "the task of run" : "a task";
        }
    }
}

void TaskRows::show_waits(Rank own) {
    std::unordered_set<const Strand*> ready{of_.running};
    of_.ready.for_each([&](const Strand& strand) { ready.insert(&strand); });
    for (std::size_t i = 0; i < rows_.size(); ++i) {
        const Strand& strand = *strands_[i];
        if (ready.contains(&strand)) {
            rows_[i].waits_for = "its turn";
            continue;
        }
        show_wait(strand, rows_[i], own);
        if (const ChainLink* const link = strand.chain.get();
            link != nullptr && link->holder == &strand && rows_[i].kind != WaitKind::object) {
            holding_[link->slot].push_back(&strand);
        }
    }
    for (std::size_t i = 0; i < rows_.size(); ++i) {
        if (const auto found = awaited_.find(strands_[i]->scope); found != awaited_.end()) {
            wait_for(rows_[found->second], rows_[i]);
        }
    }
}

void TaskRows::show_wait(const Strand& strand, TaskWait& row, Rank own) {
    const auto index = static_cast<std::uint32_t>(&row - rows_.data());
    const Awaited awaited = strand.suspension == nullptr ? Awaited() : strand.suspension->awaited();
    row.kind = WaitKind::other;
    row.waits_for = strand.waits_for;
    if (awaited.answers >= 0) {
        row.kind = WaitKind::answer;
        row.waits_for = "the answer of rank " + std::to_string(awaited.answers);
        row.calls.push_back({own, awaited.call, awaited.answers});
    } else if (awaited.entry != nullptr) {
        row.kind = WaitKind::object;
        entering_.emplace(awaited.entry, index);
    } else if (awaited.task != nullptr) {
        row.kind = WaitKind::task;
        if (const TaskWait* const other = find(awaited.task)) {
            wait_for(row, *other);
        }
    } else if (strand.suspension == nullptr && strand.inner->owner() == &strand &&
               strand.inner->is_awaited()) {
        row.kind = WaitKind::finish;
        awaited_.emplace(strand.inner, index);
    }
}

void TaskRows::note_call(const CallUnderWay& call, const Scope* counts) {
    if (const auto found = awaited_.find(counts); found != awaited_.end()) {
        rows_[found->second].calls.push_back(call);
    }
}

/// Cuts what stands behind `begin` and before the last `end`; false: they are not there.
bool cut_between(std::string& text, std::string_view begin, std::string_view end) {
    const auto front = text.find(begin);
    const auto back = text.rfind(end);
    const bool is_there = front != std::string::npos && back != std::string::npos && front < back;
    if (is_there) {
        text = text.substr(front + begin.size(), back - front - begin.size());
    }
    return is_there;
}

/// `runs` is the name of the type that a call has put around what the program has named:
/// MethodRun<Table, &Table::insert>, for example.
std::string text_of_run(const char* runs) {
    std::string text = readable(runs);
    const bool is_method = text.starts_with("corymb::detail::MethodRun<");
    if (is_method && cut_between(text, ", &", ">")) {
        return text;
    }
    if (cut_between(text, "corymb::detail::FunctionWay<&", ">::prepare") ||
        cut_between(text, "corymb::detail::FunctionWay<(&", ")>::prepare")) {
        return text;
    }
    if (cut_between(text, "corymb::detail::FunctionOnObjectRun<", ">")) {
        return "a function object on " + text;
    }
    return text;
}

void TaskRows::note_served(const CallUnderWay& call, const Strand& task, const char* runs) {
    if (TaskWait* const row = find(&task)) {
        row->serves = call;
        row->runs = text_of_run(runs);
    }
}

/// Each waits for the last one before it that it excludes; the first ones for those that are in.
void TaskRows::note_lock(std::uint32_t slot, const NewObject& object, const ObjectLock& lock) {
    const ObjectEntry* last = nullptr;
    const ObjectEntry* last_exclusive = nullptr;
    for (const ObjectEntry* const entry : lock.waiting()) {
        const bool is_exclusive = entry->rule == CallRule::exclusive;
        const ObjectEntry* const before = is_exclusive ? last : last_exclusive;
        if (const auto found = entering_.find(entry); found != entering_.end()) {
            TaskWait& row = rows_[found->second];
            row.waits_for = "object " + std::to_string(slot) + " (" +
                            readable(object.type->name()) + "), which other calls hold";
            const auto other = entering_.find(before);
            if (before == nullptr) {
                wait_for_holders(row, slot, entry->rule);
            } else if (other != entering_.end()) {
                wait_for(row, rows_[other->second]);
            }
        }
        last = entry;
        last_exclusive = is_exclusive ? entry : last_exclusive;
    }
}

void TaskRows::wait_for_holders(TaskWait& row, std::uint32_t slot, CallRule rule) {
    if (const auto found = holding_.find(slot); found != holding_.end()) {
        for (const Strand* const holder : found->second) {
            if (rule == CallRule::exclusive || holder->chain->rule == CallRule::exclusive) {
                wait_for(row, *find(holder));
            }
        }
    }
}

/// Who can end whom by a stop. A stop that was requested may not have come to the calls yet.
void TaskRows::note_owners() {
    std::unordered_map<const Scope*, std::uint32_t> races;
    for (std::size_t i = 0; i < rows_.size(); ++i) {
        const Strand& strand = *strands_[i];
        const Strand* const owner = strand.scope->owner();
        if (const auto found = row_of_.find(owner); found != row_of_.end()) {
            rows_[i].belongs_to = found->second + 1;
        }
        if (strand.scope->stops() == Scope::Stops::ends) {
            rows_[i].race =
                races.emplace(strand.scope, static_cast<std::uint32_t>(races.size() + 1))
                    .first->second;
        }
        const bool is_as_around =
            owner == nullptr ? strand.token == of_.stop.get_token() : strand.token == owner->token;
        const bool may_be_stopped = !is_as_around && rows_[i].serves.from < 0 &&
                                    strand.scope->stops() == Scope::Stops::none;
        rows_[i].has_own_stop = may_be_stopped || strand.is_stopped();
    }
}

} // namespace

RankWaits RemoteState::waits() {
    RankWaits shown;
    shown.rank = transport.rank();
    shown.ready = turns().ready.size();
    shown.parked = parked_.size();
    TaskRows rows(turns());
    rows.show_waits(shown.rank);
    calls_.for_each([&](std::uint32_t number, Rank to, const Ending& ending) {
        const bool is_awaited = ending.waits != nullptr || ending.counts != nullptr;
        if (is_awaited && ending.is_call) { // Else it was asked to stop, or is none.
            const CallUnderWay call{shown.rank, number, to};
            shown.calls.push_back(call);
            rows.note_call(call, ending.counts);
        }
    });
    for (const auto& [call, served] : served_) {
        if (served.task != nullptr) {
            rows.note_served({call.first, call.second, shown.rank}, *served.task, served.runs);
        }
    }
    objects.for_each_lock([&](auto slot, const NewObject& object, const ObjectLock& lock) {
        rows.note_lock(slot, object, lock);
    });
    rows.note_owners();
    outgoing_.for_each_receiver(
        [&](Rank to, std::size_t messages) { shown.queued.emplace_back(to, messages); });
    shown.tasks = rows.take();
    return shown;
}

} // namespace corymb::detail
