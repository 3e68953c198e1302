// SPDX-License-Identifier: Apache-2.0
#include "base/limit_text.hpp"

#include <cerrno>
#include <cstring>
#include <sys/resource.h>

namespace corymb {

namespace {

/// "; WHAT NUMBER UNIT (ulimit -FLAG)", or nothing where there is no such limit.
std::string limit_text(decltype(RLIMIT_AS) resource, rlim_t unit, const char* what,
                       const char* behind) {
    rlimit limit{};
    if (::getrlimit(resource, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) {
        return {};
    }
    return std::string("; ") + what + std::to_string(limit.rlim_cur / unit) + behind;
}

} // namespace

std::string reason_with_limit(int error) {
    std::string reason = std::strerror(error);
    constexpr rlim_t kibibyte = 1024;
    switch (error) {
    case EMFILE:
        return reason + limit_text(RLIMIT_NOFILE, 1, "this process may open ", " (ulimit -n)");
    case EFBIG:
        return reason + limit_text(RLIMIT_FSIZE, kibibyte, "this process may write files of ",
                                   " KiB (ulimit -f)");
    case ENOMEM:
        return reason + limit_text(RLIMIT_AS, kibibyte, "this process may have ",
                                   " KiB of addresses (ulimit -v)");
    case EAGAIN:
        return reason + limit_text(RLIMIT_NPROC, 1, "this user may have ",
                                   " processes and threads (ulimit -u)");
    default: return reason;
    }
}

} // namespace corymb
