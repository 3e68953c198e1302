// SPDX-License-Identifier: Apache-2.0
#include "group/name_meeting.hpp"

#include "base/limit_text.hpp"
#include "base/wait_clock.hpp"

#include <corymb/error.hpp>

#include <fmt/format.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <fcntl.h>
#include <iterator>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace corymb::group {

namespace {

using namespace std::chrono_literals;

struct Hello {
    std::uint32_t size;
    std::uint32_t pid;
    Kind kind;
};

enum class Verdict : std::uint32_t { welcome, other_kind, other_size, other_user, other_namespace };

struct Answer {
    Verdict verdict;
    std::uint32_t size;
    Kind kind;
};

/// Descriptors beside a message: the memory's and perhaps the listening socket's.
class Rights {
public:
    static constexpr std::size_t most = 2;

    explicit Rights(msghdr& message) noexcept : message_(message) {
        message.msg_control = bytes_;
        message.msg_controllen = sizeof bytes_;
    }
    void put(const int* descriptors, std::size_t count) noexcept {
        message_.msg_controllen = CMSG_SPACE(count * sizeof(int));
        cmsghdr* const header = CMSG_FIRSTHDR(&message_);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN(count * sizeof(int));
        std::memcpy(CMSG_DATA(header), descriptors, count * sizeof(int));
    }
    /// A descriptor of the message that has come; -1: there is none of this number.
    [[nodiscard]] int take(std::size_t number) const noexcept {
        const cmsghdr* const header = CMSG_FIRSTHDR(&message_);
        int descriptor = -1;
        if (header != nullptr && header->cmsg_type == SCM_RIGHTS &&
            header->cmsg_len >= CMSG_LEN((number + 1) * sizeof(int))) {
            std::memcpy(&descriptor, CMSG_DATA(header) + number * sizeof(int), sizeof descriptor);
        }
        return descriptor;
    }

private:
    msghdr& message_;
    alignas(cmsghdr) char bytes_[CMSG_SPACE(most * sizeof(int))] = {};
};

Descriptor new_socket() noexcept {
    return Descriptor(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
}

/// `call` is bind or connect.
template <class Call>
int with_address(const std::string& name, const Call& call) noexcept {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    // The leading zero byte makes the name abstract.
    std::memcpy(address.sun_path + 1, name.data(), name.size());
    const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
    return call(reinterpret_cast<const sockaddr*>(&address), length);
}

ucred peer_of(int socket) noexcept {
    ucred peer{};
    socklen_t length = sizeof peer;
    if (::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &length) != 0) {
        peer.uid = static_cast<uid_t>(-1);
    }
    return peer;
}

void limit_waits(int socket) noexcept {
    const timeval second{1, 0};
    ::setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &second, sizeof second);
    ::setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &second, sizeof second);
}

[[noreturn]] void refuse(const std::string& name, Kind kind, int size, const Answer& reply) {
    const char* const what = words_of(kind).name;
    switch (reply.verdict) {
    case Verdict::welcome: break;
    case Verdict::other_kind:
        throw Error(Errc::invalid_argument,
                    fmt::format("the name '{}' is that of a {}, and this process wants a {}; give "
                                "each group a name of its own",
                                name, words_of(reply.kind).name, what));
    case Verdict::other_size:
        throw Error(Errc::invalid_argument,
                    fmt::format("the {} '{}' has {} ranks, this process says {}; give all its "
                                "processes the same size",
                                what, name, reply.size, size));
    case Verdict::other_user:
        throw Error(Errc::unsupported, fmt::format("the {} '{}' is another user's", what, name));
    case Verdict::other_namespace: break;
    }
    throw Error(Errc::unsupported,
                fmt::format("the {} '{}' is in another PID namespace; start the containers with a "
                            "common one",
                            what, name));
}

} // namespace

NameMeeting::NameMeeting(std::string name, Kind kind, int size, const Make& make, Holders holders,
                         std::int64_t patience_ns)
    : name_(std::move(name)), kind_(kind), size_(size), holders_(holders) {
    const std::string address = fmt::format("corymb-{}-{}", ::geteuid(), name_);
    if (address.size() > sizeof(sockaddr_un::sun_path) - 2) {
        throw Error(Errc::invalid_argument,
                    fmt::format("the {}'s name '{}' is too long; 80 characters are enough",
                                words_of(kind_).name, name_));
    }
    for (WaitClock clock;;) {
        if (hold(address, make) || ask(address)) {
            return;
        }
        if (clock.waited_ns() >= patience_ns) {
            throw Error(Errc::timeout,
                        fmt::format("the holder of the name '{}' does not answer", name_));
        }
        std::this_thread::sleep_for(1ms);
    }
}

NameMeeting::~NameMeeting() {
    if (fork_count_ != fork_count()) { // The thread is the parent's.
        static_cast<void>(new std::thread(std::move(server_)));
    } else if (server_.joinable()) {
        const std::uint64_t one = 1;
        static_cast<void>(!::write(stop_.number(), &one, sizeof one));
        server_.join();
    }
}

