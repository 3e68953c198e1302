// SPDX-License-Identifier: Apache-2.0
#include "base/tuned.hpp"

#include <algorithm>
#include <utility>

namespace corymb {

namespace {

thread_local constinit DecidingNumbers* collecting = nullptr;

} // namespace

std::string_view to_string(Origin origin) noexcept {
    switch (origin) {
    case Origin::reasoned: return "reasoned";
    case Origin::simulated: return "simulated on the gallery";
    case Origin::measured: return "measured";
    }
    return "unknown";
}

DecidingNumbers::DecidingNumbers() noexcept : outer_(std::exchange(collecting, this)) {}

DecidingNumbers::~DecidingNumbers() {
    collecting = outer_;
}

void DecidingNumbers::note(const TunedNumber& number) {
    if (collecting != nullptr && std::ranges::find(collecting->all_, number.name,
                                                   &TunedNumber::name) == collecting->all_.end()) {
        collecting->all_.push_back(number);
    }
}

} // namespace corymb
