// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>

namespace corymb {

/// What the library keeps for this user goes to a directory of the test's own.
class CacheDirectory : public testing::Test {
protected:
    void SetUp() override {
        std::string pattern =
            (std::filesystem::temp_directory_path() / "corymb-cache-XXXXXX").string();
        directory_ = mkdtemp(pattern.data());
        setenv("CORYMB_CACHE_DIR", directory_.c_str(), 1);
    }
    void TearDown() override {
        unsetenv("CORYMB_CACHE_DIR");
        std::filesystem::remove_all(directory_);
    }

    std::filesystem::path directory_;
};

} // namespace corymb
