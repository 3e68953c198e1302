// SPDX-License-Identifier: Apache-2.0
// Runs the scenarios of this folder. A scenario is text: a command, a line `----`, what becomes of
// it. CORYMB_REWRITE=1 writes down what becomes of it now; look at the difference before you keep
// it.
#include "mpi_policy/world.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

namespace corymb::mpi {
namespace {

const std::filesystem::path folder =
    std::filesystem::path(CORYMB_SOURCE_DIR) / "tests/unit/mpi_policy/scenarios";

std::vector<std::string> names() {
    std::vector<std::string> all;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
        all.push_back(entry.path().stem().string());
    }
    std::sort(all.begin(), all.end());
    return all;
}

std::string read(const std::filesystem::path& path) {
    std::ifstream file(path);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

/// The scenario as it is when run.
std::string run(const std::string& text) {
    std::istringstream lines(text);
    std::ostringstream out;
    std::optional<World> world;
    bool skips = false; // Expected lines.
    for (std::string line; std::getline(lines, line);) {
        if (skips) {
            skips = !line.empty();
            continue;
        }
        out << line << "\n";
        if (line.empty() || line.front() == '#') {
            continue;
        }
        const Command command = Command::parse(line);
        std::getline(lines, line); // The separator.
        out << "----\n";
        if (command.name == "ranks") {
            world.emplace(std::stoul(command.words.at(0)));
            out << "ok\n\n";
        } else {
            out << world.value().run(command) << "\n";
        }
        skips = true;
    }
    std::string result = out.str();
    while (result.size() > 1 && result.substr(result.size() - 2) == "\n\n") {
        result.pop_back();
    }
    return result;
}

class Scenario : public testing::TestWithParam<std::string> {};

TEST_P(Scenario, ComesOutAsWritten) {
    const std::filesystem::path path = folder / (GetParam() + ".txt");
    const std::string text = read(path);
    const std::string found = run(text);
    if (std::getenv("CORYMB_REWRITE") != nullptr) {
        std::ofstream(path) << found;
        return;
    }
    EXPECT_EQ(text, found);
}

INSTANTIATE_TEST_SUITE_P(Policy, Scenario, testing::ValuesIn(names()),
                         [](const auto& one) { return one.param; });

} // namespace
} // namespace corymb::mpi
