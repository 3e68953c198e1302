// SPDX-License-Identifier: Apache-2.0
// corymb's own ranks among the MPI libraries: threads of one process, each with its own pipe.
// session.h says how the driver talks to them.
#include "session.h"

#include <corymb/corymb.hpp>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <string_view>
#include <vector>

namespace {

struct Work {
    corymb::Team* team;
    std::string_view operation;
    corymb::Rank root;
    std::vector<double> input;
    std::vector<double> output;
};

void once(void* state) {
    auto& w = *static_cast<Work*>(state);
    const std::span<const double> input(w.input);
    const std::span<double> output(w.output);
    if (w.operation == "barrier") {
        w.team->barrier();
    } else if (w.operation == "broadcast") {
        w.team->broadcast(output, w.root);
    } else if (w.operation == "reduce") {
        w.team->reduce(input, output, std::plus<>{}, w.root);
    } else {
        w.team->allreduce(input, output);
    }
}

bool is_right(const Work& w) {
    const auto n = w.team->size();
    const auto all = static_cast<double>(n) * (n + 1) / 2;
    const bool has_result =
        w.operation != "barrier" && (w.operation != "reduce" || w.team->rank() == w.root);
    const double expected = w.operation == "broadcast" ? w.root + 1 : all;
    return !has_result || w.output.empty() ||
           (w.output.front() == expected && w.output[w.output.size() / 2] == expected &&
            w.output.back() == expected);
}

const char* perform(corymb::Team& team, session& ends, const command& asked) {
    const std::string_view operation = asked.operation;
    const bool known = operation == "barrier" || operation == "broadcast" ||
                       operation == "reduce" || operation == "allreduce";
    if (!known || std::string_view(asked.mode) != "blocking") {
        return "unsupported";
    }
    const std::size_t count = asked.bytes / sizeof(double);
    const double own = team.rank() + 1;
    Work work{&team, operation, asked.root, std::vector<double>(count, own),
              std::vector<double>(count, team.rank() == asked.root ? own : -1)};
    session_measure(&ends, &asked, once, &work);
    return is_right(work) ? "ok" : "wrong";
}

void serve(corymb::Team& team, const std::string& folder) {
    session ends{};
    if (session_open(&ends, folder.c_str(), team.rank(), team.size()) != 0) {
        throw corymb::Error(corymb::Errc::io, folder + " lacks the pipes of the driver");
    }
    command asked{};
    while (session_next(&ends, &asked) != 0) {
        session_reply(&ends, perform(team, ends, asked));
    }
}

} // namespace

int main(int argc, char** argv) {
    const char* folder = std::getenv("CORYMB_PEER_FOLDER");
    const int ranks = argc == 3 ? static_cast<int>(std::strtol(argv[1], nullptr, 10)) : 0;
    const std::string_view binding = argc == 3 ? argv[2] : "";
    if (folder == nullptr || ranks < 1 || (binding != "pin" && binding != "float")) {
        std::fputs("`corymb bench-peers` starts this program\n", stderr);
        return 2;
    }
    try {
        corymb::TeamOptions options;
        options.pin = binding == "pin";
        const std::string place = folder;
        corymb::threads(ranks, [&place](corymb::Team& team) { serve(team, place); }, options);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
    return 0;
}
