// SPDX-License-Identifier: Apache-2.0
// A call of a collective as it comes from the program.
#pragma once

#include "below/host.hpp"
#include "operations.hpp"

#include <cstdint>

namespace corymb::mpi {

enum class Form : std::uint8_t { blocking, nonblocking, persistent };

/// Makes this call in the MPI below; not owning.
class MpiFunction {
public:
    template <class F>
    explicit MpiFunction(F& call) noexcept
        : self_(&call), call_([](void* self) { return (*static_cast<F*>(self))(); }) {}
    int operator()() const { return call_(self_); }

private:
    void* self_;
    int (*call_)(void*);
};

struct Call {
    Operation operation;
    Form form;
    MpiFunction below;
    MPI_Request* request = nullptr; ///< The request of the nonblocking and persistent forms.
};

} // namespace corymb::mpi
