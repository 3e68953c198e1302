// SPDX-License-Identifier: Apache-2.0
// Several tasks at once: all of them, the first that ends, or one within a time.
#pragma once

#include <corymb/detail/together.hpp>
#include <corymb/error.hpp>
#include <corymb/finish.hpp>
#include <corymb/scheduler.hpp>
#include <corymb/task.hpp>
#include <corymb/this_task.hpp>

#include <chrono>
#include <cstddef>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace corymb {

/// Runs the tasks side by side and gives their results, in the order of the tasks; nothing for
/// tasks without a result. If one throws, the others are asked to stop, and when all have ended the
/// first exception is thrown. A stop of the awaiting task reaches all.
template <class T>
Task<detail::AllOf<T>> when_all(std::vector<Task<T>> tasks) {
    detail::Together together(this_task::stop_token());
    std::vector<std::optional<detail::PartOf<T>>> parts(tasks.size());
    co_await finish([&] {
        detail::Together::begin(detail::Scope::Stops::failures);
        for (std::size_t i = 0; i < tasks.size(); ++i) {
            spawn(detail::run_part(std::move(tasks[i]), parts[i], together), together.token());
        }
    });
    together.throw_first();
    if constexpr (!std::is_void_v<T>) {
        std::vector<T> results;
        results.reserve(parts.size());
        for (auto& part : parts) {
            results.push_back(std::move(*part));
        }
        co_return results;
    }
}

/// As the other when_all, for tasks of several types; std::monostate stands for a result of none.
template <class... T>
Task<std::tuple<detail::PartOf<T>...>> when_all(Task<T>... tasks) {
    detail::Together together(this_task::stop_token());
    std::tuple<std::optional<detail::PartOf<T>>...> parts;
    co_await finish([&] {
        detail::Together::begin(detail::Scope::Stops::failures);
        std::apply(
            [&](auto&... part) {
                (spawn(detail::run_part(std::move(tasks), part, together), together.token()), ...);
            },
            parts);
    });
    together.throw_first();
    co_return std::apply(
        [](auto&... part) { return std::tuple<detail::PartOf<T>...>(std::move(*part)...); }, parts);
}

/// The task that ended first, and its result.
template <class T>
struct FirstOf {
    std::size_t index = 0;
    detail::PartOf<T> value{};
};

/// Runs the tasks side by side until one ends. The others are asked to stop; when all have ended,
/// gives the index and the result of the first, or throws its exception. Throws
/// Errc::invalid_argument without tasks.
template <class T>
Task<FirstOf<T>> when_any(std::vector<Task<T>> tasks) {
    if (tasks.empty()) {
        throw Error(Errc::invalid_argument, "when_any needs a task to wait for");
    }
    detail::Together together(this_task::stop_token());
    std::optional<std::size_t> first;
    std::vector<std::optional<detail::PartOf<T>>> parts(tasks.size());
    co_await finish([&] {
        detail::Together::begin(detail::Scope::Stops::ends);
        for (std::size_t i = 0; i < tasks.size(); ++i) {
            spawn(detail::run_first(std::move(tasks[i]), parts[i], together, i, first),
                  together.token());
        }
    });
    if (!parts[*first].has_value()) {
        together.throw_first();
    }
    co_return FirstOf<T>{*first, std::move(*parts[*first])};
}

/// Runs the task, which is asked to stop when `limit` has passed. Gives its result if it comes to
/// one; throws Errc::timeout if it ends late without.
template <class T>
Task<T> within(std::chrono::nanoseconds limit, Task<T> task) {
    detail::Together together(this_task::stop_token());
    std::optional<detail::PartOf<T>> part;
    std::optional<std::size_t> first;
    bool is_late = false;
    co_await finish([&] {
        detail::Together::begin(detail::Scope::Stops::ends);
        spawn(detail::run_first(std::move(task), part, together, 0, first), together.token());
        spawn(detail::sound_alarm(limit, together, is_late), together.token());
    });
    if (!part.has_value()) {
        if (is_late) {
            detail::throw_late(limit);
        }
        together.throw_first();
    }
    if constexpr (!std::is_void_v<T>) {
        co_return std::move(*part);
    }
}

} // namespace corymb
