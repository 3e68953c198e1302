// SPDX-License-Identifier: Apache-2.0
// MPI program: ranks on all nodes call each other, in tasks, with long arguments, over objects and
// groups of them. Prints "N ranks on M nodes, K calls, all right" on rank 0.
//
//     remote_calls [NODES [DIES]]
//
// NODES such as 0011 says on which nodes the ranks are; else the MPI says so. The rank DIES ends
// itself by SIGKILL in the middle.
#include <corymb/finish.hpp>
#include <corymb/mpi/carrier.hpp>
#include <corymb/object_group.hpp>
#include <corymb/remote_nodes.hpp>
#include <corymb/remote_object.hpp>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <functional>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using corymb::Rank;
using corymb::Task;

long calls = 0;

void require(bool is_right, const char* what) {
    ++calls;
    if (!is_right) {
        throw std::runtime_error(std::string("wrong: ") + what);
    }
}

struct Cell {
    explicit Cell(long start) : value(start) {}
    long add(long more) { return value += more; }
    Task<long> ask(corymb::Remote<Cell> other) { co_return co_await other.call<&Cell::add>(value); }
    long value;
};

long told = 0;

Task<> work(Rank dies) {
    const Rank own = corymb::here();
    if (own == dies) {
        std::raise(SIGKILL);
    }
    const int size = corymb::ranks();
    std::vector<Rank> all(static_cast<std::size_t>(size));
    std::iota(all.begin(), all.end(), 0);
    for (const Rank to : all) {
        const int sum = co_await corymb::at(to, [](int a) { return a + corymb::here(); }, 100);
        require(sum == 100 + to, "a call");
        std::vector<double> numbers(20'000, own);
        const auto back = co_await corymb::at(
            to,
            [](std::vector<double> given) {
                for (double& one : given) {
                    one += corymb::here();
                }
                return given;
            },
            numbers);
        require(back == std::vector<double>(20'000, own + to), "a long call");
    }
    const auto cells = co_await corymb::create_group<Cell>(all, 1L);
    co_await cells.step<&Cell::add>(2L);
    require(co_await cells.reduce<&Cell::add>(std::plus<long>(), 0L) == 3L * size, "a group");
    const auto members = co_await cells.members();
    require(co_await members[members.size() - 1].call<&Cell::ask>(members[0]) == 6,
            "a call in a call");
    co_await corymb::finish([&all]() -> Task<> {
        for (int i = 0; i < 200; ++i) {
            for (const Rank to : all) {
                co_await corymb::tell(to, [] { ++told; });
            }
        }
    });
}

} // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int result = 0;
    try {
        corymb::MpiCarrier carrier(MPI_COMM_WORLD);
        std::vector<int> nodes = carrier.node_of_rank();
        if (argc > 1) {
            std::transform(argv[1], argv[1] + nodes.size(), nodes.begin(),
                           [](char digit) { return digit - '0'; });
        }
        {
            corymb::RemoteRank own = corymb::join_over_nodes(carrier, nodes, carrier.rank());
            own.run(work(argc > 2 ? std::stoi(argv[2]) : -1));
        }
        require(told == 200L * static_cast<long>(nodes.size()), "tells");
        if (carrier.rank() == 0) {
            std::printf("%zu ranks on %d nodes, %ld calls, all right\n", nodes.size(),
                        *std::max_element(nodes.begin(), nodes.end()) + 1, calls);
        }
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        result = 1;
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    MPI_Finalize();
    return result;
}
