// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <corymb/detail/remote_function.hpp>

#include <cstddef>
#include <cstdint>

namespace corymb::detail {

/// In front of each message between ranks that call each other.
struct CallHeader {
    enum Kind : std::uint16_t {
        request,
        answer,
        failure, ///< The call has thrown.
        stop,    ///< The caller of `call` was asked to stop.
        over,    ///< The task of the sender has ended.
        hello,   ///< The build of the sender's program; comes before all else.
        chained, ///< As a request, with the chain of calls in front of the arguments.
        named,   ///< As a request, of a function whose name is in front of the arguments.
        look,    ///< As a request: what the tasks of the rank wait for.
        // About objects that move, which they name first. See routes.hpp and migrations.hpp.
        returned, ///< A request, with where the object is, and its kind.
        flush,    ///< Asks for a `flushed` behind all that has come before.
        flushed,  ///< Where the object is.
        withheld, ///< As flushed, but calls of the asking rank are kept back there.
        moved,    ///< To who has made the object: where it is. Is answered.
        settled,  ///< To where the object is: it may be called; or it is not meant to be there.
    };
    std::uint64_t function = 0;         ///< Requests: what to run.
    std::uint32_t call = Reply::nobody; ///< Names the call to the rank that has begun it.
    std::uint16_t kind = request;
    /// The whole length follows in 8 bytes, and the next messages of the sender are the rest.
    std::uint16_t is_long = 0;

    /// What a long message has more.
    static constexpr std::size_t long_bytes = sizeof(std::uint64_t);
};
static_assert(sizeof(CallHeader) == 16);

} // namespace corymb::detail
