// SPDX-License-Identifier: Apache-2.0
// What when.hpp is made of: tasks that are stopped together, and keep the first exception.
#pragma once

#include <corymb/export.hpp>
#include <corymb/task.hpp>
#include <corymb/this_task.hpp>

#include <chrono>
#include <cstddef>
#include <exception>
#include <optional>
#include <stop_token>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace corymb::detail {

/// The result of a task, where there must be one.
template <class T>
using PartOf = std::conditional_t<std::is_void_v<T>, std::monostate, T>;
/// The results of several tasks.
template <class T>
using AllOf = std::conditional_t<std::is_void_v<T>, void, std::vector<PartOf<T>>>;

class Together {
public:
    explicit Together(const std::stop_token& outer) : outer_(outer, Ask{&source_}) {}
    Together(const Together&) = delete;
    Together& operator=(const Together&) = delete;

    [[nodiscard]] std::stop_token token() const noexcept { return source_.get_token(); }
    /// In a `finish`, before its tasks are spawned.
    static void begin(Scope::Stops stops) { running_strand().inner->set_stops(stops); }
    void stop() noexcept { source_.request_stop(); }
    void note(std::exception_ptr thrown) noexcept {
        first_ = first_ == nullptr ? std::move(thrown) : first_;
        stop();
    }
    void throw_first() const {
        if (first_ != nullptr) {
            std::rethrow_exception(first_);
        }
    }

private:
    struct Ask {
        std::stop_source* source;
        void operator()() const noexcept { source->request_stop(); }
    };
    std::stop_source source_;
    std::exception_ptr first_;
    std::stop_callback<Ask> outer_;
};

template <class T>
Task<> run_part(Task<T> task, std::optional<PartOf<T>>& to, Together& together) {
    try {
        if constexpr (std::is_void_v<T>) {
            co_await std::move(task);
            to.emplace();
        } else {
            to.emplace(co_await std::move(task));
        }
    } catch (...) {
        together.note(std::current_exception());
    }
}

/// A part whose end is the end of all; the first one writes its index.
template <class T>
Task<> run_first(Task<T> task, std::optional<PartOf<T>>& to, Together& together, std::size_t index,
                 std::optional<std::size_t>& first) {
    co_await run_part(std::move(task), to, together);
    first = first.value_or(index);
    together.stop();
}

CORYMB_EXPORT Task<> sound_alarm(std::chrono::nanoseconds limit, Together& together, bool& is_late);
/// Throws Errc::timeout.
[[noreturn]] CORYMB_EXPORT void throw_late(std::chrono::nanoseconds limit);

} // namespace corymb::detail
