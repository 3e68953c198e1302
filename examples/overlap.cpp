// SPDX-License-Identifier: Apache-2.0
// Gradients are summed over all ranks layer by layer while the next layer is being computed. A
// rank that computes looks in on the sums now and then, so that they go on.
#include <corymb/team.hpp>
#include <corymb/usable_cpus.hpp>

#include <cstdio>
#include <vector>

namespace {

constexpr std::size_t layers = 8, width = 20'000;

/// Stands for the work on one layer: fills in this rank's gradient, piece by piece.
void compute(corymb::Team& team, std::size_t layer, std::vector<double>& gradient) {
    for (std::size_t i = 0; i < width; ++i) {
        gradient[i] = static_cast<double>(layer + 1) / (1.0 + team.rank());
        if (i % 4096 == 0) {
            team.progress(); // Never waits.
        }
    }
}

} // namespace

int main() {
    corymb::threads(corymb::usable_cpus().count(), [](corymb::Team& team) {
        std::vector<std::vector<double>> gradients(layers, std::vector<double>(width));
        std::vector<std::vector<double>> sums = gradients;
        std::vector<corymb::Request> requests;
        for (std::size_t layer = 0; layer < layers; ++layer) {
            compute(team, layer, gradients[layer]);
            requests.push_back(
                team.iallreduce(std::span<const double>(gradients[layer]), std::span(sums[layer])));
        }
        corymb::wait_all(requests);
        if (team.rank() == 0) {
            std::printf("%d ranks: layer %zu sums to %.3f\n", team.size(), layers,
                        sums.back().front());
        }
    });
}
