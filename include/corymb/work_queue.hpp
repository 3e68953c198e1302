// SPDX-License-Identifier: Apache-2.0
// Work that is spread over the ranks by itself. Ranks without work ask some others, which hand on
// half of theirs: lifelines, Saraswat et al., PPoPP 2011. The end is found by counting whom each
// rank has given work: Dijkstra, Scholten, 1980.
#pragma once

#include <corymb/detail/remote_call.hpp>
#include <corymb/distributed.hpp>
#include <corymb/error.hpp>
#include <corymb/finish.hpp>
#include <corymb/rank_barrier.hpp>
#include <corymb/remote.hpp>
#include <corymb/scheduler.hpp>
#include <corymb/task.hpp>
#include <corymb/task_semaphore.hpp>
#include <corymb/this_task.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <stop_token>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace corymb {

namespace detail {

/// A task waits until something has changed.
class Change {
public:
    void note() noexcept {
        if (permit_.permits() == 0) {
            permit_.release();
        }
    }
    [[nodiscard]] auto wait() noexcept { return permit_.acquire(); }

private:
    TaskSemaphore permit_{0};
};

/// What a rank knows of the work.
template <class T>
struct WorkPart {
    static constexpr Rank root = -1;

    // What others tell.
    void ask(Rank thief) {
        if (std::ranges::find(thieves, thief) == thieves.end()) {
            thieves.push_back(thief);
        }
        change.note();
    }
    void note_returned() noexcept {
        --given;
        change.note();
    }
    void note_root_returned() noexcept {
        --roots;
        change.note();
    }
    void note_over() noexcept {
        is_over = true;
        note_all();
    }
    void note_lost(Rank rank) noexcept {
        lost = lost < 0 ? rank : lost;
        note_all();
    }

    void note_all() noexcept {
        change.note();
        more.note();
    }
    [[nodiscard]] bool is_done() const noexcept { return is_over || lost >= 0; }
    void begin(int ranks) {
        is_over = false;
        is_engaged = true;
        parent = root;
        given = 0;
        roots = here() == 0 ? ranks : -1;
        thieves.clear();
        asked.assign(static_cast<std::size_t>(ranks), 0);
    }
    void give(Rank from, std::vector<T> some) {
        for (T& item : some) {
            items.push_back(std::move(item));
        }
        stolen += some.size();
        asked[static_cast<std::size_t>(from)] = 0;
        if (is_engaged) {
            owed.push_back(from);
        } else {
            is_engaged = true;
            parent = from;
        }
        note_all();
    }
    /// Half of the items, the oldest ones. One that works needs none for itself now.
    [[nodiscard]] std::vector<T> take_half() {
        const std::size_t count = (items.size() + (is_working ? 1 : 0)) / 2;
        std::vector<T> half;
        half.reserve(count);
        for (std::size_t i = 0; i < count; ++i) {
            half.push_back(std::move(items.front()));
            items.pop_front();
        }
        return half;
    }

    Change change;                ///< For the task that tells others.
    Change more;                  ///< There are items, or there will be none.
    std::vector<Rank> thieves;    ///< Ranks that wait for items of this one.
    std::vector<char> asked;      ///< By rank: it knows that this one waits.
    std::vector<Rank> owed;       ///< Ranks whose items are counted here already.
    std::vector<PeerWait*> peers; ///< Waits for the end of the other ranks.
    std::size_t given = 0;        ///< Times that items were given and are not done.
    int roots = -1;               ///< Rank 0: ranks whose own items are not done; else -1.
    Rank parent = root;           ///< Who learns when all is done.
    Rank lost = -1;               ///< A rank that has gone.
    bool is_engaged = false;      ///< Items are here, or were given away and are not done.
    bool is_working = false;
    bool is_over = false;
    std::deque<T> items;
    std::size_t stolen = 0;
    std::size_t done = 0;
};

} // namespace detail

/// Items of work on all ranks. All ranks make one of the same name and `run` it. Items travel as
/// RemoteCodec says. Movable between runs, must outlive them. For the thread of its rank.
template <class T>
class WorkQueue {
public:
    /// In a task. Throws as Distributed.
    explicit WorkQueue(const std::string& name) : part_(name), barrier_(name + " (barrier)") {}

    /// Adds an item on this rank, before `run` or in its work.
    void push(T item) {
        part_->items.push_back(std::move(item));
        part_->note_all();
    }

    /// For co_await, on all ranks: calls work(item) for each item, on some rank, one at a time on
    /// each, and returns when there are no items on any rank and no work runs. `work` may push more
    /// items on its rank, and may give a Task. The newest items come first; idle ranks get the
    /// oldest ones of others. What `work` throws is thrown in the end, on the rank where it was
    /// thrown; other items are done.
    ///
    /// Throws Errc::team_broken on all ranks, naming one, if a rank leaves, ends or is stopped
    /// before the end. Its items are lost; those of the others stay in their queues.
    template <class F>
    [[nodiscard]] Task<> run(F work) {
        Part& own = *part_;
        co_await barrier_.arrive(); // All have come to the end of the run before.
        own.begin(ranks());
        co_await barrier_.arrive(); // All take part.
        std::exception_ptr thrown;
        std::vector<std::exception_ptr> of_work;
        try {
            co_await finish([&]() -> Task<> {
                for (Rank rank = 0; rank < ranks(); ++rank) {
                    if (rank != here()) {
                        static_cast<void>(spawn(watch(own, rank)));
                    }
                }
                static_cast<void>(spawn(tell_others()));
                co_await do_items(work, of_work);
            });
        } catch (...) {
            thrown = std::current_exception();
        }
        if (thrown != nullptr) {
            const Rank lost = detail::named_by(thrown, here());
            for (Rank rank = 0; rank < ranks(); ++rank) { // In tasks that no stop reaches.
                static_cast<void>(spawn(tell_lost(part_.on(rank), lost), std::stop_token()));
            }
            std::rethrow_exception(thrown);
        }
        if (own.lost >= 0) {
            throw Error(Errc::team_broken,
                        "rank " + std::to_string(own.lost) + " has gone, and its items with it",
                        {own.lost});
        }
        if (!of_work.empty()) {
            detail::throw_all(std::move(of_work));
        }
    }

