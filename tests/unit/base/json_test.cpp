// SPDX-License-Identifier: Apache-2.0
#include "base/json.hpp"

#include <nlohmann/json.hpp>

#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <string>

namespace {

using corymb::Errc;
using corymb::Error;
using corymb::JsonDocument;
using corymb::JsonView;

/// The text of the error that `act` throws, or "" when it throws none.
std::string error_of(const std::function<void()>& act) {
    try {
        act();
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), Errc::invalid_plan);
        return error.what();
    }
    return "";
}

std::string parse_error(const std::string& text, const corymb::JsonLimits& limits = {}) {
    return error_of([&] { const JsonDocument document(text, Errc::invalid_plan, limits); });
}

TEST(Json, GettersReturnWhatStandsThere) {
    const JsonDocument document(
        R"({"a": [1, -2], "b": {"c": 0.5, "d": null}, "t": "x", "f": true})", Errc::invalid_plan);
    const JsonView root = document.root();
    EXPECT_EQ(root.at("a").integers(), (std::vector<int>{1, -2}));
    EXPECT_EQ(root.at("b").at("c").number(0, 1), 0.5);
    EXPECT_FALSE(root.at("b").find("d"));
    EXPECT_FALSE(root.find("z"));
    EXPECT_EQ(root.at("t").text(), "x");
    EXPECT_TRUE(root.at("f").boolean());
}

TEST(Json, ErrorsNameTheField) {
    const JsonDocument document(R"({"c": [0, {"send": {"median": -3}}], "s": "7", "big": 1e40,
                                    "whole": 1.5, "u": 18446744073709551615, "row": [1, 2, "x"]})",
                                Errc::invalid_plan);
    const JsonView root = document.root();
    const JsonView send = root.at("c")[1].at("send");
    EXPECT_EQ(error_of([&] { (void)send.at("median").number(0); }),
              "c[1].send.median: must be >= 0, is -3");
    EXPECT_EQ(error_of([&] { (void)send.at("q25"); }), "c[1].send.q25: is missing");
    EXPECT_EQ(error_of([&] { (void)root.at("s").number(); }), "s: must be a number, is \"7\"");
    EXPECT_EQ(error_of([&] { (void)root.at("s").size(); }), "s: must be an array, is \"7\"");
    EXPECT_EQ(error_of([&] { (void)root.at("whole").integer(); }),
              "whole: must be a whole number, is 1.5");
    EXPECT_EQ(error_of([&] { (void)root.at("u").integer(0, 9); }),
              "u: must be from 0 to 9, is 18446744073709551615");
    EXPECT_EQ(error_of([&] { send.allow_only({"medium", "q25"}); }),
              "c[1].send: has no field \"median\"; did you mean medium");
    std::vector<float> row;
    EXPECT_EQ(error_of([&] { root.at("row").append_row(row, 3, 0); }),
              "row[2]: must be a number, is \"x\"");
    EXPECT_EQ(error_of([&] { root.at("row").append_row(row, 2, 0); }),
              "row: must have 2 numbers, has 3");
}

TEST(Json, RefusesWhatIsNoJson) {
    EXPECT_NE(parse_error("").find("line 1"), std::string::npos);
    EXPECT_NE(parse_error("{\"a\": [1, NaN]}").find("a[1]: parse error at line 1, column 11"),
              std::string::npos);
    EXPECT_NE(parse_error("{\"a\": 1e999}").find("a: number overflow"), std::string::npos);
    EXPECT_NE(parse_error("{\"a\": \"\xff\"}").find("UTF-8"), std::string::npos);
    EXPECT_EQ(parse_error("{\"a\": {\"b\": 1, \"b\": 2}}"), "a.b: stands twice");
    EXPECT_NE(parse_error("[1] 2"), "");
    EXPECT_NE(parse_error("/* comment */ 1"), "");
}

TEST(Json, ErrorTextIsShortAscii) {
    for (const std::string& text :
         {"[\"" + std::string(1'000'000, 'x'), std::string("\"\xf0\x9f"),
          "{\"" + std::string(5000, 'k') + "\": x}", std::string("\"a\nb\"")}) {
        const std::string error = parse_error(text);
        EXPECT_NE(error, "");
        EXPECT_LT(error.size(), 400u);
        for (const char letter : error) {
            EXPECT_TRUE(letter >= ' ' && letter <= '~') << error;
        }
    }
}

TEST(Json, LimitsHold) {
    EXPECT_EQ(parse_error("[[[]]]", {100, 2}), "[0][0]: nests deeper than 2 levels");
    EXPECT_EQ(parse_error("[[]]", {100, 2}), "");
    EXPECT_EQ(parse_error("[1,2]", {4, 2}), "document: has 5 bytes; at most 4 are read");
    EXPECT_NE(parse_error(std::string(1'000'000, '[')).find("nests deeper"), std::string::npos);
    std::string objects;
    for (int i = 0; i < 1'000'000; ++i) {
        objects += "{\"a\":";
    }
    EXPECT_NE(parse_error(objects).find("nests deeper"), std::string::npos);
}

TEST(Json, DumpPutsRowsOnOneLine) {
    nlohmann::ordered_json value;
    value["z"] = 1;
    value["matrix"] = {{1.5, 2}, {std::numeric_limits<double>::quiet_NaN(), 4}};
    value["records"] = nlohmann::ordered_json::array({{{"b", 1}, {"a", "x"}}});
    value["empty"] = nlohmann::ordered_json::array();
    EXPECT_EQ(corymb::dump_json(value), R"({
  "z": 1,
  "matrix": [
    [1.5,2],
    [null,4]
  ],
  "records": [
    {"b":1,"a":"x"}
  ],
  "empty": []
}
)");
}

TEST(Json, DumpedNumbersReadBackTheSame) {
    for (const double number : {0.1, 1.0 / 3, 1e-300, 17.8, 123456789.123456789, 0x1p-1074}) {
        const std::string text = corymb::dump_json(number);
        const JsonDocument document(text, Errc::invalid_plan);
        EXPECT_EQ(document.root().number(), number);
    }
}

} // namespace
