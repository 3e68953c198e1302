// SPDX-License-Identifier: Apache-2.0
// Calls everything whose invariants are asserted, among threads and among processes, and checks all
// results. Its exit status says what it has met first: see Event. Usage: driver MUTANT MODE, where
// the mode is none (assertions let go on), always (debug assertions do) or all.
#include "base/assert.hpp"
#include "channel/env.hpp"
#include "channel/first_comer.hpp"
#include "plan/generate/families.hpp"

#include <corymb/broadcast_ring.hpp>
#include <corymb/mailbox.hpp>
#include <corymb/multicast.hpp>
#include <corymb/process.hpp>
#include <corymb/team.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <string_view>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

int corymb::mutants::active = 0;

namespace {

using namespace corymb;
using namespace std::chrono_literals;
using Word = std::uint64_t;

/// Exit statuses.
enum Event : int { good = 0, assertion = 10, wrong = 11, failed = 12, late = 13 };

enum class Mode { none, always, all };
Mode mode = Mode::none;

/// Ends the program: what comes first is the verdict.
[[noreturn]] void report(Event event, const char* text) {
    static std::atomic_flag has_been;
    if (!has_been.test_and_set()) {
        std::fprintf(stderr, "%s\n", text);
        std::_Exit(event);
    }
    for (;;) {
        ::pause();
    }
}

void require(bool holds, const char* what) {
    if (!holds) {
        report(wrong, what);
    }
}

/// Runs what a rank does, or a part of it.
void guarded(const std::function<void()>& life) {
    try {
        life();
    } catch (const Error& error) {
        report(error.code() == Errc::internal  ? assertion
               : error.code() == Errc::timeout ? late
                                               : failed,
               error.what());
    } catch (const std::exception& error) {
        report(failed, error.what());
    }
}

void in_threads(int count, const std::function<void(int)>& life) {
    std::vector<std::jthread> crew;
    for (int number = 0; number < count; ++number) {
        crew.emplace_back([&life, number] { guarded([&] { life(number); }); });
    }
}

void in_processes(int count, const std::function<void(int)>& life) {
    std::vector<pid_t> children;
    for (int number = 0; number < count; ++number) {
        const pid_t child = ::fork();
        if (child == 0) {
            ::prctl(PR_SET_PDEATHSIG, SIGKILL);
            guarded([&] { life(number); });
            std::_Exit(good);
        }
        children.push_back(child);
    }
    for (int left = count; left > 0; --left) {
        int status = 0;
        ::wait(&status);
        if (status != 0) {
            for (const pid_t child : children) {
                ::kill(child, SIGKILL);
            }
            if (WIFSIGNALED(status)) {
                ::signal(WTERMSIG(status), SIG_DFL);
                ::raise(WTERMSIG(status));
            }
            std::_Exit(WEXITSTATUS(status));
        }
    }
}

/// Word i of what rank `from` has for rank `to`.
Word value(int from, int to, std::size_t i) {
    return (static_cast<Word>(from) + 1) * 1'000'003 + static_cast<Word>(to) * 1009 + 7 * i;
}

std::vector<Word> words(int from, int to, std::size_t count) {
    std::vector<Word> made(count);
    for (std::size_t i = 0; i < count; ++i) {
        made[i] = value(from, to, i);
    }
    return made;
}

void append(std::vector<Word>& to, const std::vector<Word>& more) {
    to.insert(to.end(), more.begin(), more.end());
}

/// 2 x 2 matrices: an operator for which the order matters.
struct Matrix {
    std::array<std::uint32_t, 4> of;
    bool operator==(const Matrix&) const = default;
};
struct Times {
    Matrix operator()(const Matrix& a, const Matrix& b) const {
        return {{a.of[0] * b.of[0] + a.of[1] * b.of[2], a.of[0] * b.of[1] + a.of[1] * b.of[3],
                 a.of[2] * b.of[0] + a.of[3] * b.of[2], a.of[2] * b.of[1] + a.of[3] * b.of[3]}};
    }
};
Matrix matrix(int rank, std::size_t i) {
    const auto number = static_cast<std::uint32_t>(rank + 2);
    return {{number, static_cast<std::uint32_t>(i), 1, number * 3}};
}

/// The first family after the `turn`-th that has a plan by a mechanism, so that all are used.
TeamOptions options_by(Mechanism via, unsigned turn) {
    TeamOptions options;
    options.deadline = 3s;
    options.plans = [via, turn](const PlanNeed& need) {
        const CostView costs(std::vector<std::int32_t>(static_cast<std::size_t>(need.size), 0),
                             {10}, {30});
        const Mechanism small =
            need.bytes <= line_payload_bytes ? Mechanism::line : Mechanism::cells;
        const bool is_short_only =
            via == Mechanism::line || via == Mechanism::cells ||
            (via == Mechanism::exchange && need.bytes > exchange_payload_bytes);
        const Mechanism fits = is_short_only ? small : via;
        GenerateInput input{.costs = costs,
                            .root = need.root,
                            .bytes = need.bytes,
                            .ordered = need.ordered,
                            .via = fits};
        const auto all = families();
        const auto fits_need = [&](const Plan& plan) {
            return !need.keeps_parts || keeps_parts(plan);
        };
        const unsigned start = turn + static_cast<unsigned>(need.op);
        for (unsigned i = 0; i < all.size(); ++i) {
            const Family& family = all[(start + i) % all.size()];
            if (!family.searches && family.applies(need.op, input) &&
                (!need.reproducible || family.reproducible)) {
                Plan plan = family.make(need.op, input);
                if (fits_need(plan)) {
                    return plan;
                }
            }
        }
        input.via = Mechanism::cells;
        const auto family = std::ranges::find_if(all, [&](const Family& one) {
            return one.applies(need.op, input) && fits_need(one.make(need.op, input));
        });
        return family->make(need.op, input);
    };
    return options;
}

class Calls {
public:
    Calls(Team& team, std::size_t count)
        : team_(team), rank_(team.rank()), size_(team.size()), count_(count),
          own_(words(rank_, 0, count)) {}

