// SPDX-License-Identifier: Apache-2.0
// What messages cost, for `corymb bench messages`: round trips and streams between two ends, a look
// at many silent peers, and telling many readers; corymb and others in turns. One JSON object a
// line; bench/README.md says how to read them.
#include "../engine/turns.hpp"
#include "../threads/arguments.hpp"
#include "../threads/statistics.hpp"
#include "link.hpp"
#include "options.hpp"

#include <atomic>
#include <chrono>
#include <cstdio>
#include <stdexcept>
#include <stop_token>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <utility>

namespace corymb::bench {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono_literals::operator""s;

constexpr std::uint64_t stop = ~std::uint64_t{0};
constexpr auto longest_wait = 20s;

/// Tries until it works; gives the CPU away now and then, for who shares it.
template <class Try>
void until(const Try& attempt) {
    Clock::time_point end{};
    for (int tries = 1; !attempt(); ++tries) {
        if (tries % 1024 == 0) {
            std::this_thread::yield();
            const auto now = Clock::now();
            end = tries == 1024 ? now + longest_wait : end;
            if (now > end) {
                throw std::runtime_error("a peer has not answered for 20 s");
            }
        }
    }
}

std::uint64_t take_one(Link& link, int end) {
    std::uint64_t value = 0;
    until([&] { return link.take(end, 1, value) != 0; });
    return value;
}
void put(Link& link, int end, std::uint64_t value) {
    until([&] { return link.put(end, value); });
}

/// The other end: answers each message, or the last one only, until it is told to stop.
void serve(Link& link, bool answers_each) {
    link.open(1);
    put(link, 1, take_one(link, 1));
    for (std::uint64_t last = 0; last != stop;) {
        until([&] { return link.take(1, answers_each ? 1 : stop, last) != 0; });
        if (answers_each || last == stop) {
            put(link, 1, last);
        }
    }
}

/// Runs `serve` in a thread or in a child process.
class Server {
public:
    Server(Link& link, bool answers_each, bool is_process) {
        if (!is_process) {
            thread_ = std::jthread([this, &link, answers_each] {
                try {
                    serve(link, answers_each);
                } catch (const std::exception&) {
                    has_failed_.store(true, std::memory_order_relaxed);
                }
            });
            return;
        }
        child_ = ::fork();
        if (child_ == 0) {
            ::prctl(PR_SET_PDEATHSIG, SIGKILL);
            int status = 0;
            try {
                serve(link, answers_each);
            } catch (const std::exception&) {
                status = 1;
            }
            ::_exit(status);
        }
    }
    Server(const Server&) = delete;
    Server& operator=(const Server&) = delete;
    ~Server() { static_cast<void>(end()); }
    /// Whether all went well.
    bool end() {
        if (thread_.joinable()) {
            thread_.join();
        }
        int status = 0;
        if (child_ > 0) {
            ::waitpid(child_, &status, 0);
            child_ = 0;
        }
        return status == 0 && !has_failed_.load(std::memory_order_relaxed);
    }

private:
    std::atomic<bool> has_failed_{false};
    std::jthread thread_;
    ::pid_t child_ = 0;
};

double nanoseconds_since(Clock::time_point begin) {
    return std::chrono::duration<double, std::nano>(Clock::now() - begin).count();
}

/// One message there and back, or one of many on their way.
double time_link(const Contestant<Link>& who, int bytes, bool is_stream, Clock::duration budget) {
    const std::unique_ptr<Link> link = who.make(bytes);
    Server server(*link, !is_stream, who.is_between_processes);
    link->open(0);
    put(*link, 0, stop - 1);
    static_cast<void>(take_one(*link, 0));
    const auto begin = Clock::now();
    std::uint64_t sent = 0;
    while (sent == 0 || Clock::now() - begin < budget) {
        for (int i = 0; i < 50; ++i) {
            put(*link, 0, ++sent);
            if (!is_stream) {
                static_cast<void>(take_one(*link, 0));
            }
        }
    }
    put(*link, 0, stop);
    static_cast<void>(take_one(*link, 0));
    const double time = nanoseconds_since(begin) / static_cast<double>(sent);
    if (!server.end()) {
        throw std::runtime_error(who.name + ": the other end failed");
    }
    return time;
}

double time_look(const Contestant<Inbox>& who, int peers, Clock::duration budget) {
    const std::unique_ptr<Inbox> inbox = who.make(peers);
    const auto begin = Clock::now();
    std::uint64_t looks = 0;
    while (looks == 0 || Clock::now() - begin < budget) {
        for (int i = 0; i < 500; ++i, ++looks) {
            if (inbox->look() != 0) {
                throw std::runtime_error(who.name + ": a message from nobody");
            }
        }
    }
    return nanoseconds_since(begin) / static_cast<double>(looks);
}

/// What the publisher needs for a message; between bursts another thread reads for all readers.
double time_publish(const Contestant<Audience>& who, int readers, Clock::duration budget) {
    const std::unique_ptr<Audience> audience = who.make(readers);
    std::atomic<std::uint64_t> published{0}, drained{0};
    std::jthread reader([&](const std::stop_token& token) {
        const std::uint64_t each = burst * static_cast<std::uint64_t>(readers);
        std::uint64_t round = 0, taken = 0;
        while (!token.stop_requested()) {
            if (published.load(std::memory_order_acquire) == round) {
                std::this_thread::yield();
                continue;
            }
            taken += audience->drain();
            if (taken == (round + 1) * each) {
                drained.store(++round, std::memory_order_release);
            }
        }
    });
    double in_all = 0;
    std::uint64_t bursts = 0;
    const auto end = Clock::now() + budget;
    while (bursts == 0 || Clock::now() < end) {
        const auto begin = Clock::now();
        for (std::uint64_t i = 0; i < burst; ++i) {
            audience->publish(i);
        }
        in_all += nanoseconds_since(begin);
        published.store(++bursts, std::memory_order_release);
        until([&] { return drained.load(std::memory_order_acquire) == bursts; });
    }
    return in_all / static_cast<double>(bursts * burst);
}

const char* to_text(Family family) {
    return family == Family::corymb ? "corymb" : family == Family::peer ? "peer" : "floor";
}

/// All that is measured, in turns.
class Session {
public:
    explicit Session(MessageOptions options) : options_(std::move(options)) {
        cases_ = options_.bytes.size() * 2 + options_.peers.size() + options_.readers.size();
    }
    void run() {
        for (const bool is_stream : {false, true}) {
            for (const int bytes : options_.bytes) {
                auto all = links();
                std::erase_if(all,
                              [is_stream](const auto& who) { return is_stream && !who.streams; });
                compare(is_stream ? "stream" : "round_trip", bytes, all,
                        [&](const auto& who, auto budget) {
                            return time_link(who, bytes, is_stream, budget);
                        });
            }
        }
        for (const int peers : options_.peers) {
            compare("idle_poll", peers, inboxes(),
                    [&](const auto& who, auto budget) { return time_look(who, peers, budget); });
        }
        for (const int readers : options_.readers) {
            compare("publish", readers, audiences(), [&](const auto& who, auto budget) {
                return time_publish(who, readers, budget);
            });
        }
    }

