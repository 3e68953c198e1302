// SPDX-License-Identifier: Apache-2.0
// MPI program: runs plans and the MPI's own operation in turns, compares every result with the
// right one, and prints a line of JSON for each contestant.
//
//     plan_ranks OP BYTES ROUNDS NODES PLAN.json...
//     plan_ranks network NODES
//     plan_ranks choose OP BYTES NODES NETWORK
//
// The second form measures the network and prints what it found. The third calls the operation
// until the team has chosen a plan for good, and prints which.
//
// OP is allgather, allreduce, broadcast, reduce or barrier. NODES says where the ranks are, such as
// 0,0,1,1: ranks of a node share memory, messages between nodes go by MPI.

#include <corymb/carrier.hpp>
#include <corymb/error.hpp>
#include <corymb/mpi/carrier.hpp>
#include <corymb/plan.hpp>
#include <corymb/process.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <memory>
#include <numeric>
#include <random>
#include <sstream>
#include <string>
#include <unistd.h>
#include <utility>
#include <vector>

namespace {

using namespace corymb;

struct Contestant {
    std::string name;
    std::unique_ptr<MpiCarrier> carrier; // none: the MPI's own
    std::unique_ptr<Team> team;
    std::vector<double> times;
    bool right = true;
};

struct Case {
    Collective op = Collective::allgather;
    std::size_t count = 1; // doubles of a part
    int rounds = 1;
    std::vector<int> nodes;
    Rank rank = 0, size = 1;
};

/// Operations of one turn, each after a barrier of its own.
constexpr int repeats = 3;

std::unique_ptr<Plan> read_plan(const char* file, const Case& task) {
    std::ifstream stream(file);
    const std::string text{std::istreambuf_iterator<char>(stream), {}};
    auto plan = std::make_unique<Plan>(plan_from_json(text));
    const std::size_t bytes = task.op == Collective::barrier ? 0 : task.count * sizeof(double);
    if (plan->op != task.op || plan->size() != task.size || plan->bytes_max < bytes) {
        throw Error(Errc::invalid_plan, std::string(file) + ": a plan for another operation, "
                                                            "number of ranks or payload");
    }
    return plan;
}

std::vector<int> nodes_in(const std::string& text) {
    std::vector<int> nodes;
    std::istringstream words(text);
    for (std::string word; std::getline(words, word, ',');) {
        nodes.push_back(std::stoi(word));
    }
    return nodes;
}

/// This rank's team with the others of its node. `number` tells contestants apart, `job` jobs.
Team node_team(const Case& task, int number, int job) {
    const auto own = task.nodes.begin() + task.rank;
    AttachOptions options;
    options.name = "plan_ranks-" + std::to_string(job) + "-" + std::to_string(number) + "-" +
                   std::to_string(*own);
    options.size = static_cast<int>(std::count(task.nodes.begin(), task.nodes.end(), *own));
    options.rank = static_cast<Rank>(std::count(task.nodes.begin(), own, *own));
    return Team::attach(options);
}

/// A team of all ranks with these plans, or with the planner's.
Contestant team_of(PlanSource plans, const Case& task, int number, int job,
                   const Networks& networks = ClusterOptions{}.networks) {
    Contestant made;
    made.carrier = std::make_unique<MpiCarrier>(MPI_COMM_WORLD);
    ClusterOptions options;
    options.networks = networks;
    options.rehearse = !plans;
    options.node_of_rank = task.nodes;
    options.rank = task.rank;
    options.plans = std::move(plans);
    made.team =
        std::make_unique<Team>(over_nodes(node_team(task, number, job), *made.carrier, options));
    return made;
}

Contestant contestant_of(const char* file, const Case& task, int number, int job) {
    const std::shared_ptr<Plan> plan = read_plan(file, task);
    const auto plans = [plan](const PlanNeed& need) {
        Plan wanted = *plan; // The team proves it for the largest payload of the size class.
        wanted.bytes_max = std::max(wanted.bytes_max, need.bytes);
        return wanted;
    };
    Contestant made = team_of(plans, task, number, job);
    made.name = plan->algorithm;
    return made;
}

void run_team(const Case& task, Team& team, const std::vector<double>& input,
              std::vector<double>& output) {
    switch (task.op) {
    case Collective::allgather: team.allgather(std::span(input), std::span(output)); break;
    case Collective::allreduce: team.allreduce(std::span(input), std::span(output)); break;
    case Collective::broadcast: team.broadcast(std::span(output)); break;
    case Collective::reduce: team.reduce(std::span(input), std::span(output)); break;
    default: team.barrier(); break;
    }
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

/// The pacer's barrier goes before each operation, the MPI's own included, and behind the last one:
/// where ranks share CPUs, they leave an MPI_Barrier tens of milliseconds apart, and who waits in
/// the MPI keeps others from finishing.
void take_turn(const Case& task, Contestant& contestant, Team& pacer, int round, bool counts) {
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
    double took = 0;
    for (int time = 0; time < repeats; ++time) {
        pacer.barrier();
        const double began = MPI_Wtime();
        if (contestant.team) {
            run_team(task, *contestant.team, input, output);
        } else {
            run_own(task, input.data(), output.data());
        }
        took += (MPI_Wtime() - began) / repeats;
    }
    pacer.barrier();
    MPI_Allreduce(MPI_IN_PLACE, &took, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    int right = is_right(task, output, round) ? 1 : 0;
    MPI_Allreduce(MPI_IN_PLACE, &right, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    contestant.right = contestant.right && right == 1;
    if (counts) {
        contestant.times.push_back(took);
    }
}

/// Bytes that the network brought to the node with the most, of one run.
std::uint64_t node_bytes(const Contestant& contestant, const Case& task, int runs) {
    const auto ranks = static_cast<std::size_t>(task.size);
    const std::uint64_t own = contestant.team ? carried(*contestant.team).bytes_in : 0;
    std::vector<std::uint64_t> bytes(ranks);
    MPI_Allgather(&own, 1, MPI_UINT64_T, bytes.data(), 1, MPI_UINT64_T, MPI_COMM_WORLD);
    std::vector<std::uint64_t> of_node(ranks);
    for (std::size_t rank = 0; rank < ranks; ++rank) {
        of_node[static_cast<std::size_t>(task.nodes[rank])] += bytes[rank];
    }
    return *std::max_element(of_node.begin(), of_node.end()) / static_cast<std::uint64_t>(runs);
}

double median(std::vector<double> times) {
    std::sort(times.begin(), times.end());
    return times.empty() ? 0 : times[times.size() / 2];
}

void print(const Contestant& contestant, const Case& task, int runs) {
    const std::uint64_t bytes = node_bytes(contestant, task, runs);
    const int nodes = *std::max_element(task.nodes.begin(), task.nodes.end()) + 1;
    if (task.rank != 0) {
        return;
    }
    const double middle = median(contestant.times);
    std::vector<double> halves[2]; // Every other turn: one half chooses, the other judges.
    for (std::size_t turn = 0; turn < contestant.times.size(); ++turn) {
        halves[turn % 2].push_back(contestant.times[turn]);
    }
    std::string line =
        "{\"name\":\"" + contestant.name + "\",\"op\":\"" + std::string(to_string(task.op)) +
        "\",\"bytes\":" + std::to_string(task.count * sizeof(double)) +
        ",\"ranks\":" + std::to_string(task.size) + ",\"nodes\":" + std::to_string(nodes) +
        ",\"right\":" + (contestant.right ? "true" : "false") +
        ",\"median_us\":" + std::to_string(middle * 1e6) + ",\"halves_us\":[" +
        std::to_string(median(halves[0]) * 1e6) + "," + std::to_string(median(halves[1]) * 1e6) +
        "]" + ",\"node_bytes_in\":" + (contestant.team ? std::to_string(bytes) : "null") + "}\n";
    std::fwrite(line.data(), 1, line.size(), stdout);
    std::fflush(stdout);
}

int compete(Case task, int argc, char** argv) {
    task.rounds = static_cast<int>(std::clamp(std::strtol(argv[3], nullptr, 10), 1L, 100000L));
    MPI_Comm_rank(MPI_COMM_WORLD, &task.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &task.size);
    if (static_cast<int>(task.nodes.size()) != task.size) {
        throw Error(Errc::invalid_argument, "NODES names another number of ranks than there are");
    }
    int job = static_cast<int>(::getpid());
    MPI_Bcast(&job, 1, MPI_INT, 0, MPI_COMM_WORLD);
    std::vector<Contestant> contestants(1);
    contestants[0].name = "MPI";
    for (int i = 5; i < argc; ++i) {
        contestants.push_back(contestant_of(argv[i], task, i, job));
    }
    const Contestant pacer = team_of({}, task, 0, job);
    constexpr int warm_up = 2;
    std::vector<std::size_t> order(contestants.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::mt19937 dice; // Of the same order on all ranks.
    for (int round = 0; round < task.rounds + warm_up; ++round) {
        // Whoever always came after the same one would pay for what that leaves behind.
        std::shuffle(order.begin(), order.end(), dice);
        for (const std::size_t turn : order) {
            take_turn(task, contestants[turn], *pacer.team, round, round >= warm_up);
        }
    }
    bool right = true;
    for (Contestant& contestant : contestants) {
        print(contestant, task, repeats * (task.rounds + warm_up));
        right = right && contestant.right;
        contestant.team.reset();
        contestant.carrier.reset();
    }
    return right ? 0 : 1;
}

/// The numbers of corymb-cluster/1.
int measure(const std::vector<int>& nodes) {
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MpiCarrier carrier(MPI_COMM_WORLD);
    const Networks networks = measure_networks(carrier, nodes, rank);
    if (rank == 0) {
        std::printf("{\"network\":\"%s\"}\n", to_text(networks).c_str());
    }
    return 0;
}

/// Calls the operation as a program would, until rehearsals are over or would be too long.
int choose(Case task, const char* network) {
    constexpr int calls_most = 520;
    constexpr double seconds_most = 20;
    MPI_Comm_rank(MPI_COMM_WORLD, &task.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &task.size);
    int job = static_cast<int>(::getpid());
    MPI_Bcast(&job, 1, MPI_INT, 0, MPI_COMM_WORLD);
    const int nodes = *std::max_element(task.nodes.begin(), task.nodes.end()) + 1;
    Contestant own = team_of({}, task, 0, job, networks_from(network, nodes));
    const auto algorithm = [&] {
        return own.team->chosen_plan(task.op, task.count * sizeof(double)).algorithm;
    };
    const std::string planned = algorithm();
    std::vector<double> input(task.count);
    std::vector<double> output(
        task.count * (task.op == Collective::allgather ? static_cast<std::size_t>(task.size) : 1));
    const double began = MPI_Wtime();
    int calls = 0;
    for (int goes_on = 1; goes_on != 0;) {
        for (int call = 0; call < 8; ++call, ++calls) {
            run_team(task, *own.team, input, output);
        }
        goes_on = calls < calls_most && MPI_Wtime() - began < seconds_most ? 1 : 0;
        MPI_Bcast(&goes_on, 1, MPI_INT, 0, MPI_COMM_WORLD);
    }
    const std::string chosen = algorithm();
    if (task.rank == 0) {
        std::printf("{\"planned\":\"%s\",\"chosen\":\"%s\",\"calls\":%d}\n", planned.c_str(),
                    chosen.c_str(), calls);
    }
    own.team.reset();
    return 0;
}

} // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int status = 1;
    try {
        const std::string what = argc > 1 ? argv[1] : "";
        const bool chooses = what == "choose" && argc == 6;
        Case task;
        if (what == "network" && argc == 3) {
            status = measure(nodes_in(argv[2]));
        } else if (chooses || argc >= 5) {
            const int first = chooses ? 2 : 1;
            task.op = corymb::collective_from_string(argv[first]);
            task.count = std::max<std::size_t>(
                std::strtoull(argv[first + 1], nullptr, 10) / sizeof(double), 1);
            task.nodes = nodes_in(argv[4]);
            status = chooses ? choose(task, argv[5]) : compete(task, argc, argv);
        } else {
            throw corymb::Error(corymb::Errc::invalid_argument,
                                "usage: plan_ranks OP BYTES ROUNDS NODES PLAN.json... | network "
                                "NODES | choose OP BYTES NODES NETWORK");
        }
    } catch (const std::exception& error) {
        const std::string line = std::string("plan_ranks: ") + error.what() + "\n";
        std::fwrite(line.data(), 1, line.size(), stderr);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    MPI_Finalize();
    return status;
}
