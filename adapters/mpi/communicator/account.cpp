// SPDX-License-Identifier: Apache-2.0
#include "communicator/account.hpp"

#include "below/library.hpp"
#include "communicator/communicator.hpp"

#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <mutex>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace corymb::mpi {

namespace {

/// "-" if calls that were passed on did not tell their bytes.
std::string bytes_in(const Account::Key& what, const Account::Row& row) {
    const Reason reason = std::get<Reason>(what);
    const bool is_known = row.bytes > 0 || reason == Reason::none || reason == Reason::slower ||
                          std::get<Operation>(what) == Operation::barrier;
    return is_known ? std::to_string(row.bytes) : "-";
}

} // namespace

std::string name_of(Operation operation, Form form) {
    std::string name = traits_of(operation).name;
    if (form == Form::nonblocking) {
        name[0] = static_cast<char>(name[0] - 'A' + 'a');
        name.insert(0, "I");
    }
    return "MPI_" + name + (form == Form::persistent ? "_init" : "");
}

namespace {

/// The record of freed communicators. Communicators of equal title are added up: a program that
/// makes ten thousand wants to see one.
struct Summary {
    /// Operation, form, and the most bytes of its calls.
    using TrialKey = std::tuple<Operation, Form, std::uint64_t>;
    /// Operation, and the most bytes.
    using PlanKey = std::pair<corymb_collective, std::uint64_t>;
    struct Comms {
        std::map<std::pair<Account::Key, std::string>, Account::Row> rows;
        std::map<TrialKey, Trial::Result> trials;
        std::map<PlanKey, std::string> plans;
    };

    std::mutex lock;
    std::map<std::string, Comms> comms;
    std::string network;     ///< Between nodes, where a team had several.
    std::string insides;     ///< The insides of its nodes.
    bool has_waited = false; ///< A communicator between nodes for its team.
};

Summary& summary() {
    static auto* const one = new Summary;
    return *one;
}

std::string title_of(const Communicator& communicator) {
    char name[MPI_MAX_OBJECT_NAME] = "";
    int length = 0;
    host().Comm_get_name(communicator.comm, name, &length);
    return (length > 0 ? std::string(name) : "unnamed communicators") + ", " +
           std::to_string(communicator.size) + (communicator.size == 1 ? " rank" : " ranks");
}

/// Keeps the results of a choice's trials. If several communicators have one title, the last one's
/// times count. A communicator of the same ranks, before it, may have told some already.
void keep_trials(Choice& choice, Form form, std::map<Summary::TrialKey, Trial::Result>& kept) {
    choice.for_each_trial([&](Operation operation, std::uint64_t bytes, Trial& trial) {
        if (const int trials = trial.take_new_trials(); trials > 0) {
            Trial::Result& result = kept[{operation, form, bytes}];
            const int before = result.trials;
            result = trial.result();
            result.trials = before + trials;
        }
    });
}

void print_trials(const std::map<Summary::TrialKey, Trial::Result>& trials) noexcept {
    if (trials.empty()) {
        return;
    }
    std::fprintf(stderr, "  %-24s %10s %14s %12s  %s\n", "tried", "trials", "bytes up to", "corymb",
                 "MPI");
    for (const auto& [key, result] : trials) {
        const auto& [operation, form, bytes] = key;
        std::fprintf(stderr, "  %-24s %10d %14s", name_of(operation, form).c_str(), result.trials,
                     bytes == any_bytes ? "any" : std::to_string(bytes).c_str());
        if (result.corymb_ns == 0) {
            std::fputs("   not known: its calls were not over\n", stderr);
            continue;
        }
        std::fprintf(stderr, " %9.3f us  %.3f us\n", static_cast<double>(result.corymb_ns) / 1e3,
                     static_cast<double>(result.mpi_ns) / 1e3);
    }
}

extern "C" void keep_plan(corymb_collective op, int /*root*/, std::uint64_t bytes,
                          const char* algorithm, void* plans) {
    auto& all = *static_cast<std::map<Summary::PlanKey, std::string>*>(plans);
    try {
        std::string& known = all[{op, bytes}];
        if (known.empty()) {
            known = algorithm;
        } else if ((", " + known + ", ").find(std::string(", ") + algorithm + ", ") ==
                   std::string::npos) {
            known += std::string(", ") + algorithm;
        }
    } catch (const std::exception&) { // The summary is the less complete.
    }
}

/// Keeps the plans of the team. If a thread goes on with its requests
/// just now, the summary lacks them.
void keep_plans(Communicator& communicator,
                std::map<Summary::PlanKey, std::string>& kept) noexcept {
    const InUse use(communicator, std::try_to_lock);
    if (!use.has_it()) {
        return;
    }
    if (communicator.team != nullptr) {
        library().team_plans(communicator.team, keep_plan, &kept);
    }
}

void print_plans(const std::map<Summary::PlanKey, std::string>& plans) noexcept {
    static_assert(std::size(operation_of_collective) == CORYMB_EXSCAN + 1);
    if (!plans.empty()) {
        std::fprintf(stderr, "  %-24s %25s  %s\n", "planned", "bytes up to", "by");
    }
    for (const auto& [key, algorithm] : plans) {
        const auto& [op, bytes] = key;
        // If ranks do not know each other's lengths, there is one plan for all lengths.
        const std::string most = op == CORYMB_BARRIER              ? "-"
                                 : bytes >= std::uint64_t{1} << 48 ? "parts of any length"
                                                                   : std::to_string(bytes);
        std::fprintf(stderr, "  %-24s %25s  %s\n",
                     name_of(operation_of_collective[op], Form::blocking).c_str(), most.c_str(),
                     algorithm.c_str());
    }
}

} // namespace

