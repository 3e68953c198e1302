// SPDX-License-Identifier: Apache-2.0
#include "child.hpp"

#include "../worker/time.hpp"
#include "interrupt.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <string>
#include <string_view>
#include <system_error>

namespace corymb::bench {

namespace {

constexpr int exit_cannot_execute = 127;

/// libomp registers itself in shared memory under its process and user numbers, and a killed
/// process does not take that back.
void remove_openmp_registration(pid_t pid) {
    const std::string name =
        "/__KMP_REGISTERED_LIB_" + std::to_string(pid) + "_" + std::to_string(::getuid());
    ::shm_unlink(name.c_str());
}

void set_environment(const Environment& environment) {
    std::vector<std::string> foreign;
    for (char** entry = environ; *entry != nullptr; ++entry) {
        const std::string_view text(*entry);
        for (const std::string_view prefix : {"OMP_", "KMP_", "GOMP_", "LIBOMP_"}) {
            if (text.starts_with(prefix)) {
                foreign.emplace_back(text.substr(0, text.find('=')));
            }
        }
    }
    for (const auto& name : foreign) {
        unsetenv(name.c_str());
    }
    for (const auto& [name, value] : environment) {
        setenv(name.c_str(), value.c_str(), 1);
    }
}

[[noreturn]] void become(const std::vector<std::string>& argv, const Environment& environment,
                         pid_t parent, int input, int output) {
    restore_interrupts();
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent || dup2(input, STDIN_FILENO) < 0 || dup2(output, STDOUT_FILENO) < 0) {
        _exit(exit_cannot_execute);
    }
    set_environment(environment);
    std::vector<char*> words;
    for (const auto& word : argv) {
        words.push_back(const_cast<char*>(word.c_str()));
    }
    words.push_back(nullptr);
    execv(words[0], words.data());
    _exit(exit_cannot_execute);
}

void close_end(int& end) noexcept {
    if (end >= 0) {
        close(end);
        end = -1;
    }
}

} // namespace

Child::Child(const std::vector<std::string>& argv, const Environment& environment) {
    std::array<int, 2> down{};
    std::array<int, 2> up{};
    if (pipe2(down.data(), O_CLOEXEC) != 0) {
        throw std::system_error(errno, std::generic_category(), "pipe2");
    }
    if (pipe2(up.data(), O_CLOEXEC) != 0) {
        const int error = errno;
        close(down[0]);
        close(down[1]);
        throw std::system_error(error, std::generic_category(), "pipe2");
    }
    const pid_t parent = getpid();
    pid_ = fork();
    const int error = errno;
    if (pid_ == 0) {
        become(argv, environment, parent, down[0], up[1]);
    }
    close(down[0]);
    close(up[1]);
    to_ = down[1];
    from_ = up[0];
    if (pid_ < 0) {
        close_end(to_);
        close_end(from_);
        throw std::system_error(error, std::generic_category(), "fork");
    }
}

void Child::stop() {
    if (pid_ < 0 || status_) {
        return;
    }
    ::kill(pid_, SIGSTOP);
    int status = 0;
    // Stopping takes microseconds unless a thread is in an uninterruptible sleep.
    if (waitpid(pid_, &status, WUNTRACED) == pid_ && !WIFSTOPPED(status)) {
        status_ = status;
    }
}

void Child::resume() {
    if (pid_ >= 0 && !status_) {
        ::kill(pid_, SIGCONT);
    }
}

bool Child::send(const std::string& line) {
    const std::string text = line + "\n";
    // Far below PIPE_BUF, so that it is written whole or not at all.
    return to_ >= 0 && write(to_, text.data(), text.size()) == static_cast<ssize_t>(text.size());
}

std::optional<std::string> Child::receive(std::int64_t deadline_ns) {
    while (true) {
        const std::size_t end = pending_.find('\n');
        if (end != std::string::npos) {
            std::string line = pending_.substr(0, end);
            pending_.erase(0, end + 1);
            return line;
        }
        check_interrupt();
        const std::int64_t left = std::max<std::int64_t>(deadline_ns - wall_ns(), 0);
        const timespec timeout{left / 1'000'000'000, left % 1'000'000'000};
        pollfd ready{from_, POLLIN, 0};
        const int count = ppoll(&ready, 1, &timeout, &mask_while_waiting());
        check_interrupt();
        if (count == 0) {
            return std::nullopt;
        }
        std::array<char, 512> bytes{};
        const ssize_t got = count > 0 ? read(from_, bytes.data(), bytes.size()) : 0;
        if (count > 0 && got <= 0) {
            return std::nullopt;
        }
        pending_.append(bytes.data(), static_cast<std::size_t>(got));
    }
}

void Child::kill() noexcept {
    close_end(to_);
    close_end(from_);
    if (pid_ >= 0 && !status_) {
        ::kill(pid_, SIGKILL);
        int status = 0;
        waitpid(pid_, &status, 0);
        status_ = status;
        remove_openmp_registration(pid_);
    }
    pid_ = -1;
}

std::optional<int> Child::exit_status() {
    int status = 0;
    // The pipe may have closed a moment before the process is gone.
    for (int attempt = 0; pid_ >= 0 && !status_ && attempt < 20; ++attempt) {
        if (waitpid(pid_, &status, WNOHANG) == pid_ && !WIFSTOPPED(status)) {
            status_ = status;
            break;
        }
        sleep_ns(1'000'000);
    }
    if (!status_) {
        return std::nullopt;
    }
    return WIFEXITED(*status_) ? WEXITSTATUS(*status_) : 128 + WTERMSIG(*status_);
}

} // namespace corymb::bench
