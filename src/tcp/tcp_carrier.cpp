// SPDX-License-Identifier: Apache-2.0
// A message is a Frame and its bytes. What finds no room in the kernel waits in a queue by its
// receiver, and what comes before it is received waits in a queue by its channel.
#include <corymb/tcp_carrier.hpp>

#include "base/clock.hpp"
#include "base/descriptor.hpp"
#include "tcp/meeting.hpp"
#include "tcp/socket.hpp"
#include "tcp/tuning.hpp"

#include <corymb/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <deque>
#include <map>
#include <optional>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <thread>
#include <utility>

namespace corymb {

namespace {

using Ticket = Carrier::Ticket;
using Channel = Carrier::Channel;
using Bytes = std::vector<std::byte>;

constexpr Ticket done_at_once = 0;
constexpr Ticket tickets = Ticket{1} << 32; ///< A ticket is its place, and generations of these.

struct Frame {
    std::uint32_t channel = 0;
    std::int32_t mark = 0;
    std::uint64_t bytes = 0;
};

/// A message that has not left as a whole.
struct Leaving {
    Frame frame;
    const std::byte* data;
    std::size_t bytes_gone; ///< Bytes of frame and data.
    Ticket ticket;          ///< `done_at_once`: nobody waits for it.
    Bytes kept;             ///< The data, if its owner has given it up.
};

struct Peer {
    Descriptor socket{-1};
    std::deque<Leaving> leaving;
    bool wants_room = false; ///< The kernel says when it has some.
    // What comes, as far as it has:
    Frame frame;
    std::size_t frame_read = 0;
    Bytes body;
    std::optional<std::string> loss;
    std::int64_t silent_since_ns = 0; ///< First look at which it owed an answer; 0: it owes none.
};

struct Slot {
    enum class State { free, sends, receives, is_done };
    std::uint32_t generation = 0; ///< How often it has been given back.
    State state = State::free;
    std::byte* data = nullptr;
    std::size_t room = 0;
    std::pair<Rank, Channel> from{}; ///< `any_rank` for notices.
    Carrier::Arrival arrival{};
};

struct Come {
    Bytes body;
    int mark;
};
struct Queue {
    std::deque<Come> come;        ///< Nobody has received them yet.
    std::deque<Ticket> receivers; ///< Invariant: one of the two is empty.
};

} // namespace

namespace detail {

struct TcpState {
    TcpState(tcp::JoinLine of_line, const TcpOptions& given)
        : line(std::move(of_line)), node(given.node), options(given) {
        options.node = {};
        if (node.size() > 127 || options.lost_after < std::chrono::seconds(2) ||
            options.lost_after > std::chrono::hours(1)) {
            throw Error(Errc::invalid_argument,
                        "TcpOptions: `node` has at most 127 bytes, and `lost_after` is from 2 s to "
                        "an hour");
        }
        node = node.empty() ? tcp::own_node() : node;
    }

    [[nodiscard]] Peer& peer(Rank rank) { return peers[static_cast<std::size_t>(rank)]; }
    [[nodiscard]] bool is_peer(Rank rank) const noexcept {
        return rank >= 0 && static_cast<std::size_t>(rank) < peers.size() && rank != own;
    }
    void require_peer(Rank rank) const;
    void watch();
    void take_over(tcp::Met met);
    void progress();
    void read_from(Rank from);
    void parse(Rank from, std::span<const std::byte> bytes);
    void arrive(Rank from, Come message);
    static void hand_over(Slot& to, const Come& message);
    void push(Rank to);
    static bool push_first(Peer& to);
    void lose(Rank rank, const std::string& why);
    [[nodiscard]] Ticket take_slot();
    void give_back(Ticket ticket);
    [[nodiscard]] Slot& slot(Ticket ticket) { return slots[ticket % tickets - 1]; }
    [[nodiscard]] bool is_current(Ticket ticket) const noexcept {
        const Ticket place = ticket % tickets;
        return place != 0 && place <= slots.size() &&
               slots[place - 1].generation == ticket / tickets;
    }
    [[noreturn]] void refuse(Rank rank);
    void say_goodbye();

