// SPDX-License-Identifier: Apache-2.0
#include "data/work.hpp"

#include "data/staging.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <utility>

namespace corymb::mpi {

namespace {

std::byte* bytes_at(const void* buffer) noexcept {
    return static_cast<std::byte*>(const_cast<void*>(buffer));
}

std::size_t data_bytes(MPI_Count elements, const Layout& layout) noexcept {
    return static_cast<std::size_t>(elements) * layout.size;
}

std::byte* element(std::byte* buffer, MPI_Count index, const Layout& layout) noexcept {
    return buffer + static_cast<std::ptrdiff_t>(index) * layout.extent;
}

/// Bytes from the first part of a list to the end of the last one.
std::size_t reach(const PartList& list) noexcept {
    std::size_t end = 0;
    for (std::size_t part = 0; part < list.counts.size(); ++part) {
        if (list.counts[part] != 0) {
            end = std::max(end, list.displacements[part] + list.counts[part]);
        }
    }
    return end;
}

/// Addresses from the first to behind the last.
struct Span {
    std::uintptr_t begin;
    std::uintptr_t end;
};

Span span_at(const void* base, std::size_t at, std::size_t bytes) noexcept {
    const auto begin = reinterpret_cast<std::uintptr_t>(base) + at;
    return {begin, begin + bytes};
}

bool is_common(const Span& one, const Span& other) noexcept {
    return one.begin < other.end && other.begin < one.end;
}

/// The spans of a list of parts, or the single span.
std::vector<Span> spans_of(const PartList& list, const void* base, std::size_t bytes) {
    if (list.counts.empty()) {
        return {span_at(base, 0, bytes)};
    }
    std::vector<Span> spans;
    for (std::size_t part = 0; part < list.counts.size(); ++part) {
        if (list.counts[part] != 0) {
            spans.push_back(span_at(base, list.displacements[part], list.counts[part]));
        }
    }
    return spans;
}

/// Parts of which one begins before another ends. The standard forbids programs to have them
/// written to, but every MPI puts up with it, and only this rank knows where its parts lie.
bool overlap(const SmallList<ProgramPart, small_ranks>& parts) {
    using Offsets = std::pair<MPI_Aint, MPI_Aint>; // Begin and end.
    const auto span_of = [](const ProgramPart& part) -> Offsets {
        return {part.offset,
                part.offset + static_cast<MPI_Aint>(part.elements) * part.layout->extent};
    };
    Offsets last{std::numeric_limits<MPI_Aint>::min(), std::numeric_limits<MPI_Aint>::min()};
    const bool lie_in_order = std::ranges::all_of(parts, [&](const ProgramPart& part) {
        const Offsets before = part.elements != 0 ? std::exchange(last, span_of(part)) : last;
        return part.elements == 0 || before.second <= last.first;
    });
    if (lie_in_order) {
        return false;
    }
    std::vector<Offsets> spans;
    for (const ProgramPart& part : parts) {
        if (part.elements != 0) {
            spans.push_back(span_of(part));
        }
    }
    std::ranges::sort(spans);
    return std::ranges::adjacent_find(spans, [](const Offsets& one, const Offsets& next) {
               return next.first < one.second;
           }) != spans.end();
}

} // namespace

void Work::add(std::unique_ptr<Copy>& copy, const Piece& piece) {
    if (piece.elements > 0 && !can_pack(piece.layout)) {
        std::fputs("corymb: an element of a datatype with gaps has more than 2 GiB of data, which "
                   "this MPI packs no more; run the program with CORYMB_MPI=off\n",
                   stderr);
        throw std::length_error("an element of more than 2 GiB");
    }
    if (copy == nullptr) {
        copy = std::make_unique<Copy>();
    }
    copy->pieces.push_back(piece);
    copy->bytes = std::max(copy->bytes, piece.at + piece.bytes());
}

void Work::read(const void* buffer, MPI_Count elements, const Layout& layout) {
    input = buffer;
    input_bytes = data_bytes(elements, layout);
    if (!layout.is_dense) [[unlikely]] {
        read_copy(buffer, elements, layout);
    }
}

void Work::read_copy(const void* buffer, MPI_Count elements, const Layout& layout) {
    add(source_, {bytes_at(buffer), elements, layout, 0, true, false});
}

void Work::write(void* buffer, MPI_Count elements, const Layout& layout) {
    output = buffer;
    output_bytes = data_bytes(elements, layout);
    if (!layout.is_dense) [[unlikely]] {
        add(target_, {bytes_at(buffer), elements, layout, 0, false, true});
    }
}

void Work::read_from_output(void* buffer, MPI_Count first, MPI_Count elements,
                            const Layout& layout) {
    if (!layout.is_dense) {
        add(target_, {element(bytes_at(buffer), first, layout), elements, layout,
                      data_bytes(first, layout), true, false});
    }
}

void Work::do_not_store() noexcept {
    if (target_ != nullptr) {
        for (Piece& piece : target_->pieces) {
            piece.is_stored = false;
        }
    }
}

/// Lists the places of a buffer's parts, in the buffer or in a copy that begins with the first
/// part.
PartList Work::place(std::unique_ptr<Copy>& copy, std::byte*& base, std::byte* buffer,
                     const SmallList<ProgramPart, small_ranks>& all, bool must_copy, bool is_read) {
    const bool is_dense = std::ranges::all_of(
        all, [](const ProgramPart& part) { return part.elements == 0 || part.layout->is_dense; });
    PartList list;
    list.counts.reserve(all.size());
    list.displacements.reserve(all.size());
    MPI_Aint lowest = 0; // Only parts with data count: the buffer itself may be null.
    bool has_any = false;
    for (const ProgramPart& part : all) {
        if (part.elements != 0) {
            lowest = has_any ? std::min(lowest, part.offset) : part.offset;
            has_any = true;
        }
    }
    base = buffer + lowest;
    std::size_t at = 0;
    for (const ProgramPart& part : all) {
        const std::size_t bytes = data_bytes(part.elements, *part.layout);
        list.counts.push_back(bytes);
        if (is_dense && !must_copy) {
            list.displacements.push_back(static_cast<std::size_t>(part.offset - lowest));
        } else {
            add(copy, {buffer + part.offset, part.elements, *part.layout, at, is_read, !is_read});
            list.displacements.push_back(at);
        }
        at += bytes;
    }
    return list;
}

void Work::read_parts(const void* buffer, const ProgramParts& of_buffer, bool must_copy) {
    std::byte* base = nullptr;
    parts->in = place(source_, base, bytes_at(buffer), of_buffer.list, must_copy, true);
    input = base;
    input_bytes = reach(parts->in);
}

void Work::write_parts(void* buffer, const ProgramParts& of_buffer) {
    std::byte* base = nullptr;
    const bool must_copy = overlap(of_buffer.list);
    parts->out = place(target_, base, bytes_at(buffer), of_buffer.list, must_copy, false);
    output = base;
    output_bytes = reach(parts->out);
}

void Work::read_part_from_output(void* buffer, const ProgramParts& of_buffer, int part) {
    const auto index = static_cast<std::size_t>(part);
    if (target_ != nullptr) {
        const ProgramPart& own = of_buffer.list[index];
        add(target_, {bytes_at(buffer) + own.offset, own.elements, *own.layout,
                      parts->out.displacements[index], true, false});
    }
}

void Work::copy_if_they_overlap() {
    const Span read = span_at(input, 0, input_bytes);
    const Span written = span_at(output, 0, output_bytes);
    if (!is_common(read, written)) {
        return;
    }
    if (parts) { // Parts of one array may lie between each other.
        const std::vector<Span> inputs = spans_of(parts->in, input, input_bytes);
        const std::vector<Span> outputs = spans_of(parts->out, output, output_bytes);
        const bool has_common = std::ranges::any_of(inputs, [&](const Span& one) {
            return std::ranges::any_of(outputs,
                                       [&](const Span& other) { return is_common(one, other); });
        });
        if (!has_common) {
            return;
        }
    }
    const Layout of_bytes{1, 1, true, true, host().type_byte};
    read_copy(input, static_cast<MPI_Count>(input_bytes), of_bytes);
}

void Work::write_apart(void* buffer, std::size_t bytes) {
    const Layout of_bytes{1, 1, true, true, host().type_byte};
    add(target_, {bytes_at(buffer), static_cast<MPI_Count>(bytes), of_bytes, 0, false, true});
}

void Work::read_whole(const void* buffer, MPI_Count elements, const Layout& layout) {
    add(source_, {bytes_at(buffer), elements, layout, 0, true, false, true});
}

void Work::write_whole(void* buffer, MPI_Count elements, const Layout& layout, bool is_read) {
    add(target_, {bytes_at(buffer), elements, layout, 0, is_read, true, true});
}

void Work::combine_by(const HostKernel& kernel, Form form) {
    if (form == Form::blocking) {
        blocking_operator_.emplace(kernel);
        with = blocking_operator_->number();
    } else {
        operator_ = std::make_unique<RequestOperator>(kernel);
        with = operator_->number();
    }
}

void Work::keep_types() {
    for (Copy* copy : {source_.get(), target_.get()}) {
        if (copy == nullptr) {
            continue;
        }
        for (const Piece& piece : copy->pieces) {
            if (!piece.layout.is_predefined) {
                copy->kept.add(piece.layout.type);
            }
        }
    }
}

/// Behind the data of the last element there may be nothing.
void Work::copy_piece_in(const Piece& piece, std::byte* to) {
    if (!piece.is_whole) {
        pack(piece.buffer, piece.elements, piece.layout, to);
    } else if (piece.elements > 0) {
        const std::ptrdiff_t bytes =
            static_cast<std::ptrdiff_t>(piece.elements - 1) * piece.layout.extent +
            piece.layout.end;
        std::memcpy(to, piece.buffer, static_cast<std::size_t>(bytes));
    }
}

void Work::copy_piece_out(const Piece& piece, const std::byte* from) noexcept {
    if (!piece.is_whole) {
        unpack(from, piece.buffer, piece.elements, piece.layout);
        return;
    }
    std::byte data[host_element_bytes_most];
    const auto most = static_cast<MPI_Count>(sizeof data / piece.layout.size);
    for (MPI_Count done = 0; done < piece.elements; done += most) {
        const MPI_Count now = std::min(most, piece.elements - done);
        const std::ptrdiff_t at = static_cast<std::ptrdiff_t>(done) * piece.layout.extent;
        pack(from + at, now, piece.layout, data);
        unpack(data, piece.buffer + at, now, piece.layout);
    }
}

void Work::copy_in() {
    for (Copy* copy : {source_.get(), target_.get()}) {
        if (copy == nullptr) {
            continue;
        }
        if (copy->data == nullptr) {
            copy->data = std::make_unique_for_overwrite<std::byte[]>(copy->bytes);
        }
        for (const Piece& piece : copy->pieces) {
            if (piece.is_read) {
                copy_piece_in(piece, copy->data.get() + piece.at);
            }
        }
    }
    if (source_ != nullptr) {
        input = source_->data.get();
    }
    if (target_ != nullptr) {
        output = target_->data.get();
    }
}

void Work::copy_out() noexcept {
    for (const Piece& piece : target_->pieces) {
        if (piece.is_stored) {
            copy_piece_out(piece, target_->data.get() + piece.at);
        }
    }
}

} // namespace corymb::mpi
