// SPDX-License-Identifier: Apache-2.0
// A dot product on all CPUs: each rank sums its share, allreduce gives everybody the whole.
#include <corymb/team.hpp>
#include <corymb/usable_cpus.hpp>

#include <cstdio>
#include <vector>

int main() {
    const std::vector<double> a(1'000'000, 0.5), b(1'000'000, 4.0);

    corymb::threads(corymb::usable_cpus().count(), [&](corymb::Team& team) {
        const std::size_t share = a.size() / static_cast<std::size_t>(team.size());
        const std::size_t begin = share * static_cast<std::size_t>(team.rank());
        const std::size_t end = team.rank() + 1 == team.size() ? a.size() : begin + share;

        double sum = 0;
        for (std::size_t i = begin; i < end; ++i) {
            sum += a[i] * b[i];
        }
        sum = team.allreduce(sum);

        if (team.rank() == 0) {
            std::printf("%d ranks: a . b = %.0f\n", team.size(), sum);
        }
    });
}
