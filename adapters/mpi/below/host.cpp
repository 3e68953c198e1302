// SPDX-License-Identifier: Apache-2.0
#include "below/host.hpp"

#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <link.h>

namespace corymb::mpi {

namespace {

// Libraries with the handles that this one was compiled for: a name for people, and a function that
// they define. File names say little: packages have copies of their own.
#if defined(MPI_ABI)
constexpr const char* library_name = "libmpi_abi.so.1";
constexpr const char* mark = "PMPI_Abi_get_version";
#elif defined(OPEN_MPI)
constexpr const char* library_name = "libmpi.so.40";
constexpr const char* mark = "ompi_mpi_comm_world";
#else
constexpr const char* library_name = "libmpi.so.12";
constexpr const char* mark = "MPIR_Dup_fn";
#endif
constexpr const char* some_function = "PMPI_Comm_size";

/// The object that defines the symbol which the handle, or a library that it depends on, finds.
const void* place_of(void* opened, const char* name) noexcept {
    Dl_info found{};
    void* const symbol = dlsym(opened, name);
    return symbol != nullptr && dladdr(symbol, &found) != 0 ? found.dli_fbase : nullptr;
}

/// Whether it is an MPI library of this ABI. A library that only forwards to another is none.
bool is_mpi(void* opened, const void* place) noexcept {
    if (place_of(opened, some_function) != place || place_of(opened, mark) != place) {
        return false;
    }
#if defined(MPI_ABI) // MPICH's own library has these functions, too.
    return place_of(opened, "MPIR_Dup_fn") != place &&
           place_of(opened, "ompi_mpi_comm_world") != place;
#else
    return true;
#endif
}

/// The loaded object that is an MPI library, opened once more. Python loads it where RTLD_NEXT does
/// not look.
void* open_loaded_mpi() noexcept {
    void* found = nullptr;
    dl_iterate_phdr(
        [](dl_phdr_info* object, std::size_t, void* result) {
            if (object->dlpi_name == nullptr || *object->dlpi_name == '\0') {
                return 0;
            }
            void* const opened = dlopen(object->dlpi_name, RTLD_LAZY | RTLD_NOLOAD);
            if (opened == nullptr) {
                return 0;
            }
            Dl_info whole{};
            const bool has_place = dladdr(object->dlpi_phdr, &whole) != 0;
            if (has_place && is_mpi(opened, whole.dli_fbase)) {
                *static_cast<void**>(result) = opened;
                return 1;
            }
            dlclose(opened);
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
        library_name);
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
    host.op_sum = MPI_SUM;
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
