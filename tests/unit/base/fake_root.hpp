// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace corymb {

/// A directory that plays the root of a file system.
class FakeRoot {
public:
    FakeRoot() {
        const auto parent = std::filesystem::temp_directory_path();
        std::string pattern = (parent / "corymb-root-XXXXXX").string();
        path_ = mkdtemp(pattern.data());
    }
    ~FakeRoot() { std::filesystem::remove_all(path_); }
    FakeRoot(const FakeRoot&) = delete;
    FakeRoot& operator=(const FakeRoot&) = delete;

    FakeRoot& file(const std::string& name, const std::string& text) {
        std::filesystem::create_directories((path_ / name).parent_path());
        std::ofstream(path_ / name) << text;
        return *this;
    }
    [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }

private:
    std::filesystem::path path_;
};

} // namespace corymb
