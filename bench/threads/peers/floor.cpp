// SPDX-License-Identifier: Apache-2.0
// Family "floor": two ranks, written by hand, nothing that could be left out.
#include "../worker/families.hpp"
#include "../worker/make.hpp"
#include "flag_exchange.hpp"

namespace corymb::bench {

std::unique_ptr<Workload> make_floor(std::string_view name, const Case& what) {
    constexpr auto spin = Waiting::spin;
    if (what.op != Operation::barrier) {
        return name == "flags" ? make_payload<FlagTransfer>(what, what.bytes, spin) : nullptr;
    }
    if (name == "flags-store") {
        return make_barrier<FlagExchange<Store::plain, false>>(what, spin);
    }
    if (name == "flags-store-pause") {
        return make_barrier<FlagExchange<Store::plain, true>>(what, spin);
    }
    if (name == "flags-exchange") {
        return make_barrier<FlagExchange<Store::exchange, false>>(what, spin);
    }
    if (name == "flags-exchange-pause") {
        return make_barrier<FlagExchange<Store::exchange, true>>(what, spin);
    }
    return nullptr;
}

} // namespace corymb::bench
