// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/resource.h>

namespace corymb::base_test {

/// Allows the process no more of a resource (RLIMIT_NOFILE and its like), while it lives.
class ResourceLimit {
public:
    ResourceLimit(int resource, rlim_t most) : resource_(resource) {
        ::getrlimit(static_cast<__rlimit_resource>(resource_), &before_);
        const rlimit now{most, before_.rlim_max};
        ::setrlimit(static_cast<__rlimit_resource>(resource_), &now);
    }
    ResourceLimit(const ResourceLimit&) = delete;
    ResourceLimit& operator=(const ResourceLimit&) = delete;
    ~ResourceLimit() { ::setrlimit(static_cast<__rlimit_resource>(resource_), &before_); }

private:
    int resource_;
    rlimit before_{};
};

} // namespace corymb::base_test
