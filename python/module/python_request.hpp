// SPDX-License-Identifier: Apache-2.0
// corymb.Request of Python.
#pragma once

#include "team_handle.hpp"

#include <cstddef>
#include <memory>
#include <vector>

namespace corymb::python {

/// A request with what its operation needs. One that is dropped goes to its team.
class PythonRequest {
public:
    PythonRequest(std::shared_ptr<Handle> handle, Request request, std::unique_ptr<Keep> keep)
        : handle_(std::move(handle)), request_(std::move(request)), keep_(std::move(keep)) {}
    PythonRequest(PythonRequest&&) noexcept = default;
    PythonRequest& operator=(PythonRequest&&) = delete;
    ~PythonRequest();

    [[nodiscard]] bool test();
    void wait();
    [[nodiscard]] bool cancel();
    void start();
    [[nodiscard]] bool is_active() const noexcept { return request_.is_active(); }
    [[nodiscard]] bool is_persistent() const noexcept { return request_.is_persistent(); }

    /// Index of one that is done and now complete, or `no_request` when none is active.
    static std::size_t wait_any(const std::vector<PythonRequest*>& requests);

private:
    /// The operation is over: its buffers are free again.
    void let_go() noexcept;

    std::shared_ptr<Handle> handle_;
    Request request_;
    std::unique_ptr<Keep> keep_;
};

void bind_request(nb::module_& module);

} // namespace corymb::python
