// SPDX-License-Identifier: Apache-2.0
// How processes find their team, and what they are told when they cannot.
#include "children.hpp"
#include "limits.hpp"

#include <corymb/usable_cpus.hpp>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <functional>
#include <limits>
#include <sched.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

namespace corymb {
namespace {

using namespace process_test;

AttachOptions by_name(const std::string& name, int size) {
    AttachOptions options;
    options.name = name + std::to_string(::getppid());
    options.size = size;
    options.team = plans_over(Mechanism::cells);
    return options;
}

/// The code with which an attachment fails; its text must say `says`.
void expect_refusal(const AttachOptions& options, Errc code, const std::string& says) {
    try {
        const Team team = Team::attach(options);
        ADD_FAILURE() << "attached";
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), code) << error.what();
        EXPECT_NE(std::string(error.what()).find(says), std::string::npos) << error.what();
    }
}

TEST(AttachTest, OptionsThatCannotBeRightAreRefusedBeforeAnybodyIsWaitedFor) {
    using Change = std::function<void(AttachOptions&)>;
    const std::vector<std::pair<Change, std::string>> all = {
        {[](auto& of) { of.ranks_here = 2; }, "make a ProcessTeam"},
        {[](auto& of) { of.ranks_here = -1; }, "ranks_here -1"},
        {[](auto& of) { of.rank = -3; }, "no rank -3"},
        {[](auto& of) { of.rank = 2; }, "rank 2 is out of range"},
        {[](auto& of) { of.rank = std::numeric_limits<int>::max(); }, "out of range"},
        {[](auto& of) { of.size = 0; }, "size"},
        {[](auto& of) { of.size = -2; }, "size"},
        {[](auto& of) { of.patience = std::chrono::seconds(-1); }, "patience is negative"},
        {[](auto& of) { of.descriptor = 0; }, "by name or by descriptor"},
        {[](auto& of) { of.descriptor = -7; }, "no descriptor -7"},
        {[](auto& of) { of.team.pin = true; }, "not bound"},
        {[](auto& of) { of.team.deadline = std::chrono::seconds(-1); }, "deadline is negative"},
        {[](auto& of) { of.team.interrupted_every = std::chrono::seconds(-1); }, "negative"},
        {[](auto& of) { of.team.ranks_per_cpu = -1; }, "ranks_per_cpu"},
    };
    for (const auto& [change, says] : all) {
        AttachOptions options = by_name("wrong", 2);
        options.patience = test_limit();
        change(options);
        expect_refusal(options, Errc::invalid_argument, says);
        if (says != "make a ProcessTeam") {
            EXPECT_THROW(ProcessTeam{options}, Error) << says;
        }
    }
    AttachOptions named = by_name("wrong", 2);
    named.at_once = true;
    EXPECT_THROW(ProcessTeam{named}, Error);
    const TeamDescriptor memory(3);
    AttachOptions options;
    options.descriptor = memory.number();
    options.at_once = true;
    expect_refusal(options, Errc::invalid_argument, "make a ProcessTeam");
    options.at_once = false;
    options.team.cpus = {0};
    options.patience = test_limit();
    expect_refusal(options, Errc::invalid_argument, "1 CPUs for a team of 3");
}

AttachOptions at_once(const TeamDescriptor& memory, Rank rank) {
    AttachOptions options;
    options.descriptor = memory.number();
    options.rank = rank;
    options.at_once = true;
    options.team = plans_over(Mechanism::cells);
    return options;
}

TEST(AttachTest, AtOnceNobodyIsWaitedFor) {
    const TeamDescriptor memory(3);
    std::vector<ProcessTeam> teams;
    for (Rank rank = 0; rank < 3; ++rank) {
        teams.emplace_back(at_once(memory, rank));
        EXPECT_EQ(teams.back().first_rank(), rank);
        EXPECT_EQ(teams.back().size(), 0);
        EXPECT_FALSE(rank < 2 && teams.back().try_meet());
        try {
            static_cast<void>(teams.front().join(0));
            ADD_FAILURE() << "not all are there";
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), Errc::invalid_argument);
            EXPECT_NE(std::string(error.what()).find("try_meet"), std::string::npos);
        }
    }
    const auto end = std::chrono::steady_clock::now() + test_limit();
    std::size_t met = 0;
    while (met < teams.size() && std::chrono::steady_clock::now() < end) {
        met = 0;
        for (ProcessTeam& team : teams) { // One thread for all: a rank that waited would hang.
            met += team.try_meet() ? 1U : 0U;
        }
    }
    ASSERT_EQ(met, teams.size());
    std::vector<std::thread> ranks;
    for (Rank rank = 0; rank < 3; ++rank) {
        ranks.emplace_back([&teams, rank] {
            try {
                Team team = teams[static_cast<std::size_t>(rank)].join(rank);
                EXPECT_EQ(team.broadcast(rank, 2), 2);
            } catch (const Error& error) {
                ADD_FAILURE() << error.what();
            }
        });
    }
    for (std::thread& rank : ranks) {
        rank.join();
    }
}

