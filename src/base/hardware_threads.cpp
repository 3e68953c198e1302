// SPDX-License-Identifier: Apache-2.0
#include "base/hardware_threads.hpp"

#include "base/cpu_list.hpp"

#include <algorithm>
#include <fstream>
#include <map>
#include <mutex>
#include <string>
#include <utility>

namespace corymb {

namespace {

namespace fs = std::filesystem;

/// The lowest number of a thread of the same core.
int core_of(int cpu, const fs::path& root) {
    std::ifstream file(root / "sys/devices/system/cpu" / ("cpu" + std::to_string(cpu)) /
                       "topology/thread_siblings_list");
    std::string text;
    std::getline(file, text);
    const auto siblings = parse_cpu_list(text);
    return siblings && !siblings->empty() ? siblings->front() : cpu;
}

/// The core of a CPU, asked once.
int known_core_of(int cpu) {
    static std::mutex mutex;
    // Never destroyed: a destructor of a static object of the program may make a team.
    static auto& known = *new std::map<int, int>;
    const std::lock_guard lock(mutex);
    const auto found = known.find(cpu);
    return found != known.end() ? found->second : known[cpu] = core_of(cpu, "/");
}

} // namespace

std::vector<int> one_of_each_core_first(std::vector<int> cpus, const fs::path& root) {
    if (cpus.size() < 2) {
        return cpus;
    }
    std::ranges::sort(cpus);
    std::map<int, int> threads_of_core;
    // Number among its core's threads in `cpus`, and number.
    std::vector<std::pair<int, int>> by_thread;
    for (const int cpu : cpus) {
        const int core = root == "/" ? known_core_of(cpu) : core_of(cpu, root);
        by_thread.emplace_back(threads_of_core[core]++, cpu);
    }
    std::ranges::sort(by_thread);
    std::ranges::transform(by_thread, cpus.begin(), &std::pair<int, int>::second);
    return cpus;
}

} // namespace corymb
