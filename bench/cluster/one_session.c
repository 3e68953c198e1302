/* SPDX-License-Identifier: Apache-2.0
   Loaded into an MPI's launcher on the nodes made of namespaces: its ranks stay in the session of
   whoever started them. The kernel may schedule sessions as groups (sched_autogroup_enabled), and a
   rank that yields then keeps its CPU from the ranks of other sessions for a time slice. */
#include <unistd.h>

pid_t setsid(void) {
    return getpid();
}
