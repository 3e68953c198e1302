// SPDX-License-Identifier: Apache-2.0
// A small model in which every field holds something, for tests that change one thing.
#pragma once

#include <corymb/machine.hpp>

#include <limits>

namespace corymb::model_test {

inline Statistic statistic(double median) {
    return {median, median * 0.75, median * 1.25, 12};
}

/// Four PUs: two cores with two threads each; the pair (3, 0) was not measured.
inline Machine sample_machine() {
    constexpr float missing = std::numeric_limits<float>::quiet_NaN();
    Machine machine;
    machine.name = "sample";
    machine.source = "measured";
    machine.created = "2025-01-02T03:04:05Z";
    machine.assumption = "none";
    machine.fingerprint = {
        "A \"quoted\" processor é", std::string(64, 'a'), "0-1,4-5", "6.1", "kvm", true};
    machine.topology = {{{0, 0, 0, 0, 0, 0, 0, 1},
                         {1, 1, 1, 0, 0, 0, 0, 1},
                         {4, 0, 0, 0, 0, 0, 0, 1},
                         {5, 1, 1, 0, 0, 0, 0, -1}},
                        "hwloc",
                        {"one", "two"}};
    machine.classes = {{"same-core", statistic(3), statistic(9), statistic(24), 0.5, 2},
                       {"same-l3", statistic(8), statistic(30), {}, Statistic::missing, 4}};
    machine.group = {0, 1, 0, 1};
    machine.group_class = {0, 1, 1, 0};
    machine.send = {0, 8.25F, 3, 7.5F, 8, 0, 8.1F, 3.3F, 3, 8, 0, 9, missing, 3, 8.7F, 0};
    machine.receive = {0, 30.1F, 9, 31, 29, 0, 30, 9.5F, 10, 28, 0, 33, missing, 9, 30, missing};
    machine.send_batch = {{0, {1, 2, 4}, {3, 5, 9}}};
    machine.fan_out = {{1, {1, 2}, {8, 15.5}}};
    machine.receive_batch = {{1, {1, 3}, {30, 70}}};
    machine.shared_line = {{1, {1, 2, 3}, {38, 45, 50}}};
    machine.exchange = {{0, {1}, {21}}, {1, {1}, {44}}};
    machine.transfer = {{1, {65536, 1 << 20}, {5000, 120000.5}}};
    machine.fresh = {{1, {64, 65536}, {150, 7000.5}}};
    machine.rewrite = {{0, {64, 4096}, {0, 310}}, {1, {64}, {60}}};
    machine.message = {{1, {8, 256}, {140, 260.25}}};
    machine.memory = {{"l1", 16384, 100, 50, 40.5}, {"dram", 1 << 28, 10, 8, 6}};
    machine.shared = {
        {SharedUse::copies_from, Scope::l3, DataOrigin::measured, 4096, {1, 2}, {10, 15.5}},
        {SharedUse::word, Scope::machine, DataOrigin::assumed, 0, {2, 4}, {60, 180}}};
    machine.step_overhead = 1.25;
    machine.quality = {true, true, false, 0.04, 0.01, 0.42, 19.8, 30, {"A remark."}};
    return machine;
}

} // namespace corymb::model_test
