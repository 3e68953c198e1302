// SPDX-License-Identifier: Apache-2.0
// What is known about the shipped machines must be found in them.
#include <corymb/error.hpp>
#include <corymb/machine.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

namespace corymb {

namespace {

class Gallery : public testing::Test {
protected:
    // Nobody's environment shall decide which machines the tests see.
    Gallery() { ::setenv("CORYMB_DATA_DIR", CORYMB_SOURCE_DIR, 1); }
    ~Gallery() override { ::unsetenv("CORYMB_DATA_DIR"); }
};

std::size_t parts(const Machine& machine, int Pu::* member) {
    std::set<int> numbers;
    for (const Pu& pu : machine.topology.pus) {
        if (pu.*member >= 0) {
            numbers.insert(pu.*member);
        }
    }
    return numbers.size();
}

std::vector<double> receive_medians(const Machine& machine) {
    std::vector<double> out;
    for (const PairClass& each : machine.classes) {
        out.push_back(each.receive.median);
    }
    return out;
}

void expect_near(const std::vector<double>& values, const std::vector<double>& wanted) {
    ASSERT_EQ(values.size(), wanted.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
        EXPECT_NEAR(values[i], wanted[i], wanted[i] * 0.1) << "class " << i;
    }
}

TEST_F(Gallery, EveryMachineLoadsChecksAndComesBack) {
    const std::vector<std::string> names = gallery_names();
    EXPECT_EQ(names.size(), 22u);
    EXPECT_TRUE(std::is_sorted(names.begin(), names.end()));
    for (const std::string& name : names) {
        const Machine machine = gallery_machine(name);
        machine.check();
        EXPECT_EQ(machine.name, name);
        EXPECT_NE(machine.fingerprint.cpu, "") << name << " is not in index.json";
        EXPECT_NE(machine.assumption, "");
        const std::string text = to_json(machine);
        const Machine back = machine_from_json(text);
        EXPECT_EQ(to_json(back), text) << name;
        EXPECT_TRUE(
            std::equal(machine.send.begin(), machine.send.end(), back.send.begin(),
                       [](float a, float b) { return a == b || (std::isnan(a) && std::isnan(b)); }))
            << name;
        EXPECT_EQ(machine.group_class, back.group_class);
    }
}

TEST_F(Gallery, UnitsFollowTheNames) {
    EXPECT_EQ(gallery_machine("sparc-4s-256t-mctop-cycles").unit, TimeUnit::cycles);
    EXPECT_EQ(gallery_machine("graviton3-1s-64c").unit, TimeUnit::nanoseconds);
    const Machine smelt = gallery_machine("smelt-e5v2-2x10");
    EXPECT_EQ(smelt.unit, TimeUnit::cycles);
    EXPECT_EQ(smelt.unit_ns, 0.4);
}

TEST_F(Gallery, SmeltsMachinesTellSendFromReceive) {
    struct Known {
        const char* name;
        int size;
        double send, receive; // Means over all pairs, as their README files have them.
    };
    for (const Known& known :
         {Known{"smelt-barcelona-8x4", 32, 338, 408}, Known{"smelt-istanbul-4x6", 24, 278, 402}}) {
        const Machine machine = gallery_machine(known.name);
        ASSERT_EQ(machine.size(), known.size);
        EXPECT_EQ(machine.unit, TimeUnit::cycles);
        double send = 0, receive = 0;
        for (int from = 0; from < known.size; ++from) {
            for (int to = 0; to < known.size; ++to) {
                const auto pair = static_cast<std::size_t>(from * known.size + to);
                send += from == to ? 0 : static_cast<double>(machine.send[pair]);
                receive += from == to ? 0 : static_cast<double>(machine.receive[pair]);
            }
        }
        const double pairs = known.size * (known.size - 1.0);
        EXPECT_NEAR(send / pairs, known.send, 0.5) << known.name;
        EXPECT_NEAR(receive / pairs, known.receive, 0.5) << known.name;
    }
}

TEST_F(Gallery, UnknownNamesProposeTheNearest) {
    EXPECT_EQ(gallery_machine("opteron-8die-48c-mctop").size(), 48);
    try {
        (void)gallery_machine("smelt-e5v2-2x01");
        ADD_FAILURE() << "an unknown name was accepted";
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), Errc::unknown_name);
        EXPECT_NE(std::string(error.what()).find("smelt-e5v2-2x10"), std::string::npos);
    }
    EXPECT_THROW((void)gallery_machine("../machines/graviton3-1s-64c"), Error);
    EXPECT_THROW((void)gallery_machine(""), Error);
    EXPECT_THROW((void)gallery_machine("index"), Error);
}

TEST_F(Gallery, AMissingDataFolderIsSaid) {
    ::setenv("CORYMB_DATA_DIR", "/nonexistent", 1);
    try {
        (void)gallery_names();
        ADD_FAILURE() << "a missing folder was accepted";
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), Errc::io);
        EXPECT_NE(std::string(error.what()).find("/nonexistent/machines"), std::string::npos);
    }
}

TEST_F(Gallery, TheSourceTreeIsFoundWithoutTheVariable) {
    ::unsetenv("CORYMB_DATA_DIR");
    EXPECT_FALSE(gallery_names().empty());
}

