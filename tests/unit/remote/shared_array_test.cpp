// SPDX-License-Identifier: Apache-2.0
#include "remote/among.hpp"
#include "remote/over_nodes.hpp"
#include "remote/refusal.hpp"

#include <corymb/error.hpp>
#include <corymb/shared_array.hpp>
#include <corymb/this_task.hpp>
#include <corymb/when.hpp>

#include <algorithm>
#include <chrono>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <gtest/gtest.h>
#include <latch>
#include <numeric>
#include <random>
#include <span>
#include <vector>

namespace corymb {
namespace {

/// Larger than what is read and written as a whole.
struct Triple {
    long a = 0;
    long b = 0;
    long c = 0;
    Triple() = default;
    explicit Triple(int from) : a(from), b(2 * a), c(3 * a) {}
    friend Triple operator+(const Triple& x, const Triple& y) {
        Triple sum;
        sum.a = x.a + y.a;
        sum.b = x.b + y.b;
        sum.c = x.c + y.c;
        return sum;
    }
    friend auto operator<=>(const Triple&, const Triple&) = default;
};

TEST(ArrayLayout, EachElementHasOnePlace) {
    for (const ArrayMapping mapping :
         {ArrayMapping::block(), ArrayMapping::cyclic(), ArrayMapping::tiled(3)}) {
        for (const std::size_t count : {0U, 1U, 2U, 7U, 12U, 25U}) {
            for (const int size : {1, 2, 3, 5}) {
                const ArrayLayout layout(mapping, count, size);
                std::vector<std::size_t> sizes(static_cast<std::size_t>(size));
                for (std::size_t index = 0; index < count; ++index) {
                    const auto at = layout.place(index);
                    EXPECT_EQ(at.offset, sizes[static_cast<std::size_t>(at.rank)]++);
                    EXPECT_EQ(layout.index(at.rank, at.offset), index);
                    ASSERT_GE(at.run, 1U);
                    const std::size_t last = std::min(at.run, count - index) - 1;
                    EXPECT_EQ(layout.place(index + last).rank, at.rank);
                    EXPECT_EQ(layout.place(index + last).offset, at.offset + last);
                }
                for (Rank rank = 0; rank < size; ++rank) {
                    EXPECT_EQ(layout.size(rank), sizes[static_cast<std::size_t>(rank)]);
                }
            }
        }
    }
}

TEST(ArrayLayout, BlocksDifferByOneAtMost) {
    const ArrayLayout layout(ArrayMapping::block(), 11, 4);
    EXPECT_EQ(layout.size(0), 3U);
    EXPECT_EQ(layout.size(2), 3U);
    EXPECT_EQ(layout.size(3), 2U);
}

struct Shape {
    ArrayMapping mapping;
    std::size_t count;
    int size;
    bool by_calls;
    Placement placement = Placement::owned;
    std::size_t block_bytes = 64;
    std::size_t cache_bytes = 1U << 20U;
};

class ArrayOf : public testing::TestWithParam<Shape> {};

/// Random operations, on a vector, and on the array if it is this rank's turn. All ranks draw the
/// same ones.
template <class T>
class Model {
public:
    explicit Model(std::size_t count) : values_(count, T(7)) {}