TEST(AttachTest, AtOnceTheOthersLearnThatARankHasGoneAway) {
    const TeamDescriptor memory(2);
    ProcessTeam stays(at_once(memory, 0));
    {
        const ProcessTeam goes(at_once(memory, 1));
    }
    try {
        static_cast<void>(stays.try_meet());
        ADD_FAILURE() << "rank 1 has gone away";
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), Errc::team_broken) << error.what();
        EXPECT_EQ(error.ranks(), std::vector<int>{1});
    }
    EXPECT_THROW(static_cast<void>(stays.try_meet()), Error); // It is empty now.
    EXPECT_EQ(stays.size(), 0);
}

TEST(AttachTest, AtOnceThePatienceEndsToo) {
    const TeamDescriptor memory(2);
    AttachOptions options = at_once(memory, 0);
    options.patience = std::chrono::milliseconds(1);
    ProcessTeam team(options);
    const auto look_until_it_ends = [&team] {
        while (!team.try_meet()) {
            std::this_thread::sleep_for(1ms);
        }
    };
    try {
        look_until_it_ends();
        ADD_FAILURE() << "nobody else came";
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), Errc::timeout) << error.what();
        EXPECT_EQ(error.ranks(), std::vector<int>{1});
    }
}

TEST(AttachTest, ProcessesMeetByNameAndTheNameIsFreeAgain) {
    for (int round = 0; round < 3; ++round) {
        Children children;
        for (int child = 0; child < 4; ++child) {
            children.start([] {
                Team team = Team::attach(by_name("meeting", 4));
                require(team.broadcast(team.rank(), 3) == 3, "the team works");
            });
        }
        children.expect_all_good();
    }
}

/// The default plan of a barrier among two processes, on the topology. Ranks that take turns on one
/// CPU get another one, and unlike large messages it does not depend on what copies take here now.
Plan plan_of_two(const std::string& name, Rank rank) {
    AttachOptions options = by_name(name, 2);
    options.rank = rank;
    options.team = {};
    Team team = Team::attach(options);
    Plan plan = team.plan(Collective::barrier, 0);
    team.barrier();
    return plan;
}

TEST(AttachTest, ProcessesBoundToACpuEachPlanLikeFreeOnes) {
    const std::vector<int> cpus = usable_cpus().allowed;
    if (cpus.size() < 2) {
        GTEST_SKIP() << "needs two CPUs";
    }
    Children children;
    for (Rank rank = 0; rank < 2; ++rank) {
        children.start([&cpus, rank] {
            ::setenv("CORYMB_CACHE_DIR", "/proc/nowhere", 1); // No model that was measured.
            const Plan free = plan_of_two("free", rank);
            cpu_set_t own;
            CPU_ZERO(&own);
            CPU_SET(static_cast<std::size_t>(cpus[static_cast<std::size_t>(rank)]), &own);
            require(::sched_setaffinity(0, sizeof own, &own) == 0, "bound");
            require(plan_of_two("bound", rank).steps == free.steps,
                    "two CPUs are enough for two ranks");
            require(usable_cpus().allowed.size() == 1, "and stay bound");
        });
    }
    children.expect_all_good();
}

TEST(AttachTest, AnotherSizeIsRefused) {
    Children children;
    children.start([] {
        AttachOptions options = by_name("sizes", 2);
        options.patience = scaled(1s);
        try {
            const Team team = Team::attach(options);
        } catch (const Error& error) {
            require(error.code() == Errc::timeout && error.ranks() == std::vector<int>{1},
                    error.what());
            return;
        }
        require(false, "attached alone");
    });
    std::this_thread::sleep_for(scaled(200ms));
    children.start([] {
        try {
            const Team team = Team::attach(by_name("sizes", 3));
        } catch (const Error& error) {
            require(error.code() == Errc::invalid_argument, error.what());
            return;
        }
        require(false, "attached with another size");
    });
    children.expect_all_good();
}

