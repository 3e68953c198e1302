// SPDX-License-Identifier: Apache-2.0
// The one exception type of the library. Collectives throw it only when an operation has failed;
// nothing on a fast path ever throws.
#pragma once

#include <corymb/export.hpp>

#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace corymb {

/// The kind of an error, for programs. `Error::what()` describes it to people and names the remedy.
enum class Errc {
    invalid_argument, ///< A parameter breaks the documented contract of the call.
    unknown_name,     ///< No operation, machine or algorithm has this name.
    invalid_model,    ///< A machine model file or CSV is malformed; the text names the field.
    stale_model,      ///< The model was measured on another machine or under another CPU mask.
    invalid_plan,     ///< The checker refuses the plan; the text names the rank and the step.
    io,               ///< A file or directory could not be read or written; the text has the path.
    unsupported,      ///< This machine or container does not permit it; the text names a remedy.
    timeout,          ///< A deadline passed; `ranks()` holds the ranks that did not arrive.
    team_broken,      ///< An earlier operation on this team failed; make a new team.
    interrupted,      ///< The caller asked to stop (Ctrl-C).
    mismatch,         ///< Ranks called different operations, or with other roots, sizes or types.
    deadlock,         ///< Each waits for another one, and nothing else can end the wait.
    internal,         ///< A mistake of the library; the text is for a report of it.
};

/// The stable lower-case name of an error code, as used in JSON output ("invalid_plan").
CORYMB_EXPORT const char* to_string(Errc code) noexcept;

/// An error with its code and, where ranks are to blame, their numbers.
class CORYMB_EXPORT Error : public std::runtime_error {
public:
    Error(Errc code, const std::string& text, std::vector<int> ranks = {})
        : std::runtime_error(text), code_(code), ranks_(std::move(ranks)) {}

    [[nodiscard]] Errc code() const noexcept { return code_; }
    /// For `timeout`: the ranks that did not arrive. For `mismatch`: the ranks that differ from the
    /// others. For `invalid_plan`: the rank at fault.
    [[nodiscard]] const std::vector<int>& ranks() const noexcept { return ranks_; }

private:
    Errc code_;
    std::vector<int> ranks_;
};

} // namespace corymb