    Task<> step(SharedArray<T>* array) {
        switch (below(6)) {
        case 0: return put_one(array, below(values_.size()), value());
        case 1: return add_one(array, below(values_.size()), value());
        case 2: return put_row(array, row());
        case 3: return raise_row(array, row());
        case 4: return put_list(array, list());
        default: return compare(array, row(), list());
        }
    }
    [[nodiscard]] const std::vector<T>& values() const noexcept { return values_; }

private:
    struct Row {
        std::size_t first;
        std::size_t stride;
        std::vector<T> values;
    };
    std::size_t below(std::size_t limit) { return random_() % limit; }
    T value() { return T(static_cast<int>(below(100))); }
    std::vector<T> some(std::size_t count) {
        std::vector<T> made(count);
        std::ranges::generate(made, [this] { return value(); });
        return made;
    }
    Row row() {
        const std::size_t first = below(values_.size());
        const std::size_t stride = 1 + below(2) * below(5);
        return {first, stride, some(below((values_.size() - 1 - first) / stride + 2))};
    }
    std::vector<std::size_t> list() { // Different ones: their order does not matter.
        std::vector<std::size_t> indices(values_.size());
        std::iota(indices.begin(), indices.end(), 0U);
        std::ranges::shuffle(indices, random_);
        indices.resize(below(values_.size() + 1));
        return indices;
    }
    Task<> put_one(SharedArray<T>* array, std::size_t index, T value) {
        values_[index] = value;
        if (array != nullptr) {
            co_await array->put(index, value);
        }
    }
    Task<> add_one(SharedArray<T>* array, std::size_t index, T value) {
        const T before = values_[index];
        values_[index] = before + value;
        if (array != nullptr) {
            EXPECT_EQ(co_await array->accumulate(index, value), before);
        }
    }
    Task<> put_row(SharedArray<T>* array, Row row) {
        for (std::size_t i = 0; i < row.values.size(); ++i) {
            values_[row.first + i * row.stride] = row.values[i];
        }
        if (array != nullptr) {
            co_await array->put(row.first, row.values, row.stride);
        }
    }
    Task<> raise_row(SharedArray<T>* array, Row row) {
        const auto larger = [](const T& a, const T& b) {
            return std::max(a, b);
        };
        for (std::size_t i = 0; i < row.values.size(); ++i) {
            T& old = values_[row.first + i * row.stride];
            old = larger(old, row.values[i]);
        }
        if (array != nullptr) {
            co_await array->accumulate(row.first, row.values, row.stride, larger);
        }
    }
    Task<> put_list(SharedArray<T>* array, std::vector<std::size_t> indices) {
        const std::vector<T> from = some(indices.size());
        for (std::size_t i = 0; i < indices.size(); ++i) {
            values_[indices[i]] = from[i];
        }
        if (array != nullptr) {
            co_await array->put(indices, from);
        }
    }
    Task<> compare(SharedArray<T>* array, Row row, std::vector<std::size_t> indices) {
        if (array == nullptr) {
            co_return;
        }
        std::vector<T> got(row.values.size());
        co_await array->get(row.first, got, row.stride);
        for (std::size_t i = 0; i < got.size(); ++i) {
            EXPECT_EQ(got[i], values_[row.first + i * row.stride]);
        }
        got.resize(indices.size());
        co_await array->get(indices, got);
        for (std::size_t i = 0; i < got.size(); ++i) {
            EXPECT_EQ(got[i], values_[indices[i]]);
        }
        EXPECT_EQ(co_await array->get(row.first), values_[row.first]);
    }
    std::vector<T> values_;
    std::minstd_rand random_{17};
};

template <class T>
Task<> take_turns(Shape shape) {
    SharedArrayOptions<T> options;
    options.mapping = shape.mapping;
    options.by_calls = shape.by_calls;
    options.placement = shape.placement;
    options.block_bytes = shape.block_bytes;
    options.cache_bytes = shape.cache_bytes;
    options.initial = T(7);
    SharedArray<T> array = co_await SharedArray<T>::make("array", shape.count, options);
    EXPECT_EQ(array.size(), shape.count);
    Model<T> model(shape.count);
    for (int turn = 0; turn < 4 * shape.size; ++turn) {
        for (int step = 0; step < 20; ++step) {
            co_await model.step(turn % shape.size == here() ? &array : nullptr);
        }
        co_await array.sync();
    }
    array.for_local([&model](std::size_t index, const T& element) {
        EXPECT_EQ(element, model.values()[index]);
    });
    EXPECT_EQ(array.memory().data, array.local().size() * sizeof(T));
    co_await array.sync();
}

/// A rank that does not serve keeps others from their results; whoever is stopped then has none.
TEST(SharedArray, AStoppedCallGivesNothingForAResult) {
    std::latch is_busy(1);
    std::latch is_late(1);
    among(2, [&](Rank rank) -> Task<> {
        SharedArrayOptions<int> options;
        options.by_calls = true;
        options.placement = Placement::cached;
        auto array = co_await SharedArray<int>::make("array", 64, options);
        if (rank == 1) {
            is_busy.count_down();
            is_late.wait();
        } else {
            while (!is_busy.try_wait()) {
                co_await this_task::yield();
            }
            const auto read = [](SharedArray<int>& of) -> Task<> {
                std::vector<int> to(32);
                co_await of.get(32, std::span(to)); // Those of rank 1.
            };
            const auto write = [](SharedArray<int>& of) -> Task<> {
                const std::vector<int> from(32);
                co_await of.put(32, std::span(from));
            };
            EXPECT_EQ(co_await code_of(within(std::chrono::milliseconds(5), read(array))),
                      Errc::timeout);
            EXPECT_EQ(co_await code_of(within(std::chrono::milliseconds(5), write(array))),
                      Errc::timeout);
            is_late.count_down();
        }
        co_await array.sync();
    });
}

TEST_P(ArrayOf, IsOneArrayForAllRanks) {
    const Shape shape = GetParam();
    among(shape.size, [shape](Rank) { return take_turns<int>(shape); });
    among(shape.size, [shape](Rank) { return take_turns<Triple>(shape); });
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, ArrayOf,
    testing::Values(
        Shape{ArrayMapping::block(), 1, 3, false}, Shape{ArrayMapping::block(), 40, 1, false},
        Shape{ArrayMapping::block(), 101, 3, false}, Shape{ArrayMapping::cyclic(), 50, 4, false},
        Shape{ArrayMapping::tiled(7), 90, 3, false}, Shape{ArrayMapping::block(), 33, 2, true},
        Shape{ArrayMapping::cyclic(), 50, 3, true}, Shape{ArrayMapping::tiled(4), 67, 4, true},
        Shape{ArrayMapping::block(), 101, 3, false, Placement::cached},
        Shape{ArrayMapping::block(), 33, 2, true, Placement::cached},
        Shape{ArrayMapping::cyclic(), 50, 3, true, Placement::cached, 1},
        Shape{ArrayMapping::tiled(4), 67, 4, true, Placement::cached, 64, 128}));

TEST(SharedArray, LiesOnSeveralNodes) {
    over_nodes({0, 1, 0, 1},
               [](Rank) { return take_turns<int>({ArrayMapping::tiled(4), 50, 4, false}); });
    over_nodes({0, 1, 0, 1}, [](Rank) {
        return take_turns<long>({ArrayMapping::tiled(4), 50, 4, false, Placement::cached});
    });
    over_nodes({0, 1, 0, 1}, [](Rank rank) -> Task<> {
        auto array = co_await SharedArray<long>::make("frozen", 100);
        EXPECT_EQ(array.near((rank + 2) % 4).size(), 25U);
        EXPECT_EQ(array.near((rank + 1) % 4).size(), 0U);
        array.for_local(
            [](std::size_t index, long& element) { element = static_cast<long>(index); });
        co_await array.freeze();
        EXPECT_EQ(array.memory().replicas, rank < 2 ? 800U : 0U) << "one copy for each node";
        for (std::size_t index = 0; index < array.size(); ++index) {
            EXPECT_EQ(co_await array.get(index), static_cast<long>(index));
        }
        co_await array.thaw();
    });
}

class AllAtOnce : public testing::TestWithParam<bool> {};

TEST_P(AllAtOnce, AccumulatesAreWhole) {
    constexpr int size = 4;
    constexpr std::size_t count = 5;
    constexpr int rounds = 200;
    const bool by_calls = GetParam();
    among(size, [by_calls](Rank rank) -> Task<> {
        SharedArrayOptions<Triple> large;
        large.by_calls = by_calls;
        SharedArrayOptions<long> small;
        small.by_calls = by_calls;
        auto triples = co_await SharedArray<Triple>::make("triples", count, large);
        auto sums = co_await SharedArray<long>::make("sums", count, small);
        std::minstd_rand random(static_cast<unsigned>(rank) + 1);
        for (int round = 0; round < rounds; ++round) {
            const std::size_t index = random() % count;
            const Triple more(1);
            co_await triples.accumulate(index, more);
            co_await sums.accumulate(index, 1);
        }
        co_await sums.sync();
        long all = 0;
        for (std::size_t index = 0; index < count; ++index) {
            const long sum = co_await sums.get(index);
            const Triple triple = co_await triples.get(index);
            EXPECT_EQ(triple, Triple(static_cast<int>(sum)));
            all += sum;
        }
        EXPECT_EQ(all, size * rounds);
        co_await sums.sync();
    });
}

INSTANTIATE_TEST_SUITE_P(Ways, AllAtOnce, testing::Bool());

TEST(SharedArray, AFrozenOneIsReadFromTheCopyOfItsGroup) {
    for (const bool by_calls : {false, true}) {
        among(4, [by_calls](Rank rank) -> Task<> {
            constexpr std::size_t count = 100;
            SharedArrayOptions<long> options;
            options.placement = Placement::replicated;
            options.mapping = ArrayMapping::tiled(3);
            options.replica_group = rank % 2;
            options.by_calls = by_calls;
            auto array = co_await SharedArray<long>::make("frozen", count, options);
            for (int phase = 1; phase <= 3; ++phase) {
                array.for_local([phase](std::size_t index, long& element) {
                    element = static_cast<long>(index) * phase;
                });
                co_await array.freeze();
                EXPECT_TRUE(array.is_frozen());
                for (std::size_t index = 0; index < count; ++index) {
                    EXPECT_EQ(co_await array.get(index), static_cast<long>(index) * phase);
                }
                std::vector<long> some(20);
                co_await array.get(1, some, 5);
                EXPECT_EQ(some[19], 96 * phase);
                EXPECT_EQ(array.row(40).size(), count - 40) << "a copy has all";
                EXPECT_EQ(array.row(40)[7], 47 * phase);
                EXPECT_EQ(array.memory().replicas, rank < 2 ? count * sizeof(long) : 0U);
                try {
                    co_await array.put(0, 1);
                    ADD_FAILURE() << "a frozen array was written";
                } catch (const Error& error) {
                    EXPECT_EQ(error.code(), Errc::invalid_argument);
                }
                co_await array.thaw();
                EXPECT_EQ(array.memory().replicas, 0U);
                const bool is_reached = !by_calls || array.owner(40) == rank;
                EXPECT_EQ(array.row(40).size(), is_reached ? 2U : 0U) << "a tile has three";
            }
        });
    }
}

TEST(SharedArray, ReplicasAreMadeForSeveralGroupsOnly) {
    among(2, [](Rank) -> Task<> {
        SharedArrayOptions<int> options;
        options.placement = Placement::replicated;
        options.replica_group = 5;
        auto array = co_await SharedArray<int>::make("one group", 10, options);
        co_await array.freeze();
        EXPECT_EQ(array.memory().replicas, 0U);
        EXPECT_EQ(co_await array.get(9), 0);
        co_await array.thaw();
        co_await array.put(9, 1);
    });
}

TEST(SharedArray, ElementsThatDoNotExistAreRefused) {
    among(2, [](Rank) -> Task<> {
        auto array = co_await SharedArray<int>::make("short", 10);
        std::vector<int> four(4);
        const std::vector<std::size_t> wrong{1, 10, 2, 3};
        EXPECT_THROW(static_cast<void>(array.get(10)), Error);
        EXPECT_THROW(static_cast<void>(array.get(7, four)), Error);
        EXPECT_THROW(static_cast<void>(array.get(1, four, 3)), Error);
        EXPECT_THROW(static_cast<void>(array.put(wrong, four)), Error);
        co_await array.get(0, four, 3);
        co_await array.get(6, four);
        co_await array.sync();
    });
}

TEST(SharedArray, RanksThatMakeDifferentOnesAreTold) {
    const auto refusal = [](Rank rank, std::size_t count, ArrayMapping mapping,
                            std::uint64_t mark) -> Task<> {
        SharedArrayOptions<int> options;
        options.mapping = mapping;
        options.mark = mark;
        try {
            static_cast<void>(co_await SharedArray<int>::make("several", count, options));
            ADD_FAILURE() << "rank " << rank;
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), Errc::mismatch) << error.what();
        }
    };
    among(3, [&](Rank rank) -> Task<> {
        const bool is_other = rank == 1;
        co_await refusal(rank, is_other ? 11 : 10, ArrayMapping::block(), 0);
        co_await refusal(rank, 10, is_other ? ArrayMapping::cyclic() : ArrayMapping::block(), 0);
        co_await refusal(rank, 10, ArrayMapping::block(), is_other ? 1 : 0);
        const auto equal = co_await SharedArray<int>::make("several", 10);
        EXPECT_EQ(equal.size(), 10U);
    });
}

