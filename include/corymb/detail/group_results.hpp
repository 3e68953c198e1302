// SPDX-License-Identifier: Apache-2.0
// What becomes of the results of the members of a group: they are dropped, put one behind the
// other, or combined by an operator.
#pragma once

#include <corymb/detail/remote_codec.hpp>
#include <corymb/operators.hpp>
#include <corymb/plain_data.hpp>
#include <corymb/task.hpp>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <numeric>
#include <optional>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace corymb::detail {

// In place of an operator.
struct DropResults {};
struct Concatenate {
    template <class Row>
    Row operator()(Row&& a, Row&& b) const {
        a.insert(a.end(), std::make_move_iterator(b.begin()), std::make_move_iterator(b.end()));
        return std::move(a);
    }
};

/// The combined result of the members `first` to `last` - 1, in their order.
template <class R>
struct ResultRun {
    static_assert(!std::is_trivially_copyable_v<R> || is_plain_data<R>,
                  "the result of a member points to its data: give the data itself");
    std::uint32_t first = 0;
    std::uint32_t last = 0;
    std::optional<R> value{}; ///< None: none of them was called.
};
/// Invariant: ordered by member, and no two are neighbours.
template <class R>
using ResultRuns = std::vector<ResultRun<R>>;

/// The results of some members, by operator.
template <class Op, class R>
struct PartialOf {
    using Type = std::conditional_t<takes_any_order<R, Op>(), std::optional<R>, ResultRuns<R>>;
};
template <class R>
struct PartialOf<DropResults, R> {
    using Type = std::monostate;
};
template <class R>
struct PartialOf<Concatenate, R> {
    using Type = ResultRuns<std::vector<R>>;
};

template <class R, class Op>
void join(std::optional<R>& sum, std::optional<R>&& more, Op& op) {
    if (sum.has_value() && more.has_value()) {
        sum = op(std::move(*sum), std::move(*more));
    } else if (more.has_value()) {
        sum = std::move(more);
    }
}
template <class R, class Op>
void join(ResultRuns<R>& runs, ResultRuns<R>&& more, Op& op) {
    ResultRuns<R> sorted;
    sorted.reserve(runs.size() + more.size());
    std::merge(std::make_move_iterator(runs.begin()), std::make_move_iterator(runs.end()),
               std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()),
               std::back_inserter(sorted),
               [](const ResultRun<R>& a, const ResultRun<R>& b) { return a.first < b.first; });
    runs.clear();
    for (ResultRun<R>& run : sorted) {
        if (runs.empty() || runs.back().last != run.first) {
            runs.push_back(std::move(run));
        } else {
            runs.back().last = run.last;
            join(runs.back().value, std::move(run.value), op);
        }
    }
}
template <class Op>
void join(std::monostate& /*none*/, std::monostate&& /*more*/, Op& /*op*/) noexcept {}

/// The result of one member as a partial result.
template <class R, class Op>
void join_one(std::optional<R>& sum, std::uint32_t /*index*/, std::optional<R>&& one, Op& op) {
    join(sum, std::move(one), op);
}
template <class R, class Op>
void join_one(ResultRuns<R>& runs, std::uint32_t index, std::optional<R>&& one, Op& op) {
    if (!runs.empty() && runs.back().last == index) {
        runs.back().last = index + 1;
        join(runs.back().value, std::move(one), op);
    } else {
        runs.push_back({index, index + 1, std::move(one)});
    }
}
template <class R>
void join_one(ResultRuns<std::vector<R>>& rows, std::uint32_t index, std::optional<R>&& one,
              Concatenate& /*op*/) {
    if (rows.empty() || rows.back().last != index) {
        rows.push_back({index, index, std::vector<R>()});
    }
    rows.back().last = index + 1;
    if (one.has_value()) {
        rows.back().value->push_back(std::move(*one));
    }
}
template <class R>
void join_one(std::monostate& /*none*/, std::uint32_t /*index*/, std::optional<R>&& /*one*/,
              DropResults& /*op*/) noexcept {}

/// The result of all.
template <class R>
std::optional<R> whole_of(std::optional<R>&& sum) {
    return std::move(sum);
}
template <class R>
std::optional<R> whole_of(ResultRuns<R>&& runs) {
    return runs.empty() ? std::nullopt : std::move(runs.front().value);
}

template <class R, class Op>
Task<std::vector<R>> scan_results(Task<std::vector<R>> gathered, Op op) {
    std::vector<R> all = co_await std::move(gathered);
    std::inclusive_scan(all.begin(), all.end(), all.begin(), op);
    co_return all;
}
template <class R, class Op>
Task<std::vector<R>> scan_results_before(Task<std::vector<R>> gathered, R first, Op op) {
    std::vector<R> all = co_await std::move(gathered);
    std::exclusive_scan(all.begin(), all.end(), all.begin(), std::move(first), op);
    co_return all;
}

} // namespace corymb::detail

template <class R>
    requires(!std::is_trivially_copyable_v<R>)
struct corymb::RemoteCodec<corymb::detail::ResultRun<R>> {
    using Run = detail::ResultRun<R>;
    static std::size_t size(const Run& run) {
        return detail::size_of_all(run.first, run.last, run.value);
    }
    static void write(RemoteWriter& to, const Run& run) {
        detail::write_all(to, run.first, run.last, run.value);
    }
    static Run read(RemoteReader& from) {
        Run run;
        run.first = RemoteCodec<std::uint32_t>::read(from);
        run.last = RemoteCodec<std::uint32_t>::read(from);
        run.value = RemoteCodec<std::optional<R>>::read(from);
        return run;
    }
};