bool NameMeeting::hold(const std::string& address, const Make& make) {
    Descriptor listener = new_socket();
    const auto bind = [&](const sockaddr* where, socklen_t length) {
        return ::bind(listener.number(), where, length);
    };
    if (with_address(address, bind) != 0) {
        if (errno == EADDRINUSE) {
            return false;
        }
        throw Error(Errc::unsupported,
                    fmt::format("no abstract socket can be made ({}); pass a descriptor instead",
                                std::strerror(errno)));
    }
    memory_ = make();
    if (::listen(listener.number(), 128) != 0 ||
        ::fcntl(listener.number(), F_SETFL, O_NONBLOCK) != 0) {
        throw Error(Errc::io, fmt::format("cannot listen ({})", std::strerror(errno)));
    }
    start_to_serve(listener);
    return true;
}

void NameMeeting::start_to_serve(Descriptor& listener) {
    listener_ = std::move(listener);
    stop_ = Descriptor(::eventfd(0, EFD_CLOEXEC));
    if (stop_.number() < 0) {
        throw Error(Errc::io, fmt::format("no descriptor to hold the name '{}': {}", name_,
                                          reason_with_limit(errno)));
    }
    try {
        server_ = std::thread([this] { serve(); });
    } catch (const std::system_error& error) {
        throw Error(Errc::io,
                    fmt::format("no thread to hold the name '{}' ({})", name_, error.what()));
    }
}

void NameMeeting::serve() const noexcept {
    sigset_t all;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_BLOCK, &all, nullptr); // Handlers run in the program's own threads.
    for (;;) {
        pollfd events[] = {{listener_.number(), POLLIN, 0}, {stop_.number(), POLLIN, 0}};
        ::poll(events, std::size(events), -1);
        if (events[1].revents != 0) {
            return;
        }
        const Descriptor client(::accept4(listener_.number(), nullptr, nullptr, SOCK_CLOEXEC));
        if (client.number() >= 0) {
            answer(client.number());
        } else if (errno != EAGAIN) {         // Another holder was faster.
            std::this_thread::sleep_for(1ms); // For example no descriptor is free.
        }
    }
}

void NameMeeting::answer(int client) const noexcept {
    limit_waits(client);
    Hello hello{};
    const ucred peer = peer_of(client);
    Answer reply{Verdict::welcome, static_cast<std::uint32_t>(size_), kind_};
    if (peer.uid != ::geteuid()) {
        reply.verdict = Verdict::other_user;
    } else if (::recv(client, &hello, sizeof hello, 0) != sizeof hello) {
        return;
    } else if (hello.kind != kind_) {
        reply.verdict = Verdict::other_kind;
    } else if (hello.size != reply.size) {
        reply.verdict = Verdict::other_size;
    } else if (hello.pid != static_cast<std::uint32_t>(peer.pid)) {
        reply.verdict = Verdict::other_namespace;
    }
    iovec part{&reply, sizeof reply};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    Rights rights(message);
    const int descriptors[Rights::most] = {memory_->descriptor(), listener_.number()};
    if (reply.verdict == Verdict::welcome) {
        rights.put(descriptors, holders_ == Holders::all ? 2 : 1);
    } else {
        message.msg_control = nullptr;
        message.msg_controllen = 0;
    }
    ::sendmsg(client, &message, MSG_NOSIGNAL);
}

bool NameMeeting::ask(const std::string& address) {
    const Descriptor socket = new_socket();
    limit_waits(socket.number());
    const auto connect = [&](const sockaddr* where, socklen_t length) {
        return ::connect(socket.number(), where, length);
    };
    if (with_address(address, connect) != 0) {
        return false; // The holder of the name is not listening yet, or has just gone.
    }
    if (const ucred holder = peer_of(socket.number()); holder.uid != ::geteuid()) {
        throw Error(Errc::unsupported,
                    fmt::format("the name '{}' is held by user {}; choose another name", name_,
                                holder.uid));
    }
    const Hello hello{static_cast<std::uint32_t>(size_), static_cast<std::uint32_t>(::getpid()),
                      kind_};
    Answer reply{};
    iovec part{&reply, sizeof reply};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    const Rights rights(message);
    if (::send(socket.number(), &hello, sizeof hello, MSG_NOSIGNAL) != sizeof hello ||
        ::recvmsg(socket.number(), &message, MSG_CMSG_CLOEXEC) != sizeof reply) {
        return false;
    }
    if (reply.verdict != Verdict::welcome) {
        refuse(name_, kind_, size_, reply);
    }
    const Descriptor memory(rights.take(0));
    Descriptor listener(rights.take(1));
    if (memory.number() < 0 || (holders_ == Holders::all && listener.number() < 0)) {
        return false;
    }
    memory_ = SharedMemory::open(memory.number());
    if (holders_ == Holders::all) {
        start_to_serve(listener);
    }
    return true;
}

} // namespace corymb::group
