// SPDX-License-Identifier: Apache-2.0
// The C interface of corymb; docs/reference/c.md is its manual. For C11, and for C++ callers.
//
// Every function that can fail returns a corymb_status; corymb_last_error() says what happened and
// what to do. No exception leaves a function of this interface, and none may leave a callback: one
// that does is caught and becomes a status. Pointers to handles that a call makes are set to NULL
// when it fails.
#pragma once

#include <corymb/c/broadcast.h>
#include <corymb/c/calls.h>
#include <corymb/c/collectives.h>
#include <corymb/c/handles.h>
#include <corymb/c/mailboxes.h>
#include <corymb/c/messages.h>
#include <corymb/c/multicast.h>
#include <corymb/c/operation.h>
#include <corymb/c/options.h>
#include <corymb/c/over_nodes.h>
#include <corymb/c/parts.h>
#include <corymb/c/remote.h>
#include <corymb/c/requests.h>
#include <corymb/c/status.h>
#include <corymb/c/team.h>
#include <corymb/c/types.h>
