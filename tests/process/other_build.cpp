// SPDX-License-Identifier: Apache-2.0
// other_build DESCRIPTOR: joins as rank 1, calls rank 0, and expects to be refused. Then calls a
// function by name, and offers one.
#include <corymb/remote.hpp>
#include <corymb/remote_name.hpp>

#include <cstdio>
#include <exception>
#include <string>

int main(int argc, char** argv) {
    if (argc != 2) {
        return 2;
    }
    try {
        corymb::RemoteRank own = corymb::RemoteGroup::open(std::stoi(argv[1])).join(1);
        corymb::offer_function(
            own, "echo", [](corymb::NamedRequest& request) { request.answer(request.argument()); });
        return own.run([]() -> corymb::Task<int> {
            try {
                co_await corymb::at(0, [] {});
            } catch (const corymb::Error& error) {
                if (error.code() != corymb::Errc::mismatch) {
                    co_return 1;
                }
            }
            const auto found = co_await corymb::call_named(0, "size", {});
            co_return found.size() == 3 ? 0 : 1;
        }());
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
}
