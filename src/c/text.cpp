// SPDX-License-Identifier: Apache-2.0
#include "c/text.hpp"

#include <corymb.h>

#include <cstdlib>
#include <cstring>
#include <new>

namespace corymb::c {

char* new_text(const std::string& text) {
    auto* const copy = static_cast<char*>(std::malloc(text.size() + 1));
    if (copy == nullptr) {
        throw std::bad_alloc();
    }
    std::memcpy(copy, text.c_str(), text.size() + 1);
    return copy;
}

} // namespace corymb::c

void corymb_free(void* text) noexcept {
    std::free(text);
}
