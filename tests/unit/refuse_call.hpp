// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdexcept>
#include <sys/prctl.h>

namespace corymb {

/// From now on this system call of the process has an outcome of seccomp(2).
inline void filter_call(std::uint32_t number, std::uint32_t outcome) {
    sock_filter rules[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, outcome),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const sock_fprog filter{static_cast<unsigned short>(std::size(rules)), rules};
    if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0) {
        throw std::runtime_error("the filter is not accepted");
    }
}

/// From now on this system call of the process fails, as in containers that do not allow it.
inline void refuse_call(std::uint32_t number, std::uint32_t error = EPERM) {
    filter_call(number, SECCOMP_RET_ERRNO | error);
}

/// From now on this system call ends the process.
inline void die_of_call(std::uint32_t number) {
    filter_call(number, SECCOMP_RET_KILL_PROCESS);
}

} // namespace corymb
