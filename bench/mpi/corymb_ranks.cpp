// SPDX-License-Identifier: Apache-2.0
// corymb's own ranks among the MPI libraries: threads of one process, each with its own pipe, or
// processes that `corymb run` starts. session.h says how the driver talks to them.
//
//   corymb-bench-ranks threads RANKS pin|float
//   corymb-run -n RANKS -- corymb-bench-ranks attach
#include "corymb_calls.hpp"
#include "payload.h"
#include "session.h"

#include <corymb/corymb.hpp>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <string_view>
#include <vector>

namespace {

/// Buffers of a rank, given back whatever happens.
class Buffers {
public:
    Buffers(const session& ends, const command& asked)
        : made_(payload_make(&data, &ends, &asked) == 0) {}
    Buffers(const Buffers&) = delete;
    Buffers& operator=(const Buffers&) = delete;
    ~Buffers() { payload_free(&data); }
    [[nodiscard]] bool is_made() const { return made_; }

    payload data{};

private:
    bool made_;
};

const char* perform(corymb::Team& team, session& ends, const command& asked) {
    if (operation_of(asked.operation) == operation_count) {
        return "unsupported";
    }
    Buffers buffers(ends, asked);
    if (!buffers.is_made()) {
        return "memory";
    }
    if (measure_alone(&ends, &asked, &buffers.data) == 0) {
        corymb::bench::Work work(team, buffers.data);
        actions chosen{};
        if (!work.choose(asked.mode, chosen)) {
            return "unsupported";
        }
        session_measure(&ends, &asked, &chosen);
    }
    return ends.wrong == 0 && payload_is_right(&buffers.data) != 0 ? "ok" : "wrong";
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

void serve_threads(int ranks, bool pin, const std::string& folder) {
    corymb::TeamOptions options;
    options.pin = pin;
    corymb::threads(ranks, [&folder](corymb::Team& team) { serve(team, folder); }, options);
}

} // namespace

int main(int argc, char** argv) {
    const std::vector<std::string_view> words(argv, argv + argc);
    const char* folder = std::getenv("CORYMB_PEER_FOLDER");
    const bool attaches = words.size() == 2 && words[1] == "attach";
    const bool has_threads = words.size() == 4 && words[1] == "threads";
    const int ranks = has_threads ? static_cast<int>(std::strtol(argv[2], nullptr, 10)) : 0;
    const std::string_view binding = has_threads ? words[3] : "";
    if (folder == nullptr ||
        !(attaches || (ranks >= 1 && (binding == "pin" || binding == "float")))) {
        std::fputs("`corymb bench peers` starts this program\n", stderr);
        return 2;
    }
    try {
        if (attaches) {
            corymb::Team team = corymb::Team::attach();
            serve(team, folder);
        } else {
            serve_threads(ranks, binding == "pin", folder);
        }
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
    return 0;
}
