// SPDX-License-Identifier: Apache-2.0
#include "rival.hpp"

#include <corymb/multicast.hpp>

#include <atomic>
#include <condition_variable>
#include <cstring>
#include <linux/membarrier.h>
#include <mutex>
#include <optional>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>

namespace corymb::bench {

namespace {

using std::chrono::milliseconds;

std::size_t index(int rank) {
    return static_cast<std::size_t>(rank);
}

/// What each member has been told last, a line each.
class Notes {
public:
    explicit Notes(int threads) : lines_(index(threads)) {}
    void put(int rank, std::uint64_t value) {
        lines_[index(rank)].value.store(value, std::memory_order_relaxed);
    }
    [[nodiscard]] bool has(int rank, std::uint64_t value) const {
        return lines_[index(rank)].value.load(std::memory_order_relaxed) == value;
    }

private:
    struct alignas(128) Line {
        std::atomic<std::uint64_t> value{0};
    };
    std::vector<Line> lines_;
};

class Noting : public Rival {
public:
    explicit Noting(const MulticastCase& what) : what_(what), notes_(what.threads) {}
    [[nodiscard]] bool has_noted(int rank, std::uint64_t value) const override {
        return notes_.has(rank, value);
    }

protected:
    [[nodiscard]] const MulticastCase& what() const { return what_; }
    [[nodiscard]] bool sleeps() const { return what_.regime == Regime::asleep; }
    void note(int rank, std::uint64_t value) { notes_.put(rank, value); }

private:
    const MulticastCase what_;
    Notes notes_;
};

class CorymbGroup final : public Noting {
public:
    CorymbGroup(const MulticastCase& what, const MulticastOptions& options)
        : Noting(what), group_(what.threads, options), places_(index(what.threads)),
          caller_(group_.initiator(0)) {}

    void enter(int rank) override {
        places_[index(rank)].emplace(group_.initiator(rank, [this, rank](auto message) {
            std::uint64_t value = 0;
            std::memcpy(&value, message.data(), sizeof value);
            note(rank, value);
        }));
        places_[index(rank)]->join();
    }
    void leave(int rank) override { places_[index(rank)].reset(); }
    void look(int rank) override {
        Multicast& own = *places_[index(rank)];
        static_cast<void>(sleeps() ? own.sleep(milliseconds(1)) : own.poll());
    }
    void call(std::uint64_t value) override { caller_.send(value).wait(); }

private:
    MulticastGroup group_;
    std::vector<std::optional<Multicast>> places_;
    Multicast caller_;
};

/// A generation that all wait for, and a counter of those that have not seen it.
class ConditionVariable final : public Noting {
public:
    using Noting::Noting;

    void look(int rank) override {
        std::unique_lock lock(mutex_);
        const auto is_new = [&] {
            return !has_noted(rank, generation_);
        };
        if (told_.wait_for(lock, milliseconds(1), is_new)) {
            note(rank, generation_);
            if (--left_ == 0) {
                done_.notify_one();
            }
        }
    }
    void call(std::uint64_t value) override {
        std::unique_lock lock(mutex_);
        generation_ = value;
        left_ = what().members.size();
        told_.notify_all();
        done_.wait(lock, [&] { return left_ == 0; });
    }

private:
    std::mutex mutex_;
    std::condition_variable told_, done_;
    std::uint64_t generation_ = 0;
    std::size_t left_ = 0;
};

/// A flag for each member, which it answers in the same line.
class Flags final : public Noting {
public:
    explicit Flags(const MulticastCase& what) : Noting(what), lines_(index(what.threads)) {}

    void look(int rank) override {
        Line& own = lines_[index(rank)];
        const std::uint64_t asked = own.asked.load(std::memory_order_acquire);
        if (asked != own.answered.load(std::memory_order_relaxed)) {
            note(rank, asked);
            own.answered.store(asked, std::memory_order_release);
            if (sleeps()) {
                own.answered.notify_one();
            }
        } else if (sleeps()) {
            own.asked.wait(asked, std::memory_order_relaxed);
        }
    }
    void stop() override {
        for (const int rank : what().members) {
            lines_[index(rank)].asked.store(~std::uint64_t{0}, std::memory_order_release);
            lines_[index(rank)].asked.notify_one();
        }
    }
    void call(std::uint64_t value) override {
        for (const int rank : what().members) {
            Line& line = lines_[index(rank)];
            line.asked.store(value, std::memory_order_release);
            if (sleeps()) {
                line.asked.notify_one();
            }
        }
        for (const int rank : what().members) {
            await(lines_[index(rank)].answered, value);
        }
    }

private:
    struct alignas(128) Line {
        std::atomic<std::uint64_t> asked{0};
        std::atomic<std::uint64_t> answered{0};
    };

    void await(std::atomic<std::uint64_t>& answer, std::uint64_t value) const {
        for (int looks = 1;; ++looks) {
            const std::uint64_t seen = answer.load(std::memory_order_acquire);
            if (seen == value) {
                return;
            }
            if (sleeps()) {
                answer.wait(seen, std::memory_order_acquire);
            } else if (looks % 64 == 0) {
                std::this_thread::yield();
            }
        }
    }

    std::vector<Line> lines_;
};

/// The kernel interrupts whoever runs. Nothing is run there: it is a fence, not a call.
class Membarrier final : public Noting {
public:
    explicit Membarrier(const MulticastCase& what) : Noting(what) {
        ::syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0);
    }
    void look(int /*rank*/) override {
        if (sleeps()) {
            std::this_thread::sleep_for(milliseconds(1));
        }
    }
    void call(std::uint64_t /*value*/) override {
        ::syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
    }
    [[nodiscard]] bool has_noted(int /*rank*/, std::uint64_t /*value*/) const override {
        return true;
    }
};

bool always(const MulticastCase& /*what*/) {
    return true;
}

Contestant corymb_with(const std::string& name, const MulticastOptions& options) {
    return {name, true, always, [options](const MulticastCase& what) {
                return std::make_unique<CorymbGroup>(what, options);
            }};
}

template <class T>
Contestant plain(const std::string& name, std::function<bool(const MulticastCase&)> takes_part) {
    return {name, false, std::move(takes_part), [](const MulticastCase& what) {
                return std::make_unique<T>(what);
            }};
}

} // namespace

std::vector<Contestant> multicast_contestants() {
    const auto options = [](MulticastTopology topology, bool skipping) {
        MulticastOptions chosen;
        chosen.topology = topology;
        chosen.skipping = skipping;
        return chosen;
    };
    const auto by_messages = [&](MulticastTopology topology) {
        MulticastOptions chosen = options(topology, true);
        chosen.acknowledgement = MulticastAcknowledgement::messages;
        return chosen;
    };
    return {
        corymb_with("corymb", {}),
        corymb_with("corymb flat", options(MulticastTopology::flat, true)),
        corymb_with("corymb flat, helping", options(MulticastTopology::flat, false)),
        corymb_with("corymb binary tree, helping", options(MulticastTopology::binary, false)),
        corymb_with("corymb binary tree, skipping", options(MulticastTopology::binary, true)),
        corymb_with("corymb flat, answers as messages", by_messages(MulticastTopology::flat)),
        corymb_with("corymb binary tree, answers as messages",
                    by_messages(MulticastTopology::binary)),
        plain<ConditionVariable>(
            "condition variable",
            [](const MulticastCase& what) { return what.regime == Regime::asleep; }),
        plain<Flags>("flag for each thread", always),
        plain<Membarrier>("membarrier, no call", always),
    };
}

} // namespace corymb::bench