    void collectives(Rank root) {
        auto data = rank_ == root ? own_ : std::vector<Word>(count_);
        team_.broadcast(data, root);
        require(data == words(root, 0, count_), "broadcast");
        std::vector<Word> out(count_);
        team_.reduce(own_, out, std::plus<>{}, root);
        require(rank_ != root || out == sum(0, size_), "reduce");
        team_.allreduce(own_, out, std::plus<>{});
        require(out == sum(0, size_), "allreduce");
        team_.scan(own_, out, std::plus<>{});
        require(out == sum(0, rank_ + 1), "scan");
        team_.exscan(own_, out, std::plus<>{});
        require(rank_ == 0 || out == sum(0, rank_), "exscan");
        std::vector<Word> all(rank_ == root ? whole() : 0);
        team_.gather(own_, all, root);
        require(rank_ != root || all == from_all(0), "gather");
        team_.scatter(rank_ == root ? to_all() : std::vector<Word>(), out, root);
        require(out == words(root, rank_, count_), "scatter");
    }

    void all_to_all() {
        std::vector<Word> all(whole());
        std::vector<Word> out(count_);
        team_.allgather(own_, all);
        require(all == from_all(0), "allgather");
        team_.alltoall(to_all(), all);
        require(all == from_all(rank_), "alltoall");
        team_.reduce_scatter(to_all(), out, std::plus<>{});
        std::vector<Word> expected(count_);
        for (int from = 0; from < size_; ++from) {
            add(expected, words(from, rank_, count_));
        }
        require(out == expected, "reduce_scatter");
        // Parts of different lengths, some so short that they travel with their address.
        std::vector<std::size_t> lengths;
        std::vector<Word> gathered;
        for (int from = 0; from < size_; ++from) {
            lengths.push_back(from == 1 ? 2 : count_ - static_cast<std::size_t>(from) % count_);
            append(gathered, words(from, 0, lengths.back()));
        }
        const auto mine = words(rank_, 0, lengths[static_cast<std::size_t>(rank_)]);
        std::vector<Word> here(gathered.size());
        team_.allgatherv(mine, here, Parts{lengths});
        require(here == gathered, "allgatherv");
    }

