// SPDX-License-Identifier: Apache-2.0
#include "data/kept_handles.hpp"

namespace corymb::mpi {

// Never destroyed: MPI may call back while the process ends.

KeptHandles<MPI_Op>& kept_operators() noexcept {
    static auto* const one = new KeptHandles<MPI_Op>;
    return *one;
}

KeptHandles<MPI_Datatype>& kept_types() noexcept {
    static auto* const one = new KeptHandles<MPI_Datatype>;
    return *one;
}

void TypesInUse::add(MPI_Datatype type) {
    types_.reserve(types_.size() + 1);
    kept_types().keep(type);
    types_.push_back(type);
}

TypesInUse::~TypesInUse() {
    for (const MPI_Datatype type : types_) {
        for (int frees = kept_types().let_go(type); frees > 0; --frees) {
            MPI_Datatype handle = type;
            host().Type_free(&handle);
        }
    }
}

} // namespace corymb::mpi

extern "C" __attribute__((visibility("default"))) int MPI_Op_free(MPI_Op* op) {
    using namespace corymb::mpi;
    if (op != nullptr && kept_operators().is_freed_later(*op)) {
        *op = host().op_null;
        return MPI_SUCCESS;
    }
    return host().Op_free(op);
}

extern "C" __attribute__((visibility("default"))) int MPI_Type_free(MPI_Datatype* type) {
    using namespace corymb::mpi;
    if (type != nullptr && kept_types().is_freed_later(*type)) {
        *type = host().type_null;
        return MPI_SUCCESS;
    }
    return host().Type_free(type);
}
