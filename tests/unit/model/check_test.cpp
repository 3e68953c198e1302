// SPDX-License-Identifier: Apache-2.0
// Every invariant is broken once, and the error must name the field.
#include "sample_machine.hpp"

#include <corymb/error.hpp>
#include <corymb/machine.hpp>

#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <string>
#include <vector>

namespace corymb {

namespace {

constexpr double nan = Statistic::missing;
constexpr double infinity = std::numeric_limits<double>::infinity();

struct Break {
    const char* field; ///< What the error text must begin with.
    std::function<void(Machine&)> act;
};

void expect_refused(const Break& broken) {
    Machine machine = model_test::sample_machine();
    machine.check();
    broken.act(machine);
    try {
        machine.check();
        ADD_FAILURE() << broken.field << " was accepted";
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), Errc::invalid_model);
        EXPECT_EQ(std::string(error.what()).find(std::string(broken.field) + ": "), 0u)
            << "wanted " << broken.field << ", got " << error.what();
    }
    EXPECT_THROW((void)to_json(machine), Error) << broken.field;
}

TEST(Check, AcceptsTheSample) {
    EXPECT_NO_THROW(model_test::sample_machine().check());
}

TEST(Check, UnitAndFingerprint) {
    for (const Break& broken : std::vector<Break>{
             {"unit_ns",
              [](Machine& m) {
                  m.unit_ns = 0.5;
              }},
             {"unit_ns",
              [](Machine& m) {
                  m.unit_ns = nan;
              }},
             {"unit_ns",
              [](Machine& m) {
                  m.unit = TimeUnit::cycles;
                  m.unit_ns = 0;
              }},
             {"unit_ns",
              [](Machine& m) {
                  m.unit = TimeUnit::cycles;
                  m.unit_ns = infinity;
              }},
             {"fingerprint.topology_sha256",
              [](Machine& m) {
                  m.fingerprint.topology_sha256 = "abc";
              }},
             {"fingerprint.topology_sha256",
              [](Machine& m) {
                  m.fingerprint.topology_sha256[9] = 'G';
              }},
         }) {
        expect_refused(broken);
    }
}

TEST(Check, TimesThatNoMessageTakes) {
    for (const Break& broken : std::vector<Break>{
             {"classes[0].send.q75",
              [](Machine& m) {
                  m.classes[0].send.q75 = 1e13;
              }},
             {"send[0][1]",
              [](Machine& m) {
                  m.send[1] = 2e12F;
              }},
             {"send_batch[0].value[2]",
              [](Machine& m) {
                  m.send_batch[0].value[2] = 1e300;
              }},
             {"step_overhead",
              [](Machine& m) {
                  m.step_overhead = 1e13;
              }},
         }) {
        expect_refused(broken);
    }
}

TEST(Check, Topology) {
    for (const Break& broken : std::vector<Break>{
             {"topology.pus",
              [](Machine& m) {
                  m.topology.pus.clear();
              }},
             {"topology.pus",
              [](Machine& m) {
                  m.topology.pus.resize(20000);
              }},
             {"topology.pus[1].cpu",
              [](Machine& m) {
                  m.topology.pus[1].cpu = -1;
              }},
             {"topology.pus[2].cpu",
              [](Machine& m) {
                  m.topology.pus[2].cpu = 1;
              }},
             {"topology.pus[3].kind",
              [](Machine& m) {
                  m.topology.pus[3].kind = -2;
              }},
             {"topology.pus[1].core",
              [](Machine& m) {
                  m.topology.pus[1].core = 4;
              }},
             {"topology.pus[1].core",
              [](Machine& m) {
                  m.topology.pus[1].core = m.topology.pus[3].core = 2;
              }},
             {"topology.pus[1].l2",
              [](Machine& m) {
                  m.topology.pus[1].l2 = -2;
              }},
             {"topology.pus[3].l3",
              [](Machine& m) {
                  m.topology.pus[3].l3 = 3;
              }},
             {"topology.pus[0].die",
              [](Machine& m) {
                  m.topology.pus[0].die = 2;
              }},
             {"topology.pus[0].package",
              [](Machine& m) {
                  m.topology.pus[0].package = 2;
              }},
             {"topology.pus[0].numa",
              [](Machine& m) {
                  m.topology.pus[0].numa = 3;
              }},
         }) {
        expect_refused(broken);
    }
}