    /// After run(): whether anything but corymb was timed.
    [[nodiscard]] bool has_peers() const noexcept { return has_peers_; }

private:
    static constexpr std::size_t rounds = 9;

    template <class Kind, class Time>
    void compare(const char* op, int size, std::vector<Contestant<Kind>> contestants,
                 const Time& time) {
        std::erase_if(contestants, [size](const auto& who) { return size > who.largest; });
        const std::chrono::duration<double> each(
            options_.seconds / static_cast<double>(cases_ * contestants.size() * rounds));
        const auto budget = std::chrono::duration_cast<Clock::duration>(each);
        const auto times = times_in_turns(contestants.size(), rounds, [&](std::size_t who) {
            return time(contestants[who], budget);
        });
        for (std::size_t who = 0; who < contestants.size(); ++who) {
            const Quartiles found = quartiles(times[who]);
            has_peers_ = has_peers_ || contestants[who].family != Family::corymb;
            std::printf("{\"type\":\"row\",\"op\":\"%s\",\"size\":%d,\"contestant\":\"%s\","
                        "\"family\":\"%s\",\"median_ns\":%.2f,\"q25\":%.2f,\"q75\":%.2f}\n",
                        op, size, contestants[who].name.c_str(), to_text(contestants[who].family),
                        found.median, found.q25, found.q75);
        }
        std::fflush(stdout);
        std::fprintf(stderr, "progress %.3f %s %d\n",
                     static_cast<double>(++done_) / static_cast<double>(cases_), op, size);
    }

    MessageOptions options_;
    std::size_t cases_ = 0, done_ = 0;
    bool has_peers_ = false;
};

} // namespace
} // namespace corymb::bench

int main(int argc, char** argv) {
    try {
        corymb::bench::Session session(corymb::bench::message_options(argc, argv));
        session.run();
        if (!session.has_peers()) {
            std::fprintf(stderr, "corymb-bench-messages: no peer could be measured: none takes "
                                 "messages of these bytes, peers or readers\n");
            return 1;
        }
    } catch (const corymb::bench::UsageError& error) {
        std::fprintf(stderr, "corymb-bench-messages: %s\n", error.what());
        return 2;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "corymb-bench-messages: %s\n", error.what());
        return 1;
    }
    return 0;
}
