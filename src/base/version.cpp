// SPDX-License-Identifier: Apache-2.0
#include <corymb/version.hpp>

namespace corymb {

#define CORYMB_TEXT(x) #x
#define CORYMB_DOTTED(a, b, c) CORYMB_TEXT(a) "." CORYMB_TEXT(b) "." CORYMB_TEXT(c)

const char* version() noexcept {
    return CORYMB_DOTTED(CORYMB_VERSION_MAJOR, CORYMB_VERSION_MINOR, CORYMB_VERSION_PATCH);
}

} // namespace corymb