TEST_F(Gallery, Epyc9754) {
    const Machine machine = gallery_machine("epyc-9754-2s-512t");
    expect_near(receive_medians(machine), {12.7, 32.5, 110, 205});
    EXPECT_EQ(parts(machine, &Pu::core), 256u);
    EXPECT_EQ(parts(machine, &Pu::l3), 32u);
    for (int pu = 0; pu < 512; ++pu) {
        const Pu& of = machine.topology.pus[static_cast<std::size_t>(pu)];
        EXPECT_EQ(of.core, machine.topology.pus[static_cast<std::size_t>(pu % 256)].core);
        EXPECT_EQ(of.l3, machine.topology.pus[static_cast<std::size_t>(pu % 256 / 8 * 8)].l3);
    }
    // One package is as slow inside as the way to the other: no package can be told.
    EXPECT_EQ(machine.class_of(0, 64), 3);
    EXPECT_EQ(machine.class_of(128, 192), 2);
    EXPECT_EQ(machine.class_of(0, 128), 3);
    EXPECT_EQ(parts(machine, &Pu::package), 0u);
}

TEST_F(Gallery, Ryzen5950x) {
    const Machine machine = gallery_machine("ryzen-5950x-1s-32t");
    expect_near(receive_medians(machine), {7.8, 18, 85});
    EXPECT_EQ(parts(machine, &Pu::core), 16u);
    EXPECT_EQ(parts(machine, &Pu::l3), 2u);
}

TEST_F(Gallery, Smelt) {
    const Machine machine = gallery_machine("smelt-e5v2-2x10");
    ASSERT_EQ(machine.classes.size(), 2u);
    EXPECT_EQ(machine.group_count(), 2);
    EXPECT_NEAR(machine.classes[0].send.median, 62, 2);
    EXPECT_NEAR(machine.classes[1].send.median, 193, 2);
    EXPECT_NEAR(machine.classes[0].receive.median, 221, 3);
    EXPECT_NEAR(machine.classes[1].receive.median, 693, 3);
    EXPECT_FLOAT_EQ(static_cast<float>(machine.send_cost(0, 1)), 63.654444F);
}

TEST_F(Gallery, OpteronHasFourLevels) {
    const Machine machine = gallery_machine("opteron-8die-48c-mctop-cycles");
    expect_near(receive_medians(machine), {117, 197, 217, 300});
    EXPECT_EQ(parts(machine, &Pu::l3), 8u);
    EXPECT_EQ(parts(machine, &Pu::package), 4u);
}

TEST_F(Gallery, MeshesAreFlat) {
    for (const char* name :
         {"graviton3-1s-64c", "xeon-w9-3475x-sapphirerapids-1s-36c", "m1-ultra-20c"}) {
        const Machine machine = gallery_machine(name);
        EXPECT_EQ(machine.classes.size(), 1u) << name;
        EXPECT_EQ(machine.group_count(), 1) << name;
    }
}

TEST_F(Gallery, SccIsAMeshOfTilesWithoutCoherence) {
    const Machine machine = gallery_machine("scc-48c");
    EXPECT_EQ(machine.size(), 48);
    EXPECT_EQ(parts(machine, &Pu::die), 24u);
    ASSERT_EQ(machine.access.classes.size(), 9u);
    EXPECT_EQ(machine.class_of(0, 1), 0);
    EXPECT_EQ(machine.class_of(0, 47), 8) << "from corner to corner of 6 x 4 tiles";
    EXPECT_EQ(machine.access.line_bytes, 32);
    EXPECT_EQ(machine.access.classes.front().word.read, 54);
    EXPECT_EQ(machine.access.classes.back().line.gap, 108);
    EXPECT_EQ(machine.access.own.line.read, 21);
    EXPECT_FALSE(gallery_machine("m1-ultra-20c").access.present());

    Machine wrong = machine;
    wrong.access.classes.pop_back();
    EXPECT_THROW(wrong.check(), Error);
    wrong = machine;
    wrong.access.own.word.gap = -1;
    EXPECT_THROW(wrong.check(), Error);
}

TEST_F(Gallery, Power9FallsBackWhereMeasurementFailed) {
    const Machine machine = gallery_machine("power9-8335gth-2s-128t");
    int missing = 0;
    for (int from = 0; from < 128; ++from) {
        for (int to = 0; to < 128; ++to) {
            const auto cell = static_cast<std::size_t>(from * 128 + to);
            if (from != to && std::isnan(machine.receive[cell])) {
                ++missing;
                const auto of = static_cast<std::size_t>(machine.class_of(from, to));
                EXPECT_EQ(machine.send_cost(from, to), machine.classes[of].send.median);
                EXPECT_EQ(machine.receive_cost(from, to), machine.classes[of].receive.median);
                EXPECT_GT(machine.send_cost(from, to), 0);
            }
        }
    }
    EXPECT_EQ(missing, 18); // Nine pairs, both directions.
}

TEST_F(Gallery, AssumptionOfSquareFilesHolds) {
    const Machine machine = gallery_machine("kunpeng-920-64c");
    EXPECT_NE(machine.assumption.find("0.28"), std::string::npos);
    EXPECT_NEAR(machine.send_cost(0, 1) / machine.receive_cost(0, 1), 0.28, 1e-6);
}

} // namespace

} // namespace corymb
