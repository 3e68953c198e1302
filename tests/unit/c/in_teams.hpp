// SPDX-License-Identifier: Apache-2.0
// Teams for the tests of the C interface, which see nothing of the library but <corymb.h>.
#pragma once

#include <corymb.h>

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

namespace c_test {

using Life = std::function<void(corymb_team*)>;

inline corymb_status live(corymb_team* team, void* life) {
    (*static_cast<Life*>(life))(team);
    return CORYMB_OK;
}

/// Runs `life` on every rank of a team of threads.
inline void in_team(int size, Life life, const corymb_options* options = nullptr) {
    EXPECT_EQ(corymb_threads(size, live, &life, options), CORYMB_OK) << corymb_last_error();
}

inline void expect_ok(corymb_status status) {
    EXPECT_EQ(status, CORYMB_OK) << corymb_status_name(status) << ": " << corymb_last_error();
}

/// The call failed with this status, and its text says these words.
inline void expect_refused(corymb_status status, corymb_status expected, const std::string& words) {
    EXPECT_EQ(status, expected) << corymb_status_name(status) << ": " << corymb_last_error();
    EXPECT_NE(std::string(corymb_last_error()).find(words), std::string::npos)
        << corymb_last_error();
}

inline void expect_invalid(corymb_status status, const std::string& words) {
    expect_refused(status, CORYMB_INVALID_ARGUMENT, words);
}

inline std::vector<int> blamed_ranks() {
    std::vector<int> ranks(corymb_last_error_ranks(nullptr, 0));
    corymb_last_error_ranks(ranks.data(), ranks.size());
    return ranks;
}

/// An operation on data that does not lie in one piece.
inline corymb_operation packed(corymb_collective op, const corymb_packed* input,
                               const corymb_packed* output, corymb_type type, corymb_op with,
                               int root) {
    corymb_operation made;
    corymb_operation_init(&made);
    made.op = op;
    made.root = root;
    made.type = type;
    made.with = with;
    made.packed_input = input;
    made.packed_output = output;
    return made;
}

} // namespace c_test