TEST(Check, Classes) {
    for (const Break& broken : std::vector<Break>{
             {"classes[1].name",
              [](Machine& m) {
                  m.classes[1].name.clear();
              }},
             {"classes[0].send.count",
              [](Machine& m) {
                  m.classes[0].send.count = -1;
              }},
             {"classes[0].send.median",
              [](Machine& m) {
                  m.classes[0].send.median = nan;
              }},
             {"classes[0].send.median",
              [](Machine& m) {
                  m.classes[0].send.median = -3;
              }},
             {"classes[1].receive.q75",
              [](Machine& m) {
                  m.classes[1].receive.q75 = infinity;
              }},
             {"classes[1].receive.q25",
              [](Machine& m) {
                  m.classes[1].receive.q25 = nan;
              }},
             {"classes[1].receive.median",
              [](Machine& m) {
                  m.classes[1].receive.q25 = 31;
              }},
             {"classes[1].receive.median",
              [](Machine& m) {
                  m.classes[1].receive.q75 = 29;
              }},
             {"classes[0].round_trip.median",
              [](Machine& m) {
                  m.classes[0].round_trip.count = 0;
              }},
             {"classes[1].send",
              [](Machine& m) {
                  m.classes[1].send = {};
              }},
             {"classes[0].receive",
              [](Machine& m) {
                  m.classes[0].receive = {};
              }},
             {"classes[0].reliability",
              [](Machine& m) {
                  m.classes[0].reliability = 1.1;
              }},
             {"classes[0].pairs_sampled",
              [](Machine& m) {
                  m.classes[0].pairs_sampled = -1;
              }},
         }) {
        expect_refused(broken);
    }
}

TEST(Check, Groups) {
    for (const Break& broken : std::vector<Break>{
             {"group",
              [](Machine& m) {
                  m.group.pop_back();
              }},
             {"group[2]",
              [](Machine& m) {
                  m.group[2] = -1;
              }},
             {"group[2]",
              [](Machine& m) {
                  m.group[2] = 4;
              }},
             {"group[0]",
              [](Machine& m) {
                  m.group = {2, 1, 1, 1};
              }},
             {"group_class",
              [](Machine& m) {
                  m.group_class.push_back(0);
              }},
             {"group_class",
              [](Machine& m) {
                  m.group_class.clear();
              }},
             {"group_class[0][1]",
              [](Machine& m) {
                  m.group_class[1] = 2;
              }},
             {"group_class[1][0]",
              [](Machine& m) {
                  m.group_class[2] = -1;
              }},
             {"group_class[1][1]",
              [](Machine& m) {
                  m.group_class[3] = -1;
              }},
         }) {
        expect_refused(broken);
    }
}

TEST(Check, Matrices) {
    for (const Break& broken : std::vector<Break>{
             {"send",
              [](Machine& m) {
                  m.send.clear();
              }},
             {"receive",
              [](Machine& m) {
                  m.receive.clear();
              }},
             {"send",
              [](Machine& m) {
                  m.send.pop_back();
              }},
             {"receive",
              [](Machine& m) {
                  m.receive.push_back(1);
              }},
             {"send[0][1]",
              [](Machine& m) {
                  m.send[1] = -1;
              }},
             {"receive[3][2]",
              [](Machine& m) {
                  m.receive[14] = std::numeric_limits<float>::infinity();
              }},
             {"send[2][2]",
              [](Machine& m) {
                  m.send[10] = 1;
              }},
         }) {
        expect_refused(broken);
    }
}