TEST(AttachTest, WrongArgumentsAreNamed) {
    const TeamDescriptor memory(2);
    AttachOptions options = by_descriptor(memory, plans_over(Mechanism::cells));
    options.patience = 100ms;
    options.size = 3;
    expect_refusal(options, Errc::invalid_argument, "the team has 2 ranks");
    options.size = 0;
    options.ranks_here = 3;
    expect_refusal(AttachOptions{}, Errc::invalid_argument, "corymb run");
    EXPECT_THROW(ProcessTeam{options}, Error);
    options.ranks_here = 1;
    options.rank = 1;
    expect_refusal(options, Errc::timeout, "rank 0 of 2 did not come");
    expect_refusal(options, Errc::invalid_argument, "rank 1 is taken");
    const int file = ::open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    options.descriptor = file;
    expect_refusal(options, Errc::invalid_argument, "not the memory of a team");
    ::close(file);
    options.descriptor = file;
    expect_refusal(options, Errc::invalid_argument, "not open");
    AttachOptions nameless = by_name("x", 0);
    expect_refusal(nameless, Errc::invalid_argument, "size");
    nameless.name = std::string(200, 'n');
    nameless.size = 2;
    expect_refusal(nameless, Errc::invalid_argument, "too long");
    EXPECT_THROW(static_cast<void>(make_team_descriptor(0)), Error);
}

/// Rank 1 of two signs in and `fails`; rank 0 is told at once, though it has a minute's patience.
/// Before it attaches it does `before`.
void expect_the_other_is_told(
    const std::function<void(AttachOptions&)>& fails, Errc code,
    const std::function<void()>& before = [] {}) {
    const TeamDescriptor memory(2);
    Children children;
    children.start([&] {
        AttachOptions options = by_descriptor(memory, plans_over(Mechanism::cells));
        options.rank = 1;
        options.team.deadline = {};
        fails(options);
        try {
            const Team team = Team::attach(options);
        } catch (const Error& error) {
            require(error.code() == code, error.what());
            std::this_thread::sleep_for(300s); // It lives on; nobody learns of it by its end.
        }
        require(false, "attached");
    });
    const std::size_t other = children.start([&] {
        AttachOptions options = by_descriptor(memory, plans_over(Mechanism::cells));
        options.rank = 0;
        options.patience = 60s;
        before();
        try {
            const Team team = Team::attach(options);
        } catch (const Error& error) {
            require(error.code() == Errc::team_broken && error.ranks() == std::vector<int>{1},
                    error.what());
            require(std::string(error.what()).find("could not attach") != std::string::npos,
                    error.what());
            return;
        }
        require(false, "attached without the other");
    });
    EXPECT_EQ(children.wait(other), 0);
}

TEST(AttachTest, ARankThatSignsInAndFailsEndsTheWaitOfAll) {
    expect_the_other_is_told([](AttachOptions&) { ::setenv("CORYMB_DEADLINE", "soon", 1); },
                             Errc::invalid_argument);
    expect_the_other_is_told([](AttachOptions&) { ::setenv("CORYMB_PATIENCE", "soon", 1); },
                             Errc::invalid_argument);
    int asked[2]; // Only a rank that has to wait is asked, so the other one comes later.
    ASSERT_EQ(::pipe(asked), 0);
    char byte = 0;
    expect_the_other_is_told(
        [&](AttachOptions& options) {
            options.team.interrupted = [&] {
                require(::write(asked[1], &byte, 1) == 1, "the other can be told");
                return true;
            };
        },
        Errc::interrupted,
        [&] { require(::read(asked[0], &byte, 1) == 1, "the first was asked"); });
    ::close(asked[0]);
    ::close(asked[1]);
}

