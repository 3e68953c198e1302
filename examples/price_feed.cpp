// SPDX-License-Identifier: Apache-2.0
// A process publishes prices; two others read them: one must see all, one only recent ones.
#include <corymb/broadcast_ring.hpp>

#include <chrono>
#include <cstdio>
#include <exception>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace {

using namespace std::chrono_literals;

struct Price {
    int item = 0;
    double value = 0;
};

/// The life of a child; returns its exit status.
int read_prices(int descriptor, corymb::BroadcastPolicy policy) {
    try {
        corymb::BroadcastReader reader = corymb::BroadcastRing::open(descriptor).reader(policy);
        unsigned long long seen = 0, missed = 0;
        while (reader.wait(30s)) {
            reader.probe_values<Price>([&](const Price&, const corymb::BroadcastMessage& message) {
                ++seen;
                missed += message.missed;
            });
        }
        std::printf("%s: %llu prices, %llu missed\n",
                    policy == corymb::BroadcastPolicy::block ? "block" : "overrun", seen, missed);
        std::fflush(stdout);
        return reader.at_end() ? 0 : 1;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
}

} // namespace

int main() {
    corymb::BroadcastRing ring({.slots = 256, .between_processes = true});
    const int descriptor = ring.make_descriptor();
    for (const auto policy : {corymb::BroadcastPolicy::block, corymb::BroadcastPolicy::overrun}) {
        if (::fork() == 0) {
            ::_exit(read_prices(descriptor, policy));
        }
    }
    for (int pause = 0; ring.readers().size() < 2 && pause < 10'000; ++pause) {
        std::this_thread::sleep_for(1ms);
    }
    {
        corymb::BroadcastPublisher publisher = ring.publisher();
        for (int item = 0; item < 100'000; ++item) {
            publisher.publish_value(Price{item, 1.5 * item});
        }
    } // Closes the ring.
    int failed = 0;
    for (int status = 0; ::wait(&status) > 0;) {
        failed += status != 0 ? 1 : 0;
    }
    ::close(descriptor);
    return failed;
}
