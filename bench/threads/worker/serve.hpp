// SPDX-License-Identifier: Apache-2.0
// The worker's end of the conversation with the driver: one line a command on standard input, one
// line an answer on standard output.
//
//     (start)        ->  ready                        or: skip REASON
//     first          ->  first WRONG OPERATION_NS...  one for each root, before all other commands
//     verify COUNT   ->  verified WRONG
//     run COUNT      ->  done OPERATION_NS CPU_NS WRONG
//     (end of file)  ->  exits
//
// An exception in a rank ends the worker with "failed REASON".
#pragma once

#include "slot.hpp"

#include <string_view>

namespace corymb::bench {

/// Says why there will be no measurement; the exit status for it.
int refuse(std::string_view reason);

/// Serves until end of file; the exit status.
int serve(const Case& what, Workload& workload, const RunAll& run_all);

} // namespace corymb::bench
