// SPDX-License-Identifier: Apache-2.0
#include "base/hardware_threads.hpp"

#include "base/cpu_list.hpp"

#include <algorithm>
#include <fstream>
#include <map>
#include <mutex>
#include <string>

namespace corymb {

namespace {

namespace fs = std::filesystem;

/// How many threads of the core of `cpu` have lower numbers.
int thread_of_core(int cpu, const fs::path& root) {
    std::ifstream file(root / "sys/devices/system/cpu" / ("cpu" + std::to_string(cpu)) /
                       "topology/thread_siblings_list");
    std::string text;
    std::getline(file, text);
    const auto siblings = parse_cpu_list(text);
    if (!siblings) {
        return 0;
    }
    return static_cast<int>(
        std::ranges::count_if(*siblings, [cpu](int other) { return other < cpu; }));
}

/// The same, asked once.
int known_thread_of_core(int cpu) {
    static std::mutex mutex;
    // Never destroyed: a destructor of a static object of the program may make a team.
    static auto& known = *new std::map<int, int>;
    const std::lock_guard lock(mutex);
    const auto found = known.find(cpu);
    return found != known.end() ? found->second : known[cpu] = thread_of_core(cpu, "/");
}

} // namespace

std::vector<int> one_of_each_core_first(std::vector<int> cpus, const fs::path& root) {
    std::vector<std::pair<int, int>> by_thread; // Of its core, and number.
    for (const int cpu : cpus) {
        by_thread.emplace_back(root == "/" ? known_thread_of_core(cpu) : thread_of_core(cpu, root),
                               cpu);
    }
    std::ranges::sort(by_thread);
    std::ranges::transform(by_thread, cpus.begin(), &std::pair<int, int>::second);
    return cpus;
}

} // namespace corymb
