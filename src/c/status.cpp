// SPDX-License-Identifier: Apache-2.0
#include "c/status.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <exception>
#include <new>

namespace corymb::c {

namespace {

/// The last failure of this thread. The text is cut if there is no memory for all of it.
struct LastFailure {
    std::string text;
    std::vector<int> ranks;
    corymb_status status = CORYMB_OK;
    std::uint64_t count = 0;
};

/// The last failure is emptied when its thread ends, but not destroyed: the first thread still runs
/// code at the end of a process, and may fail there.
LastFailure& last_failure() noexcept {
    alignas(LastFailure) static thread_local constinit std::byte room[sizeof(LastFailure)]{};
    static thread_local constinit LastFailure* failure = nullptr;
    struct Emptier {
        ~Emptier() {
            std::string().swap(failure->text);
            std::vector<int>().swap(failure->ranks);
        }
    };
    if (failure == nullptr) {
        failure = new (room) LastFailure;
        static thread_local const Emptier emptier;
        static_cast<void>(emptier);
    }
    return *failure;
}

struct Pair {
    Errc code;
    corymb_status status;
};
constexpr Pair pairs[] = {
    {Errc::invalid_argument, CORYMB_INVALID_ARGUMENT},
    {Errc::unknown_name, CORYMB_UNKNOWN_NAME},
    {Errc::invalid_model, CORYMB_INVALID_MODEL},
    {Errc::stale_model, CORYMB_STALE_MODEL},
    {Errc::invalid_plan, CORYMB_INVALID_PLAN},
    {Errc::io, CORYMB_IO},
    {Errc::unsupported, CORYMB_UNSUPPORTED},
    {Errc::timeout, CORYMB_TIMEOUT},
    {Errc::team_broken, CORYMB_TEAM_BROKEN},
    {Errc::interrupted, CORYMB_INTERRUPTED},
    {Errc::mismatch, CORYMB_MISMATCH},
    {Errc::deadlock, CORYMB_DEADLOCK},
};

} // namespace

corymb_status status_of(Errc code) noexcept {
    for (const Pair& pair : pairs) {
        if (pair.code == code) {
            return pair.status;
        }
    }
    return CORYMB_INTERNAL;
}

Errc errc_of(corymb_status status) noexcept {
    for (const Pair& pair : pairs) {
        if (pair.status == status) {
            return pair.code;
        }
    }
    return Errc::team_broken;
}

corymb_status note_failure(corymb_status status, const char* text,
                           const std::vector<int>& ranks) noexcept {
    LastFailure& failure = last_failure();
    failure.ranks.clear();
    failure.status = status;
    ++failure.count;
    try {
        failure.text = text;
        failure.ranks = ranks;
    } catch (const std::bad_alloc&) {
        // The part of the text that fits has to do.
        failure.text.assign(text, std::min(failure.text.capacity(), std::strlen(text)));
    }
    return status;
}

std::uint64_t failure_count() noexcept {
    return last_failure().count;
}

corymb_status last_status() noexcept {
    return last_failure().status;
}

corymb_status note_exception() noexcept {
    try {
        throw;
    } catch (const Error& error) {
        return note_failure(status_of(error.code()), error.what(), error.ranks());
    } catch (const std::bad_alloc&) {
        return note_failure(CORYMB_OUT_OF_MEMORY, "there is no memory for this call");
    } catch (const std::exception& error) {
        return note_failure(CORYMB_INTERNAL, error.what());
    } catch (...) {
        return note_failure(CORYMB_INTERNAL, "an exception of an unknown type");
    }
}

} // namespace corymb::c

using namespace corymb;

const char* corymb_status_name(corymb_status status) noexcept {
    switch (status) {
    case CORYMB_OK: return "ok";
    case CORYMB_OUT_OF_MEMORY: return "out_of_memory";
    case CORYMB_INTERNAL: return "internal";
    default: break;
    }
    const Errc code = c::errc_of(status);
    return c::status_of(code) == status ? to_string(code) : "unknown";
}

const char* corymb_last_error(void) noexcept {
    return c::last_failure().text.c_str();
}

size_t corymb_last_error_ranks(int* ranks, size_t room) noexcept {
    const auto& blamed = c::last_failure().ranks;
    if (ranks != nullptr) {
        std::copy_n(blamed.begin(), std::min(room, blamed.size()), ranks);
    }
    return blamed.size();
}
