// SPDX-License-Identifier: Apache-2.0
// corymb/process.hpp and ThreadTeam for Python.
#include "python_team.hpp"

#include <corymb/process.hpp>

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <poll.h>
#include <string>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>

namespace corymb::python {

std::chrono::nanoseconds duration(double seconds, const char* name) {
    if (!(seconds >= 0 && seconds <= 1e9)) {
        const std::string text = std::string(name) + " must be seconds, 0 or more";
        throw nb::value_error(text.c_str());
    }
    return std::chrono::duration_cast<std::chrono::nanoseconds>(
        std::chrono::duration<double>(seconds));
}

namespace {

TeamOptions options_with(double deadline, bool reproducible, std::string levels,
                         std::string objective) {
    TeamOptions options;
    options.deadline = duration(deadline, "deadline");
    options.reproducible = reproducible;
    options.levels = std::move(levels);
    options.objective = std::move(objective);
    options.interrupted = look_for_signals;
    return options;
}

NativeTeam attach(std::string name, int size, int rank, int descriptor, double patience,
                  double deadline, bool reproducible, std::string levels, std::string objective) {
    AttachOptions options;
    options.name = std::move(name);
    options.size = size;
    options.rank = rank;
    options.descriptor = descriptor;
    options.patience = duration(patience, "patience");
    options.team = options_with(deadline, reproducible, std::move(levels), std::move(objective));
    try {
        Team team;
        {
            const nb::gil_scoped_release unlocked;
            team = Team::attach(options);
        }
        return {std::make_shared<Handle>(std::move(team))};
    } catch (...) {
        raise_interruption();
        throw;
    }
}

NativeTeam join(ThreadTeam& team, Rank rank) {
    return {std::make_shared<Handle>(team.join(rank))};
}

/// The process is killed when the thread that has started it ends.
void end_with_parent(int parent) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) { // It has ended already.
        ::kill(::getpid(), SIGKILL);
    }
}

/// The process is killed when another one ends that is not its parent.
void end_with_process(int other) {
    const int end = static_cast<int>(::syscall(SYS_pidfd_open, other, 0));
    if (end < 0 && errno == ESRCH) {
        ::kill(::getpid(), SIGKILL);
    }
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before); // Python takes signals in its main thread.
    std::thread([end, other] {
        pollfd sign{end, POLLIN, 0};
        // Without such descriptors (before Linux 5.3) it asks from time to time.
        while (end >= 0 ? ::poll(&sign, 1, -1) != 1 : ::kill(other, 0) == 0) {
            std::this_thread::sleep_for(std::chrono::milliseconds(end >= 0 ? 0 : 100));
        }
        ::kill(::getpid(), SIGKILL);
    }).detach();
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

} // namespace

void bind_meeting(nb::module_& module) {
    nb::class_<ThreadTeam>(module, "ThreadTeam", "A team for threads; each joins with its rank.")
        .def(
            "__init__",
            [](ThreadTeam* self, int size, double deadline, bool reproducible, std::string levels,
               std::string objective) {
                new (self) ThreadTeam(size, options_with(deadline, reproducible, std::move(levels),
                                                         std::move(objective)));
            },
            nb::arg("size"), nb::arg("deadline") = 0.0, nb::arg("reproducible") = false,
            nb::arg("levels") = "", nb::arg("objective") = "")
        .def("join", &join, nb::arg("rank"), "This thread becomes a rank.")
        .def("abandon", &ThreadTeam::abandon, nb::arg("rank"), nb::arg("why"),
             nb::call_guard<nb::gil_scoped_release>(), "Breaks the team on behalf of a rank.");
    module.def("attach", &attach, nb::arg("name") = "", nb::arg("size") = 0, nb::arg("rank") = -1,
               nb::arg("descriptor") = -1, nb::arg("patience") = 0.0, nb::arg("deadline") = 0.0,
               nb::arg("reproducible") = false, nb::arg("levels") = "", nb::arg("objective") = "",
               "This process becomes a rank of a team of processes.");
    module.def("make_team_descriptor", &make_team_descriptor, nb::arg("size"),
               "Makes the memory of a team; children that inherit the descriptor attach with it.");
    module.def("end_with_parent", &end_with_parent, nb::arg("parent"),
               "Lets the kernel kill this process when its parent ends.");
    module.def("end_with_process", &end_with_process, nb::arg("other"),
               "Kills this process when another one ends that is not its parent.");
}

} // namespace corymb::python