TEST(SharedArray, HasPointersToItsElements) {
    among(3, [](Rank rank) -> Task<> {
        SharedArrayOptions<long> options;
        options.mapping = ArrayMapping::tiled(2);
        auto array = co_await SharedArray<long>::make("pointed", 20, options);
        const auto add = [](long& element, long by) {
            element += by;
        };
        for (std::size_t index = 0; index < array.size(); ++index) {
            const Remote<long> element = array.element(index);
            EXPECT_EQ(element.rank(), array.owner(index));
            co_await element.call(add, static_cast<long>(index) * (rank + 1));
        }
        co_await array.sync();
        for (std::size_t index = 0; index < array.size(); ++index) {
            EXPECT_EQ(co_await array.get(index), static_cast<long>(index) * 6);
            EXPECT_EQ(co_await array.element(index).get(), static_cast<long>(index) * 6);
        }
        co_await array.sync();
    });
}

TEST(SharedArray, NoElementsAreAnArray) {
    among(3, [](Rank) -> Task<> {
        auto array = co_await SharedArray<int>::make("none", 0);
        co_await array.get(0, std::span<int>());
        co_await array.freeze();
        co_await array.thaw();
        EXPECT_TRUE(array.local().empty());
    });
}

/// What is near is had at once, but whoever would change it has to be served meanwhile.
TEST(SharedArray, ALoopThatLooksAtAnElementServesOthers) {
    among(2, [](Rank rank) -> Task<> {
        auto array = co_await SharedArray<int>::make("flag", 2);
        if (rank == 0) {
            for (int seen = 0; seen == 0;) {
                seen = co_await array.get(0);
            }
        } else {
            co_await at(0, [] {}); // Rank 0 answers, though its task never waits.
            co_await array.put(0, 1);
        }
        co_await array.sync();
    });
}

} // namespace
} // namespace corymb