    void in_order() {
        std::vector<Matrix> mine(count_), out(count_), expected(count_);
        for (std::size_t i = 0; i < count_; ++i) {
            mine[i] = matrix(rank_, i);
            expected[i] = matrix(0, i);
            for (int from = 1; from < size_; ++from) {
                expected[i] = Times{}(expected[i], matrix(from, i));
            }
        }
        team_.allreduce(mine, out, Times{});
        require(out == expected, "allreduce of matrices");
    }

    void requests(Rank root) {
        const Rank next = (rank_ + 1) % size_;
        const Rank before = (rank_ + size_ - 1) % size_;
        std::vector<Word> sums(count_), message(count_), more(count_);
        auto data = rank_ == root ? own_ : std::vector<Word>(count_);
        {
            Request one = team_.iallreduce(own_, sums, std::plus<>{});
            Request two = team_.ibroadcast(data, root);
            Request three = team_.isend(own_, next);
            Request four = team_.irecv(message, before);
            Request five = team_.iallreduce(own_, more, std::plus<>{});
            two.wait();
            require(data == words(root, 0, count_), "ibroadcast");
            while (!four.test()) {
                std::this_thread::yield();
            }
            require(message == words(before, 0, count_), "irecv");
            one.wait();
            require(sums == sum(0, size_), "iallreduce");
            team_.barrier();
            five.wait();
            require(more == sum(0, size_), "second iallreduce");
            three.wait();
        }
        Request again = team_.allreduce_init(own_, sums, std::plus<>{});
        for (int round = 0; round < 3; ++round) {
            std::ranges::fill(sums, 0);
            again.start();
            again.wait();
            require(sums == sum(0, size_), "persistent allreduce");
        }
    }

private:
    [[nodiscard]] std::size_t whole() const { return count_ * static_cast<std::size_t>(size_); }
    static void add(std::vector<Word>& to, const std::vector<Word>& more) {
        for (std::size_t i = 0; i < to.size(); ++i) {
            to[i] += more[i];
        }
    }
    [[nodiscard]] std::vector<Word> sum(int first, int end) const {
        std::vector<Word> all(count_);
        for (int from = first; from < end; ++from) {
            add(all, words(from, 0, count_));
        }
        return all;
    }
    [[nodiscard]] std::vector<Word> from_all(int to) const {
        std::vector<Word> all;
        for (int from = 0; from < size_; ++from) {
            append(all, words(from, to, count_));
        }
        return all;
    }
    [[nodiscard]] std::vector<Word> to_all() const {
        std::vector<Word> all;
        for (int to = 0; to < size_; ++to) {
            append(all, words(rank_, to, count_));
        }
        return all;
    }

