// SPDX-License-Identifier: Apache-2.0
// Recordings of noise: what is written reads back, what is wrong is refused with its place.
#include <corymb/error.hpp>
#include <corymb/noise.hpp>

#include <gtest/gtest.h>

#include <string>

namespace {

using namespace corymb;

NoiseTrace sample() {
    NoiseTrace trace;
    trace.name = "sample";
    trace.source = "written by hand";
    trace.created = "2026-11-30T00:00:00Z";
    trace.threshold_ns = 500;
    trace.cpus = {{3, 1e6, {{0, 1000}, {5000.25, 2000}, {7000.25, 10}, {999'000, 1000}}},
                  {5, 2e6, {}}};
    return trace;
}

std::string with_cpu(const std::string& recorded, const std::string& interruptions) {
    return R"({"schema": "corymb-noise/1", "cpus": [{"cpu": 0, "recorded": [[0, 100]],)"
           R"( "interruptions": []}, {"cpu": 1, "recorded": )" +
           recorded + R"(, "interruptions": )" + interruptions + "}]}";
}

void expect_refused(const std::string& text, const std::string& part) {
    try {
        (void)noise_trace_from_json(text);
        ADD_FAILURE() << "accepted: " << text;
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), Errc::invalid_model);
        EXPECT_NE(std::string(error.what()).find(part), std::string::npos)
            << error.what() << "\nlacks " << part;
    }
}

TEST(NoiseTrace, ReadsWhatItWrites) {
    const NoiseTrace trace = sample();
    EXPECT_EQ(noise_trace_from_json(to_json(trace)), trace);
}

TEST(NoiseTrace, StretchesThatTouchAreOneRecording) {
    const NoiseTrace trace =
        noise_trace_from_json(with_cpu("[[0, 40], [40, 90]]", "[[39, 2], [41, 5]]"));
    EXPECT_EQ(trace.cpus[1].recorded_ns, 90);
    EXPECT_EQ(trace.cpus[1].interruptions.size(), 2);
}

TEST(NoiseTrace, RefusesWhatIsWrongWithItsPlace) {
    expect_refused("{", "line 1");
    expect_refused(R"({"schema": "corymb-machine/1"})", "schema: must be \"corymb-noise/1\"");
    expect_refused(R"({"schema": "corymb-noise/1", "cpus": []})", "cpus: must name at least one");
    expect_refused(R"({"schema": "corymb-noise/1", "cpus": [], "cpuz": 1})", "cpuz");
    expect_refused(with_cpu("[[0, 40], [50, 90]]", "[]"),
                   "cpus[1].recorded[1]: begins at 50 ns, but the time before it ends at 40");
    expect_refused(with_cpu("[[0, 40], [50, 90]]", "[]"), "gap");
    expect_refused(with_cpu("[[0, 40], [30, 90]]", "[]"), "overlap");
    expect_refused(with_cpu("[[5, 40]]", "[]"), "cpus[1].recorded[0]");
    expect_refused(with_cpu("[[0, 0]]", "[]"), "cpus[1].recorded[0]: must end after its begin");
    expect_refused(with_cpu("[]", "[]"), "cpus[1].recorded: must have at least one stretch");
    expect_refused(with_cpu("[[0, 90]]", "[[10, 5], [14, 2]]"),
                   "cpus[1].interruptions[1]: begins at 14 ns and overlaps");
    expect_refused(with_cpu("[[0, 90]]", "[[10, 5], [4, 2]]"),
                   "cpus[1].interruptions[1]: begins at 4 ns, before the one ahead");
    expect_refused(with_cpu("[[0, 90]]", "[[-1, 5]]"), "cpus[1].interruptions[0][0]");
    expect_refused(with_cpu("[[0, 90]]", "[[1, -5]]"), "cpus[1].interruptions[0][1]");
    expect_refused(with_cpu("[[0, 90]]", "[[1, 0]]"), "cpus[1].interruptions[0][1]");
    expect_refused(with_cpu("[[0, 90]]", "[[1, 2, 3]]"), "two numbers");
    expect_refused(with_cpu("[[0, 90]]", "[[80, 20]]"), "after the recording");
    expect_refused(with_cpu("[[0, 90]]", "[[0, 90]]"), "leave no time");
    expect_refused(with_cpu("[[0, 90]]", "[[1, null]]"), "cpus[1].interruptions[0][1]");
    expect_refused(R"({"schema": "corymb-noise/1", "cpus": [{"cpu": 0, "recorded": [[0, 9]],)"
                   R"( "interruptions": []}, {"cpu": 0, "recorded": [[0, 9]],)"
                   R"( "interruptions": []}]})",
                   "cpus[1].cpu");
    EXPECT_THROW((void)load_noise_trace("/no/such/file.json"), Error);
}

TEST(NoiseTrace, SummaryCountsAllCpus) {
    const NoiseSummary summary = summary_of(sample());
    EXPECT_DOUBLE_EQ(summary.lost_share, 4010 / 3e6);
    EXPECT_DOUBLE_EQ(summary.rate_per_s, 4 / 3e-3);
    EXPECT_EQ(summary.median_ns, 1000);
    EXPECT_EQ(summary.longest_ns, 2000);
    NoiseTrace quiet = sample();
    quiet.cpus = {{0, 1e6, {}}};
    EXPECT_EQ(summary_of(quiet).median_ns, 0);
    EXPECT_EQ(summary_of(quiet).lost_share, 0);
}

TEST(Noise, IsReadFromAFewWords) {
    const Noise periodic = noise_from("periodic:1e6:2500");
    EXPECT_EQ(std::get<PeriodicNoise>(periodic.source), (PeriodicNoise{1e6, 2500}));
    EXPECT_DOUBLE_EQ(periodic.lost_share(), 0.0025);
    const Noise random = noise_from("random:9000:1000:uniform");
    EXPECT_EQ(std::get<RandomNoise>(random.source),
              (RandomNoise{9000, 1000, NoiseLengths::uniform}));
    EXPECT_DOUBLE_EQ(random.lost_share(), 0.1);
    EXPECT_EQ(std::get<RandomNoise>(noise_from("random:9:1").source).lengths,
              NoiseLengths::exponential);
    EXPECT_FALSE(Noise{}.present());
    for (const char* wrong :
         {"periodic:1000", "periodic:10:20", "periodic:10:10", "periodic:a:b", "periodic:10:0",
          "periodic:10:-1", "periodic:nan:1", "periodic:inf:1", "random:1:2:often",
          "random:1:2:uniform:3", "random:0:1", "periodic:1:2:3"}) {
        try {
            (void)noise_from(wrong);
            ADD_FAILURE() << wrong;
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), Errc::invalid_argument) << wrong;
        }
    }
    EXPECT_THROW((void)noise_from("no-such-file.json"), Error);
    EXPECT_THROW(Noise::periodic(100, 1, {100}).check(), Error);
    EXPECT_THROW((void)Noise::recorded({}), Error);
}

} // namespace
