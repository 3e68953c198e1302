// SPDX-License-Identifier: Apache-2.0
// Runs a fuzz target over its stored seeds where libFuzzer is not built: what once was found stays
// found in every build.
#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

TEST(Replay, EverySeed) {
    int seeds = 0;
    for (const auto& entry : std::filesystem::directory_iterator(CORYMB_CORPUS)) {
        SCOPED_TRACE(entry.path());
        std::ifstream file(entry.path(), std::ios::binary);
        const std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
        EXPECT_EQ(LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(bytes.data()),
                                         bytes.size()),
                  0);
        ++seeds;
    }
    EXPECT_GT(seeds, 0);
}
