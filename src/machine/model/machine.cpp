// SPDX-License-Identifier: Apache-2.0
#include <corymb/machine.hpp>

#include <algorithm>
#include <cmath>

namespace corymb {

namespace {

std::size_t cell(const Machine& machine, int from, int to) noexcept {
    return static_cast<std::size_t>(from) * machine.topology.pus.size() +
           static_cast<std::size_t>(to);
}

double layered(const std::vector<float>& matrix, std::size_t index, double otherwise) noexcept {
    if (!matrix.empty() && !std::isnan(matrix[index])) {
        return static_cast<double>(matrix[index]);
    }
    return otherwise;
}

} // namespace

double Machine::send_cost(int from, int to) const noexcept {
    const auto& of_class = classes[static_cast<std::size_t>(class_of(from, to))];
    return layered(send, cell(*this, from, to), of_class.send.median);
}

double Machine::receive_cost(int from, int to) const noexcept {
    const auto& of_class = classes[static_cast<std::size_t>(class_of(from, to))];
    return layered(receive, cell(*this, from, to), of_class.receive.median);
}

int Machine::group_count() const noexcept {
    // The table is square, so that its side need not be searched for in `group`: class_of() is on
    // the planner's inner loop.
    return static_cast<int>(std::lround(std::sqrt(static_cast<double>(group_class.size()))));
}

int Machine::index_of_cpu(int cpu) const noexcept {
    const auto found = std::find_if(topology.pus.begin(), topology.pus.end(),
                                    [cpu](const Pu& pu) { return pu.cpu == cpu; });
    return found == topology.pus.end() ? -1 : static_cast<int>(found - topology.pus.begin());
}

} // namespace corymb
