// SPDX-License-Identifier: Apache-2.0
#include "machine/discover/hwloc_handle.hpp"

#include <corymb/discover.hpp>
#include <corymb/error.hpp>

#include <gtest/gtest.h>
#include <hwloc/distances.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <string>

namespace corymb {
namespace {

namespace fs = std::filesystem;

/// The distances of one name in an exported file, read back by hwloc itself.
struct ReadBack {
    discover::HwlocHandle topology;
    hwloc_distances_s* distances = nullptr;

    ReadBack(const fs::path& file, const char* name) : topology(discover::hwloc_of_xml(file)) {
        unsigned count = 1;
        if (hwloc_distances_get_by_name(topology.get(), name, &count, &distances, 0) != 0 ||
            count != 1) {
            distances = nullptr;
        }
    }
    ~ReadBack() {
        if (distances != nullptr) {
            hwloc_distances_release(topology.get(), distances);
        }
    }
    ReadBack(const ReadBack&) = delete;
    ReadBack& operator=(const ReadBack&) = delete;
};

class Export : public testing::Test {
protected:
    fs::path file_ =
        fs::temp_directory_path() / ("corymb-export-" + std::to_string(getpid()) + ".xml");
    void TearDown() override { fs::remove(file_); }
};

TEST_F(Export, SmallMachinesHaveARowAPu) {
    Machine machine = gallery_machine("m1-ultra-20c");
    export_hwloc_distances(machine, file_);
    const ReadBack send(file_, "corymb:send_ps");
    const ReadBack receive(file_, "corymb:receive_ps");
    ASSERT_NE(send.distances, nullptr);
    ASSERT_NE(receive.distances, nullptr);
    ASSERT_EQ(receive.distances->nbobjs, 20u);
    EXPECT_EQ(receive.distances->kind & HWLOC_DISTANCES_KIND_FROM_USER,
              static_cast<unsigned long>(HWLOC_DISTANCES_KIND_FROM_USER));
    for (unsigned row = 0; row < 20; ++row) {
        for (unsigned column = 0; column < 20; ++column) {
            const int from =
                machine.index_of_cpu(static_cast<int>(receive.distances->objs[row]->os_index));
            const int to =
                machine.index_of_cpu(static_cast<int>(receive.distances->objs[column]->os_index));
            ASSERT_GE(from, 0);
            const double expected = from == to ? 0 : 1000 * machine.receive_cost(from, to);
            EXPECT_NEAR(static_cast<double>(receive.distances->values[row * 20 + column]), expected,
                        1);
        }
    }
}

TEST_F(Export, LargeMachinesHaveARowAGroup) {
    const Machine machine = topology_from_synthetic("pack:2 l3:16 core:8 pu:2");
    export_hwloc_distances(machine, file_);
    const ReadBack receive(file_, "corymb:receive_ps");
    ASSERT_NE(receive.distances, nullptr);
    ASSERT_EQ(receive.distances->nbobjs, 32u);
    EXPECT_LT(fs::file_size(file_), 2'000'000u);
    // Inside an L3 a message costs less than between packages.
    EXPECT_GT(receive.distances->values[0], 0u);
    EXPECT_LT(receive.distances->values[0], receive.distances->values[31]);
}

TEST_F(Export, ThisMachineKeepsItsTopology) {
    const Machine machine = discover_topology();
    if (machine.size() < 2) {
        GTEST_SKIP() << "one CPU has no distances";
    }
    export_hwloc_distances(machine, file_);
    EXPECT_EQ(topology_from_xml(file_).topology.pus, machine.topology.pus);
}

TEST_F(Export, CyclesOfUnknownLengthAreNotCalledPicoseconds) {
    const Machine machine = gallery_machine("smelt-e5v2-2x10");
    export_hwloc_distances(machine, file_);
    const ReadBack wrong(file_, "corymb:send_ps");
    const ReadBack right(file_, "corymb:send_millicycles");
    EXPECT_EQ(wrong.distances == nullptr, std::isnan(machine.unit_ns));
    EXPECT_EQ(right.distances == nullptr, !std::isnan(machine.unit_ns));
}

TEST_F(Export, UnwritableDirectoryIsAnError) {
    try {
        export_hwloc_distances(gallery_machine("m1-ultra-20c"), "/nonexistent/machine.xml");
        ADD_FAILURE() << "no error";
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), Errc::io);
        EXPECT_NE(std::string(error.what()).find("/nonexistent/machine.xml"), std::string::npos);
    }
    try {
        export_hwloc_distances(topology_from_synthetic("pu:1"), file_);
        ADD_FAILURE() << "no error";
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), Errc::invalid_argument);
    }
}

} // namespace
} // namespace corymb
