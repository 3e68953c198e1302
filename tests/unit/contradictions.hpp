// SPDX-License-Identifier: Apache-2.0
// Calls that contradict each other: every combination ends with a mismatch that names both calls,
// whoever waits for whom, and however far one side is ahead.
#pragma once

#include <corymb/team.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace corymb::contradictions {

/// One collective call, or one message from rank 0 to rank 1.
struct Call {
    Collective op = Collective::barrier;
    std::size_t bytes = 0;
    Rank root = 0;
    bool is_message = false;
    bool is_nonblocking = false;
};

inline std::string text_of(const Call& call) {
    return std::string(call.is_message ? "message" : to_string(call.op)) + " of " +
           std::to_string(call.bytes) + " bytes, root " + std::to_string(call.root) +
           (call.is_nonblocking ? ", nonblocking" : "");
}

/// What the last rank calls, and what all others do, so many times.
struct Case {
    Call others;
    Call last;
    int calls = 1;
};

/// What happened to one rank.
struct Told {
    int code = -1; ///< -1: no error.
    bool names_both = false;
};

inline std::span<std::uint8_t> part_of(std::vector<std::uint8_t>& memory, std::size_t bytes) {
    memory.resize(std::max(bytes, memory.size()));
    return std::span(memory).first(bytes);
}

inline void perform(Team& team, const Call& call) {
    using Bytes = std::span<std::uint8_t>;
    using Input = std::span<const std::uint8_t>;
    std::vector<std::uint8_t> in;
    std::vector<std::uint8_t> out;
    const auto ranks = static_cast<std::size_t>(team.size());
    const Input one = part_of(in, call.bytes);
    const Bytes result = part_of(out, call.bytes);
    const auto done = [&](Request request) {
        request.wait();
    };
    if (call.is_message) {
        if (team.rank() == 0) {
            call.is_nonblocking ? done(team.isend(one, 1)) : team.send(one, 1);
        } else if (team.rank() == 1) {
            call.is_nonblocking ? done(team.irecv(result, 0)) : team.recv(result, 0);
        }
        return;
    }
    const bool later = call.is_nonblocking;
    const auto all_in = [&] {
        return Input(part_of(in, ranks * call.bytes));
    };
    const auto all_out = [&] {
        return part_of(out, ranks * call.bytes);
    };
    switch (call.op) {
    case Collective::barrier: later ? done(team.ibarrier()) : team.barrier(); break;
    case Collective::broadcast:
        later ? done(team.ibroadcast(result, call.root))
              : static_cast<void>(team.broadcast(result, call.root));
        break;
    case Collective::reduce:
        later ? done(team.ireduce(one, result, std::plus<>{}, call.root))
              : team.reduce(one, result, std::plus<>{}, call.root);
        break;
    case Collective::allreduce:
        later ? done(team.iallreduce(one, result)) : team.allreduce(one, result);
        break;
    case Collective::gather:
        later ? done(team.igather(one, all_out(), call.root))
              : team.gather(one, all_out(), call.root);
        break;
    case Collective::scatter:
        later ? done(team.iscatter(all_in(), result, call.root))
              : team.scatter(all_in(), result, call.root);
        break;
    case Collective::allgather:
        later ? done(team.iallgather(one, all_out())) : team.allgather(one, all_out());
        break;
    case Collective::alltoall:
        later ? done(team.ialltoall(all_in(), all_out())) : team.alltoall(all_in(), all_out());
        break;
    case Collective::reduce_scatter:
        later ? done(team.ireduce_scatter(all_in(), result))
              : team.reduce_scatter(all_in(), result);
        break;
    case Collective::scan: later ? done(team.iscan(one, result)) : team.scan(one, result); break;
    case Collective::exscan:
        later ? done(team.iexscan(one, result)) : team.exscan(one, result);
        break;
    }
}

inline bool names(const std::string& text, const Call& call) {
    const bool has_bytes = call.op != Collective::barrier || call.is_message;
    return (!has_bytes || text.find(std::to_string(call.bytes) + " bytes") != std::string::npos) &&
           (call.is_message || text.find(to_string(call.op)) != std::string::npos);
}

/// One rank's part in a case, on a team of its own.
inline Told live(Team& team, const Case& one) {
    try {
        for (int call = 0; call < one.calls; ++call) {
            perform(team, team.rank() == team.size() - 1 ? one.last : one.others);
        }
        team.leave();
    } catch (const Error& error) {
        const std::string text = error.what();
        return {static_cast<int>(error.code()), names(text, one.others) && names(text, one.last)};
    }
    return {};
}

