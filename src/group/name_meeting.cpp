// SPDX-License-Identifier: Apache-2.0
#include "group/name_meeting.hpp"

#include "base/wait_clock.hpp"

#include <corymb/error.hpp>

#include <fmt/format.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <pthread.h>
#include <signal.h>
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

/// Room for one descriptor beside a message.
union Rights {
    cmsghdr align;
    char bytes[CMSG_SPACE(sizeof(int))];
};

class Socket {
public:
    Socket() : number_(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0)) {}
    explicit Socket(int number) noexcept : number_(number) {}
    ~Socket() {
        if (number_ >= 0) {
            ::close(number_);
        }
    }
    Socket(const Socket&) = delete;
    Socket& operator=(const Socket&) = delete;
    [[nodiscard]] int number() const noexcept { return number_; }
    int release() noexcept { return std::exchange(number_, -1); }

private:
    int number_;
};

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

NameMeeting::NameMeeting(std::string name, Kind kind, int size, const Make& make,
                         std::int64_t patience_ns)
    : name_(std::move(name)), kind_(kind), size_(size) {
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
        ::shutdown(listener_, SHUT_RDWR); // Ends the thread's wait.
        server_.join();
    }
    if (listener_ >= 0) {
        ::close(listener_);
    }
}

bool NameMeeting::hold(const std::string& address, const Make& make) {
    Socket listener;
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
    if (::listen(listener.number(), 128) != 0) {
        throw Error(Errc::io, fmt::format("cannot listen ({})", std::strerror(errno)));
    }
    listener_ = listener.release();
    try {
        server_ = std::thread([this] { serve(); });
    } catch (const std::system_error& error) {
        ::close(std::exchange(listener_, -1));
        throw Error(Errc::io,
                    fmt::format("no thread to hold the name '{}' ({})", name_, error.what()));
    }
    return true;
}

void NameMeeting::serve() const noexcept {
    sigset_t all;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_BLOCK, &all, nullptr); // Handlers run in the program's own threads.
    for (;;) {
        const Socket client(::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC));
        if (client.number() >= 0) {
            answer(client.number());
        } else if (errno == EINVAL) { // Shut down.
            return;
        } else {
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
    Rights rights{};
    if (reply.verdict == Verdict::welcome) {
        message.msg_control = &rights;
        message.msg_controllen = sizeof rights;
        cmsghdr* const header = CMSG_FIRSTHDR(&message);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN(sizeof(int));
        const int descriptor = memory_->descriptor();
        std::memcpy(CMSG_DATA(header), &descriptor, sizeof descriptor);
    }
    ::sendmsg(client, &message, MSG_NOSIGNAL);
}

bool NameMeeting::ask(const std::string& address) {
    const Socket socket;
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
    Rights rights{};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = &rights;
    message.msg_controllen = sizeof rights;
    if (::send(socket.number(), &hello, sizeof hello, MSG_NOSIGNAL) != sizeof hello ||
        ::recvmsg(socket.number(), &message, MSG_CMSG_CLOEXEC) != sizeof reply) {
        return false;
    }
    if (reply.verdict != Verdict::welcome) {
        refuse(name_, kind_, size_, reply);
    }
    const cmsghdr* const header = CMSG_FIRSTHDR(&message);
    if (header == nullptr || header->cmsg_type != SCM_RIGHTS) {
        return false;
    }
    int descriptor = -1;
    std::memcpy(&descriptor, CMSG_DATA(header), sizeof descriptor);
    const Socket received(descriptor);
    memory_ = SharedMemory::open(descriptor);
    return true;
}

} // namespace corymb::group
