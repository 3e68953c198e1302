// SPDX-License-Identifier: Apache-2.0
#include "team/line_probe.hpp"

#include "base/clock.hpp"
#include "base/copy_bytes.hpp"
#include "channel/patience.hpp"

#include <algorithm>
#include <limits>
#include <thread>
#include <vector>

namespace corymb::team {

namespace {

using Ring = LineProbe::Ring;
constexpr std::size_t probe_bytes = LineProbe::message_bytes;

/// A waiter that never sleeps: a rank that sleeps is not there in time.
class Spinner {
public:
    template <class T, class Predicate>
    bool await(const channel::StandardEnv::Atomic<T>& word, std::memory_order order,
               const Predicate& satisfied, T& seen) {
        constexpr int looks = 1000; // Between two looks at the clock.
        for (;;) {
            for (int look = 0; look < looks; ++look) {
                seen = word.load(order);
                if (satisfied(seen)) {
                    return true;
                }
                channel::cpu_pause();
            }
            if (now_ns() >= deadline_) {
                return false;
            }
            std::this_thread::yield();
        }
    }

private:
    static constexpr std::int64_t patience_ns = 20'000'000;
    std::int64_t deadline_ = now_ns() + patience_ns;
};

} // namespace

double probe_lines(LineProbe& probe, std::size_t side) {
    constexpr int messages = 8; // Handover looks for a way past the caches behind so many.
    constexpr int warm_after = 3;
    constexpr double copies = 4; // In a round trip, one after the other.
    channel::SlotSender<channel::StandardEnv, Ring> sender(probe.ring[side]);
    channel::SlotReceiver<channel::StandardEnv, Ring> receiver(probe.ring[1 - side]);
    const std::vector<std::byte> own(probe_bytes, std::byte{1});
    std::vector<std::byte> other(probe_bytes);
    Spinner waiter;
    std::int64_t least = std::numeric_limits<std::int64_t>::max();
    for (int message = 0; message < messages; ++message) {
        const std::int64_t begin = now_ns();
        std::uint64_t word = 0;
        if (!sender.send(waiter, own.data(), probe_bytes, receiver.consumed())) {
            return 0;
        }
        const std::byte* const payload = receiver.receive(waiter, probe_bytes, word);
        if (payload == nullptr) {
            return 0;
        }
        sender.accept_credit(word);
        copy_bytes(other.data(), payload, probe_bytes);
        receiver.release();
        if (message >= warm_after) {
            least = std::min(least, now_ns() - begin);
        }
    }
    return static_cast<double>(least) / (copies * static_cast<double>(probe_bytes));
}

} // namespace corymb::team
