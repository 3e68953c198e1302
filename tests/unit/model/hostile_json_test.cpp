// SPDX-License-Identifier: Apache-2.0
// A model file may come from anybody: whatever is wrong is an error with the field's name, never a
// crash and never a model.
#include "sample_machine.hpp"

#include <corymb/error.hpp>
#include <corymb/machine.hpp>

#include <gtest/gtest.h>

#include <string>

namespace corymb {

namespace {

std::string error_of(const std::string& text) {
    try {
        (void)machine_from_json(text);
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), Errc::invalid_model);
        return error.what();
    }
    return "";
}

/// The sample's file with the first `from` after `after` replaced.
std::string with(const std::string& after, const std::string& from, const std::string& to) {
    std::string text = to_json(model_test::sample_machine());
    const auto at = text.find(from, text.find(after));
    EXPECT_NE(at, std::string::npos) << after << " " << from;
    return text.replace(at, from.size(), to);
}

void expect_field(const std::string& text, const std::string& field) {
    const std::string error = error_of(text);
    EXPECT_EQ(error.find(field + ": "), 0u) << "wanted " << field << ", got \"" << error << "\"";
}

TEST(HostileJson, ACutFileIsRefusedWhereverItIsCut) {
    std::string whole = to_json(model_test::sample_machine());
    while (whole.back() != '}') {
        whole.pop_back();
    }
    EXPECT_EQ(error_of(whole), "");
    for (std::size_t length = 0; length < whole.size(); ++length) {
        ASSERT_NE(error_of(whole.substr(0, length)), "") << "cut at byte " << length;
    }
}

TEST(HostileJson, NumbersThatAreNone) {
    expect_field(with("\"send\": [", "8.25", "NaN"), "send[0][1]");
    expect_field(with("\"send\": [", "8.25", "Infinity"), "send[0][1]");
    expect_field(with("\"send\": [", "8.25", "-8.25"), "send[0][1]");
    expect_field(with("\"send\": [", "8.25", "1e999"), "send[0][1]");
    expect_field(with("\"send\": [", "8.25", "1e39"), "send[0][1]");
    expect_field(with("\"send\": [", "8.25", "\"8\""), "send[0][1]");
    expect_field(with("\"receive\": [", "28", "-0.5"), "receive[2][1]");
    expect_field(with("classes", "\"median\":3.0", "\"median\":-3"), "classes[0].send.median");
    expect_field(with("classes", "\"median\":3.0", "\"median\":null"), "classes[0].send.median");
    expect_field(with("\"group\"", "[0,1,0,1]", "[0,99999999999,0,1]"), "group[1]");
    expect_field(with("\"group\"", "[0,1,0,1]", "[0,18446744073709551615,0,1]"), "group[1]");
    expect_field(with("\"group\"", "[0,1,0,1]", "[0,1.5,0,1]"), "group[1]");
    expect_field(with("\"cpu\":5", "\"cpu\":5", "\"cpu\":4294967296"), "topology.pus[3].cpu");
    expect_field(with("step_overhead", "1.25", "-1"), "step_overhead");
}

TEST(HostileJson, TimesThatNoMessageTakes) {
    expect_field(with("step_overhead", "1.25", "1e99"), "step_overhead");
    expect_field(with("\"send\": [", "8.25", "2e12"), "send[0][1]");
    expect_field(with("\"receive\": [", "28", "3e38"), "receive[2][1]");
}

