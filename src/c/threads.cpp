// SPDX-License-Identifier: Apache-2.0
// Teams of threads: the library's own, and the user's.
#include "c/give_back.hpp"
#include "c/handles.hpp"
#include "c/options.hpp"

#include <mutex>
#include <string>
#include <vector>

namespace corymb::c {

namespace {

/// The result of the first rank that failed.
class Outcome {
public:
    /// Called on the rank's thread, before the others can learn of it.
    void tell(Rank rank, corymb_status status, const std::string& text) {
        const std::lock_guard lock(mutex_);
        if (status_ == CORYMB_OK) {
            status_ = status;
            text_ = "rank " + std::to_string(rank) + ": " + text;
            ranks_.resize(corymb_last_error_ranks(nullptr, 0));
            corymb_last_error_ranks(ranks_.data(), ranks_.size());
        }
    }
    [[nodiscard]] corymb_status status() const noexcept { return status_; }
    corymb_status note() const noexcept { return note_failure(status_, text_.c_str(), ranks_); }

private:
    std::mutex mutex_;
    corymb_status status_ = CORYMB_OK;
    std::string text_;
    std::vector<int> ranks_;
};

/// Gives the handle back at the end of a rank's life.
class Handle {
public:
    explicit Handle(Team&& team) : handle_(make_handle(std::move(team))) {
        handle_->is_of_threads = true;
    }
    Handle(const Handle&) = delete;
    Handle& operator=(const Handle&) = delete;
    ~Handle() {
        if (handle_ != nullptr) {
            try {
                leave();
            } catch (const std::exception&) { // The failure was reported already.
            }
        }
    }
    /// Gives the team handle back. Throws what Team::leave throws.
    void leave() { free_handle(*std::exchange(handle_, nullptr)); }
    [[nodiscard]] corymb_team* get() const noexcept { return handle_; }

private:
    corymb_team* handle_;
};

corymb_status status_of_life(corymb_rank_main rank_main, corymb_team* team, void* arg) noexcept {
    try {
        return rank_main(team, arg);
    } catch (...) {
        return note_exception();
    }
}

void live_as_rank(Team& team, corymb_rank_main rank_main, void* arg, Outcome& outcome) {
    Handle handle(std::move(team));
    const Rank rank = handle.get()->team.rank();
    const std::uint64_t failures = failure_count();
    const corymb_status status = status_of_life(rank_main, handle.get(), arg);
    if (status == CORYMB_OK) {
        handle.leave();
        return;
    }
    const bool told = failure_count() != failures && last_status() == status;
    const std::string text = told ? corymb_last_error()
                                  : std::string("its function returned ") +
                                        corymb_status_name(status) + " (" +
                                        std::to_string(static_cast<int>(status)) + ")";
    if (!told) {
        note_failure(status, text.c_str(), {rank});
    }
    outcome.tell(rank, status, text);
    handle.get()->team.abandon(text); // The handle then waits for nobody.
}

} // namespace

} // namespace corymb::c

using namespace corymb;

corymb_status corymb_threads(int count, corymb_rank_main rank_main, void* arg,
                             const corymb_options* options) noexcept {
    c::Outcome outcome;
    const corymb_status status = c::guarded([&] {
        c::require(rank_main, "corymb_threads: rank_main");
        threads(
            count, [&](Team& team) { c::live_as_rank(team, rank_main, arg, outcome); },
            c::team_options(options));
    });
    return status == CORYMB_OK && outcome.status() != CORYMB_OK ? outcome.note() : status;
}

corymb_status corymb_thread_team_create(int size, const corymb_options* options,
                                        corymb_thread_team** team) noexcept {
    return c::guarded([&] {
        c::require(team, "corymb_thread_team_create: team");
        *team = nullptr;
        ThreadTeam made(size, c::team_options(options));
        corymb_thread_team& handle = c::AllSlots<corymb_thread_team>::take();
        handle.team.emplace(std::move(made));
        *team = &handle;
    });
}

corymb_status corymb_thread_team_join(corymb_thread_team* team, int rank,
                                      corymb_team** joined) noexcept {
    return c::guarded([&] {
        c::require(joined, "corymb_thread_team_join: joined");
        *joined = nullptr;
        *joined = c::make_handle(c::live(team).team->join(rank));
    });
}

corymb_status corymb_thread_team_abandon(corymb_thread_team* team, int rank,
                                         const char* why) noexcept {
    return c::guarded(
        [&] { c::live(team).team->abandon(rank, why != nullptr ? why : "it gave no reason"); });
}

void c::give_back(corymb_thread_team*& team) {
    corymb_thread_team& handle = c::live(team);
    team = nullptr;
    handle.team.reset();
    c::AllSlots<corymb_thread_team>::give_back(handle);
}
