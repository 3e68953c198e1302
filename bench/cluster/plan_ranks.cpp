// SPDX-License-Identifier: Apache-2.0
// MPI program: runs plans and the MPI's own operation in turns, compares every result with the
// right one, and prints a line of JSON for each contestant.
//
//     plan_ranks OP BYTES ROUNDS PLAN.json...
//
// OP is allgather, allreduce, broadcast, reduce or barrier.
#include "plan_runner.hpp"

#include <corymb/error.hpp>
#include <corymb/plan.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace {

using namespace corymb;

struct Contestant {
    std::string name;
    std::unique_ptr<Plan> plan; // none: the MPI's own
    std::unique_ptr<bench::PlanRunner> runner;
    MPI_Comm comm = MPI_COMM_NULL;
    std::vector<double> times;
    bool right = true;
};

struct Case {
    Collective op = Collective::allgather;
    std::size_t count = 1; // doubles of a part
    int rounds = 1;
    Rank rank = 0, size = 1;
};

std::unique_ptr<Plan> read_plan(const char* file, const Case& task) {
    std::ifstream stream(file);
    const std::string text{std::istreambuf_iterator<char>(stream), {}};
    auto plan = std::make_unique<Plan>(plan_from_json(text));
    check_plan(*plan);
    if (plan->op != task.op || plan->size() != task.size ||
        plan->bytes_max < task.count * sizeof(double)) {
        throw Error(Errc::invalid_plan, std::string(file) + ": a plan for another operation, "
                                                            "number of ranks or payload");
    }
    return plan;
}

