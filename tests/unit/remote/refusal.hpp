// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <corymb/error.hpp>
#include <corymb/task.hpp>

#include <gtest/gtest.h>
#include <optional>
#include <utility>

namespace corymb {

/// The code of the Error that the call throws; none if it throws no Error.
template <class F>
std::optional<Errc> refusal(const F& call) {
    try {
        call();
    } catch (const Error& error) {
        return error.code();
    }
    return std::nullopt;
}

/// What a task that ends by an Error has thrown.
template <class Await>
Task<Errc> code_of(Await await) {
    Errc code{};
    try {
        static_cast<void>(co_await std::move(await));
        ADD_FAILURE() << "it has returned";
    } catch (const Error& error) {
        code = error.code();
    }
    co_return code;
}

} // namespace corymb