    tcp::JoinLine line;
    std::string text;
    std::string node;
    TcpOptions options; ///< Without `node`.
    Descriptor listener{-1};
    Rank wanted = -1;
    Rank own = -1;
    std::vector<int> node_of_rank;
    Descriptor epoll{-1};
    std::vector<Peer> peers;
    std::map<std::pair<Rank, Channel>, Queue> queues;
    std::vector<Slot> slots;    ///< The place of a ticket counts from 1.
    std::vector<Ticket> unused; ///< Places.
    Bytes read_room;
    std::int64_t watched_ns = 0;
};

void TcpState::take_over(tcp::Met met) {
    epoll = made_descriptor(::epoll_create1(EPOLL_CLOEXEC), "the connections of a rank");
    peers = std::vector<Peer>(met.sockets.size());
    read_room.resize(tcp::tuning::read_bytes);
    for (std::size_t other = 0; other < peers.size(); ++other) {
        peers[other].socket = std::move(met.sockets[other]);
        if (const int socket = peers[other].socket.number(); socket >= 0) {
            tcp::keep_asking(socket, options.lost_after);
            epoll_event wanted_events{};
            wanted_events.events = EPOLLIN;
            wanted_events.data.fd = static_cast<int>(other);
            if (::epoll_ctl(epoll.number(), EPOLL_CTL_ADD, socket, &wanted_events) != 0) {
                throw Error(Errc::io, "a connection cannot be watched: " + tcp::text_of(errno));
            }
        }
    }
    own = met.rank;
    node_of_rank = std::move(met.node_of_rank);
}

Ticket TcpState::take_slot() {
    if (unused.empty()) {
        slots.emplace_back();
        unused.reserve(slots.size()); // Room for all to come back.
        unused.push_back(slots.size());
    }
    const Ticket place = unused.back();
    unused.pop_back();
    return slots[place - 1].generation * tickets + place;
}

void TcpState::give_back(Ticket ticket) {
    Slot& one = slot(ticket);
    const std::uint32_t generation = one.generation + 1;
    one = {};
    one.generation = generation;
    unused.push_back(ticket % tickets);
}

void TcpState::require_peer(Rank rank) const {
    if (!is_peer(rank)) {
        throw Error(Errc::invalid_argument,
                    own < 0 ? "a TcpCarrier has no connections before TcpCarrier::meet"
                            : fmt::format("rank {} is no other rank of this TcpCarrier", rank));
    }
}

void TcpState::refuse(Rank lost) {
    throw Error(Errc::team_broken,
                fmt::format("rank {} cannot be reached: {}", lost, peer(lost).loss.value_or("")),
                {lost});
}

void TcpState::progress() {
    std::array<epoll_event, 64> events{};
    const int count =
        ::epoll_wait(epoll.number(), events.data(), static_cast<int>(events.size()), 0);
    for (int i = 0; i < count; ++i) {
        const auto other = static_cast<Rank>(events[static_cast<std::size_t>(i)].data.fd);
        if ((events[static_cast<std::size_t>(i)].events & EPOLLOUT) != 0) {
            push(other);
        }
        read_from(other); // Also what had come before the connection has failed.
    }
    watch();
}

/// Loses peers whose node answers no more, which the kernel itself notices after many minutes.
void TcpState::watch() {
    const std::int64_t now = now_ns();
    const std::int64_t most = std::chrono::nanoseconds(options.lost_after).count();
    if (now - watched_ns < most / tcp::tuning::looks_of_a_loss) {
        return;
    }
    watched_ns = now;
    for (Rank other = 0; other < static_cast<Rank>(peers.size()); ++other) {
        Peer& one = peer(other);
        if (one.socket.number() < 0) {
            continue;
        }
        const std::chrono::milliseconds silence = tcp::silence_of(one.socket.number());
        if (silence.count() == 0) {
            one.silent_since_ns = 0;
        } else if (one.silent_since_ns == 0) { // Before, nobody had asked it anything.
            one.silent_since_ns = now;
        } else if (silence > options.lost_after && now - one.silent_since_ns >= most) {
            lose(other, tcp::text_of(ETIMEDOUT));
        }
    }
}

/// Sends what the kernel takes.
void TcpState::push(Rank to) {
    Peer& other = peer(to);
    while (!other.leaving.empty() && push_first(other)) {
        if (const Ticket ticket = other.leaving.front().ticket; ticket != done_at_once) {
            slot(ticket).state = Slot::State::is_done;
        }
        other.leaving.pop_front();
    }
    if (other.wants_room == other.leaving.empty()) {
        other.wants_room = !other.leaving.empty();
        epoll_event wanted_events{};
        wanted_events.events = other.wants_room ? EPOLLIN | EPOLLOUT : EPOLLIN;
        wanted_events.data.fd = to;
        ::epoll_ctl(epoll.number(), EPOLL_CTL_MOD, other.socket.number(), &wanted_events);
    }
}

/// Whether it has left as a whole. After a failure it stays: what has come before is still to be
/// read, and then `read_from` finds the failure, too.
bool TcpState::push_first(Peer& to) {
    Leaving& one = to.leaving.front();
    const std::size_t of_frame = std::min(one.bytes_gone, sizeof(Frame));
    const std::size_t of_data = one.bytes_gone - of_frame;
    std::array<iovec, 2> pieces{{
        {reinterpret_cast<std::byte*>(&one.frame) + of_frame, sizeof(Frame) - of_frame},
        {const_cast<std::byte*>(one.data) + of_data, one.frame.bytes - of_data},
    }};
    msghdr message{};
    message.msg_iov = pieces.data();
    message.msg_iovlen = pieces.size();
    const ssize_t some = ::sendmsg(to.socket.number(), &message, MSG_NOSIGNAL);
    one.bytes_gone += static_cast<std::size_t>(std::max<ssize_t>(some, 0));
    return one.bytes_gone == sizeof(Frame) + one.frame.bytes;
}

void TcpState::read_from(Rank from) {
    Peer& other = peer(from);
    if (other.socket.number() < 0) {
        return;
    }
    const ssize_t some = ::recv(other.socket.number(), read_room.data(), read_room.size(), 0);
    if (some > 0) {
        parse(from, std::span(read_room).first(static_cast<std::size_t>(some)));
    } else if (some == 0) {
        lose(from, "its process has ended");
    } else if (errno != EAGAIN && errno != EINTR) {
        lose(from, tcp::text_of(errno));
    }
}

void TcpState::parse(Rank from, std::span<const std::byte> bytes) {
    Peer& other = peer(from);
    while (!bytes.empty()) {
        if (other.frame_read < sizeof(Frame)) {
            const std::size_t some = std::min(bytes.size(), sizeof(Frame) - other.frame_read);
            std::memcpy(reinterpret_cast<std::byte*>(&other.frame) + other.frame_read, bytes.data(),
                        some);
            other.frame_read += some;
            bytes = bytes.subspan(some);
            if (other.frame_read < sizeof(Frame)) {
                return;
            }
        }
        const auto some =
            bytes.first(std::min<std::size_t>(bytes.size(), other.frame.bytes - other.body.size()));
        other.body.insert(other.body.end(), some.begin(), some.end());
        bytes = bytes.subspan(some.size());
        if (other.body.size() == other.frame.bytes) {
            other.frame_read = 0;
            arrive(from, {std::exchange(other.body, {}), other.frame.mark});
        }
    }
}

void TcpState::arrive(Rank from, Come message) {
    const auto channel = static_cast<Channel>(peer(from).frame.channel);
    Queue& queue = queues[{channel == Channel::notices ? Carrier::any_rank : from, channel}];
    if (queue.receivers.empty()) {
        queue.come.push_back(std::move(message));
    } else {
        hand_over(slot(queue.receivers.front()), message);
        queue.receivers.pop_front();
    }
}

void TcpState::hand_over(Slot& to, const Come& message) {
    if (const std::size_t bytes = std::min(to.room, message.body.size()); bytes != 0) {
        std::memcpy(to.data, message.body.data(), bytes);
    }
    to.state = Slot::State::is_done;
    to.arrival = {message.body.size(), message.mark};
}

void TcpState::lose(Rank lost, const std::string& why) {
    Peer& other = peer(lost);
    other.loss = why;
    for (const Leaving& one : other.leaving) {
        if (one.ticket != done_at_once && slot(one.ticket).from.second == Channel::notices) {
            slot(one.ticket).state = Slot::State::is_done; // Dropped.
        }
    }
    other.leaving.clear();
    other.wants_room = false;
    other.body = {};
    ::epoll_ctl(epoll.number(), EPOLL_CTL_DEL, other.socket.number(), nullptr);
    other.socket.close();
}

/// Peers get what was sent, and then the end of the connection.
void TcpState::say_goodbye() {
    const tcp::Moment end = now_ns() + tcp::tuning::farewell_ns;
    bool is_over = false;
    while (!is_over && now_ns() < end) {
        is_over = true;
        for (Rank other = 0; other < static_cast<Rank>(peers.size()); ++other) {
            Peer& one = peer(other);
            if (one.socket.number() < 0) {
                continue;
            }
            push(other);
            if (one.leaving.empty()) {
                ::shutdown(one.socket.number(), SHUT_WR);
            }
            // What a peer's kernel has is not lost when this one refuses the peer's last messages.
            is_over = is_over && one.leaving.empty() && tcp::has_delivered(one.socket.number());
        }
        if (!is_over) {
            std::this_thread::sleep_for(std::chrono::nanoseconds(tcp::tuning::farewell_nap_ns));
        }
    }
}

} // namespace detail

TcpCarrier::TcpCarrier(int size, std::string_view host, const TcpOptions& options) {
    if (size < 1 || host.empty() || host.size() > 255) {
        throw Error(Errc::invalid_argument,
                    "a TcpCarrier needs a number of ranks and the name or address of this host");
    }
    state_ =
        std::make_unique<detail::TcpState>(tcp::JoinLine{size, tcp::random_key(), {}}, options);
    state_->wanted = 0;
    state_->listener = tcp::listen_at(std::string(host), size);
    const tcp::Place here = tcp::place_of(state_->listener.number());
    if (tcp::is_loopback(state_->listener.number()) && here.host != host && host != "localhost") {
        throw Error(Errc::invalid_argument,
                    fmt::format("{} is {} on this node, which no other one reaches; give an "
                                "address of its network (/etc/hosts may have the name)",
                                host, here.host));
    }
    state_->line.at = {std::string(host), here.port};
    state_->text = tcp::to_text(state_->line);
}

TcpCarrier::TcpCarrier(std::string_view join_line, Rank rank, const TcpOptions& options)
    : state_(std::make_unique<detail::TcpState>(tcp::join_line_from(join_line), options)) {
    state_->wanted = rank == 0 ? state_->line.size : rank; // There is a rank 0: it refuses that.
    state_->text = join_line;
}

TcpCarrier::~TcpCarrier() {
    state_->say_goodbye();
}

void TcpCarrier::meet() {
    const tcp::Moment end = now_ns() + bounded_ns(state_->options.deadline);
    if (state_->own >= 0) {
        throw Error(Errc::invalid_argument, "TcpCarrier::meet is called once");
    }
    state_->take_over(
        state_->wanted == 0
            ? tcp::meet_all(state_->line, state_->listener.number(), state_->node, end)
            : tcp::meet_first(state_->line, state_->wanted, state_->node, end));
    state_->listener.close();
}

const std::string& TcpCarrier::join_line() const noexcept {
    return state_->text;
}

Rank TcpCarrier::rank() const noexcept {
    return state_->own;
}

const std::vector<int>& TcpCarrier::node_of_rank() const noexcept {
    return state_->node_of_rank;
}

int TcpCarrier::lanes() const noexcept {
    return 8;
}

int TcpCarrier::own_lanes() const noexcept {
    return 512;
}

bool TcpCarrier::has_notices() const noexcept {
    return true;
}

int TcpCarrier::wait_descriptor() const noexcept {
    return state_->epoll.number();
}

Ticket TcpCarrier::send(const void* data, std::size_t bytes, Rank to, Channel channel, int mark) {
    state_->require_peer(to);
    Peer& peer = state_->peer(to);
    if (peer.loss) {
        if (channel == Channel::notices) {
            return done_at_once;
        }
        state_->refuse(to);
    }
    const Frame frame{static_cast<std::uint32_t>(channel), mark, bytes};
    peer.leaving.push_back({frame, static_cast<const std::byte*>(data), 0, done_at_once, {}});
    if (peer.leaving.size() == 1) {
        state_->push(to);
    }
    if (peer.leaving.empty()) {
        return done_at_once;
    }
    const Ticket ticket = state_->take_slot();
    state_->slot(ticket).state = Slot::State::sends;
    state_->slot(ticket).from = {to, channel};
    peer.leaving.back().ticket = ticket;
    return ticket;
}

Ticket TcpCarrier::receive(void* data, std::size_t room, Rank from, Channel channel) {
    const Rank sender = channel == Channel::notices ? any_rank : from;
    if (sender != any_rank) {
        state_->require_peer(sender);
    }
    const Ticket ticket = state_->take_slot();
    Slot& slot = state_->slot(ticket);
    slot.state = Slot::State::receives;
    slot.data = static_cast<std::byte*>(data);
    slot.room = room;
    slot.from = {sender, channel};
    Queue& queue = state_->queues[slot.from];
    if (queue.come.empty()) {
        queue.receivers.push_back(ticket);
    } else {
        state_->hand_over(slot, queue.come.front());
        queue.come.pop_front();
    }
    return ticket;
}

bool TcpCarrier::test(Ticket ticket, Arrival& arrival) {
    if (ticket == done_at_once) {
        return true;
    }
    if (!state_->is_current(ticket)) {
        throw Error(Errc::invalid_argument, "this ticket has been used up");
    }
    if (state_->slot(ticket).state != Slot::State::is_done) {
        state_->progress();
    }
    Slot& slot = state_->slot(ticket);
    if (slot.state == Slot::State::is_done) {
        arrival = slot.arrival;
        state_->give_back(ticket);
        return true;
    }
    const Rank other = slot.from.first;
    if (other != any_rank && state_->peer(other).loss) {
        abandon(ticket);
        state_->refuse(other);
    }
    return false;
}

void TcpCarrier::abandon(Ticket ticket) noexcept {
    if (!state_->is_current(ticket)) {
        return;
    }
    Slot& slot = state_->slot(ticket);
    if (slot.state == Slot::State::receives) {
        std::erase(state_->queues[slot.from].receivers, ticket);
    } else if (slot.state == Slot::State::sends) {
        for (Leaving& one : state_->peer(slot.from.first).leaving) {
            if (one.ticket == ticket) { // The peer has begun to read it, maybe.
                one.kept.assign(one.data, one.data + one.frame.bytes);
                one.data = one.kept.data();
                one.ticket = done_at_once;
            }
        }
    }
    state_->give_back(ticket);
}

const std::string* TcpCarrier::loss_of(Rank rank) noexcept {
    if (!state_->is_peer(rank)) {
        return nullptr;
    }
    const auto& loss = state_->peer(rank).loss;
    return loss ? &*loss : nullptr;
}

} // namespace corymb
