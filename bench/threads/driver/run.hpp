// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../options.hpp"

namespace corymb::bench {

/// Measures every case of the options within their time and prints the lines; the exit status.
/// Throws Interrupted.
int run_cases(const Options& options);

/// Prints who would take part, one JSON object a contestant and case.
int list_contestants(const Options& options);

} // namespace corymb::bench
