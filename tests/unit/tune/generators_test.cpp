// SPDX-License-Identifier: Apache-2.0
// Every family makes proven plans for all that it says it applies to.
#include "../sim/models.hpp"
#include "plan/cost_view.hpp"
#include "plan/generate/families.hpp"
#include "tune/variant.hpp"

#include <corymb/error.hpp>
#include <corymb/plan.hpp>

#include <gtest/gtest.h>

#include <numeric>
#include <string>
#include <vector>

namespace {

using namespace corymb;
using namespace corymb::test;

constexpr Collective all_operations[] = {
    Collective::barrier,        Collective::broadcast, Collective::reduce,    Collective::allreduce,
    Collective::gather,         Collective::scatter,   Collective::allgather, Collective::alltoall,
    Collective::reduce_scatter, Collective::scan,      Collective::exscan};

/// The texts with which the checker refuses a family's plans, for one machine and payload. `tried`
/// says which operations and variants are of interest.
template <class Tried>
void expect_proven(const Machine& machine, std::uint64_t bytes, const Tried& tried) {
    std::vector<int> placement(static_cast<std::size_t>(machine.size()));
    std::iota(placement.begin(), placement.end(), 0);
    const CostView costs(machine, placement);
    for (const Collective op : all_operations) {
        for (const bool ordered : {false, true}) {
            for (const tune::Variant& variant : tune::variants(op, bytes)) {
                const GenerateInput input{.costs = costs,
                                          .machine = &machine,
                                          .placement = placement,
                                          .root = is_rooted(op) ? 1 % machine.size() : -1,
                                          .bytes = bytes,
                                          .ordered = ordered,
                                          .moves = 1,
                                          .via = variant.via,
                                          .blocks = variant.blocks};
                for (const Family& family : families()) {
                    if (!tried(op, variant) || !family.applies(op, input)) {
                        continue;
                    }
                    try {
                        check_plan(family.make(op, input), ordered);
                    } catch (const Error& error) {
                        ADD_FAILURE()
                            << tune::candidate_name(family.name, variant) << " for "
                            << to_string(op) << " of " << bytes << " B among " << machine.size()
                            << (ordered ? ", ordered" : "") << ": " << error.what();
                    }
                }
            }
        }
    }
}

TEST(Generators, MakeProvenPlansForAllThatTheyApplyTo) {
    Random random(3);
    for (const int ranks : {1, 2, 3, 4, 7, 9}) {
        const Machine machine = random_machine(ranks, random);
        for (const std::uint64_t bytes : {0U, 56U, 57U, 8193U, 70000U, 1U << 20}) {
            expect_proven(machine, bytes, [](Collective, const tune::Variant&) { return true; });
        }
    }
}

/// Operands in many blocks may have long elements, which fill more cells than their bytes say.
TEST(Generators, MakeProvenReductionsAmongMany) {
    expect_proven(uniform_machine(130, 20, 60), 65536,
                  [](Collective op, const tune::Variant& variant) {
                      return (op == Collective::allreduce || op == Collective::reduce_scatter) &&
                             variant == tune::Variant{Mechanism::cells, 1};
                  });
}

} // namespace
