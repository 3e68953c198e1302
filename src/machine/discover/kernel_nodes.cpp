// SPDX-License-Identifier: Apache-2.0
#include "machine/discover/kernel_nodes.hpp"

#include "base/cpu_list.hpp"
#include "base/small_file.hpp"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <sstream>
#include <string>
#include <system_error>
#include <utility>

namespace corymb::discover {
namespace {

namespace fs = std::filesystem;

/// Folders "node0", "node1" and so on, by number.
std::map<int, fs::path> node_folders(const fs::path& folder) {
    std::map<int, fs::path> folders;
    std::error_code failed;
    for (fs::directory_iterator entry(folder, failed); !failed && entry != fs::directory_iterator();
         entry.increment(failed)) {
        const std::string name = entry->path().filename().string();
        int number = -1;
        const char* const end = name.data() + name.size();
        if (name.starts_with("node") && std::from_chars(name.data() + 4, end, number).ptr == end &&
            number >= 0) {
            folders[number] = entry->path();
        }
    }
    return folders;
}

} // namespace

bool KernelNodes::number(std::vector<Pu>& pus) const {
    std::map<int, int> numbers;
    std::vector<int> numa;
    for (const Pu& pu : pus) {
        const auto row = row_of_cpu.find(pu.cpu);
        if (row == row_of_cpu.end()) {
            return false;
        }
        const auto next = static_cast<int>(numbers.size());
        numa.push_back(numbers.try_emplace(row->second, next).first->second);
    }
    for (std::size_t pu = 0; pu < pus.size(); ++pu) {
        pus[pu].numa = numa[pu];
    }
    return true;
}

NodeDistances KernelNodes::distances(const std::vector<Pu>& pus) const {
    std::map<int, std::size_t> row_of; // By Pu::numa.
    for (const Pu& pu : pus) {
        const auto row = row_of_cpu.find(pu.cpu);
        if (row == row_of_cpu.end() || distance.empty()) {
            return {};
        }
        row_of[pu.numa] = static_cast<std::size_t>(row->second);
    }
    NodeDistances found;
    found.nodes = static_cast<int>(row_of.size());
    for (const auto& [from, row] : row_of) {
        for (const auto& [to, column] : row_of) {
            found.value.push_back(distance[row][column]);
        }
    }
    return found;
}

KernelNodes read_kernel_nodes(const std::filesystem::path& folder) {
    KernelNodes nodes;
    const std::map<int, fs::path> folders = node_folders(folder);
    int row = 0;
    for (const auto& [number, path] : folders) {
        for (const int cpu : parse_cpu_list(read_small_file(path / "cpulist").value_or(""))
                                 .value_or(std::vector<int>{})) {
            nodes.row_of_cpu[cpu] = row;
        }
        std::istringstream words(read_small_file(path / "distance").value_or(""));
        std::vector<double> distances;
        for (double value = 0; words >> value && value > 0;) {
            distances.push_back(value);
        }
        nodes.distance.push_back(std::move(distances));
        ++row;
    }
    const bool is_square =
        std::all_of(nodes.distance.begin(), nodes.distance.end(),
                    [&](const auto& line) { return line.size() == folders.size(); });
    if (!is_square) {
        nodes.distance.clear();
    }
    return nodes;
}

} // namespace corymb::discover
