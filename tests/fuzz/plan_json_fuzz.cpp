// SPDX-License-Identifier: Apache-2.0
// Hostile plan files: reading, checking and simulating them must end in a plan or an Error.
#include <corymb/error.hpp>
#include <corymb/machine.hpp>
#include <corymb/plan.hpp>
#include <corymb/simulate.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <vector>

namespace {

/// One PU for everybody: simulation then needs no model of the plan's size.
corymb::Machine tiny_machine() {
    corymb::Machine machine;
    machine.topology.pus.resize(1);
    machine.group = {0};
    machine.group_class = {0};
    corymb::PairClass pair;
    pair.send = {1, 1, 1, 1};
    pair.receive = {3, 3, 3, 1};
    machine.classes = {pair};
    return machine;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const corymb::Machine machine = tiny_machine();
    try {
        const std::string_view text(reinterpret_cast<const char*>(data), size);
        const corymb::Plan plan = corymb::plan_from_json(text);
        if (corymb::plan_from_json(corymb::to_json(plan)) != plan) {
            std::abort();
        }
        const std::vector<int> placement(plan.steps.size(), 0);
        bool is_right = false;
        try {
            corymb::check_plan(plan);
            is_right = true;
        } catch (const corymb::Error&) {
        }
        // What the checker accepts, the simulator can replay.
        try {
            static_cast<void>(corymb::simulate(plan, machine, placement, plan.bytes_max, true));
        } catch (const corymb::Error&) {
            if (is_right) {
                std::abort();
            }
        }
    } catch (const corymb::Error&) {
    }
    return 0;
}
