// SPDX-License-Identifier: Apache-2.0
// other_build DESCRIPTOR: joins as rank 1, calls rank 0, and expects to be refused.
#include <corymb/remote.hpp>

#include <cstdio>
#include <exception>
#include <string>

int main(int argc, char** argv) {
    if (argc != 2) {
        return 2;
    }
    try {
        corymb::RemoteRank own = corymb::RemoteGroup::open(std::stoi(argv[1])).join(1);
        return own.run([]() -> corymb::Task<int> {
            try {
                co_await corymb::at(0, [] {});
            } catch (const corymb::Error& error) {
                co_return error.code() == corymb::Errc::mismatch ? 0 : 1;
            }
            co_return 1;
        }());
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
}
