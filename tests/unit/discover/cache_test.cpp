// SPDX-License-Identifier: Apache-2.0
#include "base/cpu_list.hpp"
#include "cache_directory.hpp"

#include <corymb/discover.hpp>
#include <corymb/error.hpp>
#include <corymb/usable_cpus.hpp>

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace corymb {
namespace {

namespace fs = std::filesystem;

class Cache : public CacheDirectory {
protected:
    void TearDown() override {
        unsetenv("XDG_CACHE_HOME");
        CacheDirectory::TearDown();
    }
    std::string reason() {
        std::string why;
        EXPECT_FALSE(load_cached_machine(&why));
        return why;
    }
    /// A model of this machine; its costs hold for any check that finds the CPUs busy.
    static Machine stored() {
        MeasureOptions options;
        options.budget_s = 0.3;
        Machine machine = measure(options);
        save_machine(machine, cached_model_path());
        return machine;
    }
};

TEST_F(Cache, PathFollowsTheEnvironment) {
    EXPECT_EQ(cached_model_path().parent_path(), directory_);
    setenv("XDG_CACHE_HOME", "/somewhere", 1);
    EXPECT_EQ(cached_model_path().parent_path(), directory_);
    unsetenv("CORYMB_CACHE_DIR");
    EXPECT_EQ(cached_model_path().parent_path(), "/somewhere/corymb");
    setenv("XDG_CACHE_HOME", "relative/path", 1); // Not absolute: does not count.
    EXPECT_TRUE(cached_model_path().is_absolute());
    EXPECT_EQ(cached_model_path().parent_path().filename(), "corymb");
}

TEST_F(Cache, MissingModelSaysHowToMakeOne) {
    EXPECT_NE(reason().find("corymb map"), std::string::npos);
    EXPECT_FALSE(load_cached_machine(nullptr));
    setenv("CORYMB_CACHE_DIR", "/nonexistent/directory", 1);
    EXPECT_NE(reason().find("/nonexistent/directory"), std::string::npos);
}

TEST_F(Cache, DamagedModelsAreNotUsed) {
    for (const char* const text : {"", "{", "{}", "[1,2,3]", "\x01\x02"}) {
        std::ofstream(cached_model_path()) << text;
        EXPECT_NE(reason().find("cannot be used"), std::string::npos) << text;
    }
    fs::remove(cached_model_path());
    fs::create_directory(cached_model_path());
    EXPECT_FALSE(reason().empty());
}

TEST_F(Cache, ModelsOfOtherMachinesAreNotUsed) {
    const Machine own = stored();
    struct Case {
        const char* what;
        void (*change)(Machine&);
    };
    const Case cases[] = {{"Elbrus",
                           [](Machine& machine) {
                               machine.fingerprint.cpu = "Elbrus";
                           }},
                          {"0-1023",
                           [](Machine& machine) {
                               machine.fingerprint.cpuset = "0-1023";
                           }},
                          {"virtualisation",
                           [](Machine& machine) {
                               machine.fingerprint.virtualization = "abacus";
                           }},
                          {"topology", [](Machine& machine) {
                               machine.fingerprint.topology_sha256 = std::string(64, 'a');
                           }}};
    for (const Case& other : cases) {
        Machine machine = own;
        other.change(machine);
        save_machine(machine, cached_model_path());
        EXPECT_NE(reason().find(other.what), std::string::npos) << reason();
    }
}

TEST_F(Cache, StaleCostsAreNotUsed) {
    Machine machine = stored();
    if (machine.size() < 2) {
        GTEST_SKIP() << "one CPU has no costs";
    }
    machine.send.clear();
    machine.receive.clear();
    for (PairClass& pair_class : machine.classes) {
        pair_class.send = pair_class.receive = {1e12, 1e12, 1e12, 1};
    }
    save_machine(machine, cached_model_path());
    std::string why;
    const auto loaded = load_cached_machine(&why);
    // Only a machine too busy for the check may take it.
    EXPECT_TRUE(!loaded || why.empty());
    if (!loaded) {
        EXPECT_NE(why.find("times what the model says"), std::string::npos) << why;
    }
}

TEST_F(Cache, OwnModelIsLoaded) {
    const Machine own = stored();
    std::string why;
    const auto loaded = load_cached_machine(&why);
    if (!loaded) { // The load of this machine may have changed between the two measurements.
        EXPECT_NE(why.find("times what the model says"), std::string::npos) << why;
        return;
    }
    EXPECT_EQ(loaded->fingerprint.topology_sha256, own.fingerprint.topology_sha256);
    EXPECT_EQ(loaded->fingerprint.cpuset, format_cpu_list(usable_cpus().allowed));
    EXPECT_TRUE(why.empty());
}

} // namespace
} // namespace corymb
