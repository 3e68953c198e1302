// SPDX-License-Identifier: Apache-2.0
// src/remote/outgoing.hpp and long_messages.hpp: ranks that call each other through rings of one
// slot all get their answers, because none waits for room without reading. A rank sleeps for
// messages and for room at once, as the scheduler does. Time limits never expire here, so whoever
// is not woken is a deadlock.
#include "channel/event_counts.hpp"
#include "channel/look_once.hpp"
#include "channel/message_ring.hpp"
#include "explorer/env.hpp"
#include "explorer/run_worlds.hpp"
#include "remote/long_messages.hpp"
#include "remote/outgoing.hpp"
#include "worlds/owned.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

namespace {

using namespace corymb::verify;
using corymb::Rank;
using corymb::channel::LookOnce;
using corymb::channel::SlotMessage;
using corymb::channel::SlotShape;
using corymb::detail::CallHeader;
using corymb::detail::LongMessages;
using corymb::detail::Outgoing;
using Ring = corymb::channel::MessageRing<ExplorerEnv>;

enum class Bug : std::uint8_t { none, waits_without_reading, sleeps_without_room, wakes_no_sender };

/// A header and the length of a long message.
constexpr std::size_t most = sizeof(CallHeader) + CallHeader::long_bytes;
/// A call that is cut in two, if it has arguments.
constexpr std::size_t arguments = 16;

/// Messages from one rank to the other.
struct Way {
    static constexpr SlotShape shape = SlotShape::of(1, most);
    Owned<Ring, 384> ring{shape};
    corymb::channel::MessageSender<ExplorerEnv> sender{ring.object, shape};
    corymb::channel::MessageReceiver<ExplorerEnv> receiver{ring.object, shape};
};

/// Each of two ranks calls the other so often, and answers its calls.
template <int Calls, bool has_arguments, Bug bug = Bug::none>
struct EachOther {
    static constexpr int threads = 2;
    std::array<Way, threads> way; ///< By sender.
    std::array<corymb::channel::EventCount<ExplorerEnv>, threads> messages;
    std::array<corymb::channel::EventCount<ExplorerEnv, corymb::channel::Sleepers::many>, threads>
        room; ///< By receiver.

    void run(int thread) { Caller(*this, thread).run(); }

private:
    class Caller {
    public:
        Caller(EachOther& of, Rank number)
            : world_(&of), own_(static_cast<std::size_t>(number)), other_(1 - own_) {}

        void run() {
            for (int i = 0; i < Calls; ++i) {
                send(CallHeader::request, has_arguments ? arguments : 0);
            }
            const auto look = [this] {
                return this->look();
            };
            while (!is_over()) {
                corymb::channel::EventCounts<ExplorerEnv> all;
                all.add(world_->messages.at(own_));
                if (!outgoing_.is_empty() && bug != Bug::sleeps_without_room) {
                    all.add(world_->room.at(other_));
                }
                require(all.park(
                            look, [] { return false; }, [] { return 1'000'000'000; }),
                        "nobody says stop");
            }
            require(answers_ == Calls && served_ == Calls, "each call has one answer");
        }

        // As a Transport.
        [[nodiscard]] static std::size_t message_bytes(Rank /*to*/) { return most; }
        template <class Fill>
        bool send_in_place(Rank /*to*/, std::size_t bytes, const Fill& fill) {
            LookOnce now;
            auto& sender = world_->way.at(own_).sender;
            std::byte* const place = sender.reserve(now, bytes);
            if (place == nullptr) {
                return false;
            }
            sender.commit(fill(std::span(place, bytes)));
            world_->messages.at(other_).wake_if_parked();
            return true;
        }

    private:
        [[nodiscard]] Rank other() const { return static_cast<Rank>(other_); }
        [[nodiscard]] bool is_over() const {
            return answers_ == Calls && served_ == Calls && outgoing_.is_empty();
        }
        /// As RemoteState::send.
        void send(CallHeader::Kind kind, std::size_t bytes) {
            CallHeader header;
            header.kind = kind;
            std::vector<std::byte> message(sizeof header + bytes, std::byte{7});
            std::memcpy(message.data(), &header, sizeof header);
            const auto fill = [&message](std::span<std::byte> place) {
                std::memcpy(place.data(), message.data(), message.size());
                return message.size();
            };
            if constexpr (bug == Bug::waits_without_reading) {
                wait_for_room();
            }
            if (message.size() > most || outgoing_.has(other()) ||
                !send_in_place(other(), message.size(), fill)) {
                outgoing_.push(other(), {std::move(message)});
            }
        }
        void wait_for_room() {
            const auto has_room = [this] {
                LookOnce now;
                return world_->way.at(own_).sender.has_room(now);
            };
            static_cast<void>(world_->room.at(other_).park(
                has_room, [] { return false; }, [] { return 1'000'000'000; }));
        }
        /// As RemoteState::look, and MailboxState::drain in it.
        bool look() {
            if (!outgoing_.is_empty()) {
                outgoing_.flush(*this, [](Rank, const std::exception_ptr&) {
                    require(false, "no rank has gone");
                });
            }
            LookOnce now;
            SlotMessage message;
            auto& receiver = world_->way.at(other_).receiver;
            bool has_some = false;
            while (receiver.receive(now, message)) {
                has_some = true;
                incoming_.receive(
                    other(), std::span(message.bytes, message.length),
                    [this](const CallHeader& header, auto body) { take(header, body.size()); });
                receiver.release();
            }
            receiver.settle();
            if (has_some && bug != Bug::wakes_no_sender) {
                world_->room.at(own_).wake_if_parked();
            }
            return has_some || is_over();
        }
        void take(const CallHeader& header, std::size_t bytes) {
            if (header.kind == CallHeader::answer) {
                require(bytes == 0, "answers are short");
                ++answers_;
                return;
            }
            require(bytes == (has_arguments ? arguments : 0), "a call comes whole");
            ++served_;
            send(CallHeader::answer, 0);
        }

        EachOther* world_;
        std::size_t own_, other_;
        Outgoing outgoing_;
        LongMessages incoming_;
        int answers_ = 0;
        int served_ = 0;
    };
};

} // namespace

int main(int argc, char** argv) {
    return run_worlds(
        argc, argv,
        {
            holds<EachOther<1, false>>("each other: one call, 1 preemption",
                                       {.preemptions_max = 1}),
            holds<EachOther<2, false>>("each other: two calls, random walks",
                                       {.executions_max = 2'000, .random = true}),
            holds<EachOther<1, true>>("each other: one long call, random walks",
                                      {.executions_max = 2'000, .random = true}),
            holds<EachOther<3, true>>("each other: three long calls, random walks",
                                      {.executions_max = 2'000, .random = true}),
            holds_large<EachOther<1, false>>("each other: one call, 2 preemptions",
                                             {.preemptions_max = 2}),
            holds_large<EachOther<3, true>>("each other: three long calls, many random walks",
                                            {.executions_max = 20'000, .random = true}),
            caught<EachOther<2, false, Bug::waits_without_reading>>(
                "each other: waits for room without reading"),
            caught<EachOther<2, false, Bug::sleeps_without_room>>(
                "each other: sleeps for messages only"),
            caught<EachOther<2, false, Bug::wakes_no_sender>>("each other: wakes no sender"),
        });
}
