// SPDX-License-Identifier: Apache-2.0
#include "base/file.hpp"

#include <corymb/error.hpp>

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
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

    fs::path directory_;
};

TEST_F(File, ErrorsHaveThePath) {
    const auto expect_io_error = [](const fs::path& path, std::size_t bytes_max) {
        try {
            (void)corymb::read_file(path, bytes_max);
            ADD_FAILURE() << path << " was accepted";
        } catch (const corymb::Error& error) {
            EXPECT_EQ(error.code(), corymb::Errc::io);
            EXPECT_EQ(std::string(error.what()).find(path.string() + ": "), 0u) << error.what();
        }
    };
    expect_io_error(directory_ / "no" / "file", 1000);
    expect_io_error(directory_, 1000);
    expect_io_error("/dev/zero", 1000);
}

} // namespace
