// SPDX-License-Identifier: Apache-2.0
// corymb-run: starts processes that form one team, forwards signals to them and reports how they
// end. `corymb run` is this program.
#include "crew.hpp"
#include "options.hpp"

#include <corymb/process.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <optional>
#include <poll.h>
#include <signal.h>
#include <string>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

namespace corymb::launcher {

namespace {

using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

constexpr int usage_status = 2;
constexpr int not_started_status = 127;
constexpr int killed_status = 128;

/// Advice for a rank that does not attach.
constexpr const char* remedy =
    "does the program attach, by Team::attach in C++, corymb_attach in C or "
    "corymb.attach in Python?";

void say(const std::string& text) {
    std::fprintf(stderr, "corymb run: %s\n", text.c_str());
}

class Watcher {
public:
    Watcher(const Options& options, Crew& crew, int team, int signals)
        : options_(&options), crew_(&crew), team_(team), signals_(signals),
          attach_by_(Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                        std::chrono::duration<double>(options.attach_deadline_s))) {
    }

    /// Waits until all processes have ended; returns the exit status.
    int watch() {
        while (crew_->running() != 0) {
            wait_for_something();
            check_attached();
            escalate();
        }
        crew_->drain();
        return status_;
    }

private:
    void wait_for_something() {
        std::vector<pollfd> ends{{signals_, POLLIN, 0}};
        std::vector<std::pair<Process*, int>> owners;
        for (Process& process : crew_->processes()) {
            for (int stream = 0; stream < 2; ++stream) {
                if (process.output[stream] >= 0) {
                    ends.push_back({process.output[stream], POLLIN, 0});
                    owners.emplace_back(&process, stream);
                }
            }
        }
        if (::poll(ends.data(), ends.size(), 50) <= 0) {
            return;
        }
        for (std::size_t i = 1; i < ends.size(); ++i) {
            if (ends[i].revents != 0) {
                crew_->pass_on(*owners[i - 1].first, owners[i - 1].second);
            }
        }
        signalfd_siginfo signal{};
        if (ends[0].revents != 0 && ::read(signals_, &signal, sizeof signal) == sizeof signal) {
            on_signal(signal);
        }
    }

    void on_signal(const signalfd_siginfo& signal) {
        const int number = static_cast<int>(signal.ssi_signo);
        if (number == SIGCHLD) {
            reap();
            return;
        }
        // Signals of the terminal reach our processes as well.
        if (signal.ssi_code != SI_KERNEL) {
            crew_->signal_all(number);
        }
        if (number != SIGUSR1 && number != SIGUSR2 && number != SIGCONT) {
            note(killed_status + number);
            end_by_ = Clock::now() + 5s; // The processes may clean up.
        }
    }

    /// Reaps processes that have ended since the last time. A killed process comes first: others
    /// may have ended because of it.
    void reap() {
        std::vector<std::pair<const Process*, int>> ended;
        for (Process& process : crew_->processes()) {
            int status = 0;
            if (process.running && ::waitpid(process.pid, &status, WNOHANG) == process.pid) {
                process.running = false;
                ended.emplace_back(&process, status);
            }
        }
        std::ranges::stable_partition(ended,
                                      [](const auto& one) { return WIFSIGNALED(one.second); });
        for (const auto& [process, status] : ended) {
            judge(*process, status);
        }
    }

    void judge(const Process& process, int status) {
        const std::string who =
            "rank " + std::to_string(process.rank) + " (pid " + std::to_string(process.pid) + ")";
        if (WIFSIGNALED(status)) {
            const int number = WTERMSIG(status);
            fail(killed_status + number, who + " was killed by signal " + std::to_string(number) +
                                             " (" + ::strsignal(number) + ")");
        } else if (WEXITSTATUS(status) != 0) {
            fail(WEXITSTATUS(status),
                 who + " ended with status " + std::to_string(WEXITSTATUS(status)));
        } else if (is_absent(process)) {
            fail(1, who + " ended without attaching to the team; " + remedy);
        }
    }

    [[nodiscard]] bool is_absent(const Process& process) const {
        const std::vector<Rank> absent = absent_ranks(team_);
        return std::find(absent.begin(), absent.end(), process.rank) != absent.end();
    }

    void check_attached() {
        if (!attach_by_ || Clock::now() < *attach_by_) {
            return;
        }
        attach_by_.reset();
        std::string list;
        for (const Process& process : crew_->processes()) {
            if (process.running && is_absent(process)) {
                list += (list.empty() ? "" : ", ") + std::to_string(process.rank);
            }
        }
        if (!list.empty()) {
            fail(1, "rank " + list + " did not attach within the deadline; " + remedy +
                        " (--attach-deadline gives it longer)");
        }
    }

    void note(int status) {
        if (status_ == 0) {
            status_ = status;
        }
    }

    void fail(int status, const std::string& text) {
        const bool is_first = status_ == 0;
        note(status);
        if (is_first || options_->keep_going) {
            say(text);
        }
        if (!options_->keep_going && !end_by_) {
            end_by_ = Clock::now() + 1s; // The other ranks learn of it from corymb and may say so.
        }
    }

    void escalate() {
        if (end_by_ && Clock::now() >= *end_by_) {
            crew_->signal_all(asked_ ? SIGKILL : SIGTERM);
            asked_ = true;
            end_by_ = Clock::now() + 2s;
        }
    }

    const Options* options_;
    Crew* crew_;
    int team_;
    int signals_;
    std::optional<Clock::time_point> attach_by_;
    std::optional<Clock::time_point> end_by_;
    bool asked_ = false;
    int status_ = 0;
};

/// Blocks the signals that the launcher handles. Signals that its parent had it ignore, as nohup
/// does, stay ignored.
int signals() {
    sigset_t set;
    sigemptyset(&set);
    ::signal(SIGCHLD, SIG_DFL); // Otherwise the kernel would not tell how a process has ended.
    for (const int number :
         {SIGCHLD, SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGCONT}) {
        struct sigaction before{};
        if (::sigaction(number, nullptr, &before) == 0 && before.sa_handler != SIG_IGN) {
            sigaddset(&set, number);
        }
    }
    ::sigprocmask(SIG_BLOCK, &set, nullptr);
    return ::signalfd(-1, &set, SFD_CLOEXEC);
}

int run(const Options& options) {
    const int team = make_team_descriptor(options.processes * options.threads);
    const int from_signals = signals();
    Crew crew(options, team);
    try {
        for (int index = 0; index < options.processes; ++index) {
            crew.start(index);
        }
    } catch (const std::runtime_error& error) {
        say(error.what());
        return not_started_status;
    }
    return Watcher(options, crew, team, from_signals).watch();
}

} // namespace
} // namespace corymb::launcher

int main(int argc, char** argv) {
    using namespace corymb::launcher;
    try {
        const Options options = parse({argv + 1, argv + argc});
        if (options.help) {
            std::fputs(usage(), stdout);
            return 0;
        }
        return run(options);
    } catch (const UsageError& error) {
        say(error.what() + std::string("; see corymb run --help"));
        return usage_status;
    } catch (const std::exception& error) {
        say(error.what());
        return 1;
    }
}
