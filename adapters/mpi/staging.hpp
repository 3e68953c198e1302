// SPDX-License-Identifier: Apache-2.0
// Buffers of datatypes with gaps as bytes in one piece: packed before the operation, unpacked after
// it. Dense buffers are used where they lie. Ranks may describe the same data by different types,
// so whether a rank needs this is its own affair.
#pragma once

#include "elements.hpp"

#include <cstddef>
#include <memory>

namespace corymb::mpi {

/// Bytes of `count` elements, packed; throws std::bad_alloc.
[[nodiscard]] std::unique_ptr<std::byte[]> packed(const void* buffer, MPI_Count count,
                                                  const Layout& layout);
void pack(const void* buffer, MPI_Count count, const Layout& layout, std::byte* to);
void unpack(const std::byte* from, void* buffer, MPI_Count count, const Layout& layout);

/// What an operation reads.
class Input {
public:
    Input(const void* buffer, MPI_Count count, const Layout& layout)
        : copy_(layout.is_dense ? nullptr : packed(buffer, count, layout)),
          data_(layout.is_dense ? buffer : copy_.get()) {}
    [[nodiscard]] const void* data() const noexcept { return data_; }

private:
    std::unique_ptr<std::byte[]> copy_;
    const void* data_;
};

/// What an operation writes, and may find in it before.
class Output {
public:
    Output(void* buffer, MPI_Count count, const Layout& layout);
    [[nodiscard]] void* data() const noexcept { return copy_ != nullptr ? copy_.get() : buffer_; }
    /// Elements of the program's buffer that the operation reads.
    void load(MPI_Count first, MPI_Count count);
    /// The operation has written it.
    void store();

private:
    void* buffer_;
    MPI_Count count_;
    Layout layout_;
    std::unique_ptr<std::byte[]> copy_;
};

} // namespace corymb::mpi