TEST(HostileJson, WrongSizes) {
    expect_field(with("\"group\"", "[0,1,0,1]", "[0,1,0]"), "group");
    expect_field(with("\"group\"", "[0,1,0,1]", "[0,1,0,1,0]"), "group");
    expect_field(with("\"group_class\"", "[0,1]", "[0]"), "group_class[0]");
    expect_field(with("\"send\": [", "8.25,", ""), "send[0]");
    expect_field(with("\"send\": [", "8.25,", "8.25,1,"), "send[0]");
    expect_field(with("\"send\": [", "[0,8.25,3,7.5],", ""), "send");
    expect_field(with("\"send\": [", "[0,8.25,3,7.5]", "7"), "send[0]");
    expect_field(with("send_batch", "[1,2,4]", "[1,2]"), "send_batch[0]");
    expect_field(with("transfer", "[65536,1048576]", "[65536]"), "transfer[0]");
    expect_field(with("transfer", "65536", "4294967296"), "transfer[0].count[0]");
    expect_field(with("transfer", "120000.5", "1e300"), "transfer[0].value[1]");
    expect_field(with("\"fresh\"", "[64,65536]", "[64]"), "fresh[0]");
    expect_field(with("\"rewrite\"", "310", "-310"), "rewrite[0].value[1]");
    expect_field(with("\"message\"", "260.25", "null"), "message[0].value[1]");
    expect_field(with("shared\"", "copies-from", "copies"), "shared[0].use");
    expect_field(with("shared\"", "\"l3\"", "\"l4\""), "shared[0].scope");
    expect_field(with("shared\"", "\"measured\"", "7"), "shared[0].origin");
    expect_field(with("shared\"", "15.5", "-1"), "shared[0].value[1]");
    std::string many = "[";
    for (int i = 0; i < 100'000; ++i) {
        many += "{\"cpu\":" + std::to_string(i) + "},";
    }
    many.back() = ']';
    EXPECT_EQ(error_of(R"({"schema":"corymb-machine/1","unit":"ns","topology":{"pus":)" + many +
                       R"(},"classes":[],"group":[],"group_class":[]})"),
              "topology.pus: must have 1 to 16384 PUs, has 100000");
}

TEST(HostileJson, WrongKindOfFile) {
    expect_field("{}", "schema");
    expect_field("[]", "document");
    expect_field("null", "document");
    expect_field(R"({"schema": 7})", "schema");
    expect_field(R"({"schema": "corymb-machine/2"})", "schema");
    expect_field(R"({"schema": "corymb-plan/1", "steps": []})", "schema");
}

TEST(HostileJson, WrongTypesAndNames) {
    expect_field(with("unit", "\"ns\"", "\"seconds\""), "unit");
    expect_field(with("unit_ns", "1.0", "-1"), "unit_ns");
    expect_field(with("\"receive\": [", "\"receive\"", "\"recieve\""), "document");
    EXPECT_NE(
        error_of(with("\"receive\": [", "\"receive\"", "\"recieve\"")).find("did you mean receive"),
        std::string::npos);
    expect_field(with("quality", "\"noisy\": true", "\"noisy\": 1"), "quality.noisy");
    expect_field(with("topology", "\"pus\"", "\"pu\""), "topology");
    expect_field(with("\"name\"", "\"sample\"", "[]"), "name");
    expect_field(with("fingerprint", "\"smt\"", "\"smt2\""), "fingerprint");
}

TEST(HostileJson, DuplicateKeys) {
    expect_field(with("\"name\"", "\"sample\",", "\"sample\", \"name\": \"other\","), "name");
    expect_field(with("\"cpu\":1", "\"core\":1", "\"core\":1,\"core\":0"), "topology.pus[1].core");
}

TEST(HostileJson, TextThatIsNotUtf8) {
    expect_field(with("\"name\"", "sample", "sam\xffple"), "name");
    expect_field(with("\"name\"", "sample", "sam\xed\xa0\x80ple"), "name");
    const std::string raw_zero("\0", 1);
    expect_field(with("\"name\"", "sample", raw_zero), "name");
}

TEST(HostileJson, DeepNesting) {
    const int levels = 1'000'000;
    const std::string open(levels, '[');
    EXPECT_NE(error_of(open), "");
    EXPECT_NE(error_of(open + std::string(levels, ']')), "");
    EXPECT_EQ(error_of(with("\"send\": [", "8.25", open)).find("send[0][1][0]"), 0u);
}

} // namespace

} // namespace corymb
