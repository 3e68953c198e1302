// SPDX-License-Identifier: Apache-2.0
#include "native.hpp"

#include "families.hpp"
#include "serve.hpp"

#include <array>
#include <exception>
#include <string>

namespace corymb::bench {

namespace {

std::unique_ptr<Workload> make_native(std::string_view contestant, const Case& what) {
    constexpr std::array families{make_corymb, make_floor, make_textbook, make_library};
    for (const auto family : families) {
        if (auto workload = family(contestant, what)) {
            return workload;
        }
    }
    return nullptr;
}

} // namespace

int serve_native(std::string_view contestant, const Case& what) {
    try {
        const auto workload = make_native(contestant, what);
        if (!workload) {
            return refuse("this program was built without " + std::string(contestant));
        }
        Crew crew(what.ranks, what.pinned ? placement(what.ranks) : std::vector<int>{});
        crew.run([](int /*rank*/) {});
        if (!crew.bound()) {
            return refuse("the system does not let threads bind themselves to CPUs");
        }
        return serve(what, *workload, [&crew](const Job& job) { crew.run(job); });
    } catch (const std::exception& error) {
        return refuse(error.what());
    }
}

} // namespace corymb::bench
