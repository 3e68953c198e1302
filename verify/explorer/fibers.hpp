// SPDX-License-Identifier: Apache-2.0
// The threads of a world are fibers on one operating-system thread, so that the explorer decides
// who runs. A fiber that is not finished is simply left: its stack is reused, nothing is unwound,
// since lock-free code is noexcept. Bodies must therefore own no heap memory on their stack.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <ucontext.h>
#include <vector>

namespace corymb::verify {

class Fibers {
public:
    /// Prepares `count` fibers; fiber i will run body(i), which must not return.
    void prepare(int count, std::function<void(int)> body);
    /// From the main stack: runs fiber `first` until some fiber calls `leave`.
    void enter(int first);
    /// From a fiber: lets `next` go on; returns when somebody switches back.
    void switch_to(int next);
    /// From a fiber: back to the main stack, for good.
    [[noreturn]] void leave();

private:
    static constexpr std::size_t stack_bytes = std::size_t{256} * 1024;
    struct Fiber {
        ucontext_t context{};
        std::unique_ptr<std::byte[]> stack;
    };

    static void trampoline(unsigned low, unsigned high, unsigned index);

    std::vector<Fiber> fibers_;
    ucontext_t main_{};
    int running_ = -1;
    std::function<void(int)> body_;
};

} // namespace corymb::verify
