// SPDX-License-Identifier: Apache-2.0
#include "work.hpp"

#include <algorithm>

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

} // namespace

Work::Copy::~Copy() {
    for (MPI_Datatype& own : kept) {
        host().Type_free(&own);
    }
}

void Work::add(std::unique_ptr<Copy>& copy, const Piece& piece) {
    if (copy == nullptr) {
        copy = std::make_unique<Copy>();
    }
    copy->pieces.push_back(piece);
    copy->bytes = std::max(copy->bytes, piece.at + data_bytes(piece.elements, piece.layout));
}

void Work::read(const void* buffer, MPI_Count elements, const Layout& layout) {
    input = buffer;
    if (!layout.is_dense) [[unlikely]] {
        read_copy(buffer, elements, layout);
    }
}

void Work::read_copy(const void* buffer, MPI_Count elements, const Layout& layout) {
    add(source_, {bytes_at(buffer), elements, layout, 0, true, false});
}

void Work::write(void* buffer, MPI_Count elements, const Layout& layout) {
    output = buffer;
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

/// Where the parts of a buffer lie in it, or in a copy that begins with the first one.
PartList Work::place(std::unique_ptr<Copy>& copy, std::byte*& base, std::byte* buffer,
                     const std::vector<ProgramPart>& parts, bool must_copy, bool is_read) {
    const bool is_dense = std::ranges::all_of(
        parts, [](const ProgramPart& part) { return part.elements == 0 || part.layout.is_dense; });
    PartList list;
    list.counts.reserve(parts.size());
    list.displacements.reserve(parts.size());
    MPI_Aint lowest = 0;
    for (const ProgramPart& part : parts) {
        lowest = std::min(lowest, part.offset);
    }
    base = buffer + lowest;
    std::size_t at = 0;
    for (const ProgramPart& part : parts) {
        const std::size_t bytes = data_bytes(part.elements, part.layout);
        list.counts.push_back(bytes);
        if (is_dense && !must_copy) {
            list.displacements.push_back(static_cast<std::size_t>(part.offset - lowest));
        } else {
            add(copy, {buffer + part.offset, part.elements, part.layout, at, is_read, !is_read});
            list.displacements.push_back(at);
        }
        at += bytes;
    }
    return list;
}

void Work::read_parts(const void* buffer, const std::vector<ProgramPart>& parts, bool must_copy) {
    std::byte* base = nullptr;
    in_parts = place(source_, base, bytes_at(buffer), parts, must_copy, true);
    input = base;
    is_vector = true;
}

void Work::write_parts(void* buffer, const std::vector<ProgramPart>& parts) {
    std::byte* base = nullptr;
    out_parts = place(target_, base, bytes_at(buffer), parts, false, false);
    output = base;
    is_vector = true;
}

void Work::read_part_from_output(void* buffer, const std::vector<ProgramPart>& parts, int part) {
    const auto index = static_cast<std::size_t>(part);
    if (target_ != nullptr) {
        add(target_, {bytes_at(buffer) + parts[index].offset, parts[index].elements,
                      parts[index].layout, out_parts.displacements[index], true, false});
    }
}

void Work::write_apart(void* buffer, std::size_t bytes) {
    const Layout of_bytes{1, 1, true, true, host().type_byte};
    add(target_, {bytes_at(buffer), static_cast<MPI_Count>(bytes), of_bytes, 0, false, true});
}

void Work::keep_types() {
    for (Copy* copy : {source_.get(), target_.get()}) {
        if (copy == nullptr) {
            continue;
        }
        copy->kept.reserve(copy->pieces.size());
        for (Piece& piece : copy->pieces) {
            if (!piece.layout.is_predefined &&
                host().Type_dup(piece.layout.type, &piece.layout.type) == MPI_SUCCESS) {
                copy->kept.push_back(piece.layout.type);
            }
        }
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
                pack(piece.buffer, piece.elements, piece.layout, copy->data.get() + piece.at);
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
            unpack(target_->data.get() + piece.at, piece.buffer, piece.elements, piece.layout);
        }
    }
}

} // namespace corymb::mpi
