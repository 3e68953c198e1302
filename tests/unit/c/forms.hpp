// SPDX-License-Identifier: Apache-2.0
// The three forms of an operation of the C interface, called alike.
#pragma once

#include "in_teams.hpp"

#include <cstdint>

namespace c_test {

enum class Form : std::uint8_t { blocking, nonblocking, persistent };

inline void complete(corymb_request** request) {
    expect_ok(corymb_wait(request));
}

/// The functions of one operation.
template <class... Parameters>
struct Forms {
    corymb_status (*blocking)(Parameters..., corymb_team*);
    corymb_status (*nonblocking)(Parameters..., corymb_team*, corymb_request**);
    corymb_status (*persistent)(Parameters..., corymb_team*, corymb_request**);

    void operator()(Form form, corymb_team* team, Parameters... parameters) const {
        corymb_request* request = nullptr;
        switch (form) {
        case Form::blocking: expect_ok(blocking(parameters..., team)); return;
        case Form::nonblocking:
            expect_ok(nonblocking(parameters..., team, &request));
            complete(&request);
            EXPECT_EQ(request, nullptr);
            return;
        case Form::persistent:
            expect_ok(persistent(parameters..., team, &request));
            expect_ok(corymb_start(request));
            complete(&request);
            EXPECT_NE(request, nullptr);
            expect_ok(corymb_request_free(&request));
            EXPECT_EQ(request, nullptr);
            return;
        }
    }
};

} // namespace c_test
