// SPDX-License-Identifier: Apache-2.0
// The blocks of docs/reference/collectives.md and docs/reference/operators.md, to be compiled.
#include <corymb/operation.hpp>
#include <corymb/packed.hpp>
#include <corymb/team.hpp>

#include <cstddef>
#include <numeric>
#include <vector>

struct Node {
    Node* next;
};

template <>
inline constexpr bool corymb::is_plain_data<Node> = false;

struct Matrix {
    double rows[2][2];
};

static Matrix operator*(const Matrix& a, const Matrix&) {
    return a;
}

void an_operation_as_a_value(corymb::Team& team, const void* in, void* out, std::size_t n,
                             corymb::ElementType type, corymb::Operator op);
void an_operation_as_a_value(corymb::Team& team, const void* in, void* out, std::size_t n,
                             corymb::ElementType type, corymb::Operator op) {
    corymb::CollectiveOperation total{corymb::Collective::allreduce};
    total.input = in;                                 // const void*
    total.output = out;                               // void*
    total.count = n;                                  // elements of one part
    total.reduction = corymb::reduction_of(type, op); // an ElementType and an Operator
    team.run(total);
}

double values_and_buffers(corymb::Team& team);
double values_and_buffers(corymb::Team& team) {
    std::vector<double> in(10, 1.0), out(10);
    team.allreduce(in, out);
    team.broadcast(out, 2);
    const double sum = team.allreduce(1.0);                    // a value is returned
    const auto first = team.broadcast(std::vector<int>(3), 0); // so is what `broadcast` was given
    return sum + first[0];
}

void parts(corymb::Team& team, std::vector<int>& mine, std::vector<int>& all,
           const std::vector<std::size_t>& displacements);
void parts(corymb::Team& team, std::vector<int>& mine, std::vector<int>& all,
           const std::vector<std::size_t>& displacements) {
    const std::vector<std::size_t> counts{3, 0, 5};
    team.gatherv(mine, all, {counts}, 2);
    team.allgatherv(mine, all, {counts, displacements});
}

void layouts(corymb::Team& team, std::vector<std::vector<double>>& matrix, std::size_t c,
             std::size_t rows, std::size_t columns, corymb::Rank root,
             const corymb::Packed<double>& forces, std::vector<double>& all);
void layouts(corymb::Team& team, std::vector<std::vector<double>>& matrix, std::size_t c,
             std::size_t rows, std::size_t columns, corymb::Rank root,
             const corymb::Packed<double>& forces, std::vector<double>& all) {
    team.broadcast(corymb::strided(&matrix[0][c], rows, 1, columns), root);
    team.allreduce(forces, forces); // two Packed<double>; in place is no special case
    team.gather(corymb::strided(&matrix[0][c], rows, 1, columns), all); // `all` lies in one piece
}

void own_operators(corymb::Team& team, std::vector<Matrix>& matrices, std::vector<Matrix>& products,
                   std::vector<int>& numbers, std::vector<int>& divisors);
void own_operators(corymb::Team& team, std::vector<Matrix>& matrices, std::vector<Matrix>& products,
                   std::vector<int>& numbers, std::vector<int>& divisors) {
    team.allreduce(matrices, products, [](const Matrix& a, const Matrix& b) { return a * b; });
    team.allreduce(numbers, divisors,
                   corymb::commutative([](int a, int b) { return std::gcd(a, b); }));
}
