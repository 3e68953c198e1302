// SPDX-License-Identifier: Apache-2.0
#include "base/file.hpp"

#include <corymb/detail/output.hpp>
#include <corymb/error.hpp>

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <iterator>
#include <signal.h>
#include <string>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace {

namespace fs = std::filesystem;
using corymb::detail::require_output;
using corymb::detail::write_output;

class Output : public testing::Test {
protected:
    Output() {
        std::string pattern = (fs::temp_directory_path() / "corymb-output-XXXXXX").string();
        directory_ = ::mkdtemp(pattern.data());
    }
    ~Output() override {
        fs::permissions(directory_, fs::perms::owner_all);
        fs::remove_all(directory_);
    }
    [[nodiscard]] std::ptrdiff_t entries() const {
        return std::distance(fs::directory_iterator(directory_), fs::directory_iterator());
    }
    [[nodiscard]] fs::path at(const char* name) const { return directory_ / name; }

    fs::path directory_;
};

std::string text_of(const fs::path& file) {
    return corymb::read_file(file);
}

/// Names the file first, as people look for it.
template <class Act>
void expect_refused(const fs::path& path, const char* why, const Act& act) {
    try {
        act();
        ADD_FAILURE() << path << " was accepted";
    } catch (const corymb::Error& error) {
        const std::string text = error.what();
        EXPECT_EQ(error.code(), corymb::Errc::io);
        EXPECT_EQ(text.find("cannot write " + path.string() + ": "), 0u) << text;
        EXPECT_NE(text.find(why), std::string::npos) << text;
    }
}

TEST_F(Output, WritesAndReplaces) {
    write_output(at("a"), "first");
    write_output(at("a"), std::string(200'000, 'x'));
    EXPECT_EQ(text_of(at("a")), std::string(200'000, 'x'));
    write_output(at("a"), "");
    EXPECT_EQ(text_of(at("a")), "");
    EXPECT_EQ(entries(), 1);
}

TEST_F(Output, KeepsTheMode) {
    write_output(at("a"), "old");
    fs::permissions(at("a"), fs::perms::owner_read | fs::perms::owner_write);
    write_output(at("a"), "new");
    EXPECT_EQ(fs::status(at("a")).permissions(), fs::perms::owner_read | fs::perms::owner_write);
}

TEST_F(Output, WritesThroughLinks) {
    write_output(at("target"), "old");
    fs::create_symlink("target", at("link"));
    fs::create_symlink("link", at("link-to-link"));
    write_output(at("link-to-link"), "new");
    EXPECT_TRUE(fs::is_symlink(at("link")) && fs::is_symlink(at("link-to-link")));
    EXPECT_EQ(text_of(at("target")), "new");
    fs::create_symlink("not-yet", at("dangling"));
    write_output(at("dangling"), "made");
    EXPECT_TRUE(fs::is_symlink(at("dangling")));
    EXPECT_EQ(text_of(at("not-yet")), "made");
    fs::create_symlink("loop", at("loop"));
    expect_refused(at("loop"), "links", [&] { write_output(at("loop"), "x"); });
}

TEST_F(Output, KeepsTheOtherNamesOfAFile) {
    write_output(at("one"), "old and long");
    fs::create_hard_link(at("one"), at("other"));
    write_output(at("one"), "new");
    EXPECT_EQ(text_of(at("other")), "new");
    write_output(at("other"), "new and longer than before");
    EXPECT_EQ(text_of(at("one")), "new and longer than before");
}

TEST_F(Output, WritesToAFifo) {
    ASSERT_EQ(::mkfifo(at("fifo").c_str(), 0600), 0);
    std::string got;
    std::thread reader([&] { got = text_of(at("fifo")); });
    write_output(at("fifo"), "through");
    reader.join();
    EXPECT_EQ(got, "through");
    EXPECT_TRUE(fs::is_fifo(at("fifo")));
}

TEST_F(Output, SurvivesAPipeThatNobodyReads) {
    int ends[2];
    ASSERT_EQ(::pipe(ends), 0);
    ::close(ends[0]);
    const fs::path name = "/dev/fd/" + std::to_string(ends[1]);
    expect_refused(name, "Broken pipe", [&] { write_output(name, "x"); });
    ::close(ends[1]);
}

TEST_F(Output, WritesToOpenDescriptors) {
    const int file = ::open(at("a").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    ASSERT_EQ(::write(file, "before ", 7), 7);
    write_output("/dev/fd/" + std::to_string(file), "and ");
    write_output("/proc/self/fd/" + std::to_string(file), "after");
    ::close(file);
    EXPECT_EQ(text_of(at("a")), "before and after");
}

TEST_F(Output, WritesADashToStandardOutput) {
    testing::internal::CaptureStdout();
    std::printf("before ");
    write_output("-", "after");
    EXPECT_EQ(testing::internal::GetCapturedStdout(), "before after");
    EXPECT_FALSE(fs::exists("-"));
}

TEST_F(Output, KeepsTheOldTextWhenItFails) {
    write_output(at("a"), "old");
    fs::create_hard_link(at("a"), at("other")); // That one is written in place.
    write_output(at("b"), "old");
    const pid_t child = ::fork();
    if (child == 0) {
        const rlimit little{1000, 1000};
        ::setrlimit(RLIMIT_FSIZE, &little);
        for (const char* name : {"a", "b", "new"}) {
            try {
                write_output(at(name), std::string(2000, 'x'));
                ::_exit(1);
            } catch (const corymb::Error& error) {
                if (std::string(error.what()).find("ulimit -f") == std::string::npos) {
                    ::_exit(2);
                }
            }
        }
        ::_exit(0);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
    EXPECT_EQ(text_of(at("a")), "old");
    EXPECT_EQ(text_of(at("b")), "old");
    EXPECT_EQ(entries(), 3);
}

TEST_F(Output, SaysWhyNot) {
    for (const bool only_asks : {false, true}) {
        const auto act_on = [only_asks](const fs::path& path) {
            return [=] {
                only_asks ? require_output(path) : write_output(path, "x");
            };
        };
        expect_refused(at("no") / "file", "there is no directory", act_on(at("no") / "file"));
        expect_refused(directory_, "it is a directory", act_on(directory_));
        expect_refused("/proc/none", "", act_on("/proc/none"));
    }
    expect_refused("/dev/full", "No space left", [&] { write_output("/dev/full", "x"); });
    EXPECT_NO_THROW(write_output("/dev/null", "x"));
    EXPECT_TRUE(fs::is_character_file("/dev/null"));
    EXPECT_NO_THROW(require_output(at("new")));
    EXPECT_EQ(entries(), 0);
}

TEST_F(Output, RespectsRights) {
    if (::geteuid() == 0) {
        GTEST_SKIP() << "root may write everywhere";
    }
    write_output(at("a"), "old");
    fs::permissions(at("a"), fs::perms::owner_read);
    expect_refused(at("a"), "Permission denied", [&] { write_output(at("a"), "new"); });
    fs::permissions(at("a"), fs::perms::owner_read | fs::perms::owner_write);
    fs::permissions(directory_, fs::perms::owner_read | fs::perms::owner_exec);
    expect_refused(at("new"), "Permission denied", [&] { write_output(at("new"), "x"); });
    require_output(at("a"));
    write_output(at("a"), "in place");
    EXPECT_EQ(text_of(at("a")), "in place");
}

} // namespace