    /// Items that are on this rank and not begun.
    [[nodiscard]] std::size_t local_size() const noexcept { return part_.local().items.size(); }
    /// Items that were done on this rank, and that it has got from others, so far.
    [[nodiscard]] std::size_t done() const noexcept { return part_.local().done; }
    [[nodiscard]] std::size_t stolen() const noexcept { return part_.local().stolen; }

private:
    using Part = detail::WorkPart<T>;

    template <class F>
    Task<> do_items(F& work, std::vector<std::exception_ptr>& thrown) {
        Part& own = *part_;
        const EndOfItems at_end(own);
        while (!own.is_done()) {
            if (own.items.empty()) {
                own.change.note(); // Perhaps all is done.
                co_await own.more.wait();
                continue;
            }
            T item = std::move(own.items.back());
            own.items.pop_back();
            own.is_working = true;
            try {
                if constexpr (detail::is_task<std::invoke_result_t<F&, T>>) {
                    co_await work(std::move(item));
                } else {
                    work(std::move(item));
                }
            } catch (...) {
                thrown.push_back(std::current_exception());
            }
            own.is_working = false;
            ++own.done;
            co_await this_task::yield();
        }
    }
    /// Ends the other tasks of `run`.
    struct EndOfItems {
        explicit EndOfItems(Part& of) noexcept : own(&of) {}
        EndOfItems(const EndOfItems&) = delete;
        EndOfItems& operator=(const EndOfItems&) = delete;
        ~EndOfItems() {
            if (!own->is_done()) { // It was thrown out.
                own->note_lost(rank);
            }
            for (detail::PeerWait* const wait : std::exchange(own->peers, {})) {
                wait->arrive();
            }
            own->change.note();
        }
        Part* own;
        Rank rank = here();
    };

    Task<> tell_others() {
        try {
            co_await tell_until_done(*part_);
        } catch (...) {
            part_->note_lost(here());
            throw;
        }
    }
    /// All messages of this rank.
    Task<> tell_until_done(Part& own) {
        while (!own.is_done()) {
            while (!own.thieves.empty() && own.items.size() + (own.is_working ? 1 : 0) > 1) {
                const Rank thief = own.thieves.back();
                own.thieves.pop_back();
                ++own.given;
                co_await part_.on(thief).template post<&Part::give>(here(), own.take_half());
            }
            while (!own.owed.empty()) {
                const Rank to = own.owed.back();
                own.owed.pop_back();
                co_await part_.on(to).template post<&Part::note_returned>();
            }
            if (own.items.empty() && !own.is_working) {
                co_await note_idle();
            }
            if (own.roots == 0) {
                own.roots = -1; // Once.
                for (Rank to = 0; to < ranks(); ++to) {
                    co_await part_.on(to).template post<&Part::note_over>();
                }
            }
            co_await own.change.wait();
        }
    }
    Task<> note_idle() {
        Part& own = *part_;
        if (own.is_engaged && own.given == 0) {
            own.is_engaged = false;
            if (own.parent == Part::root) {
                co_await part_.on(0).template post<&Part::note_root_returned>();
            } else {
                co_await part_.on(own.parent).template post<&Part::note_returned>();
            }
        }
        for (int step = 1; step < ranks(); step *= 2) { // The lifelines.
            const Rank to = (here() + step) % ranks();
            if (std::exchange(own.asked[static_cast<std::size_t>(to)], 1) == 0) {
                co_await part_.on(to).template post<&Part::ask>(here());
            }
        }
    }
    struct Listed {
        Listed(Part& in, detail::PeerWait& one) : part(&in), wait(&one) {
            part->peers.push_back(wait);
        }
        Listed(const Listed&) = delete;
        Listed& operator=(const Listed&) = delete;
        ~Listed() { std::erase(part->peers, wait); }
        Part* part;
        detail::PeerWait* wait;
    };
    static Task<> watch(Part& own, Rank rank) {
        if (own.is_done()) {
            co_return;
        }
        detail::PeerWait wait(rank);
        const Listed listed(own, wait);
        try {
            co_await wait;
        } catch (const Error& error) {
            own.note_lost(error.code() == Errc::interrupted ? here() : rank);
        }
    }
    static Task<> tell_lost(Remote<Part> to, Rank lost) {
        try {
            co_await to.template post<&Part::note_lost>(lost);
        } catch (const Error&) { // It has gone.
        }
    }

    Distributed<Part> part_;
    RankBarrier barrier_;
};

} // namespace corymb
