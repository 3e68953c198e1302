// SPDX-License-Identifier: Apache-2.0
#include "host.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <link.h>

namespace corymb::mpi {

namespace {

// The names of libraries with the handles that this one was compiled for.
#if defined(MPI_ABI)
constexpr const char* library_names[] = {"libmpi_abi.so.1"};
#elif defined(OPEN_MPI)
constexpr const char* library_names[] = {"libmpi.so.40"};
#else
constexpr const char* library_names[] = {"libmpi.so.12", "libmpich.so.12"};
#endif

/// The loaded object that is an MPI library, opened once more. Python loads it where RTLD_NEXT does
/// not look.
void* open_loaded_mpi() noexcept {
    void* found = nullptr;
    dl_iterate_phdr(
        [](dl_phdr_info* object, std::size_t, void* result) {
            const char* const slash = std::strrchr(object->dlpi_name, '/');
            const char* const name = slash != nullptr ? slash + 1 : object->dlpi_name;
            for (const char* prefix : library_names) {
                if (std::strncmp(name, prefix, std::strlen(prefix)) == 0) {
                    void* const opened = dlopen(object->dlpi_name, RTLD_LAZY | RTLD_NOLOAD);
                    // A library that only forwards to another has no functions of its own.
                    if (opened != nullptr && dlsym(opened, "PMPI_Comm_size") != nullptr) {
                        *static_cast<void**>(result) = opened;
                        return 1;
                    }
                }
            }
            return 0;
        },
        &found);
    return found;
}

template <class Function>
void find(Function& function, const char* name) noexcept {
    function = reinterpret_cast<Function>(find_in_host(name));
}

/// Handles of another ABI cannot even be passed on.
[[noreturn]] void refuse_process() noexcept {
    std::fprintf(
        stderr,
        "corymb: this process has no %s, for which the MPI adapter that was loaded into it "
        "is made; `corymb mpirun` loads the right one\n",
        library_names[0]);
    std::_Exit(2);
}

Host look_up() noexcept {
    if (find_in_host("PMPI_Comm_size") == nullptr) {
        refuse_process();
    }
    Host host;
#define CORYMB_FIND(name) find(host.name, "PMPI_" #name);
    CORYMB_PMPI_FUNCTIONS(CORYMB_FIND)
#undef CORYMB_FIND
    host.comm_null = MPI_COMM_NULL;
    host.comm_world = MPI_COMM_WORLD;
    host.comm_self = MPI_COMM_SELF;
    host.request_null = MPI_REQUEST_NULL;
    host.type_null = MPI_DATATYPE_NULL;
    host.type_byte = MPI_BYTE;
    host.type_uint64 = MPI_UINT64_T;
    host.op_null = MPI_OP_NULL;
    host.op_bor = MPI_BOR;
    host.op_max = MPI_MAX;
    host.errors_return = MPI_ERRORS_RETURN;
    host.whole = true;
#define CORYMB_REQUIRE(name) host.whole = host.whole && host.name != nullptr;
    CORYMB_PMPI_OWN(CORYMB_REQUIRE)
#undef CORYMB_REQUIRE
    return host;
}

} // namespace

void* find_in_host(const char* name) noexcept {
    static void* const library = open_loaded_mpi();
    return library != nullptr ? dlsym(library, name) : nullptr;
}

void* find_variable(const char* name) noexcept {
    void* const found = dlsym(RTLD_DEFAULT, name);
    return found != nullptr ? found : find_in_host(name);
}

const Host& find_host() noexcept {
    static const Host found = look_up();
    known_host.store(&found, std::memory_order_release);
    return found;
}

} // namespace corymb::mpi
