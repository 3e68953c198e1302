// SPDX-License-Identifier: Apache-2.0
// A program that is linked with no MPI and opens the library that it is given, as bindings do.
#define _GNU_SOURCE
#include <mpi.h>

#include <dlfcn.h>
#include <stdio.h>

int main(int words, char** word) {
    void* const library = words == 2 ? dlopen(word[1], RTLD_NOW | RTLD_GLOBAL) : NULL;
    if (library == NULL) {
        fprintf(stderr, "%s\n", dlerror());
        return 1;
    }
    int (*const init)(int*, char***) = (int (*)(int*, char***))dlsym(RTLD_DEFAULT, "MPI_Init");
    int (*const barrier)(MPI_Comm) = (int (*)(MPI_Comm))dlsym(RTLD_DEFAULT, "MPI_Barrier");
    int (*const finalize)(void) = (int (*)(void))dlsym(RTLD_DEFAULT, "MPI_Finalize");
#ifdef OPEN_MPI
    const MPI_Comm world = (MPI_Comm)dlsym(library, "ompi_mpi_comm_world");
#else
    const MPI_Comm world = MPI_COMM_WORLD;
#endif
    init(&words, &word);
    for (int i = 0; i < 10; ++i) {
        barrier(world);
    }
    finalize();
    puts("ended");
    return 0;
}
