// SPDX-License-Identifier: Apache-2.0
#include "below/library.hpp"

#include <dlfcn.h>

namespace corymb::mpi {

namespace {

template <class Function>
void find(Library& library, void* opened, Function& function, const char* name) {
    function = reinterpret_cast<Function>(dlsym(opened, name));
    if (function == nullptr) {
        library.missing = std::string(CORYMB_LIBRARY_NAME) + " has no " + name +
                          "; it is older than this adapter";
    }
}

Library look_up() {
    Library library;
    // RTLD_LOCAL, because the program may bring other versions of libraries that corymb uses.
    void* const opened = dlopen(CORYMB_LIBRARY_NAME, RTLD_NOW | RTLD_LOCAL);
    if (opened == nullptr) {
        const char* const why = dlerror();
        library.missing = why != nullptr ? why : CORYMB_LIBRARY_NAME " cannot be opened";
        return library;
    }
#define CORYMB_MPI_FIND(name) find(library, opened, library.name, "corymb_" #name);
    CORYMB_MPI_LIBRARY(CORYMB_MPI_FIND)
#undef CORYMB_MPI_FIND
    return library;
}

} // namespace

const Library& open_library() {
    static const auto* const opened = new Library(look_up()); // Never destroyed, as registry().
    known_library.store(opened, std::memory_order_release);
    return *opened;
}

} // namespace corymb::mpi
