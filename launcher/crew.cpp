// SPDX-License-Identifier: Apache-2.0
#include "crew.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdexcept>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace corymb::launcher {

namespace {

void write_all(int to, const char* text, std::size_t bytes) {
    while (bytes != 0) {
        const ssize_t done = ::write(to, text, bytes);
        // Another process that shares the descriptor has made it nonblocking; the launcher waits
        // all the same.
        if (done < 0 && errno == EAGAIN) {
            pollfd room{to, POLLOUT, 0};
            ::poll(&room, 1, -1);
        } else if (done < 0 && errno != EINTR) {
            return; // Nobody reads it any more.
        }
        if (done > 0) {
            text += done;
            bytes -= static_cast<std::size_t>(done);
        }
    }
}

void make_pipe(int (&ends)[2]) {
    if (::pipe2(ends, O_CLOEXEC) != 0) {
        throw std::runtime_error(std::string("no pipe can be made: ") + std::strerror(errno));
    }
}

void set(const char* variable, int value) {
    ::setenv(variable, std::to_string(value).c_str(), 1);
}

} // namespace

Crew::~Crew() {
    signal_all(SIGKILL);
    for (Process& process : processes_) {
        if (process.running) {
            ::waitpid(process.pid, nullptr, 0);
        }
        for (const int end : process.output) {
            if (end >= 0) {
                ::close(end);
            }
        }
    }
}

void Crew::start(int index) {
    Process process;
    process.rank = index * options_->threads;
    int streams[2] = {STDOUT_FILENO, STDERR_FILENO};
    if (options_->prefix) {
        for (int stream = 0; stream < 2; ++stream) {
            int ends[2];
            make_pipe(ends);
            process.output[stream] = ends[0];
            streams[stream] = ends[1];
        }
    }
    int report[2];
    make_pipe(report);
    process.pid = ::fork();
    if (process.pid == 0) {
        become(index, report[1], streams);
    }
    ::close(report[1]);
    for (int stream = 0; options_->prefix && stream < 2; ++stream) {
        ::close(streams[stream]);
    }
    process.running = process.pid > 0;
    int error = process.pid < 0 ? errno : 0;
    const bool failed = process.pid < 0 || ::read(report[0], &error, sizeof error) > 0;
    ::close(report[0]);
    processes_.push_back(process);
    if (failed) {
        throw std::runtime_error("cannot start '" + options_->program.front() +
                                 "': " + std::strerror(error));
    }
}

void Crew::become(int index, int report, const int (&streams)[2]) const {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL); // Whatever ends the launcher ends its ranks.
    sigset_t none;
    sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    set("CORYMB_TEAM", team_);
    set("CORYMB_RANKS_HERE", options_->threads);
    set("CORYMB_FIRST_RANK", index * options_->threads);
    set("CORYMB_LAUNCHER", static_cast<int>(::getppid()));
    if (!options_->patience.empty()) {
        ::setenv("CORYMB_PATIENCE", options_->patience.c_str(), 1);
    }
    if (!options_->deadline.empty()) {
        ::setenv("CORYMB_DEADLINE", options_->deadline.c_str(), 1);
    }
    bool good = true;
    if (!options_->cpus.empty()) {
        cpu_set_t mask;
        CPU_ZERO(&mask);
        for (int thread = 0; thread < options_->threads; ++thread) {
            const auto rank = static_cast<std::size_t>(index * options_->threads + thread);
            CPU_SET(static_cast<std::size_t>(options_->cpus[rank % options_->cpus.size()]), &mask);
        }
        good = ::sched_setaffinity(0, sizeof mask, &mask) == 0;
    }
    if (options_->prefix) {
        ::dup2(streams[0], STDOUT_FILENO);
        ::dup2(streams[1], STDERR_FILENO);
    }
    if (good) {
        std::vector<char*> words;
        for (const std::string& word : options_->program) {
            words.push_back(const_cast<char*>(word.c_str())); // execvp does not change them.
        }
        words.push_back(nullptr);
        ::execvp(words.front(), words.data());
    }
    const int error = errno;
    write_all(report, reinterpret_cast<const char*>(&error), sizeof error);
    std::_Exit(127);
}

void Crew::signal_all(int number) const noexcept {
    for (const Process& process : processes_) {
        if (process.running) {
            ::kill(process.pid, number);
        }
    }
}

std::size_t Crew::running() const noexcept {
    return static_cast<std::size_t>(
        std::count_if(processes_.begin(), processes_.end(),
                      [](const Process& process) { return process.running; }));
}

void Crew::pass_on(Process& process, int stream) {
    char bytes[4096];
    const ssize_t got = ::read(process.output[stream], bytes, sizeof bytes);
    if (got < 0 && errno == EINTR) {
        return;
    }
    std::string& line = process.line[stream];
    if (got > 0) {
        line.append(bytes, static_cast<std::size_t>(got));
    } else {
        ::close(process.output[stream]);
        process.output[stream] = -1;
        if (!line.empty()) {
            line += '\n';
        }
    }
    const std::string mark = "[" + std::to_string(process.rank) + "] ";
    for (std::size_t end = line.find('\n'); end != std::string::npos; end = line.find('\n')) {
        const std::string whole = mark + line.substr(0, end + 1);
        write_all(stream == 0 ? STDOUT_FILENO : STDERR_FILENO, whole.data(), whole.size());
        line.erase(0, end + 1);
    }
}

void Crew::drain() {
    for (Process& process : processes_) {
        for (int stream = 0; stream < 2; ++stream) {
            // A process that ours have left behind may keep an end open, so only present output is
            // read.
            if (process.output[stream] >= 0) {
                ::fcntl(process.output[stream], F_SETFL, O_NONBLOCK);
            }
            while (process.output[stream] >= 0) {
                pass_on(process, stream);
            }
        }
    }
}

} // namespace corymb::launcher
