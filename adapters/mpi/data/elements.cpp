// SPDX-License-Identifier: Apache-2.0
#include "data/elements.hpp"

#include "below/library.hpp"
#include "below/mpi_progress.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

namespace corymb::mpi {

namespace {

/// Groups of types that the standard names when it says which operators they have.
enum Class : unsigned {
    none = 0,
    integer = 1,
    floating = 2,
    complex = 4,
    logical = 8,
    byte = 16,
    pair = 32, ///< A pair of an integer and an index.
    floating_pair = 64,
    address = 128,
};

struct Named {
    MPI_Datatype handle;
    Layout layout;
    corymb_type type;
    Class communicator;
};

/// `type` is left out, for corymb's kernels, if its size is not the MPI type's.
void add(std::vector<Named>& all, MPI_Datatype handle, corymb_type type, Class communicator,
         std::size_t type_bytes) {
    const Host& mpi = host();
    int size = 0;
    MPI_Aint lower = 0;
    MPI_Aint extent = 0;
    if (handle == MPI_Datatype{} || handle == mpi.type_null ||
        mpi.Type_size(handle, &size) != MPI_SUCCESS || size <= 0 ||
        mpi.Type_get_extent(handle, &lower, &extent) != MPI_SUCCESS) {
        return; // An optional type that this MPI does not have.
    }
    const bool fits = type_bytes == static_cast<std::size_t>(extent) && lower == 0;
    const Layout layout{static_cast<std::size_t>(size),
                        extent,
                        lower == 0 && size == extent,
                        true,
                        handle,
                        0,
                        extent};
    all.push_back({handle, layout, fits ? type : CORYMB_NO_TYPE, communicator});
}

/// The integer type of a C type.
template <class T>
constexpr corymb_type integer_type() {
    constexpr bool is_signed = static_cast<T>(-1) < static_cast<T>(0);
    switch (sizeof(T)) {
    case 1: return is_signed ? CORYMB_INT8 : CORYMB_UINT8;
    case 2: return is_signed ? CORYMB_INT16 : CORYMB_UINT16;
    case 4: return is_signed ? CORYMB_INT32 : CORYMB_UINT32;
    default: return is_signed ? CORYMB_INT64 : CORYMB_UINT64;
    }
}

template <class T>
void add_integer(std::vector<Named>& all, MPI_Datatype handle, Class communicator = integer) {
    add(all, handle, integer_type<T>(), communicator, sizeof(T));
}

void add_integers(std::vector<Named>& all) {
    add_integer<int>(all, MPI_INT);
    add_integer<signed char>(all, MPI_SIGNED_CHAR);
    add_integer<unsigned char>(all, MPI_UNSIGNED_CHAR);
    add_integer<short>(all, MPI_SHORT);
    add_integer<unsigned short>(all, MPI_UNSIGNED_SHORT);
    add_integer<unsigned>(all, MPI_UNSIGNED);
    add_integer<long>(all, MPI_LONG);
    add_integer<unsigned long>(all, MPI_UNSIGNED_LONG);
    add_integer<long long>(all, MPI_LONG_LONG);
    add_integer<unsigned long long>(all, MPI_UNSIGNED_LONG_LONG);
    add_integer<std::int8_t>(all, MPI_INT8_T);
    add_integer<std::uint8_t>(all, MPI_UINT8_T);
    add_integer<std::int16_t>(all, MPI_INT16_T);
    add_integer<std::uint16_t>(all, MPI_UINT16_T);
    add_integer<std::int32_t>(all, MPI_INT32_T);
    add_integer<std::uint32_t>(all, MPI_UINT32_T);
    add_integer<std::int64_t>(all, MPI_INT64_T);
    add_integer<std::uint64_t>(all, MPI_UINT64_T);
    add_integer<std::int32_t>(all, MPI_INTEGER);
    add_integer<MPI_Aint>(all, MPI_AINT, address);
    add_integer<MPI_Offset>(all, MPI_OFFSET, address);
    add_integer<MPI_Count>(all, MPI_COUNT, address);
}

void add_others(std::vector<Named>& all) {
    add(all, MPI_FLOAT, CORYMB_FLOAT32, floating, 4);
    add(all, MPI_DOUBLE, CORYMB_FLOAT64, floating, 8);
    add(all, MPI_REAL, CORYMB_FLOAT32, floating, 4);
    add(all, MPI_DOUBLE_PRECISION, CORYMB_FLOAT64, floating, 8);
    add(all, MPI_C_FLOAT_COMPLEX, CORYMB_COMPLEX64, complex, 8);
    add(all, MPI_C_DOUBLE_COMPLEX, CORYMB_COMPLEX128, complex, 16);
    add(all, MPI_COMPLEX, CORYMB_COMPLEX64, complex, 8);
    add(all, MPI_DOUBLE_COMPLEX, CORYMB_COMPLEX128, complex, 16);
    add(all, MPI_C_BOOL, CORYMB_BOOL, logical, 1);
    add(all, MPI_BYTE, CORYMB_UINT8, byte, 1);
    add(all, MPI_SHORT_INT, CORYMB_INT16_INDEX32, pair, 8);
    add(all, MPI_2INT, CORYMB_INT32_INDEX32, pair, 8);
    add(all, MPI_LONG_INT, sizeof(long) == 8 ? CORYMB_INT64_INDEX32 : CORYMB_INT32_INDEX32, pair,
        2 * sizeof(long));
    add(all, MPI_FLOAT_INT, CORYMB_FLOAT32_INDEX32, floating_pair, 8);
    add(all, MPI_DOUBLE_INT, CORYMB_FLOAT64_INDEX32, floating_pair, 16);
    add(all, MPI_LONG_DOUBLE, CORYMB_NO_TYPE, floating, 0);
    add(all, MPI_C_LONG_DOUBLE_COMPLEX, CORYMB_NO_TYPE, complex, 0);
    add(all, MPI_LONG_DOUBLE_INT, CORYMB_NO_TYPE, floating_pair, 0);
    add(all, MPI_LOGICAL, CORYMB_NO_TYPE, logical, 0);
    for (MPI_Datatype handle : {MPI_CHAR, MPI_WCHAR, MPI_PACKED, MPI_CHARACTER}) {
        add(all, handle, CORYMB_NO_TYPE, none, 0);
    }
}

/// Predefined types, the most used ones first. They are never destroyed: a program may call MPI in
/// destructors of its own static objects.
const std::vector<Named>& named_types() {
    static const auto* const all = [] {
        auto* const made = new std::vector<Named>;
        add(*made, MPI_DOUBLE, CORYMB_FLOAT64, floating, 8);
        add_integers(*made);
        add_others(*made);
        return made;
    }();
    return *all;
}

const Named* find_named(MPI_Datatype type) {
    thread_local const Named* last = nullptr;
    if (last != nullptr && last->handle == type) [[likely]] {
        return last;
    }
    const auto& all = named_types();
    const auto found =
        std::find_if(all.begin(), all.end(), [&](const Named& one) { return one.handle == type; });
    if (found == all.end()) {
        return nullptr;
    }
    last = &*found;
    return last;
}

struct NamedOperator {
    MPI_Op handle;
    corymb_op op;
    unsigned communicators; ///< The standard defines it for these.
};

/// The last kernel that a thread has looked up.
struct LastKernel {
    MPI_Datatype type{};
    MPI_Op op{};
    bool exists = false;
    Kernel kernel;
};

const std::array<NamedOperator, 12>& named_operators() {
    static const std::array<NamedOperator, 12> all{{
        {MPI_SUM, CORYMB_SUM, integer | floating | complex | address},
        {MPI_MAX, CORYMB_MAX, integer | floating | address},
        {MPI_MIN, CORYMB_MIN, integer | floating | address},
        {MPI_PROD, CORYMB_PROD, integer | floating | complex | address},
        {MPI_LAND, CORYMB_LOGICAL_AND, integer | logical},
        {MPI_LOR, CORYMB_LOGICAL_OR, integer | logical},
        {MPI_LXOR, CORYMB_LOGICAL_XOR, integer | logical},
        {MPI_BAND, CORYMB_BITWISE_AND, integer | byte | address},
        {MPI_BOR, CORYMB_BITWISE_OR, integer | byte | address},
        {MPI_BXOR, CORYMB_BITWISE_XOR, integer | byte | address},
        {MPI_MINLOC, CORYMB_MIN_LOC, pair | floating_pair},
        {MPI_MAXLOC, CORYMB_MAX_LOC, pair | floating_pair},
    }};
    return all;
}

/// How a type was made: arguments of its constructor by kind, as MPI counts them.
struct Envelope {
    MPI_Count integers = 0, addresses = 0, large = 0, types = 0;
    int combiner = MPI_COMBINER_NAMED;
};

/// False: the MPI does not say.
bool ask_envelope(MPI_Datatype type, Envelope& envelope) noexcept {
    const Host& mpi = host();
#if CORYMB_MPI_HAS_MPI_4
    if (mpi.Type_get_envelope_c != nullptr && mpi.Type_get_contents_c != nullptr) {
        return mpi.Type_get_envelope_c(type, &envelope.integers, &envelope.addresses,
                                       &envelope.large, &envelope.types,
                                       &envelope.combiner) == MPI_SUCCESS;
    }
#endif
    int integers = 0;
    int addresses = 0;
    int types = 0;
    const int result =
        mpi.Type_get_envelope(type, &integers, &addresses, &types, &envelope.combiner);
    envelope.integers = integers;
    envelope.addresses = addresses;
    envelope.types = types;
    return result == MPI_SUCCESS;
}

/// Whether the type may not be freed.
bool is_named(MPI_Datatype type) noexcept {
    Envelope envelope;
    if (!ask_envelope(type, envelope)) {
        return true;
    }
    switch (envelope.combiner) {
    case MPI_COMBINER_NAMED:
    case MPI_COMBINER_F90_REAL:
    case MPI_COMBINER_F90_COMPLEX:
    case MPI_COMBINER_F90_INTEGER: return true;
    default: return false;
    }
}

/// The type inside a contiguous type or a copy. Null: the type is made in another way.
MPI_Datatype inner_type(MPI_Datatype type) noexcept {
    const Host& mpi = host();
    Envelope envelope;
    MPI_Datatype inner = mpi.type_null;
    if (!ask_envelope(type, envelope) ||
        (envelope.combiner != MPI_COMBINER_CONTIGUOUS && envelope.combiner != MPI_COMBINER_DUP) ||
        envelope.integers + envelope.large > 1 || envelope.addresses != 0 || envelope.types != 1) {
        return inner;
    }
    int count = 0;
    const auto integers = static_cast<int>(envelope.integers);
    int result = MPI_SUCCESS;
#if CORYMB_MPI_HAS_MPI_4
    if (mpi.Type_get_envelope_c != nullptr && mpi.Type_get_contents_c != nullptr) {
        MPI_Count large = 0;
        result = mpi.Type_get_contents_c(type, integers, 0, envelope.large, 1, &count, nullptr,
                                         &large, &inner);
        return result == MPI_SUCCESS ? inner : mpi.type_null;
    }
#endif
    result = mpi.Type_get_contents(type, integers, 0, 1, &count, nullptr, &inner);
    return result == MPI_SUCCESS ? inner : mpi.type_null;
}

/// Whether a type of the program's is contiguous down to a predefined one without gaps. Size and
/// extent do not tell: the parts of an element may lie in any order.
bool is_row_of_bytes(MPI_Datatype type) noexcept {
    const Host& mpi = host();
    MPI_Datatype inner = inner_type(type);
    bool is_dense = false;
    while (inner != mpi.type_null) {
        const Named* const named = find_named(inner);
        if (named != nullptr) {
            is_dense = named->layout.is_dense;
            break;
        }
        MPI_Datatype outer = inner;
        inner = inner_type(outer);
        // A predefined type that the adapter does not know may not be freed.
        if (inner == mpi.type_null && is_named(outer)) {
            break;
        }
        mpi.Type_free(&outer);
    }
    return is_dense;
}

} // namespace

Layout layout_of(MPI_Datatype type) {
    if (const Named* const named = find_named(type)) {
        return named->layout;
    }
    const Host& mpi = host();
    MPI_Count size = 0;
    MPI_Aint lower = 0;
    MPI_Aint extent = 0;
    mpi.Type_size_x(type, &size);
    mpi.Type_get_extent(type, &lower, &extent);
    return {static_cast<std::size_t>(std::max<MPI_Count>(size, 0)), extent, is_row_of_bytes(type),
            false, type};
}

bool is_usable(MPI_Datatype type) noexcept {
    const Host& mpi = host();
    if (type == mpi.type_null || find_named(type) != nullptr) {
        return type != mpi.type_null;
    }
    // Nobody says whether it is committed but functions that need it to be.
    const MPI_Comm quiet = quiet_comm();
    int none = 0;
    char byte = 0;
    return quiet == mpi.comm_null ||
           mpi.Pack(&byte, 0, type, &byte, 1, &none, quiet) == MPI_SUCCESS;
}

Layout whole_layout_of(MPI_Datatype type) {
    Layout layout = layout_of(type);
    if (!layout.is_predefined) {
        MPI_Aint begin = 0;
        MPI_Aint extent = 0;
        host().Type_get_true_extent(type, &begin, &extent);
        layout.begin = begin;
        layout.end = begin + extent;
    }
    return layout;
}

namespace {

const NamedOperator* find_operator(MPI_Op op) noexcept {
    const auto& all = named_operators();
    const auto found = std::ranges::find(all, op, &NamedOperator::handle);
    return found == all.end() ? nullptr : &*found;
}

/// The maximum of a NaN and a number is either of them, the maximum of two zeros has either sign,
/// and products of complex numbers with infinities have several formulas.
Answer answer_of(Class communicator, corymb_op op) noexcept {
    if ((communicator & (floating | complex | floating_pair)) == 0) {
        return Answer::one;
    }
    const bool rounds_once = op == CORYMB_SUM || (op == CORYMB_PROD && communicator == floating);
    return rounds_once ? Answer::one_of_two : Answer::several;
}

std::optional<Kernel> find_kernel(MPI_Datatype type, MPI_Op op) {
    const Named* const named = find_named(type);
    const NamedOperator* const with = find_operator(op);
    if (named == nullptr || named->type == CORYMB_NO_TYPE || with == nullptr ||
        (with->communicators & named->communicator) == 0 ||
        library().is_defined(named->type, with->op) == 0) {
        return std::nullopt;
    }
    return Kernel{named->type, with->op, static_cast<std::size_t>(named->layout.extent),
                  answer_of(named->communicator, with->op),
                  named->layout.is_dense ? nullptr : &named->layout};
}

} // namespace

const Kernel* kernel_of(MPI_Datatype type, MPI_Op op) {
    // Handles of the program may be used again for something else; so only kernels that exist are
    // kept.
    thread_local constinit LastKernel last;
    if (last.exists && last.type == type && last.op == op) [[likely]] {
        return &last.kernel;
    }
    const auto found = find_kernel(type, op);
    if (!found) {
        return nullptr;
    }
    last = {type, op, true, *found};
    return &last.kernel;
}

std::optional<Answer> answer_of(MPI_Datatype type, MPI_Op op) {
    const NamedOperator* const with = find_operator(op);
    if (with == nullptr) {
        return std::nullopt;
    }
    const Named* const named = find_named(type);
    return named != nullptr ? answer_of(named->communicator, with->op) : Answer::several;
}

bool is_allowed(MPI_Datatype type, MPI_Op op) {
    if (const NamedOperator* const known = find_operator(op)) {
        const Named* const named = find_named(type);
        return named != nullptr && (known->communicators & named->communicator) != 0;
    }
    // Handles of some MPIs are looked up. An operator that compares vectors has a single result.
#if defined(MPIX_EQUAL)
    static const std::array<MPI_Op, 3> others{MPI_REPLACE, MPI_NO_OP, MPIX_EQUAL};
#else
    static const std::array<MPI_Op, 2> others{MPI_REPLACE, MPI_NO_OP};
#endif
    return std::ranges::find(others, op) == others.end();
}

} // namespace corymb::mpi
