// SPDX-License-Identifier: Apache-2.0
#include "contestants.hpp"

#include <unistd.h>

#include <array>
#include <climits>

namespace corymb::bench {

namespace {

using Contestants = std::vector<Contestant>;

/// The single wait policies are there to judge the ladder; one payload size is enough for that.
void add_corymb(Contestants& list, const Case& what) {
    list.push_back({"corymb", "corymb", "ladder", Program::native, {}});
    if (what.bytes <= sizeof(double)) {
        for (const std::string policy : {"spin", "yield", "park"}) {
            list.push_back({"corymb-" + policy, "corymb", policy, Program::native, {}});
        }
    }
    if (what.op == Operation::barrier) {
        list.push_back({"corymb-barrier", "corymb", "ladder", Program::native, {}});
    }
}

void add_floor(Contestants& list, const Case& what) {
    if (what.ranks != 2 || what.op == Operation::broadcast_stream) {
        return;
    }
    if (what.op != Operation::barrier) {
        list.push_back({"flags", "floor", "spin", Program::native, {}});
        return;
    }
    for (const std::string name :
         {"flags-store", "flags-store-pause", "flags-exchange", "flags-exchange-pause"}) {
        list.push_back({name, "floor", "spin", Program::native, {}});
    }
}

void add_textbook(Contestants& list, const Case& what) {
    const bool crowded = what.ranks > static_cast<int>(allowed_cpus().size());
    const std::string waiting = crowded ? "spin-then-yield" : "spin";
    for (const std::string name :
         {"central-sense", "central-ticket", "mcs-dissemination", "mcs-static-tree"}) {
        list.push_back({name, "textbook", waiting, Program::native, {}});
    }
}

void add_libraries(Contestants& list) {
    list.push_back({"std-barrier", "library", "default", Program::native, {}});
    list.push_back({"pthread-barrier", "library", "default", Program::native, {}});
    list.push_back({"boost-barrier", "library", "default", Program::native, {}});
}

/// What every OpenMP worker gets, whatever the runtime.
Environment common_environment(const Case& what) {
    Environment environment{{"OMP_NUM_THREADS", std::to_string(what.ranks)},
                            {"OMP_DYNAMIC", "false"},
                            {"OMP_STACKSIZE", "16M"},
                            {"KMP_WARNINGS", "0"}};
    if (!what.pinned) {
        environment.emplace_back("OMP_PROC_BIND", "false");
        return environment;
    }
    std::string places;
    for (const int cpu : placement(what.ranks)) {
        places += (places.empty() ? "{" : ",{") + std::to_string(cpu) + "}";
    }
    environment.emplace_back("OMP_PROC_BIND", "true");
    environment.emplace_back("OMP_PLACES", places);
    return environment;
}

struct WaitSetting {
    const char* suffix;
    const char* waiting;
    Environment environment;
};

std::vector<WaitSetting> gnu_settings() {
    return {{"", "default", {}},
            {"-active", "OMP_WAIT_POLICY=active", {{"OMP_WAIT_POLICY", "active"}}},
            {"-passive", "OMP_WAIT_POLICY=passive", {{"OMP_WAIT_POLICY", "passive"}}}};
}

std::vector<WaitSetting> llvm_settings() {
    return {{"", "default", {}},
            {"-active",
             "OMP_WAIT_POLICY=active KMP_BLOCKTIME=infinite",
             {{"OMP_WAIT_POLICY", "active"}, {"KMP_BLOCKTIME", "infinite"}}},
            {"-passive",
             "OMP_WAIT_POLICY=passive KMP_BLOCKTIME=0",
             {{"OMP_WAIT_POLICY", "passive"}, {"KMP_BLOCKTIME", "0"}}}};
}

void add(Contestants& list, const std::string& name, const WaitSetting& setting, Program program,
         const Environment& base, const Environment& extra = {}) {
    Contestant contestant{name + setting.suffix, "openmp", setting.waiting, program, base};
    auto& environment = contestant.environment;
    environment.insert(environment.end(), setting.environment.begin(), setting.environment.end());
    environment.insert(environment.end(), extra.begin(), extra.end());
    list.push_back(std::move(contestant));
}

/// The patterns of libomp's barriers; all three kinds must be set, else some do not take effect.
Environment pattern_environment(const std::string& pattern) {
    const std::string value = pattern + "," + pattern;
    return {{"KMP_PLAIN_BARRIER_PATTERN", value},
            {"KMP_FORKJOIN_BARRIER_PATTERN", value},
            {"KMP_REDUCTION_BARRIER_PATTERN", value}};
}

void add_openmp(Contestants& list, const Case& what) {
    const Environment base = common_environment(what);
    for (const auto& setting : gnu_settings()) {
        add(list, "libgomp", setting, Program::gcc_openmp, base);
    }
    for (const auto& setting : llvm_settings()) {
        add(list, "libomp", setting, Program::clang_openmp, base);
    }
    if (what.op != Operation::barrier) {
        return;
    }
    for (const std::string pattern : {"linear", "tree", "hyper", "hierarchical", "dist"}) {
        const auto settings = llvm_settings();
        for (std::size_t i = 0; i < 2; ++i) { // The defaults and the active one.
            add(list, "libomp-" + pattern, settings[i], Program::clang_openmp, base,
                pattern_environment(pattern));
        }
    }
}

std::string own_path() {
    std::array<char, PATH_MAX> path{};
    const ssize_t length = readlink("/proc/self/exe", path.data(), path.size());
    return length > 0 ? std::string(path.data(), static_cast<std::size_t>(length)) : "";
}

} // namespace

std::vector<Contestant> contestants_for(const Case& what) {
    Contestants list;
    add_corymb(list, what);
    add_floor(list, what);
    add_libraries(list);
    add_textbook(list, what);
    add_openmp(list, what);
    return list;
}

std::string program_path(Program program) {
    std::string path = own_path();
    if (program == Program::native) {
        return path;
    }
    path += program == Program::gcc_openmp ? "-gcc-openmp" : "-clang-openmp";
    return access(path.c_str(), X_OK) == 0 ? path : "";
}

std::string why_absent(Program program) {
    const std::string compiler = program == Program::gcc_openmp ? "g++" : "clang++";
    return "no " + compiler + " with OpenMP was found when corymb was built";
}

std::vector<std::string> worker_command(const Contestant& contestant, const Case& what,
                                        const std::string& path) {
    std::vector<std::string> command{path};
    if (contestant.program == Program::native) {
        command.insert(command.end(), {"--worker", contestant.name});
    }
    const auto words = to_words(what);
    command.insert(command.end(), words.begin(), words.end());
    return command;
}

} // namespace corymb::bench
