// SPDX-License-Identifier: Apache-2.0
#include "remote/routes.hpp"

#include <cstring>

namespace corymb::detail {

CallHeader Route::Message::header() const noexcept {
    CallHeader header;
    std::memcpy(&header, bytes.data(), sizeof header);
    return header;
}

bool Routes::drop_if(const auto& is_meant) noexcept {
    for (auto& [id, route] : routes_) {
        for (auto* const queue : {&route.returned, &route.later}) {
            for (auto one = queue->begin(); one != queue->end(); ++one) {
                if (is_meant(*one)) {
                    queue->erase(one);
                    return true;
                }
            }
        }
    }
    return false;
}

bool Routes::drop(std::uint32_t call) noexcept {
    return drop_if([call](const Route::Message& message) { return message.header().call == call; });
}

bool Routes::stop(const PostAwait& waits) noexcept {
    return drop_if([&waits](const Route::Message& message) { return message.waits == &waits; });
}

} // namespace corymb::detail