TEST(Check, WhatRanksShare) {
    for (const Break& broken : std::vector<Break>{
             {"shared[0]",
              [](Machine& m) {
                  m.shared[0].value.pop_back();
              }},
             {"shared[0].count[1]",
              [](Machine& m) {
                  m.shared[0].count[1] = 1;
              }},
             {"shared[0].value[1]",
              [](Machine& m) {
                  m.shared[0].value[1] = 0;
              }},
             {"shared[0].from_bytes",
              [](Machine& m) {
                  m.shared[0].from_bytes = -1;
              }},
             {"shared[1].from_bytes",
              [](Machine& m) {
                  m.shared[1].from_bytes = 64;
              }},
             {"shared[0].scope",
              [](Machine& m) {
                  m.shared[0].use = SharedUse::copies_between;
                  m.shared[0].scope = Scope::machine;
              }},
         }) {
        expect_refused(broken);
    }
}

TEST(Check, Curves) {
    for (const Break& broken : std::vector<Break>{
             {"send_batch[0].pair_class",
              [](Machine& m) {
                  m.send_batch[0].pair_class = 2;
              }},
             {"fan_out[0].pair_class",
              [](Machine& m) {
                  m.fan_out[0].pair_class = -1;
              }},
             {"receive_batch[0]",
              [](Machine& m) {
                  m.receive_batch[0].value.pop_back();
              }},
             {"shared_line[0]",
              [](Machine& m) {
                  m.shared_line[0] = {0, {}, {}};
              }},
             {"send_batch[0].count[0]",
              [](Machine& m) {
                  m.send_batch[0].count[0] = 0;
              }},
             {"send_batch[0].count[2]",
              [](Machine& m) {
                  m.send_batch[0].count[2] = 2;
              }},
             {"fan_out[0].value[1]",
              [](Machine& m) {
                  m.fan_out[0].value[1] = nan;
              }},
             {"fan_out[0].value[0]",
              [](Machine& m) {
                  m.fan_out[0].value[0] = -1;
              }},
             {"transfer[0].pair_class",
              [](Machine& m) {
                  m.transfer[0].pair_class = 2;
              }},
             {"transfer[0].value[0]",
              [](Machine& m) {
                  m.transfer[0].value[0] = nan;
              }},
             {"fresh[0].value[1]",
              [](Machine& m) {
                  m.fresh[0].value[1] = -1;
              }},
             {"rewrite[1].pair_class",
              [](Machine& m) {
                  m.rewrite[1].pair_class = -1;
              }},
             {"message[0].count[1]",
              [](Machine& m) {
                  m.message[0].count[1] = 8;
              }},
         }) {
        expect_refused(broken);
    }
}

TEST(Check, MemoryAndSteps) {
    for (const Break& broken : std::vector<Break>{
             {"memory[1].level",
              [](Machine& m) {
                  m.memory[1].level.clear();
              }},
             {"memory[0].working_set_bytes",
              [](Machine& m) {
                  m.memory[0].working_set_bytes = 0;
              }},
             {"memory[0].read_gbs",
              [](Machine& m) {
                  m.memory[0].read_gbs = -1;
              }},
             {"memory[0].write_gbs",
              [](Machine& m) {
                  m.memory[0].write_gbs = nan;
              }},
             {"memory[0].copy_gbs",
              [](Machine& m) {
                  m.memory[0].copy_gbs = infinity;
              }},
             {"step_overhead",
              [](Machine& m) {
                  m.step_overhead = -1;
              }},
         }) {
        expect_refused(broken);
    }
}

TEST(Check, Quality) {
    for (const Break& broken : std::vector<Break>{
             {"quality.dropped_batches",
              [](Machine& m) {
                  m.quality.dropped_batches = 1.5;
              }},
             {"quality.steal",
              [](Machine& m) {
                  m.quality.steal = nan;
              }},
             {"quality.split_half_r",
              [](Machine& m) {
                  m.quality.split_half_r = -2;
              }},
             {"quality.duration_s",
              [](Machine& m) {
                  m.quality.duration_s = -1;
              }},
             {"quality.budget_s",
              [](Machine& m) {
                  m.quality.budget_s = infinity;
              }},
         }) {
        expect_refused(broken);
    }
}

} // namespace

} // namespace corymb
