// SPDX-License-Identifier: Apache-2.0
// Standard output carries JSON lines, standard error progress.
#pragma once

#include "../options.hpp"

#include <string>
#include <string_view>

namespace corymb::bench {

/// Prints and flushes; throws std::runtime_error when nobody can read it.
void print_line(const std::string& json);
/// "progress 0.42 what", at most ten times a second.
void print_progress(double part, std::string_view what);
/// The first line of a run: what was asked for and on what.
void print_run_line(const Options& options);

} // namespace corymb::bench
