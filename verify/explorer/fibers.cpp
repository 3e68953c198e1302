// SPDX-License-Identifier: Apache-2.0
#include "explorer/fibers.hpp"

#include <cstdint>
#include <exception>
#include <utility>

#if defined(__SANITIZE_ADDRESS__)
#define CORYMB_VERIFY_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define CORYMB_VERIFY_ASAN 1
#endif
#endif
#ifdef CORYMB_VERIFY_ASAN
#include <sanitizer/asan_interface.h>
#endif

namespace corymb::verify {

namespace {

/// Frames that were left behind poisoned their red zones.
void make_clean([[maybe_unused]] std::byte* stack, [[maybe_unused]] std::size_t bytes) {
#ifdef CORYMB_VERIFY_ASAN
    __asan_unpoison_memory_region(stack, bytes);
#endif
}

} // namespace

void Fibers::trampoline(unsigned low, unsigned high, unsigned index) {
    // makecontext passes ints, so the pointer comes in two halves.
    const auto bits = static_cast<std::uintptr_t>(low) | (static_cast<std::uintptr_t>(high) << 32);
    reinterpret_cast<Fibers*>(bits)->body_(static_cast<int>(index));
    std::terminate();
}

void Fibers::prepare(int count, std::function<void(int)> body) {
    body_ = std::move(body);
    fibers_.resize(static_cast<std::size_t>(count));
    const auto self = reinterpret_cast<std::uintptr_t>(this);
    unsigned index = 0;
    for (Fiber& fiber : fibers_) {
        if (!fiber.stack) {
            fiber.stack = std::make_unique_for_overwrite<std::byte[]>(stack_bytes);
        }
        make_clean(fiber.stack.get(), stack_bytes);
        getcontext(&fiber.context);
        fiber.context.uc_stack.ss_sp = fiber.stack.get();
        fiber.context.uc_stack.ss_size = stack_bytes;
        fiber.context.uc_link = nullptr;
        makecontext(&fiber.context, reinterpret_cast<void (*)()>(trampoline), 3,
                    static_cast<unsigned>(self & 0xffffffffu), static_cast<unsigned>(self >> 32),
                    index++);
    }
}

void Fibers::enter(int first) {
    running_ = first;
    swapcontext(&main_, &fibers_[static_cast<std::size_t>(first)].context);
    running_ = -1;
}

void Fibers::switch_to(int next) {
    if (next == running_) {
        return;
    }
    Fiber& from = fibers_[static_cast<std::size_t>(running_)];
    running_ = next;
    swapcontext(&from.context, &fibers_[static_cast<std::size_t>(next)].context);
}

void Fibers::leave() {
    setcontext(&main_);
    std::terminate();
}

} // namespace corymb::verify
