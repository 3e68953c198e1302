// SPDX-License-Identifier: Apache-2.0
#include "sample_machine.hpp"

#include "base/file.hpp"
#include "base/random.hpp"
#include "base/sha256.hpp"

#include <corymb/detail/output.hpp>
#include <corymb/error.hpp>
#include <corymb/machine.hpp>

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <filesystem>
#include <unistd.h>

namespace corymb {

namespace {

/// Missing equals missing.
template <class Number>
bool same(Number a, Number b) {
    return a == b || (std::isnan(a) && std::isnan(b));
}

void expect_same(const std::vector<float>& a, const std::vector<float>& b) {
    ASSERT_EQ(a.size(), b.size());
    for (std::size_t i = 0; i < a.size(); ++i) {
        ASSERT_TRUE(same(a[i], b[i])) << i << ": " << a[i] << " and " << b[i];
    }
}

void expect_same(const Statistic& a, const Statistic& b) {
    EXPECT_TRUE(same(a.median, b.median) && same(a.q25, b.q25) && same(a.q75, b.q75));
    EXPECT_EQ(a.count, b.count);
}

void expect_same(const std::vector<Curve>& a, const std::vector<Curve>& b) {
    ASSERT_EQ(a.size(), b.size());
    for (std::size_t i = 0; i < a.size(); ++i) {
        EXPECT_EQ(a[i].pair_class, b[i].pair_class);
        EXPECT_EQ(a[i].count, b[i].count);
        EXPECT_EQ(a[i].value, b[i].value);
    }
}

void expect_same(const std::vector<SharedResource>& a, const std::vector<SharedResource>& b) {
    ASSERT_EQ(a.size(), b.size());
    for (std::size_t i = 0; i < a.size(); ++i) {
        EXPECT_EQ(a[i].use, b[i].use);
        EXPECT_EQ(a[i].scope, b[i].scope);
        EXPECT_EQ(a[i].origin, b[i].origin);
        EXPECT_EQ(a[i].from_bytes, b[i].from_bytes);
        EXPECT_EQ(a[i].count, b[i].count);
        EXPECT_EQ(a[i].value, b[i].value);
    }
}

void expect_same(const Quality& a, const Quality& b) {
    EXPECT_EQ(a.noisy, b.noisy);
    EXPECT_EQ(a.unstable_topology, b.unstable_topology);
    EXPECT_EQ(a.pinned, b.pinned);
    EXPECT_EQ(a.dropped_batches, b.dropped_batches);
    EXPECT_EQ(a.steal, b.steal);
    EXPECT_TRUE(same(a.split_half_r, b.split_half_r));
    EXPECT_EQ(a.duration_s, b.duration_s);
    EXPECT_EQ(a.budget_s, b.budget_s);
    EXPECT_EQ(a.remarks, b.remarks);
}

void expect_same(const Machine& a, const Machine& b) {
    EXPECT_EQ(a.name, b.name);
    EXPECT_EQ(a.source, b.source);
    EXPECT_EQ(a.created, b.created);
    EXPECT_EQ(a.assumption, b.assumption);
    EXPECT_EQ(a.unit, b.unit);
    EXPECT_TRUE(same(a.unit_ns, b.unit_ns));
    EXPECT_EQ(a.fingerprint.cpu, b.fingerprint.cpu);
    EXPECT_EQ(a.fingerprint.topology_sha256, b.fingerprint.topology_sha256);
    EXPECT_EQ(a.fingerprint.cpuset, b.fingerprint.cpuset);
    EXPECT_EQ(a.fingerprint.kernel, b.fingerprint.kernel);
    EXPECT_EQ(a.fingerprint.virtualization, b.fingerprint.virtualization);
    EXPECT_EQ(a.fingerprint.smt, b.fingerprint.smt);
    EXPECT_EQ(a.topology.pus, b.topology.pus);
    EXPECT_EQ(a.topology.source, b.topology.source);
    EXPECT_EQ(a.topology.disagreements, b.topology.disagreements);
    ASSERT_EQ(a.classes.size(), b.classes.size());
    for (std::size_t i = 0; i < a.classes.size(); ++i) {
        EXPECT_EQ(a.classes[i].name, b.classes[i].name);
        expect_same(a.classes[i].send, b.classes[i].send);
        expect_same(a.classes[i].receive, b.classes[i].receive);
        expect_same(a.classes[i].round_trip, b.classes[i].round_trip);
        EXPECT_TRUE(same(a.classes[i].reliability, b.classes[i].reliability));
        EXPECT_EQ(a.classes[i].pairs_sampled, b.classes[i].pairs_sampled);
    }
    EXPECT_EQ(a.group, b.group);
    EXPECT_EQ(a.group_class, b.group_class);
    expect_same(a.send, b.send);
    expect_same(a.receive, b.receive);
    expect_same(a.send_batch, b.send_batch);
    expect_same(a.fan_out, b.fan_out);
    expect_same(a.receive_batch, b.receive_batch);
    expect_same(a.shared_line, b.shared_line);
    expect_same(a.exchange, b.exchange);
    expect_same(a.transfer, b.transfer);
    expect_same(a.fresh, b.fresh);
    expect_same(a.rewrite, b.rewrite);
    expect_same(a.message, b.message);
    expect_same(a.shared, b.shared);
    ASSERT_EQ(a.memory.size(), b.memory.size());
    for (std::size_t i = 0; i < a.memory.size(); ++i) {
        EXPECT_EQ(a.memory[i].level, b.memory[i].level);
        EXPECT_EQ(a.memory[i].working_set_bytes, b.memory[i].working_set_bytes);
        EXPECT_EQ(a.memory[i].read_gbs, b.memory[i].read_gbs);
        EXPECT_EQ(a.memory[i].write_gbs, b.memory[i].write_gbs);
        EXPECT_EQ(a.memory[i].copy_gbs, b.memory[i].copy_gbs);
    }
    EXPECT_EQ(a.step_overhead, b.step_overhead);
    expect_same(a.quality, b.quality);
}

/// Any float that a cost may be, tiny and huge ones included, or missing.
float random_entry(Random& random) {
    const auto value = std::bit_cast<float>(static_cast<std::uint32_t>(random.next()) >> 1);
    return value > 1e12F ? 0.5F : value;
}

Statistic random_statistic(Random& random) {
    const double low = random.unit() * 100;
    const double middle = low + random.unit() * 100;
    return {middle, low, middle + random.unit() * 1e9, 1 + random.below(1000)};
}

Machine random_machine(std::uint64_t seed) {
    Random random(seed);
    Machine machine;
    machine.name = "random " + std::to_string(seed);
    machine.unit = TimeUnit::cycles;
    machine.unit_ns = random.below(2) == 0 ? Statistic::missing : random.unit() + 0.1;
    const std::size_t size = 1 + random.below(20);
    const int groups = 1 + static_cast<int>(random.below(static_cast<std::uint32_t>(size)));
    for (std::size_t i = 0; i < size; ++i) {
        machine.topology.pus.push_back({.cpu = static_cast<int>(i * 3 + random.below(3))});
        machine.group.push_back(static_cast<int>(i) % groups);
    }
    const std::uint32_t classes = 1 + random.below(4);
    for (std::uint32_t i = 0; i < classes; ++i) {
        machine.classes.push_back({"class " + std::to_string(i), random_statistic(random),
                                   random_statistic(random), random_statistic(random),
                                   random.unit() * 2 - 1, random.below(100)});
    }
    for (int i = 0; i < groups * groups; ++i) {
        machine.group_class.push_back(static_cast<int>(random.below(classes)));
    }
    if (random.below(4) != 0) {
        for (std::size_t i = 0; i < size * size; ++i) {
            const bool diagonal = i / size == i % size;
            machine.send.push_back(diagonal ? 0 : random_entry(random));
            machine.receive.push_back(diagonal ? 0 : random_entry(random));
        }
    }
    return machine;
}

TEST(JsonRoundTrip, EveryFieldComesBack) {
    const Machine machine = model_test::sample_machine();
    expect_same(machine, machine_from_json(to_json(machine)));
}

TEST(JsonRoundTrip, RandomMachinesComeBack) {
    for (std::uint64_t seed = 0; seed < 300; ++seed) {
        const Machine machine = random_machine(seed);
        const std::string text = to_json(machine);
        const Machine back = machine_from_json(text);
        expect_same(machine, back);
        ASSERT_EQ(to_json(back), text);
        if (HasFailure()) {
            FAIL() << "seed " << seed;
        }
    }
}

TEST(JsonRoundTrip, OptionalFieldsMayBeLeftOut) {
    const Machine machine = machine_from_json(R"({
        "schema": "corymb-machine/1", "unit": "ns",
        "topology": {"pus": [{"cpu": 0}, {"cpu": 7}]},
        "classes": [{"name": "all", "send": {"median": 1, "q25": 1, "q75": 1, "count": 1},
                     "receive": {"median": 2, "q25": 2, "q75": 2, "count": 1}}],
        "group": [0, 0], "group_class": [[0]]})");
    EXPECT_EQ(machine.size(), 2);
    EXPECT_EQ(machine.unit_ns, 1.0);
    EXPECT_EQ(machine.receive_cost(0, 1), 2.0);
    EXPECT_FALSE(machine.has_matrix());
    EXPECT_EQ(machine.topology.pus[1].core, -1);
}

TEST(JsonRoundTrip, AMachineOfOnePuNeedsNoClass) {
    Machine machine;
    machine.topology.pus = {{.cpu = 3}};
    machine.group = {0};
    machine.group_class = {-1};
    expect_same(machine, machine_from_json(to_json(machine)));
}

TEST(JsonRoundTrip, FilesAndHashAgree) {
    const Machine machine = model_test::sample_machine();
    const auto file = std::filesystem::temp_directory_path() /
                      ("corymb-round-trip-" + std::to_string(::getpid()) + ".json");
    save_machine(machine, file);
    expect_same(machine, load_machine(file));
    EXPECT_EQ(machine_sha256(machine), sha256_hex(read_file(file)));
    Machine other = machine;
    other.classes[0].send.median += 0.01;
    EXPECT_NE(machine_sha256(machine), machine_sha256(other));
    detail::write_output(file, "{}");
    try {
        (void)load_machine(file);
        ADD_FAILURE() << "an empty object was accepted";
    } catch (const Error& error) {
        EXPECT_EQ(error.what(), file.string() + ": schema: is missing");
    }
    std::filesystem::remove(file);
}

} // namespace

} // namespace corymb