void Account::add(const Call& call, Reason reason, std::uint64_t bytes, std::int64_t ns) {
    Row& row = rows_[{call.operation, call.form, reason}];
    ++row.calls;
    row.bytes += bytes;
    row.ns += ns;
}

bool is_explaining() noexcept {
    static const bool wanted = [] {
        const char* const value = std::getenv("CORYMB_MPI_EXPLAIN");
        return value != nullptr && *value != '\0' && std::strcmp(value, "0") != 0;
    }();
    return wanted;
}

void keep_for_summary(Communicator& communicator) noexcept {
    if (!is_explaining() || communicator.account.rows().empty()) {
        return;
    }
    try {
        Summary& all = summary();
        const std::lock_guard lock(all.lock);
        all.has_waited =
            all.has_waited || communicator.early.wanted_ns() >= tuning::team_between_nodes_pays_ns;
        const char* network = "";
        const char* insides = "";
        if (communicator.is_over_nodes() &&
            library().team_network(communicator.team, &network, &insides) == CORYMB_OK) {
            all.network = network; // The form that CORYMB_NETWORK and --network take.
            all.insides = insides;
        }
        auto& kept = all.comms[title_of(communicator)];
        for (const auto& [key, row] : communicator.account.rows()) {
            const Reason reason = std::get<Reason>(key);
            Account::Row& sum =
                kept.rows[{key, reason == Reason::no_team ? communicator.why : text_of(reason)}];
            sum.calls += row.calls;
            sum.bytes += row.bytes;
            sum.ns += row.ns;
        }
        keep_trials(communicator.choice, Form::blocking, kept.trials);
        keep_trials(communicator.request_choice, Form::nonblocking, kept.trials);
        keep_plans(communicator, kept.plans);
    } catch (const std::exception&) { // The summary is the less complete.
    }
    communicator.account.clear();
}

void print_summary(int world_rank, int world_size) noexcept {
    Summary& all = summary();
    const std::lock_guard lock(all.lock);
    std::fprintf(stderr, "\ncorymb: collectives of rank %d of %d\n", world_rank, world_size);
    for (const auto& [title, comms] : all.comms) {
        std::fprintf(stderr, "%s\n  %-24s %10s %14s %12s  %s\n", title.c_str(), "operation",
                     "calls", "bytes", "time", "by corymb, or why not");
        for (const auto& [key, row] : comms.rows) {
            const auto& [what, why] = key;
            std::fprintf(stderr, "  %-24s %10" PRIu64 " %14s %9.3f ms  %s\n",
                         name_of(std::get<Operation>(what), std::get<Form>(what)).c_str(),
                         row.calls, bytes_in(what, row).c_str(), static_cast<double>(row.ns) / 1e6,
                         std::get<Reason>(what) == Reason::none ? "corymb"
                                                                : ("MPI: " + why).c_str());
        }
        print_trials(comms.trials);
        print_plans(comms.plans);
    }
    if (all.comms.empty()) {
        std::fprintf(stderr, "  none\n");
    }
    if (all.has_waited) {
        std::fprintf(
            stderr,
            "between nodes a communicator has a team once its blocking calls have taken %.1f "
            "s, or %.1f s if the network has to be measured; at once with "
            "CORYMB_NETWORK=measure\n",
            static_cast<double>(tuning::team_between_nodes_pays_ns) / 1e9,
            static_cast<double>(tuning::measured_network_pays_ns) / 1e9);
    }
    if (!all.network.empty()) {
        std::fprintf(stderr,
                     "planned for the network %s: ns to arrive, ns between messages, GB/s "
                     "of a stream and of a node\n",
                     all.network.c_str());
    }
    if (!all.insides.empty()) {
        std::fprintf(stderr, "planned for %s\n", all.insides.c_str());
    }
}

} // namespace corymb::mpi
