// SPDX-License-Identifier: Apache-2.0
// The contestants that run on threads of ours, by family. Each function returns null when the name
// is not one of its own.
#pragma once

#include "workload.hpp"

#include <memory>
#include <string_view>

namespace corymb::bench {

std::unique_ptr<Workload> make_floor(std::string_view name, const Case& what);
std::unique_ptr<Workload> make_textbook(std::string_view name, const Case& what);
std::unique_ptr<Workload> make_library(std::string_view name, const Case& what);
std::unique_ptr<Workload> make_corymb(std::string_view name, const Case& what);

} // namespace corymb::bench
