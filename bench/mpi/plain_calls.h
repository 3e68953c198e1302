/* SPDX-License-Identifier: Apache-2.0
   mpi_calls.h by PMPI's names. */
#pragma once

#include "payload.h"

#include <mpi.h>

struct work;

int choose_plain(const char* mode, struct work* w, struct actions* actions);
void release_plain(MPI_Request* request);
