// SPDX-License-Identifier: Apache-2.0
// Ranks on several nodes call each other over TCP. On the first node, and then on the others with
// the line that it prints:
//
//     example_nodes_over_tcp 3 node0.cluster
//     example_nodes_over_tcp --join LINE
//
// Without arguments it starts two ranks on this machine.
#include <corymb/remote.hpp>
#include <corymb/remote_nodes.hpp>
#include <corymb/tcp_carrier.hpp>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <string>
#include <string_view>
#include <sys/wait.h>
#include <unistd.h>

namespace {

/// Asks all ranks where they are.
corymb::Task<> work() {
    if (corymb::here() != 0) {
        co_return; // It serves the calls of the others until all have ended.
    }
    for (corymb::Rank rank = 0; rank < corymb::ranks(); ++rank) {
        const std::string host = co_await corymb::at(rank, [] {
            char name[256] = "";
            gethostname(name, sizeof name - 1);
            return std::string(name);
        });
        std::printf("rank %d is on %s\n", rank, host.c_str());
    }
}

void be(corymb::TcpCarrier& carrier) {
    carrier.meet();
    auto own = corymb::join_over_nodes(carrier, carrier.node_of_rank(), carrier.rank());
    own.run(work());
}

void begin(int size, std::string_view host, const std::function<void(const std::string&)>& tell) {
    corymb::TcpCarrier carrier(size, host);
    tell(carrier.join_line());
    be(carrier);
}

int alone(char* program) {
    pid_t child = -1;
    begin(2, "127.0.0.1", [&](const std::string& line) {
        child = fork();
        if (child == 0) {
            execl("/proc/self/exe", program, "--join", line.c_str(), nullptr);
            std::_Exit(1);
        }
    });
    int status = 0;
    return waitpid(child, &status, 0) == child && status == 0 ? 0 : 1;
}

} // namespace

int main(int count, char** words) {
    try {
        if (count == 1) {
            return alone(words[0]);
        }
        if (count == 3 && std::string_view(words[1]) == "--join") {
            corymb::TcpCarrier carrier{std::string_view(words[2])};
            be(carrier);
        } else if (count == 3) {
            begin(std::stoi(words[1]), words[2], [](const std::string& line) {
                std::printf("%s\n", line.c_str());
                std::fflush(stdout);
            });
        } else {
            std::fprintf(stderr, "usage: %s [RANKS HOST | --join LINE]\n", words[0]);
            return 2;
        }
        return 0;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
}
