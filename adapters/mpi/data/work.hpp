// SPDX-License-Identifier: Apache-2.0
// A collective in corymb's terms, with the buffers of this rank. All forms of an operation share
// it: a blocking call does it at once, a request keeps it until it is complete.
#pragma once

#include "below/call.hpp"
#include "below/library.hpp"
#include "below/small_list.hpp"
#include "data/kept_handles.hpp"
#include "data/operators.hpp"
#include "data/staging.hpp"

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

namespace corymb::mpi {

/// Ranks whose lists need no memory of their own.
inline constexpr std::size_t small_ranks = 8;

/// The places of parts of different lengths, in elements of the work's type.
struct PartList {
    SmallList<std::size_t, small_ranks> counts;
    SmallList<std::size_t, small_ranks> displacements;
};
/// The parts of the input and of the output; lists that an operation does not have are empty.
struct PartLists {
    PartList in;
    PartList out;
};

/// A part of a buffer as the program gives it.
struct ProgramPart {
    MPI_Aint offset; ///< Unit: bytes.
    MPI_Count elements;
    const Layout* layout;
};

/// All of them, and what they refer to.
struct ProgramParts {
    ProgramParts() noexcept = default;
    ProgramParts(const ProgramParts&) = delete;
    ProgramParts& operator=(const ProgramParts&) = delete;
    ~ProgramParts() = default;

    SmallList<ProgramPart, small_ranks> list; ///< By rank; empty when MPI would refuse them.
    Layout layout;                            ///< The layout of all parts, or
    SmallList<Layout, small_ranks> layouts;   ///< the layout of each.
};

class Work {
public:
    Work(corymb_collective operation, std::size_t elements, corymb_type element_type) noexcept
        : op(operation), count(elements), type(element_type) {}

    corymb_collective op;
    std::size_t count; ///< Elements of one part.
    corymb_type type;
    corymb_op with = CORYMB_NO_OP;
    int root = 0;
    const void* input = nullptr;    ///< May be CORYMB_IN_PLACE.
    void* output = nullptr;         ///< May be CORYMB_IN_PLACE.
    std::optional<PartLists> parts; ///< For vector operations.
    /// How far the operation reads and writes where the program's memory lies; 0: nothing there.
    std::size_t input_bytes = 0;
    std::size_t output_bytes = 0;

    // The memory of the program that the operation uses. Elements with gaps are copied in `prepare`
    // and in `finish`; dense ones are used where they lie. All throw std::bad_alloc.

    void read(const void* buffer, MPI_Count elements, const Layout& layout);
    /// Copies even dense elements, because the operation writes this memory.
    void read_copy(const void* buffer, MPI_Count elements, const Layout& layout);
    void write(void* buffer, MPI_Count elements, const Layout& layout);
    /// Output elements that the operation reads before it writes.
    void read_from_output(void* buffer, MPI_Count first, MPI_Count elements, const Layout& layout);
    /// The operation only reads the memory that `write` has named.
    void do_not_store() noexcept;
    /// As `read` and `write`, for buffers with parts; they set `parts`, which must be there.
    void read_parts(const void* buffer, const ProgramParts& of_buffer, bool must_copy);
    void write_parts(void* buffer, const ProgramParts& of_buffer);
    /// The part of the output that it reads before.
    void read_part_from_output(void* buffer, const ProgramParts& of_buffer, int part);
    /// The operation writes so many bytes and reads the memory, of which nothing else may change.
    void write_apart(void* buffer, std::size_t bytes);
    /// As `read` and `write`, for elements with their gaps, which the program's memory keeps.
    void read_whole(const void* buffer, MPI_Count elements, const Layout& layout);
    void write_whole(void* buffer, MPI_Count elements, const Layout& layout, bool is_read);
    /// The operator is one of the MPI's or the program's.
    void combine_by(const HostKernel& kernel, Form form);
    /// Call it when all buffers are named. If input and output share memory, which the standard
    /// forbids and programs do, the operation reads the contents of before.
    void separate() {
        if (input_bytes != 0 && output_bytes != 0 && source_ == nullptr && target_ == nullptr)
            [[likely]] {
            copy_if_they_overlap();
        }
    }
    /// The program may free its datatypes before the operation is complete.
    void keep_types();

    /// Before each start.
    void prepare() {
        if (source_ != nullptr || target_ != nullptr) [[unlikely]] {
            copy_in();
        }
    }
    /// After the operation has succeeded.
    void finish() noexcept {
        if (target_ != nullptr) [[unlikely]] {
            copy_out();
        }
    }

    /// Calls the library. `request` is for the other forms than the blocking one.
    corymb_status call(Form form, corymb_team* team, corymb_request** request) const noexcept;

private:
    struct Piece {
        std::byte* buffer;
        MPI_Count elements;
        Layout layout;
        std::size_t at; ///< Byte of the copy.
        bool is_read;
        bool is_stored;
        bool is_whole = false; ///< The copy has the gaps, too.

        [[nodiscard]] std::size_t bytes() const noexcept {
            return static_cast<std::size_t>(elements) *
                   (is_whole ? static_cast<std::size_t>(layout.extent) : layout.size);
        }
    };
    /// The copy of a buffer.
    struct Copy {
        std::vector<Piece> pieces;
        TypesInUse kept;
        std::size_t bytes = 0;
        std::unique_ptr<std::byte[]> data;
    };
    void add(std::unique_ptr<Copy>& copy, const Piece& piece);
    static void copy_piece_in(const Piece& piece, std::byte* to);
    static void copy_piece_out(const Piece& piece, const std::byte* from) noexcept;
    PartList place(std::unique_ptr<Copy>& copy, std::byte*& base, std::byte* buffer,
                   const SmallList<ProgramPart, small_ranks>& all, bool must_copy, bool is_read);
    void copy_if_they_overlap();
    void copy_in();
    void copy_out() noexcept;

    std::unique_ptr<Copy> source_; ///< Null: there is none.
    std::unique_ptr<Copy> target_;
    std::unique_ptr<RequestOperator> operator_; ///< For requests.
    std::optional<BlockingOperator> blocking_operator_;
};

} // namespace corymb::mpi
