// SPDX-License-Identifier: Apache-2.0
#include "group/group.hpp"

#include "base/process_state.hpp"

#include <corymb/broadcast_ring.hpp>
#include <corymb/error.hpp>
#include <corymb/mailbox.hpp>
#include <corymb/multicast.hpp>
#include <corymb/process.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <iterator>
#include <mutex>
#include <signal.h>
#include <string>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace corymb::group {
namespace {

constexpr std::size_t size = 2;

/// A group that others can open; its members do nothing together.
struct Idle : Group {
    Idle() : Group(Kind::mailboxes, size, SharedMemory::create()) { publish(); }
};

/// A child process that takes a place of a group, tells it, and waits to be killed or to leave.
class Holder {
public:
    Holder(const Group& group, std::size_t number) : descriptor_(group.make_descriptor()) {
        pid_ = ::fork();
        if (pid_ == 0) {
            ::prctl(PR_SET_PDEATHSIG, SIGKILL);
            hold(number);
        }
        char token = 0;
        EXPECT_EQ(::read(told_[0], &token, 1), 1);
    }
    Holder(const Holder&) = delete;
    Holder& operator=(const Holder&) = delete;
    ~Holder() {
        if (pid_ > 0) {
            kill();
        }
        ::close(descriptor_);
        for (const int end : {told_[0], told_[1], leave_[0], leave_[1]}) {
            ::close(end);
        }
    }

    [[nodiscard]] std::uint32_t pid() const noexcept { return static_cast<std::uint32_t>(pid_); }
    void kill() {
        ::kill(pid_, SIGKILL);
        wait();
    }
    void leave() {
        EXPECT_EQ(::write(leave_[1], "l", 1), 1);
        wait();
    }

private:
    struct Pipe {
        int ends[2] = {-1, -1};
        Pipe() { EXPECT_EQ(::pipe(ends), 0); }
        int operator[](std::size_t end) const noexcept { return ends[end]; }
    };
    [[noreturn]] void hold(std::size_t number) const {
        Group own(Kind::mailboxes, SharedMemory::open(descriptor_));
        {
            const std::lock_guard lock(own.memory());
            own.take(number);
        }
        char token = 't';
        if (::write(told_[1], &token, 1) != 1 || ::read(leave_[0], &token, 1) != 1) {
            ::_exit(1);
        }
        const std::lock_guard lock(own.memory());
        own.give_back(number);
        ::_exit(0);
    }
    void wait() {
        ::waitpid(pid_, nullptr, 0);
        pid_ = -1;
    }

    Pipe told_, leave_;
    int descriptor_;
    pid_t pid_ = -1;
};

/// Places that a look finds without their holder.
std::vector<std::size_t> look(Group& group, bool counts_as_lost = true) {
    std::vector<std::size_t> found;
    const std::lock_guard lock(group.memory());
    group.bury_ended(0, group.places(), [&](std::size_t number) {
        found.push_back(number);
        return counts_as_lost;
    });
    return found;
}

TEST(GroupTest, APlaceWhoseProcessIsKilledIsFoundOnceAndFree) {
    Idle group;
    Holder holder(group, 1);
    EXPECT_TRUE(look(group).empty());
    EXPECT_EQ(group.process_of(1), holder.pid());
    const std::uint32_t pid = holder.pid();
    holder.kill();
    EXPECT_EQ(look(group), std::vector<std::size_t>{1});
    EXPECT_TRUE(look(group).empty());
    EXPECT_EQ(group.place(1).pid, 0U);
    EXPECT_EQ(group.process_of(1), pid) << "the one that was lost";
    const Holder next(group, 1);
    EXPECT_TRUE(look(group).empty());
    EXPECT_EQ(group.process_of(1), next.pid());
}

TEST(GroupTest, AHolderThatHadLeftIsNotLost) {
    Idle group;
    Holder holder(group, 0);
    holder.kill();
    EXPECT_EQ(look(group, false), std::vector<std::size_t>{0});
    EXPECT_EQ(group.place(0).lost_pid, 0U);
    EXPECT_EQ(group.place(0).pid, 0U);
}

TEST(GroupTest, ALaterProcessOfTheSameNumberIsNotTheHolder) {
    const auto memory = SharedMemory::create();
    Group group(Kind::mailboxes, size, memory);
    const auto own = static_cast<std::uint32_t>(::getpid());
    for (const std::uint32_t pid : {own, std::uint32_t{1}}) {
        {
            const std::lock_guard lock(*memory);
            find(group.arena(), Kind::mailboxes)->place(0) = {pid, 0, process_start(pid)};
        }
        EXPECT_TRUE(look(group).empty()) << pid;
        {
            const std::lock_guard lock(*memory);
            find(group.arena(), Kind::mailboxes)->place(0).start += 1;
        }
        EXPECT_EQ(look(group), std::vector<std::size_t>{0}) << pid;
    }
}

TEST(GroupTest, ProcessesThatComeAndGoLeaveNoDescriptor) {
    namespace fs = std::filesystem;
    Idle group;
    const auto descriptors = [] {
        return std::distance(fs::directory_iterator("/proc/self/fd"), fs::directory_iterator{});
    };
    const auto before = descriptors();
    for (int round = 0; round < 10; ++round) {
        Holder holder(group, 1);
        EXPECT_TRUE(look(group).empty());
        holder.leave();
    }
    EXPECT_TRUE(look(group).empty());
    EXPECT_LE(descriptors(), before + static_cast<std::ptrdiff_t>(size));
}

void expect_refusal(const std::function<void()>& open, const std::string& text) {
    try {
        open();
        ADD_FAILURE() << "opened; expected: " << text;
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), Errc::invalid_argument);
        EXPECT_NE(std::string(error.what()).find(text), std::string::npos) << error.what();
    }
}

TEST(GroupTest, ADescriptorOfAnotherKindIsRefusedWithItsName) {
    const MailboxGroup mailboxes(2, {.between_processes = true});
    const int descriptor = mailboxes.make_descriptor();
    const std::string found = " but of a group of mailboxes; take one of ";
    expect_refusal([&] { static_cast<void>(MulticastGroup::open(descriptor)); },
                   "not that of a multicast group" + found + "MulticastGroup::make_descriptor");
    expect_refusal([&] { static_cast<void>(BroadcastRing::open(descriptor)); },
                   "not that of a broadcast ring" + found + "BroadcastRing::make_descriptor");
    AttachOptions options;
    options.descriptor = descriptor;
    expect_refusal([&] { static_cast<void>(Team::attach(options)); },
                   "not that of a team" + found + "make_team_descriptor");
    ::close(descriptor);
    const int team = make_team_descriptor(2);
    expect_refusal([&] { static_cast<void>(MailboxGroup::open(team)); },
                   "not that of a group of mailboxes but of a team; take one of");
    ::close(team);
}

} // namespace
} // namespace corymb::group
