// SPDX-License-Identifier: Apache-2.0
// The buffers of an operation on data that does not lie in one piece: copied out, and back.
#pragma once

#include <corymb/detail/staging.hpp>
#include <corymb/elements.hpp>
#include <corymb/error.hpp>
#include <corymb/packed.hpp>
#include <corymb/plan.hpp>
#include <corymb/rank.hpp>

#include <memory>
#include <span>
#include <string>

namespace corymb::detail {

/// What an operation does with the buffers of one rank.
struct Uses {
    bool input_is_read = true;
    bool output_is_read = false;
    bool output_is_written = true;
};

constexpr Uses uses_of(Collective op, Rank rank, Rank root) noexcept {
    switch (op) {
    case Collective::broadcast: return {false, rank == root, rank != root};
    case Collective::reduce:
    case Collective::gather: return {true, false, rank == root};
    case Collective::scatter: return {rank == root, false, true};
    case Collective::exscan: return {true, false, rank != 0};
    default: return {};
    }
}

/// Two buffers as the library wants them, each in one piece. Those of a layout lie in memory of
/// their own between `before` and `after`.
template <class T>
class StagedBuffers final : public Staging {
public:
    static_assert(moves_as_bytes<T>());

    /// Each buffer is a span or a Packed. Throws Errc::invalid_argument when a layout lacks a
    /// function: without it the operation would be in vain.
    template <class In, class Out>
    StagedBuffers(const In& input, const Out& output, Uses uses) : uses_(uses) {
        take_input(input);
        take_output(output);
    }

    [[nodiscard]] const Buffers<T>& buffers() const noexcept { return buffers_; }

    void before() override {
        if (input_.layout.count != 0) {
            input_.layout.pack(input_.elements());
        }
        if (uses_.output_is_read && output_.layout.count != 0) {
            output_.layout.pack(output_.elements());
        }
    }
    void after() override {
        if (uses_.output_is_written && output_.layout.count != 0) {
            output_.layout.unpack(output_.elements());
        }
    }

private:
    /// A layout and memory for its elements. Empty for a buffer that lies in one piece.
    struct Packing {
        Packing() = default;
        explicit Packing(const Packed<T>& of)
            : layout(of), memory(std::make_unique_for_overwrite<T[]>(of.count)) {}
        [[nodiscard]] std::span<T> elements() const { return {memory.get(), layout.count}; }

        Packed<T> layout;
        std::unique_ptr<T[]> memory;
    };

    void take_input(std::span<const T> elements) { buffers_.in = elements; }
    void take_input(const Packed<T>& layout) {
        if (!uses_.input_is_read) {
            return;
        }
        require(layout.count == 0 || layout.pack, "pack");
        input_ = Packing(layout);
        buffers_.in = input_.elements();
    }
    void take_output(std::span<T> elements) { buffers_.out = elements; }
    void take_output(const Packed<T>& layout) {
        require(layout.count == 0 || !uses_.output_is_read || layout.pack, "pack");
        require(layout.count == 0 || !uses_.output_is_written || layout.unpack, "unpack");
        output_ = Packing(layout);
        buffers_.out = output_.elements();
    }
    static void require(bool holds, const char* function) {
        if (!holds) {
            throw Error(Errc::invalid_argument, std::string("the packed layout has no function ") +
                                                    function + ", which this operation needs");
        }
    }

    Uses uses_;
    Buffers<T> buffers_;
    Packing input_;
    Packing output_;
};

} // namespace corymb::detail
