// SPDX-License-Identifier: Apache-2.0
// What limits of the process and crashes of others come to: errors that name them.
#include "children.hpp"
#include "limits.hpp"

#include <corymb/broadcast_ring.hpp>
#include <corymb/error.hpp>
#include <corymb/mailbox.hpp>
#include <corymb/multicast.hpp>
#include <corymb/process.hpp>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <sys/mman.h>
#include <sys/resource.h>
#include <utility>
#include <vector>

namespace corymb {
namespace {

using namespace process_test;
using namespace std::chrono_literals;

#if defined(__SANITIZE_ADDRESS__)
constexpr bool is_sanitized = true;
#elif defined(__has_feature)
constexpr bool is_sanitized = __has_feature(address_sanitizer);
#else
constexpr bool is_sanitized = false;
#endif

/// All that make memory for several processes.
std::vector<std::pair<const char*, std::function<void()>>> makers() {
    return {
        {"a team",
         [] {
             ::close(make_team_descriptor(2));
         }},
        {"mailboxes",
         [] {
             MailboxOptions options;
             options.between_processes = true;
             const MailboxGroup made(2, options);
         }},
        {"a ring",
         [] {
             BroadcastOptions options;
             options.between_processes = true;
             const BroadcastRing made(options);
         }},
        {"a multicast group",
         [] {
             MulticastOptions options;
             options.between_processes = true;
             const MulticastGroup made(2, options);
         }},
    };
}

void expect_refused_in_child(decltype(RLIMIT_FSIZE) resource, rlim_t most, Errc code,
                             const char* names) {
    const pid_t child = ::fork();
    if (child == 0) {
        const rlimit limit{most, most};
        ::setrlimit(resource, &limit);
        int wrong = 0;
        for (const auto& [what, make] : makers()) {
            try {
                make();
                std::fprintf(stderr, "%s: no error\n", what);
                ++wrong;
            } catch (const Error& error) {
                const bool is_named = std::string(error.what()).find(names) != std::string::npos;
                if (error.code() != code || !is_named) {
                    std::fprintf(stderr, "%s: %s\n", what, error.what());
                    ++wrong;
                }
            }
        }
        ::_exit(wrong);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
}

TEST(LimitsTest, OfFileSizesAreNamed) {
    expect_refused_in_child(RLIMIT_FSIZE, 512 << 10, Errc::io, "ulimit -f");
}

TEST(LimitsTest, OfDescriptorsAreNamed) {
    if (is_sanitized) {
        GTEST_SKIP() << "a sanitizer opens files of its own to check an exception's type";
    }
    expect_refused_in_child(RLIMIT_NOFILE, 3, Errc::io, "ulimit -n");
}

TEST(LimitsTest, OfAddressesAreNamed) {
    if (is_sanitized) {
        GTEST_SKIP() << "a sanitizer takes addresses without end";
    }
    expect_refused_in_child(RLIMIT_AS, rlim_t{200} << 20, Errc::unsupported, "ulimit -v");
}

/// A process that writes its core for a long time: most of it is a mapping with nothing in it.
[[noreturn]] void crash_slowly(const std::filesystem::path& folder) {
    std::filesystem::current_path(folder);
    const rlimit unlimited{RLIM_INFINITY, RLIM_INFINITY};
    ::setrlimit(RLIMIT_CORE, &unlimited);
    const int file = ::memfd_create("corymb-test", 0);
    constexpr std::size_t bytes = std::size_t{64} << 30;
    if (::ftruncate(file, 4096) != 0 ||
        ::mmap(nullptr, bytes, PROT_READ, MAP_SHARED | MAP_NORESERVE, file, 0) == MAP_FAILED) {
        ::_exit(1);
    }
    std::abort();
}

std::string core_pattern() {
    std::string pattern;
    std::getline(std::ifstream("/proc/sys/kernel/core_pattern"), pattern);
    return pattern;
}

TEST(LimitsTest, AProcessThatWritesItsCoreHasEnded) {
    const std::string pattern = core_pattern();
    rlimit cores{};
    ::getrlimit(RLIMIT_CORE, &cores);
    if (is_sanitized || pattern.empty() || pattern.front() == '|' || pattern.front() == '/' ||
        cores.rlim_max != RLIM_INFINITY) {
        GTEST_SKIP() << "no core is written into a folder of this test";
    }
    std::string folder = (std::filesystem::temp_directory_path() / "corymb-core-XXXXXX").string();
    ASSERT_NE(::mkdtemp(folder.data()), nullptr);
    MailboxOptions options;
    options.between_processes = true;
    MailboxGroup group(2, options);
    Mailbox own = group.join(0);
    const int descriptor = group.make_descriptor();
    const pid_t child = ::fork();
    if (child == 0) {
        MailboxGroup mine = MailboxGroup::open(descriptor);
        Mailbox box = mine.join(1);
        static_cast<void>(box.send_value(0, 'x'));
        crash_slowly(folder);
    }
    ::close(descriptor);
    EXPECT_TRUE(own.wait(test_limit())); // It is there.
    EXPECT_EQ(own.probe([](Rank, std::span<const std::byte>) {}), 1u);
    try {
        EXPECT_FALSE(own.wait(test_limit()));
        ADD_FAILURE() << "the crash was not noticed";
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), Errc::team_broken) << error.what();
    }
    EXPECT_EQ(::waitpid(child, nullptr, WNOHANG), 0) << "its core is still being written";
    ::kill(child, SIGKILL);
    EXPECT_EQ(::waitpid(child, nullptr, 0), child);
    std::filesystem::remove_all(folder);
}

} // namespace
} // namespace corymb