    Team& team_;
    Rank rank_;
    int size_;
    std::size_t count_;
    std::vector<Word> own_;
};

/// All ranks have come to a barrier before one leaves it.
class Barriers {
public:
    void run(Team& team, int rounds) {
        for (int round = 1; round <= rounds; ++round) {
            came_.fetch_add(1, std::memory_order_acq_rel);
            team.barrier();
            require(came_.load(std::memory_order_acquire) >= round * team.size(), "barrier");
            team.barrier();
        }
    }

private:
    std::atomic<int> came_{0};
};

void all_calls(Team& team, std::size_t longest) {
    for (const std::size_t count :
         {std::size_t{1}, std::size_t{5}, std::size_t{100}, std::size_t{3000}, longest}) {
        Calls calls(team, count);
        for (int round = 0; round < (count < 10 ? 34 : 2); ++round) {
            calls.collectives(round % team.size());
            if (round < 10) {
                calls.all_to_all();
            }
        }
        calls.in_order();
        calls.requests(0);
        calls.requests(team.size() - 1);
    }
}

void teams_of_threads() {
    unsigned turn = 0;
    for (const int size : {2, 3}) {
        for (const Mechanism via : {Mechanism::line, Mechanism::cells, Mechanism::pull,
                                    Mechanism::exchange, Mechanism::pull}) {
            Barriers barriers;
            guarded([&] {
                threads(
                    size,
                    [&](Team& team) {
                        barriers.run(team, 20);
                        all_calls(team, 20'000);
                    },
                    options_by(via, turn));
            });
            turn += 7;
        }
    }
}

void teams_of_processes() {
    unsigned turn = 3;
    for (const Mechanism via : {Mechanism::cells, Mechanism::pull, Mechanism::pull}) {
        const int descriptor = make_team_descriptor(3);
        in_processes(3, [&](int) {
            AttachOptions attach;
            attach.descriptor = descriptor;
            attach.team = options_by(via, turn);
            Team team = Team::attach(attach);
            all_calls(team, 100'000);
        });
        ::close(descriptor);
        turn += 11;
    }
}

void multicast_groups() {
    constexpr int size = 5;
    for (const auto topology :
         {MulticastTopology::flat, MulticastTopology::binary, MulticastTopology::split}) {
        for (const auto how :
             {MulticastAcknowledgement::counters, MulticastAcknowledgement::messages}) {
            MulticastOptions options;
            options.topology = topology;
            options.acknowledgement = how;
            options.deadline = 3s;
            MulticastGroup group(size, options);
            std::array<std::atomic<Word>, size> got{};
            std::atomic<int> ready{0};
            std::atomic<bool> is_over{false};
            in_threads(size, [&](int rank) {
                const auto own = static_cast<std::size_t>(rank);
                Multicast member = group.join(rank, [&, own](std::span<const std::byte> message) {
                    Word word = 0;
                    std::memcpy(&word, message.data(), sizeof word);
                    got[own] += word;
                });
                member.join();
                ++ready;
                while (ready < size) {
                    std::this_thread::yield();
                }
                if (rank < 2) {
                    for (Word round = 1; round <= 30; ++round) {
                        MulticastToken first = member.send(round);
                        MulticastToken second = member.send(round << 32);
                        require(first.members() >= 3, "members of a call");
                        first.wait();
                        second.wait();
                    }
                    ++ready;
                }
                while (ready < size + 2) {
                    member.poll();
                    if (rank == 4 && got[4] % 5 == 1) { // Comes and goes.
                        member.leave();
                        member.join();
                    }
                }
                member.leave();
            });
            for (int rank = 0; rank < 4; ++rank) {
                require(got[static_cast<std::size_t>(rank)] == 2 * (465 + (Word{465} << 32)),
                        "what a member of a multicast has got");
            }
        }
    }
}

void mailboxes() {
    for (const std::size_t slots : {4, 64}) {
        MailboxOptions options;
        options.capacity = slots;
        options.protocol = MailboxProtocol::ring;
        options.message_bytes = 200;
        MailboxGroup group(3, options);
        in_threads(3, [&](int rank) {
            Mailbox box = group.join(rank);
            if (rank != 0) {
                for (std::size_t i = 0; i < 150; ++i) {
                    const auto message = words(rank, 0, i % 25 + 1);
                    require(box.send(0, message.data(), message.size() * sizeof(Word), 2s),
                            "there is room");
                }
                return;
            }
            std::array<std::size_t, 3> next{};
            while (next[1] + next[2] < 300) {
                box.probe([&](Rank from, std::span<const std::byte> bytes) {
                    auto& i = next[static_cast<std::size_t>(from)];
                    const auto message = words(from, 0, i % 25 + 1);
                    require(bytes.size() == message.size() * sizeof(Word) &&
                                std::memcmp(bytes.data(), message.data(), bytes.size()) == 0,
                            "message of a mailbox");
                    ++i;
                });
                static_cast<void>(box.wait(1ms));
            }
        });
    }
}

void broadcast_rings() {
    BroadcastOptions options;
    options.slots = 8;
    options.message_bytes = 120;
    BroadcastRing ring(options);
    std::atomic<int> ready{0};
    in_threads(4, [&](int number) {
        constexpr std::size_t last = 400;
        if (number == 0) {
            BroadcastPublisher publisher = ring.publisher();
            while (ready < 3) {
                std::this_thread::yield();
            }
            for (std::size_t i = 1; i <= last; ++i) {
                const auto message = words(0, 0, i % 15 + 1);
                publisher.publish(message.data(), message.size() * sizeof(Word), 2s);
            }
            return;
        }
        const auto policy = number < 3 ? BroadcastPolicy::block : BroadcastPolicy::overrun;
        BroadcastReader reader = ring.reader(policy);
        ++ready;
        for (std::size_t at = 0; at < last;) {
            reader.probe([&](const BroadcastMessage& got) {
                at = number < 3 ? at + 1 : got.number;
                const auto message = words(0, 0, at % 15 + 1);
                require(got.number == at && got.bytes.size() == message.size() * sizeof(Word) &&
                            std::memcmp(got.bytes.data(), message.data(), got.bytes.size()) == 0,
                        "message of a broadcast ring");
            });
            if (at < last) {
                static_cast<void>(reader.wait(1ms));
            }
        }
    });
}

void first_comers() {
    constexpr std::size_t ranks = 3;
    using Shared = channel::FirstComer<channel::StandardEnv, 2>;
    using End = channel::FirstComerEnd<channel::StandardEnv, 2>;
    auto shared = std::make_unique<Shared>();
    std::vector<Shared::Facts> facts(2 * ranks);
    std::array<std::vector<std::uint64_t>, ranks> ends;
    in_threads(ranks, [&](int number) {
        const auto rank = static_cast<std::size_t>(number);
        End end(*shared, facts.data(), rank, ranks);
        std::uint64_t term = 0;
        const auto limit = std::chrono::steady_clock::now() + 5s;
        for (std::uint64_t call = 1; term < 8; ++call) {
            if (!end.has_told() && call % (rank + 1) == 0) {
                end.tell({term * 10 + rank, ~term});
            }
            if (end.ends()) {
                for (std::size_t other = 0; other < ranks; ++other) {
                    const End::Facts expected{term * 10 + other, ~term};
                    require(end.facts(other) == expected, "what a rank has told");
                }
                ends[rank].push_back(call);
                ++term;
                end.begin_term();
            } else if (std::chrono::steady_clock::now() > limit) {
                report(late, "a term does not end");
            } else {
                std::this_thread::sleep_for(10us);
            }
        }
    });
    require(ends[0] == ends[1] && ends[1] == ends[2], "where terms end");
}

} // namespace

void corymb::mutants::failed(bool is_always_on, const char* invariant, const char* file, int line) {
    if (mode == Mode::all || (mode == Mode::always && is_always_on)) {
        throw BrokenInvariant(std::string(invariant) + " at " + file + ":" + std::to_string(line));
    }
}

namespace {

std::vector<int>& swaps() {
    static std::vector<int> all;
    return all;
}

} // namespace

bool corymb::mutants::note_swap(int number) {
    swaps().push_back(number);
    return true;
}

int main(int count, char** arguments) {
    if (count < 3) {
        return 2;
    }
    const std::string_view number = arguments[1];
    std::from_chars(number.data(), number.data() + number.size(), mutants::active);
    const std::string_view name = arguments[2];
    if (name == "swaps") {
        for (const int number : swaps()) {
            std::printf("%d\n", number);
        }
        return good;
    }
    mode = name == "all" ? Mode::all : name == "always" ? Mode::always : Mode::none;
    for (const auto part : {first_comers, broadcast_rings, mailboxes, multicast_groups,
                            teams_of_threads, teams_of_processes}) {
        guarded(part);
    }
    std::_Exit(good);
}
