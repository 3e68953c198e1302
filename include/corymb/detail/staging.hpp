// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <corymb/export.hpp>

namespace corymb::detail {

/// Work of a request on the caller's side before and after its operation, with memory that it
/// keeps.
class CORYMB_EXPORT Staging {
public:
    Staging() = default;
    Staging(const Staging&) = delete;
    Staging& operator=(const Staging&) = delete;
    virtual ~Staging();

    virtual void before() = 0; ///< Each time that it starts.
    virtual void after() = 0;  ///< When it is completed without an error.
};

} // namespace corymb::detail
