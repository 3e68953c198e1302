// SPDX-License-Identifier: Apache-2.0
// An operator that does not commute, and plans that are not for it.
#pragma once

#include "plan/nodes/scheme.hpp"

#include <corymb/carrier.hpp>
#include <corymb/error.hpp>

#include <vector>

namespace cluster_test {

/// x -> a x + b, modulo 256, and then another one.
struct Then {
    unsigned operator()(unsigned left, unsigned right) const {
        const unsigned a = (left >> 8U) * (right >> 8U) & 0xFFU;
        return a << 8U | (((left & 0xFFU) * (right >> 8U) + (right & 0xFFU)) & 0xFFU);
    }
};

/// Of a caller's own that knows allreduces and barriers, and no order.
inline corymb::ClusterOptions without_order(const std::vector<int>& where) {
    corymb::ClusterOptions options;
    options.rehearse = false;
    options.plans = [where](const corymb::PlanNeed& need) {
        if (need.ordered) {
            throw corymb::Error(corymb::Errc::unsupported, "no order is kept");
        }
        const char* const scheme = need.op == corymb::Collective::barrier
                                       ? "flat/dissemination/messages"
                                       : "flat/doubling/messages";
        return corymb::nodes::plan_for(need.op, corymb::nodes::Layout(where),
                                       *corymb::nodes::scheme_named(scheme), need.bytes, need.root);
    };
    return options;
}

} // namespace cluster_test
