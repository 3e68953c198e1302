// SPDX-License-Identifier: Apache-2.0
#include "base/file.hpp"

#include <corymb/error.hpp>

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <string>

namespace {

namespace fs = std::filesystem;

class File : public testing::Test {
protected:
    File() {
        std::string pattern = (fs::temp_directory_path() / "corymb-file-XXXXXX").string();
        directory_ = ::mkdtemp(pattern.data());
    }
    ~File() override { fs::remove_all(directory_); }

    std::size_t entries() const {
        return static_cast<std::size_t>(
            std::distance(fs::directory_iterator(directory_), fs::directory_iterator()));
    }

    fs::path directory_;
};

TEST_F(File, WritesAndReplaces) {
    const fs::path file = directory_ / "a";
    corymb::write_file_atomically(file, "first");
    corymb::write_file_atomically(file, std::string(200'000, 'x'));
    EXPECT_EQ(corymb::read_file(file), std::string(200'000, 'x'));
    EXPECT_EQ(entries(), 1u);
}

TEST_F(File, KeepsALink) {
    corymb::write_file_atomically(directory_ / "target", "old");
    fs::create_symlink(directory_ / "target", directory_ / "link");
    corymb::write_file_atomically(directory_ / "link", "new");
    EXPECT_TRUE(fs::is_symlink(directory_ / "link"));
    EXPECT_EQ(corymb::read_file(directory_ / "target"), "new");
}

TEST_F(File, ErrorsHaveThePathAndLeaveNothing) {
    const auto expect_io_error = [](const fs::path& path, const auto& act) {
        try {
            act();
            ADD_FAILURE() << path << " was accepted";
        } catch (const corymb::Error& error) {
            EXPECT_EQ(error.code(), corymb::Errc::io);
            EXPECT_EQ(std::string(error.what()).find(path.string() + ": "), 0u) << error.what();
        }
    };
    const fs::path nowhere = directory_ / "no" / "file";
    expect_io_error(nowhere, [&] { (void)corymb::read_file(nowhere); });
    expect_io_error(nowhere, [&] { corymb::write_file_atomically(nowhere, "x"); });
    expect_io_error(directory_, [&] { (void)corymb::read_file(directory_); });
    expect_io_error(directory_, [&] { corymb::write_file_atomically(directory_, "x"); });
    expect_io_error("/dev/zero", [&] { (void)corymb::read_file("/dev/zero", 1000); });
    expect_io_error("/dev/full", [&] { corymb::write_file_atomically("/dev/full", "x"); });
    EXPECT_EQ(entries(), 0u);
}

} // namespace