TEST(AttachTest, ADeathBeforeAllAreThereIsNamed) {
    const TeamDescriptor memory(3);
    Children children;
    children.start([&] {
        AttachOptions options = by_descriptor(memory, plans_over(Mechanism::cells));
        options.rank = 0;
        const Team team = Team::attach(options);
    });
    children.start([&] {
        AttachOptions options = by_descriptor(memory, plans_over(Mechanism::cells));
        options.rank = 2;
        try {
            const Team team = Team::attach(options);
        } catch (const Error& error) {
            require(error.code() == Errc::team_broken && error.ranks() == std::vector<int>{0},
                    error.what());
            return;
        }
        require(false, "attached to an incomplete team");
    });
    std::this_thread::sleep_for(scaled(200ms));
    children.signal(0, SIGKILL);
    EXPECT_EQ(children.wait(0), SIGKILL);
    children.expect_all_good();
}

/// Becomes nobody; only root can.
bool become_nobody() {
    constexpr uid_t nobody = 65534;
    return ::setgid(nobody) == 0 && ::setuid(nobody) == 0;
}

TEST(AttachTest, AnotherUserGetsNothing) {
    if (::geteuid() != 0) {
        GTEST_SKIP() << "only root can become another user";
    }
    const TeamDescriptor memory(2);
    Children children;
    children.start([] {
        AttachOptions options = by_name("private", 2);
        options.patience = scaled(2s);
        try {
            const Team team = Team::attach(options);
        } catch (const Error& error) {
            require(error.code() == Errc::timeout, error.what());
        }
    });
    std::this_thread::sleep_for(scaled(200ms));
    const pid_t holder = children.pid(0);
    children.start([&memory, holder] {
        const std::string name = "corymb-0-private" + std::to_string(::getppid());
        require(become_nobody(), "this process is somebody else");
        // An inherited descriptor is another user's memory.
        try {
            const Team team = Team::attach(by_descriptor(memory, {}));
            require(false, "attached to another user's team");
        } catch (const Error& error) {
            require(error.code() == Errc::unsupported, error.what());
        }
        // The holder of the name hands nothing over.
        const int socket = ::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        std::memcpy(address.sun_path + 1, name.data(), name.size());
        const auto length =
            static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
        require(::connect(socket, reinterpret_cast<const sockaddr*>(&address), length) == 0,
                "the name is there");
        const std::uint32_t hello[2] = {2, static_cast<std::uint32_t>(::getpid())};
        // The holder may have hung up by now.
        static_cast<void>(::send(socket, hello, sizeof hello, MSG_NOSIGNAL));
        char answer[64];
        char control[256];
        iovec part{answer, sizeof answer};
        msghdr message{};
        message.msg_iov = &part;
        message.msg_iovlen = 1;
        message.msg_control = control;
        message.msg_controllen = sizeof control;
        const bool answered = ::recvmsg(socket, &message, 0) >= 0; // Else nothing is filled in.
        require(!answered || CMSG_FIRSTHDR(&message) == nullptr, "no descriptor for another user");
        // Nor does the kernel.
        const std::string folder = "/proc/" + std::to_string(holder) + "/fd/3";
        require(::open(folder.c_str(), O_RDWR | O_CLOEXEC) < 0, "no way through /proc");
    });
    children.expect_all_good();
}

TEST(AttachTest, ANameThatAnotherUserHoldsIsRefused) {
    if (::geteuid() != 0) {
        GTEST_SKIP() << "only root can become another user";
    }
    Children children;
    int channel[2];
    ASSERT_EQ(::pipe(channel), 0);
    children.start([&] {
        const std::string name = "corymb-0-squatted" + std::to_string(::getppid());
        require(become_nobody(), "this process is somebody else");
        const int socket = ::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        std::memcpy(address.sun_path + 1, name.data(), name.size());
        const auto length =
            static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
        require(::bind(socket, reinterpret_cast<const sockaddr*>(&address), length) == 0 &&
                    ::listen(socket, 8) == 0,
                "the name is taken");
        const char ready = 1;
        require(::write(channel[1], &ready, 1) == 1, "the test is told");
        ::pause();
    });
    char ready = 0;
    ASSERT_EQ(::read(channel[0], &ready, 1), 1);
    ::close(channel[0]);
    ::close(channel[1]);
    children.start([] {
        try {
            const Team team = Team::attach(by_name("squatted", 2));
        } catch (const Error& error) {
            require(error.code() == Errc::unsupported, error.what());
            return;
        }
        require(false, "met a stranger");
    });
    EXPECT_EQ(children.wait(1), 0);
}

} // namespace
} // namespace corymb
