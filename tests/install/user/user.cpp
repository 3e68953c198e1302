// SPDX-License-Identifier: Apache-2.0
#include <corymb/corymb.hpp>

#include <cstdio>

int main() {
    long sum = 0;
    corymb::threads(2, [&sum](corymb::Team& team) {
        const long total = team.allreduce(long{team.rank()} + 1);
        if (team.rank() == 0) {
            sum = total;
        }
    });
    try {
        static_cast<void>(corymb::collective_from_string("no such operation"));
    } catch (const corymb::Error& error) {
        std::printf("version %s, sum %ld, %s\n", corymb::version(), sum, to_string(error.code()));
    }
    return sum == 3 ? 0 : 1;
}
