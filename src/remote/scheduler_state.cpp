// SPDX-License-Identifier: Apache-2.0
// The loop of a scheduler. Its tasks are the thread's own; one word comes from other threads.
//
// Order:
//   P1: release store of `foreign_stop_` by a thread that has requested a stop -> acquire load in
//       `look_around`, which then finds the stop in the token of the strand.
#include "remote/scheduler_state.hpp"

#include "base/clock.hpp"
#include "base/make_room.hpp"
#include "remote/team_source.hpp"
#include "remote/tuning.hpp"

#include <corymb/error.hpp>
#include <corymb/finish.hpp>

#include <algorithm>
#include <sched.h>
#include <utility>

namespace corymb::detail {

namespace {

thread_local SchedulerState* current = nullptr;

/// For schedulers that no source tells who else may want their CPUs.
channel::WaiterCpus& threads_of_process() {
    static auto* const all = new channel::WaiterCpus;
    return *all;
}

} // namespace

/// A call that runs tasks on this thread.
class SchedulerState::RunningHere {
public:
    explicit RunningHere(SchedulerState& state) : state_(&state) {
        require_no_task_here();
        current = &state;
        state.disarm_doorbell();
    }
    RunningHere(const RunningHere&) = delete;
    RunningHere& operator=(const RunningHere&) = delete;
    ~RunningHere() {
        current = nullptr;
        state_->running = nullptr;
        if (state_->doorbell_ != nullptr && !state_->is_armed_) {
            state_->doorbell_->ring(); // The next `poll` arms it.
        }
        if (std::exchange(state_->main, nullptr) != nullptr && state_->stop.stop_requested()) {
            state_->stop = std::stop_source(); // For the next run.
        }
    }

private:
    SchedulerState* state_;
};

bool SchedulerState::is_running_here() const noexcept {
    return current == this;
}

void require_no_task_here() {
    if (current != nullptr) {
        throw Error(Errc::invalid_argument,
                    "a task may not run a scheduler: await the task, or spawn it");
    }
}

Strand& running_strand() {
    if (current == nullptr || current->running == nullptr) {
        throw Error(Errc::invalid_argument, "only a task can do this; no task runs on this thread");
    }
    return *current->running;
}

RemoteState& running_place() {
    if (current == nullptr || current->place == nullptr) {
        throw Error(Errc::invalid_argument,
                    "only a task of a RemoteRank can do this; run it by RemoteRank::run");
    }
    return *current->place;
}

SchedulerState::SchedulerState(const SchedulerOptions& options)
    : waiting_(options.wait, false, &threads_of_process()) {}

SchedulerState::~SchedulerState() {
    abandon_all();
    for (auto& strand : strands) { // Over, and a Spawned has them.
        strand->scheduler = nullptr;
        static_cast<void>(strand.release());
    }
}

void SchedulerState::run(Strand& of_run, const std::stop_token& stop_of_run) {
    const RunningHere here(*this);
    const auto ask = [this]() noexcept {
        stop.request_stop();
    };
    const std::stop_callback asked(stop_of_run, ask);
    is_stop_expected = stop_of_run.stop_possible();
    main = &of_run;
    while (running_count != 0) {
        pass();
        if (ready.is_empty() && running_count != 0 && !wait([] { return false; }, never_ns)) {
            const std::string text = deadlock_text();
            abandon_all();
            errors.clear();
            throw Error(Errc::deadlock, text);
        }
    }
}

bool SchedulerState::run_until(const std::function<bool()>& done, std::int64_t limit_ns) {
    bool is_done = false;
    {
        const RunningHere here(*this);
        const std::int64_t now = now_ns();
        const std::int64_t end_ns = limit_ns > never_ns - now ? never_ns : now + limit_ns;
        do {
            pass();
            is_done = done();
            if (!is_done && ready.is_empty() && !wait(done, end_ns)) {
                break;
            }
        } while (!is_done && now_ns() < end_ns);
    }
    throw_errors();
    return is_done;
}

void SchedulerState::poll() {
    {
        const RunningHere here(*this);
        pass();
        look_after_at_times();
        if (doorbell_ != nullptr) {
            arm_doorbell();
        }
    }
    throw_errors();
}

void SchedulerState::disarm_doorbell() noexcept {
    if (doorbell_ != nullptr) {
        is_armed_ = false;
        doorbell_->disarm();
        events_.retract();
    }
}

int SchedulerState::descriptor() {
    if (doorbell_ == nullptr) {
        doorbell_ = std::make_unique<Doorbell>();
        doorbell_->ring(); // The first `poll` arms it.
    }
    return doorbell_->descriptor();
}

void SchedulerState::arm_doorbell() {
    const std::int64_t limit_ns = until_next_timer(collect_events());
    if (ready.is_empty()) {
        const auto& words = events_.announce();
        const bool has_served = look_around();
        if (!has_served && ready.is_empty()) {
            doorbell_->arm(words, limit_ns);
            is_armed_ = true;
            return;
        }
        events_.retract();
    }
}

/// Wakes the timers that are due. Returns how long there is none, at most `limit_ns`.
std::int64_t SchedulerState::until_next_timer(std::int64_t limit_ns) noexcept {
    if (timers.is_empty()) {
        return limit_ns;
    }
    const std::int64_t now = now_ns();
    timers.wake_due(now);
    return timers.is_empty()
               ? limit_ns
               : std::min(limit_ns, std::max<std::int64_t>(timers.next_ns() - now, 1));
}

void SchedulerState::pass() {
    ++passes_;
    const auto is_due = [this](int every) {
        return passes_ % static_cast<std::uint32_t>(every) == 0;
    };
    const bool has_served = look_around();
    if (!timers.is_empty() && (ready.is_empty() || is_due(remote::tuning::passes_of_a_clock))) {
        timers.wake_due(now_ns());
    }
    if (is_due(remote::tuning::passes_of_a_watch)) {
        look_after();
    }
    yields_ = 0;
    if (take_turns() != yields_ || has_served) {
        vain_passes_ = 0;
    } else if (yields_ != 0) {
        give_way_at_times();
    }
}

/// Tasks that look again and again may wait for a thread that has no CPU meanwhile.
void SchedulerState::give_way_at_times() noexcept {
    if (++vain_passes_ >= remote::tuning::vain_passes_of_a_yield) {
        vain_passes_ = 0;
        ::sched_yield();
    }
}

std::size_t SchedulerState::take_turns() {
    const std::size_t turns =
        std::min(ready.size(), static_cast<std::size_t>(remote::tuning::turns_of_a_pass.value()));
    for (std::size_t turn = 0; turn < turns && !ready.is_empty(); ++turn) {
        Strand& strand = ready.pop();
        running = &strand;
        strand.turn = ++turn_count;
        strand.go_on = strand.next;
        do {
            std::exchange(strand.go_on, nullptr).resume();
        } while (strand.go_on);
    }
    running = nullptr;
    ended.clear();
    return turns;
}

bool SchedulerState::look_around() noexcept {
    bool has_served = false;
    for (std::size_t i = 0; i < sources_.size(); ++i) { // A source may leave meanwhile.
        has_served = sources_[i]->look() || has_served;
    }
    if (foreign_stop_.load(std::memory_order_acquire)) [[unlikely]] { // P1 acquire
        foreign_stop_.store(false, std::memory_order_relaxed);
        for (std::size_t i = 0; i < strands.size(); ++i) {
            if (strands[i]->is_stopped()) {
                strands[i]->stop();
            }
        }
    }
    return has_served;
}

void SchedulerState::look_after_at_times() noexcept {
    if (const std::int64_t now = now_ns(); now - watched_ns_ >= remote::tuning::longest_sleep_ns) {
        watched_ns_ = now;
        look_after();
    }
}

void SchedulerState::look_after() noexcept {
    for (std::size_t i = 0; i < sources_.size(); ++i) {
        sources_[i]->look_after();
    }
}

/// What the thread sleeps for. Returns how long it may sleep.
std::int64_t SchedulerState::collect_events() {
    events_.clear();
    events_.add(own_events_);
    std::int64_t longest_ns = remote::tuning::longest_sleep_ns;
    for (Source* const source : sources_) {
        longest_ns = std::min(longest_ns, source->add_events(events_));
    }
    return longest_ns;
}

template <class IsOver>
bool SchedulerState::wait(const IsOver& is_over, std::int64_t end_ns) {
    if (timers.is_empty() && sources_.empty() && !is_stop_expected) {
        return false;
    }
    bool has_served = false;
    auto look = [this, &has_served]() noexcept {
        has_served = look_around();
        return has_served || !ready.is_empty();
    };
    std::int64_t sleep_ns = remote::tuning::first_sleep_ns;
    while (ready.is_empty() && !is_over()) {
        const std::int64_t longest_ns = collect_events();
        sleep_ns = std::min(sleep_ns, longest_ns);
        std::int64_t limit_ns = until_next_timer(sleep_ns);
        if (end_ns != never_ns) {
            const std::int64_t left_ns = end_ns - now_ns();
            if (left_ns <= 0) {
                break;
            }
            limit_ns = std::min(limit_ns, left_ns);
        }
        if (ready.is_empty()) {
            channel::wait_until(waiting_, look, limit_ns, events_);
        }
        if (has_served) { // What comes next may come soon.
            sleep_ns = remote::tuning::first_sleep_ns;
        } else {
            if (limit_ns < sleep_ns) { // A timer: tasks that sleep again and again.
                look_after_at_times();
            } else if (ready.is_empty()) {
                look_after();
            }
            sleep_ns = std::min(2 * sleep_ns, longest_ns);
        }
    }
    return true;
}

void SchedulerState::add(Source& source) {
    make_room(sources_, sources_.size() + 1);
    source.listed_at = sources_.size();
    sources_.push_back(&source);
    if (channel::WaiterCpus* const cpus = source.cpus()) {
        waiting_.mates.be_among(*cpus);
    }
}

void SchedulerState::remove(Source& source) noexcept {
    sources_[source.listed_at] = sources_.back();
    sources_[source.listed_at]->listed_at = source.listed_at;
    sources_.pop_back();
}

TeamSource& SchedulerState::attend(Driver& driver) {
    std::unique_ptr<TeamSource>& source = teams_[&driver];
    if (source == nullptr) {
        source = std::make_unique<TeamSource>(driver);
    }
    if (source->awaited == 0) {
        add(*source);
    }
    ++source->awaited;
    return *source;
}

void SchedulerState::neglect(TeamSource& source) noexcept {
    if (--source.awaited == 0) {
        remove(source);
    }
}

void SchedulerState::note_foreign_stop() noexcept {
    foreign_stop_.store(true, std::memory_order_release); // P1 release
    own_events_.wake_if_parked();
}

void SchedulerState::abandon_all() noexcept {
    ready.clear();
    // Each end may end handles on others, which changes the places of some.
    for (bool has_found = true; has_found;) {
        has_found = false;
        for (std::size_t i = 0; i < strands.size();) {
            Strand* const strand = strands[i].get();
            if (!strand->is_over) {
                has_found = true;
                strand->abandon();
            }
            if (i < strands.size() && strands[i].get() == strand) {
                ++i; // Somebody holds it.
            }
        }
    }
    running_count = 0;
    ready.clear(); // Tasks that were asked to stop meanwhile.
    ended.clear();
}

std::unique_ptr<Strand> SchedulerState::forget(Strand& strand) noexcept {
    std::unique_ptr<Strand> own = std::move(strands[strand.index]);
    if (strand.index + 1 != strands.size()) {
        strands[strand.index] = std::move(strands.back());
        strands[strand.index]->index = strand.index;
    }
    strands.pop_back();
    return own;
}

void SchedulerState::keep_error(const std::exception_ptr& thrown) noexcept {
    try {
        errors.push_back(thrown);
    } catch (...) { // No memory: the first ones are kept.
    }
    if (main != nullptr) {
        stop.request_stop();
    }
}

void SchedulerState::throw_errors() {
    if (!errors.empty()) {
        throw_all(std::exchange(errors, {}));
    }
}

std::string SchedulerState::deadlock_text() const {
    static constexpr std::size_t named_most = 8;
    std::string text = "no task can go on: each of " + std::to_string(running_count) +
                       " waits, and nothing but another task could wake it:";
    std::size_t named = 0;
    for (const auto& strand : strands) {
        if (!strand->is_over && named++ < named_most) {
            text += std::string(named == 1 ? " one waits for " : ", one for ") + strand->waits_for;
        }
    }
    return text + (named > named_most ? ", and so on" : "");
}

} // namespace corymb::detail
