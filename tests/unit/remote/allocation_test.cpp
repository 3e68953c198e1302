// SPDX-License-Identifier: Apache-2.0
// Calls whose arguments fit into a line allocate nothing on either side. This program counts.
#include <corymb/remote.hpp>
#include <corymb/remote_object.hpp>

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <gtest/gtest.h>
#include <new>
#include <thread>

namespace {
std::atomic<long> allocations{0};
} // namespace

void* operator new(std::size_t bytes) {
    allocations.fetch_add(1, std::memory_order_relaxed);
    if (void* const made = std::malloc(bytes == 0 ? 1 : bytes)) {
        return made;
    }
    throw std::bad_alloc();
}
void* operator new(std::size_t bytes, const std::nothrow_t& /*says*/) noexcept {
    allocations.fetch_add(1, std::memory_order_relaxed);
    return std::malloc(bytes == 0 ? 1 : bytes); // Given back below, too.
}
void operator delete(void* place) noexcept {
    std::free(place);
}
void operator delete(void* place, std::size_t /*bytes*/) noexcept {
    std::free(place);
}

namespace corymb {
namespace {

struct Counter {
    long count = 0;
    long add(long by) { return count += by; }
};

Task<> call_often(Remote<Counter> counter, int times) {
    for (int i = 0; i < times; ++i) {
        co_await at(1, [](long a, long b) { return a + b; }, 1L, 2L);
        co_await counter.call<&Counter::add>(1L);
        co_await post(1, [](int) {}, 1);
    }
}

Task<> call_own_often(Remote<Counter> own, int times) {
    for (int i = 0; i < times; ++i) {
        co_await at(0, [](long a, long b) { return a + b; }, 1L, 2L);
        co_await own.call<&Counter::add>(1L);
        co_await own.call([](Counter& of) { return of.count; });
        co_await post(0, [](int) {}, 1);
    }
}

TEST(RemoteCall, OfALineAllocatesNothing) {
    RemoteGroup group(2);
    std::jthread other([&group] {
        group.join(1).run([]() -> Task<> {
            co_return;
        }());
    });
    group.join(0).run([]() -> Task<> {
        const auto counter = co_await create<Counter>(1);
        co_await call_often(counter, 100); // Tables grow, channels are made.
        Task<> calls = call_often(counter, 1000);
        const long before = allocations.load(std::memory_order_relaxed);
        co_await std::move(calls);
        EXPECT_EQ(allocations.load(std::memory_order_relaxed), before);
        const auto own = co_await create<Counter>(0);
        Task<> own_calls = call_own_often(own, 1000);
        const long before_own = allocations.load(std::memory_order_relaxed);
        co_await std::move(own_calls);
        EXPECT_EQ(allocations.load(std::memory_order_relaxed), before_own);
    }());
}

} // namespace
} // namespace corymb
