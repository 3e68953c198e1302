// SPDX-License-Identifier: Apache-2.0
// The command line of a world program: explores its worlds and says what came of each.
#pragma once

#include "explorer/explorer.hpp"

#include <string>
#include <utility>
#include <vector>

namespace corymb::verify {

struct World {
    std::string name;
    Program program;
    Options options{};
    bool must_fail = false; ///< A seeded bug: the explorer must find it.
    bool large = false;     ///< Left out with --quick.
};

/// A world that must hold.
template <class W>
World holds(std::string name, const Options& options = {}) {
    return {std::move(name), program_of<W>(), options};
}

/// As `holds`, too slow for order mutation.
template <class W>
World holds_large(std::string name, const Options& options = {}) {
    return {std::move(name), program_of<W>(), options, false, true};
}

/// A world with a bug of its own, or under a fault.
template <class W>
World caught(std::string name, Fault fault = Fault::none) {
    return {std::move(name), program_of<W>(), {.fault = fault}, true};
}

/// Returns the exit status: 0 when every world did what it must.
///   --list             names only
///   --world TEXT       only worlds whose name contains TEXT
///   --replay TEXT      one execution, with its interleaving printed
///   --random N         N random walks instead of all executions; --seed S
///   --preemptions N    at most N preemptions
///   --holds, --quick   only worlds that must hold; no large ones
int run_worlds(int argc, char** argv, const std::vector<World>& worlds);

} // namespace corymb::verify