/// Collective over `whole`, which stays as it is. What is wrong, on rank 0.
inline std::vector<std::string> failures_of(Team& whole, const std::vector<Case>& cases) {
    std::vector<std::string> wrong;
    for (const Case& one : cases) {
        Team team = whole.split(0);
        const Told own = live(team, one);
        team = Team();
        std::vector<Told> all(static_cast<std::size_t>(whole.size()));
        whole.allgather(std::span(&own, 1), std::span(all));
        const auto is = [&](Errc code) {
            return [code](const Told& told) {
                return told.code == static_cast<int>(code);
            };
        };
        std::string what;
        if (std::ranges::any_of(all, is(Errc::timeout))) {
            what = "timeout";
        } else if (std::ranges::none_of(all, is(Errc::mismatch))) {
            what = "no mismatch";
        } else if (!std::ranges::all_of(all, [](const Told& told) {
                       return told.code != static_cast<int>(Errc::mismatch) || told.names_both;
                   })) {
            what = "does not name both calls";
        }
        if (!what.empty()) {
            wrong.push_back(text_of(one.others) + " against " + text_of(one.last) + ", " +
                            std::to_string(one.calls) + " times: " + what);
        }
    }
    return wrong;
}

inline bool is_long_mode() {
    const char* const text = std::getenv("CORYMB_LONG_TESTS");
    return text != nullptr && std::string_view(text) == "1";
}

constexpr std::array<Collective, 11> all_operations{
    Collective::barrier, Collective::broadcast, Collective::reduce,         Collective::allreduce,
    Collective::gather,  Collective::scatter,   Collective::allgather,      Collective::alltoall,
    Collective::scan,    Collective::exscan,    Collective::reduce_scatter,
};

/// Lengths on the two sides of each change of mechanism, and nothing against something: every
/// operation, each side longer once. Without CORYMB_LONG_TESTS=1 a part of them.
inline std::vector<Case> lengths(bool nonblocking) {
    struct Lengths {
        std::size_t less, more;
    };
    constexpr std::array<Lengths, 7> borders{
        {{0, 8}, {40, 64}, {16, 17}, {56, 4096}, {8192, 8193}, {0, 100'000}, {64, 1'000'000}}};
    std::vector<Case> cases;
    std::size_t number = 0;
    for (const Collective op : all_operations) {
        for (const auto& [less, more] : borders) {
            for (const int calls : {1, 60, 300}) {
                // Each pair of operation and border, and of either and a number of calls.
                const bool is_chosen = number % 3 == (number / 21) % 3;
                ++number;
                if (op == Collective::barrier || !(is_long_mode() || is_chosen)) {
                    continue;
                }
                const Call shorter{op, less, 0, false, nonblocking};
                const Call longer{op, more, 0, false, nonblocking};
                cases.push_back({shorter, longer, calls});
                cases.push_back({longer, shorter, calls});
            }
        }
    }
    return cases;
}

/// Every operation against every other one.
inline std::vector<Case> operations(std::size_t bytes) {
    std::vector<Case> cases;
    for (const Collective one : all_operations) {
        for (const Collective other : all_operations) {
            if (one != other && (is_long_mode() || one < other)) {
                cases.push_back({{one, bytes}, {other, bytes}, 1});
            }
        }
    }
    return cases;
}

/// Each believes that it is the root, or that another is.
inline std::vector<Case> roots(Rank last) {
    std::vector<Case> cases;
    for (const Collective op :
         {Collective::broadcast, Collective::reduce, Collective::gather, Collective::scatter}) {
        for (const std::size_t bytes : {8UL, 100'000UL}) {
            for (const int calls : {1, 100}) {
                cases.push_back({{op, bytes, 0}, {op, bytes, last}, calls});
                cases.push_back({{op, bytes, last}, {op, bytes, 0}, calls});
            }
        }
    }
    return cases;
}

/// Messages whose ends differ in length.
inline std::vector<Case> messages(bool nonblocking) {
    std::vector<Case> cases;
    constexpr std::array<std::size_t, 5> sizes{0, 8, 1000, 40'000, 1'000'000};
    for (const std::size_t one : sizes) {
        for (const std::size_t other : sizes) {
            if (one != other) {
                cases.push_back({{Collective::barrier, one, 0, true, nonblocking},
                                 {Collective::barrier, other, 0, true, nonblocking},
                                 1});
            }
        }
    }
    return cases;
}

} // namespace corymb::contradictions
