// SPDX-License-Identifier: Apache-2.0
#include "base/resource_limit.hpp"
#include "base/shared_memory.hpp"

#include <corymb/error.hpp>
#include <corymb/version.hpp>

#include <cstddef>
#include <cstdlib>
#include <fstream>
#include <gtest/gtest.h>
#include <memory>
#include <mutex>
#include <string>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>
#include <vector>

namespace corymb {
namespace {

constexpr rlim_t MiB = rlim_t{1} << 20;

rlim_t addresses_used() {
    rlim_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    return pages * static_cast<rlim_t>(::getpagesize());
}

/// Why a limit of addresses cannot be tried here; empty where it can. An emulator may ignore it.
std::string no_limit_here() {
    const rlim_t before = addresses_used();
    if (before > 1024 * 1024 * MiB) {
        return "a sanitizer takes addresses without end";
    }
    const std::size_t more = 1024 * MiB;
    const base_test::ResourceLimit limit(RLIMIT_AS, before + more / 2);
    void* const got =
        ::mmap(nullptr, more, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (got == MAP_FAILED) {
        return {};
    }
    ::munmap(got, more);
    return "the limit is ignored here";
}

/// The text with which the memory is refused after these bytes of it were changed.
std::string refusal_with(const std::string& bytes, ::off_t place) {
    const auto memory = SharedMemory::create();
    EXPECT_EQ(::pwrite(memory->descriptor(), bytes.data(), bytes.size(), place),
              static_cast<ssize_t>(bytes.size()));
    try {
        static_cast<void>(SharedMemory::open(memory->descriptor()));
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), Errc::invalid_argument);
        return error.what();
    }
    return "none";
}

TEST(SharedMemoryTest, MemoryOfAnotherVersionIsRefusedWithBothVersions) {
    const std::string own = std::string("this process runs corymb ") + version() + " (layout ";
    const std::string later = refusal_with(std::string("9.8.7\0", 6), 24);
    EXPECT_NE(later.find("made by corymb 9.8.7 (layout "), std::string::npos) << later;
    EXPECT_NE(later.find(own), std::string::npos) << later;
    const std::string layout = refusal_with(std::string("corymb\x01\x02", 8), 0);
    EXPECT_NE(layout.find(std::string("made by corymb ") + version() + " (layout 513)"),
              std::string::npos)
        << layout;
    EXPECT_NE(layout.find(own), std::string::npos) << layout;
    const std::string old = refusal_with(std::string("corymb\x06\0", 8), 0);
    EXPECT_NE(old.find("made by corymb of an earlier version (layout 6)"), std::string::npos)
        << old;
    EXPECT_NE(refusal_with("nobody", 0).find("not memory that corymb has made"), std::string::npos);
}

TEST(SharedMemoryTest, LeavesMostOfLimitedAddressesToTheProgram) {
    if (const std::string reason = no_limit_here(); !reason.empty()) {
        GTEST_SKIP() << reason;
    }
    const rlim_t before = addresses_used();
    const rlim_t most = before + 4096 * MiB;
    std::vector<std::shared_ptr<SharedMemory>> all;
    std::string why;
    {
        const base_test::ResourceLimit limit(RLIMIT_AS, most);
        try {
            while (all.size() <= most / 4 / (128 * MiB)) {
                all.push_back(SharedMemory::create(100 * MiB));
            }
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), Errc::unsupported);
            why = error.what();
        }
        EXPECT_EQ(all.size(), most / 4 / (128 * MiB)) << "in whole steps";
        EXPECT_LE(addresses_used() - before, most / 4 + MiB);
        all.resize(1);
        all.push_back(SharedMemory::create()); // Half of what is left now.
        EXPECT_GE(addresses_used() - before, most / 8);
        EXPECT_NO_THROW(all.push_back(SharedMemory::create(256 * MiB)));
        EXPECT_THROW(all.push_back(SharedMemory::create(1024 * MiB)), Error);
    }
    EXPECT_NE(why.find("ulimit -v"), std::string::npos) << why;
    EXPECT_NO_THROW(all.push_back(SharedMemory::create())) << "there is no limit any more";
}

TEST(SharedMemoryTest, OthersNeedRoomForTheWholeOfIt) {
    if (const std::string reason = no_limit_here(); !reason.empty()) {
        GTEST_SKIP() << reason;
    }
    const auto made = SharedMemory::create(); // Without a limit.
    const base_test::ResourceLimit limit(RLIMIT_AS, addresses_used() + 200 * MiB);
    try {
        static_cast<void>(SharedMemory::open(made->descriptor()));
        FAIL() << "it has been mapped";
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), Errc::unsupported);
        EXPECT_NE(std::string(error.what()).find("raise the limit"), std::string::npos);
    }
}

TEST(SharedMemoryTest, StaysOutOfCoreDumps) {
    const auto made = SharedMemory::create();
    std::ifstream maps("/proc/self/smaps");
    bool is_ours = false;
    int found = 0;
    for (std::string line; std::getline(maps, line);) {
        if (line.find("memfd:corymb ") != std::string::npos) {
            is_ours = true;
        } else if (is_ours && line.starts_with("VmFlags:")) {
            EXPECT_NE(line.find(" dd"), std::string::npos) << line;
            is_ours = false;
            ++found;
        }
    }
    EXPECT_EQ(found, 1);
}

TEST(SharedMemoryTest, NamesTheLimitThatKeepsItFromGrowing) {
    const auto made = SharedMemory::create();
    const base_test::ResourceLimit limit(RLIMIT_FSIZE, 2 * MiB);
    const std::lock_guard lock(*made);
    try {
        for (;;) {
            static_cast<void>(made->take(MiB / 2));
        }
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), Errc::io);
        EXPECT_NE(std::string(error.what()).find("ulimit -f"), std::string::npos) << error.what();
    }
}

} // namespace
} // namespace corymb
