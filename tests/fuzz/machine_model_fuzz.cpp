// SPDX-License-Identifier: Apache-2.0
// Any bytes as a model file or a CSV file give an Error, or a model that comes back from its JSON.
#include <corymb/error.hpp>
#include <corymb/machine.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace {

using corymb::Machine;

/// Stops the fuzzer, also where assertions are off.
void require(bool holds) {
    if (!holds) {
        __builtin_trap();
    }
}

void use(const Machine& machine) {
    const std::string text = corymb::to_json(machine);
    require(corymb::to_json(corymb::machine_from_json(text)) == text);
    for (int pu = 1; pu < machine.size(); ++pu) {
        require(machine.send_cost(0, pu) >= 0 && machine.receive_cost(pu, 0) >= 0);
    }
}

/// The first byte says which reader gets the rest.
void read(char reader, std::string_view text) {
    if (reader == 'l') {
        use(corymb::import_latency_csv(text, "fuzz", corymb::TimeUnit::nanoseconds));
    } else if (reader == 's') {
        const std::size_t half = std::min(text.find('|'), text.size());
        const std::string_view receive = text.substr(std::min(half + 1, text.size()));
        use(corymb::import_smelt_csv(text.substr(0, half), receive, "fuzz"));
    } else {
        use(corymb::machine_from_json(text));
    }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    try {
        const bool is_csv = !text.empty() && (text[0] == 'l' || text[0] == 's');
        read(is_csv ? text[0] : 'j', text.substr(is_csv ? 1 : 0));
    } catch (const corymb::Error& error) {
        require(error.code() == corymb::Errc::invalid_model);
    }
    return 0;
}
