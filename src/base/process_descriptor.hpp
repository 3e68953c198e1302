// SPDX-License-Identifier: Apache-2.0
// A descriptor of a process (pidfd), one for all watchers in this process: a program may have many
// teams of the same ranks, and needs descriptors of its own.
#pragma once

#include <cstdint>
#include <memory>

namespace corymb {

class ProcessDescriptor {
public:
    struct Opened {
        std::shared_ptr<const ProcessDescriptor> descriptor; ///< Null: there is none.
        int error = 0;                                       ///< The reason if there is none.
    };
    /// A descriptor of the process that has this number now. Errors: ESRCH: there is no such
    /// process; EMFILE: the descriptors that exist are a quarter of the number that this process
    /// may open (RLIMIT_NOFILE); or the kernel's. Thread-safe. Throws std::bad_alloc.
    [[nodiscard]] static Opened open(std::uint32_t pid);

    explicit ProcessDescriptor(int number) noexcept : number_(number) {}
    ProcessDescriptor(const ProcessDescriptor&) = delete;
    ProcessDescriptor& operator=(const ProcessDescriptor&) = delete;
    ~ProcessDescriptor();

    /// For poll(2), which finds it readable once the process has ended.
    [[nodiscard]] int number() const noexcept { return number_; }

private:
    int number_;
};

} // namespace corymb