void run_own(const Case& task, const double* input, double* output) {
    const int count = static_cast<int>(task.count);
    switch (task.op) {
    case Collective::allgather:
        MPI_Allgather(input, count, MPI_DOUBLE, output, count, MPI_DOUBLE, MPI_COMM_WORLD);
        break;
    case Collective::allreduce:
        MPI_Allreduce(input, output, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        break;
    case Collective::broadcast: MPI_Bcast(output, count, MPI_DOUBLE, 0, MPI_COMM_WORLD); break;
    case Collective::reduce:
        MPI_Reduce(input, output, count, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
        break;
    default: MPI_Barrier(MPI_COMM_WORLD); break;
    }
}

/// Whole numbers, so that sums are exact in any order.
double value(Rank rank, std::size_t place, int round) {
    return static_cast<double>(
        (static_cast<std::size_t>(rank) * 31 + place * 7 + static_cast<std::size_t>(round)) % 1001);
}

bool is_right(const Case& task, const std::vector<double>& output, int round) {
    for (std::size_t place = 0; place < task.count; ++place) {
        double sum = 0;
        for (Rank from = 0; from < task.size; ++from) {
            const double one = value(from, place, round);
            sum += one;
            if (task.op == Collective::allgather &&
                output[static_cast<std::size_t>(from) * task.count + place] != one) {
                return false;
            }
        }
        const bool has_sum =
            task.op == Collective::allreduce || (task.op == Collective::reduce && task.rank == 0);
        if ((has_sum && output[place] != sum) ||
            (task.op == Collective::broadcast && output[place] != value(0, place, round))) {
            return false;
        }
    }
    return true;
}

void take_turn(const Case& task, Contestant& contestant, int round, bool counts) {
    std::vector<double> input(task.count);
    std::vector<double> output(
        task.count * (task.op == Collective::allgather ? static_cast<std::size_t>(task.size) : 1),
        -1);
    for (std::size_t place = 0; place < task.count; ++place) {
        input[place] = value(task.rank, place, round);
    }
    if (task.op == Collective::broadcast && task.rank == 0) {
        output = input;
    }
    MPI_Barrier(MPI_COMM_WORLD);
    const double began = MPI_Wtime();
    if (contestant.runner) {
        contestant.runner->run(input.data(), output.data());
    } else {
        run_own(task, input.data(), output.data());
    }
    double took = MPI_Wtime() - began;
    MPI_Allreduce(MPI_IN_PLACE, &took, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    int right = is_right(task, output, round) ? 1 : 0;
    MPI_Allreduce(MPI_IN_PLACE, &right, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    contestant.right = contestant.right && right == 1;
    if (counts) {
        contestant.times.push_back(took);
    }
}

/// Bytes that the network brought to the node with the most, of one run; and how many nodes.
std::pair<std::uint64_t, std::size_t> node_bytes(const Contestant& contestant, const Case& task,
                                                 int runs) {
    char name[MPI_MAX_PROCESSOR_NAME] = {};
    int length = 0;
    MPI_Get_processor_name(name, &length);
    const auto ranks = static_cast<std::size_t>(task.size);
    std::vector<char> names(ranks * sizeof name);
    MPI_Allgather(name, sizeof name, MPI_CHAR, names.data(), sizeof name, MPI_CHAR, MPI_COMM_WORLD);
    const std::uint64_t own = contestant.runner ? contestant.runner->network_bytes() : 0;
    std::vector<std::uint64_t> bytes(ranks);
    MPI_Allgather(&own, 1, MPI_UINT64_T, bytes.data(), 1, MPI_UINT64_T, MPI_COMM_WORLD);
    std::map<std::string, std::uint64_t> of_node;
    for (std::size_t rank = 0; rank < ranks; ++rank) {
        of_node[names.data() + rank * sizeof name] += bytes[rank];
    }
    std::uint64_t most = 0;
    for (const auto& [node, sum] : of_node) {
        most = std::max(most, sum / static_cast<std::uint64_t>(runs));
    }
    return {most, of_node.size()};
}

void print(const Contestant& contestant, const Case& task, int runs) {
    const auto [bytes, nodes] = node_bytes(contestant, task, runs);
    if (task.rank != 0) {
        return;
    }
    std::vector<double> times = contestant.times;
    std::sort(times.begin(), times.end());
    std::string line =
        "{\"name\":\"" + contestant.name + "\",\"op\":\"" + std::string(to_string(task.op)) +
        "\",\"bytes\":" + std::to_string(task.count * sizeof(double)) +
        ",\"ranks\":" + std::to_string(task.size) + ",\"nodes\":" + std::to_string(nodes) +
        ",\"right\":" + (contestant.right ? "true" : "false") +
        ",\"median_us\":" + std::to_string(times[times.size() / 2] * 1e6) +
        ",\"least_us\":" + std::to_string(times.front() * 1e6) +
        ",\"node_bytes_in\":" + (contestant.runner ? std::to_string(bytes) : "null") + "}\n";
    std::fwrite(line.data(), 1, line.size(), stdout);
    std::fflush(stdout);
}

int compete(Case task, int argc, char** argv) {
    MPI_Comm_rank(MPI_COMM_WORLD, &task.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &task.size);
    std::vector<Contestant> contestants(1);
    contestants[0].name = "MPI";
    for (int i = 4; i < argc; ++i) {
        Contestant next;
        next.plan = read_plan(argv[i], task);
        next.name = next.plan->algorithm;
        MPI_Comm_dup(MPI_COMM_WORLD, &next.comm);
        next.runner = std::make_unique<bench::PlanRunner>(*next.plan, task.count, next.comm);
        contestants.push_back(std::move(next));
    }
    constexpr int warm_up = 2;
    for (int round = 0; round < task.rounds + warm_up; ++round) {
        for (Contestant& contestant : contestants) {
            take_turn(task, contestant, round, round >= warm_up);
        }
    }
    bool right = true;
    for (Contestant& contestant : contestants) {
        print(contestant, task, task.rounds + warm_up);
        right = right && contestant.right;
        if (contestant.comm != MPI_COMM_NULL) {
            MPI_Comm_free(&contestant.comm);
        }
    }
    return right ? 0 : 1;
}

} // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int status = 1;
    try {
        if (argc < 4) {
            throw corymb::Error(corymb::Errc::invalid_argument,
                                "usage: plan_ranks OP BYTES ROUNDS PLAN.json...");
        }
        Case task;
        task.op = corymb::collective_from_string(argv[1]);
        task.count = std::max<std::size_t>(std::strtoull(argv[2], nullptr, 10) / sizeof(double), 1);
        task.rounds = static_cast<int>(std::clamp(std::strtol(argv[3], nullptr, 10), 1L, 100000L));
        status = compete(task, argc, argv);
    } catch (const std::exception& error) {
        const std::string line = std::string("plan_ranks: ") + error.what() + "\n";
        std::fwrite(line.data(), 1, line.size(), stderr);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    MPI_Finalize();
    return status;
}
