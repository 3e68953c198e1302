// SPDX-License-Identifier: Apache-2.0
#include "machine/discover/transfers.hpp"

#include "machine/discover/handover_probe.hpp"
#include "machine/discover/stream_probe.hpp"

#include <corymb/discover.hpp>
#include <corymb/usable_cpus.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>
#include <utility>
#include <vector>

namespace corymb::discover {
namespace {

constexpr std::int64_t much_memory = std::int64_t{1} << 36;
constexpr double missing = std::numeric_limits<double>::quiet_NaN();

bool always(std::int64_t /*bytes*/) {
    return true;
}

/// Two packages of two cores: a class within and one between.
Machine two_packages() {
    return topology_from_synthetic("pack:2 core:2 pu:1");
}

TEST(Transfers, AreTheBestOfTheVisits) {
    const Machine machine = two_packages();
    ASSERT_EQ(machine.classes.size(), 2u);
    int visit = 0;
    std::set<std::pair<int, int>> pairs;
    Transfers transfers(machine, stream_bytes, much_memory,
                        [&](int from, int to, std::int64_t bytes) {
                            pairs.insert({from, to});
                            const double factor[] = {5, 3, missing};
                            return factor[visit] * static_cast<double>(bytes);
                        });
    EXPECT_TRUE(transfers.curves().empty()) << "nothing was timed";
    for (; visit < 3; ++visit) {
        transfers.visit(always);
    }
    EXPECT_EQ(pairs.size(), 2u) << "one pair a class";
    const auto curves = transfers.curves();
    ASSERT_EQ(curves.size(), 2u);
    for (int index : {0, 1}) {
        const Curve& curve = curves[static_cast<std::size_t>(index)];
        EXPECT_EQ(curve.pair_class, index);
        EXPECT_EQ(curve.count, (std::vector<int>{1 << 16, 1 << 20, 1 << 24}));
        EXPECT_EQ(curve.value,
                  (std::vector<double>{3.0 * (1 << 16), 3.0 * (1 << 20), 3.0 * (1 << 24)}));
    }
    Machine filled = machine;
    filled.transfer = curves;
    EXPECT_NO_THROW(filled.check());
}

TEST(Transfers, LeaveOutWhatThereIsNoTimeOrMemoryFor) {
    const auto constant = [](int, int, std::int64_t) {
        return 7.0;
    };
    Transfers small(two_packages(), stream_bytes, 128 << 20, constant);
    small.visit(always);
    EXPECT_EQ(small.curves().at(0).count, (std::vector<int>{1 << 16, 1 << 20}));
    Transfers hurried(two_packages(), stream_bytes, much_memory, constant);
    hurried.visit([](std::int64_t bytes) { return bytes < 1 << 20; });
    ASSERT_EQ(hurried.curves().size(), 2u);
    EXPECT_EQ(hurried.curves().at(1).count, (std::vector<int>{1 << 16}));
    Transfers late(two_packages(), stream_bytes, much_memory, constant);
    late.visit([](std::int64_t) { return false; });
    EXPECT_TRUE(late.curves().empty());
}

TEST(Transfers, LeaveOutWhatCouldNotBeTimed) {
    Transfers transfers(
        two_packages(), stream_bytes, much_memory,
        [](int, int, std::int64_t bytes) { return bytes == 1 << 20 ? missing : 7.0; });
    transfers.visit(always);
    for (const Curve& curve : transfers.curves()) {
        EXPECT_EQ(curve.count, (std::vector<int>{1 << 16, 1 << 24}));
    }
    Transfers never(two_packages(), stream_bytes, much_memory,
                    [](int, int, std::int64_t) { return missing; });
    never.visit(always);
    EXPECT_TRUE(never.curves().empty());
}

TEST(Transfers, TakeWhatCostsNothing) {
    Transfers transfers(two_packages(), fresh_bytes, much_memory,
                        [](int, int, std::int64_t bytes) { return bytes == 64 ? 0.0 : 7.0; });
    transfers.visit(always);
    ASSERT_EQ(transfers.curves().size(), 2u);
    const Curve curve = transfers.curves().front();
    EXPECT_EQ(curve.count, std::vector<int>(fresh_bytes.begin(), fresh_bytes.end()));
    EXPECT_EQ(curve.value.front(), 0);
    EXPECT_EQ(curve.value.back(), 7);
}

TEST(HandoverProbe, TimesBytesOfAnyNumber) {
    const auto& cpus = usable_cpus().allowed;
    if (cpus.size() < 2) {
        GTEST_SKIP() << "one CPU has no pairs";
    }
    Crew crew([] { return true; });
    HandoverProbe probe(crew, calibrate_ticks());
    for (const std::int64_t bytes : {1, 64, 10'000, 1 << 20}) {
        const HandoverTimes times = probe.turns(cpus[0], cpus[1], bytes);
        // A busy machine gives none.
        EXPECT_TRUE(std::isnan(times.copying) || times.copying >= 0) << bytes;
        EXPECT_TRUE(std::isnan(times.rewriting) || times.rewriting >= 0) << bytes;
        EXPECT_GT(HandoverProbe::slow_s(bytes), 0);
    }
    for (const std::int64_t bytes : {1, 56, 57, 4096}) {
        const double time_ns = probe.message(cpus[0], cpus[1], bytes);
        EXPECT_TRUE(std::isnan(time_ns) || time_ns > 0) << bytes;
    }
}

TEST(HandoverProbe, EndsWhenItIsToldTo) {
    const auto& cpus = usable_cpus().allowed;
    Crew crew([] { return false; });
    HandoverProbe probe(crew, calibrate_ticks());
    // Both on one CPU, as for the stream.
    probe.turns(cpus[0], cpus[0], 16 << 20);
    EXPECT_TRUE(crew.refused());
    probe.message(cpus[0], cpus[0], 4096);
    EXPECT_TRUE(crew.refused());
}

TEST(StreamProbe, TimesMessagesOfAnyLength) {
    const auto& cpus = usable_cpus().allowed;
    if (cpus.size() < 2) {
        GTEST_SKIP() << "one CPU has no pairs";
    }
    Crew crew([] { return true; });
    StreamProbe probe(crew, calibrate_ticks());
    for (const std::int64_t bytes : {1, 8192, 10'000, 1 << 20}) {
        const double time_ns = probe.time_of(cpus[0], cpus[1], bytes);
        EXPECT_TRUE(std::isnan(time_ns) || time_ns >= 0) << bytes; // A busy machine gives none.
        EXPECT_GT(StreamProbe::slow_s(bytes), 0);
    }
}

TEST(StreamProbe, EndsWhenItIsToldTo) {
    const auto& cpus = usable_cpus().allowed;
    Crew crew([] { return false; });
    StreamProbe probe(crew, calibrate_ticks());
    // Both on one CPU: whoever waits must let the other one run, or leave.
    for (int i = 0; i < 2; ++i) {
        probe.time_of(cpus[0], cpus[0], 16 << 20);
        EXPECT_TRUE(crew.refused());
    }
}

} // namespace
} // namespace corymb::discover
