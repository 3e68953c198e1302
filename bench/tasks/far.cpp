// SPDX-License-Identifier: Apache-2.0
#include "row.hpp"

#include <corymb/remote.hpp>
#include <corymb/remote_nodes.hpp>
#include <corymb/tcp_carrier.hpp>

#include <arpa/inet.h>
#include <cstddef>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdexcept>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace corymb::bench {

namespace {

constexpr int rounds = 11;
constexpr int calls = 2'000;

Task<> call_in_rounds(std::vector<double>* ns) {
    if (here() != 0) {
        co_return;
    }
    for (int round = 0; round <= rounds; ++round) {
        const auto begin = Clock::now();
        for (int i = 0; i < calls; ++i) {
            co_await at(1, [](long sent) { return sent + 1; }, 1L);
        }
        if (round != 0) { // The first one warms up.
            ns->push_back(ns_since(begin) / calls);
        }
    }
}

Row over_tcp() {
    std::vector<double> ns;
    TcpCarrier first(2, "127.0.0.1");
    const auto be = [&ns](TcpCarrier& carrier) {
        carrier.meet();
        RemoteRank own = join_over_nodes(carrier, {0, 1}, carrier.rank());
        own.run(call_in_rounds(&ns));
    };
    std::jthread second([&] {
        TcpCarrier carrier(first.join_line());
        be(carrier);
    });
    be(first);
    second.join();
    return {"tcp", 2, quartiles(ns)};
}

void require(bool is_right) {
    if (!is_right) {
        throw std::runtime_error("there is no connection over loopback");
    }
}

/// As many bytes as such a call and its answer have, there and back.
void exchange(int socket, std::size_t messages, bool begins) {
    std::byte message[48]{};
    for (std::size_t i = 0; i < messages; ++i) {
        require(!begins || ::send(socket, message, sizeof message, MSG_NOSIGNAL) > 0);
        ssize_t some = 0;
        while ((some = ::recv(socket, message, sizeof message, MSG_DONTWAIT)) < 0) {
            std::this_thread::yield();
        }
        require(some > 0 && (begins || ::send(socket, message, sizeof message, MSG_NOSIGNAL) > 0));
    }
}

/// The floor: two threads that never sleep.
Row sockets() {
    const int listener = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof address;
    auto* const general = reinterpret_cast<sockaddr*>(&address);
    require(::bind(listener, general, length) == 0 && ::listen(listener, 1) == 0 &&
            ::getsockname(listener, general, &length) == 0);
    const int one = ::socket(AF_INET, SOCK_STREAM, 0);
    require(::connect(one, general, length) == 0);
    const int other = ::accept(listener, nullptr, nullptr);
    const int on = 1;
    for (const int socket : {one, other}) {
        ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    }
    std::vector<double> ns;
    {
        std::jthread second([other] { exchange(other, (rounds + 1) * calls, false); });
        for (int round = 0; round <= rounds; ++round) {
            const auto begin = Clock::now();
            exchange(one, calls, true);
            if (round != 0) {
                ns.push_back(ns_since(begin) / calls);
            }
        }
    }
    for (const int socket : {one, other, listener}) {
        ::close(socket);
    }
    return {"sockets", 2, quartiles(ns)};
}

} // namespace

std::vector<Row> far_calls() {
    return {sockets(), over_tcp()};
}

} // namespace corymb::bench
