// SPDX-License-Identifier: Apache-2.0
// What the files of the program in plain C have in common: each checks, and ends it when something
// is not so.
#pragma once

#include <corymb.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void check_messages(void);
void check_multicast(void);
void check_remote(void);

static inline void check(int holds, const char* what, const char* file, int line) {
    if (!holds) {
        fprintf(stderr, "%s:%d: %s; last error: %s\n", file, line, what, corymb_last_error());
        exit(1);
    }
}
#define CHECK(what) check(what, #what, __FILE__, __LINE__)
#define OK(call) check((call) == CORYMB_OK, #call, __FILE__, __LINE__)
#define REFUSED(call) CHECK((call) == CORYMB_INVALID_ARGUMENT && strlen(corymb_last_error()) > 0)
