// SPDX-License-Identifier: Apache-2.0
// Teams whose ranks are processes, or threads of several processes.
#pragma once

#include <corymb/error.hpp>
#include <corymb/export.hpp>
#include <corymb/team.hpp>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

namespace corymb {

namespace detail {
struct Arriving;
} // namespace detail

/// The way in which a process finds its team. Without `name` and `descriptor`: the team that
/// `corymb run` has prepared ($CORYMB_TEAM).
struct AttachOptions {
    /// Processes of one user that give the same name and size meet; nothing appears in any file
    /// system. The name is free again when all have met.
    std::string name;
    /// A descriptor of `make_team_descriptor` that this process has inherited.
    int descriptor = -1;
    /// Ranks of the whole team. Needed with `name`; otherwise 0 (as prepared) or the prepared size.
    int size = 0;
    /// First of the ranks that this process brings; -1: the next free ones.
    Rank rank = -1;
    /// Ranks that this process brings, one a thread; 0: as `corymb run` says, else one.
    int ranks_here = 0;
    /// Longest time to wait for the others. Zero: the seconds in $CORYMB_PATIENCE, or 60.
    std::chrono::nanoseconds patience{0};
    /// Ask for huge pages; `ProcessTeam::notes` tells the outcome.
    bool huge_pages = false;
    /// A ProcessTeam is made at once, and `ProcessTeam::try_meet` tells when the others are there.
    /// For a process that must not be held up. Not with a `name`, and not in Team::attach.
    bool at_once = false;
    /// For the team itself. `pin` is not used; `plans` must be the same in all processes.
    TeamOptions team;
};

/// A team of this process and others. Construction returns when all ranks are there, or at once
/// (AttachOptions::at_once).
class CORYMB_EXPORT ProcessTeam {
public:
    /// Throws Error:
    /// - invalid_argument: size or rank does not fit, rank taken, descriptor of something else;
    /// - unsupported: other user, kernel or container refuses;
    /// - timeout: `ranks()` did not come within the patience;
    /// - team_broken: a process ended before all were there.
    explicit ProcessTeam(const AttachOptions& options = {});

    /// Goes on with the attachment as far as the others have come, without waiting for any: it may
    /// take some milliseconds. True: all ranks are there, and `join` may be called. Only the time
    /// from look to look counts for the patience. Throws Error as the constructor, and the team is
    /// then of no use; invalid_argument after a move and in a forked child. One thread at a time.
    [[nodiscard]] bool try_meet();
    /// Ranks of the team; 0 before they are there.
    [[nodiscard]] int size() const noexcept;
    /// The first of `ranks_here` consecutive ranks of this process.
    [[nodiscard]] Rank first_rank() const noexcept { return first_; }
    [[nodiscard]] int ranks_here() const noexcept { return count_; }
    /// Makes this thread `rank`, one of this process's. Throws Errc::invalid_argument when the rank
    /// is another process's or taken, or not all ranks are there.
    [[nodiscard]] Team join(Rank rank);
    /// Breaks the team on behalf of a rank that cannot go on, as ThreadTeam::abandon.
    void abandon(Rank rank, const std::string& why);
    /// The paths that were taken, for people: the way of large messages, pages and fences.
    [[nodiscard]] std::string notes() const;

private:
    [[nodiscard]] detail::TeamShared& whole_team() const;

    std::shared_ptr<detail::Arriving> arriving_; ///< Null once all ranks are there.
    std::shared_ptr<detail::TeamShared> shared_;
    Rank first_ = 0;
    int count_ = 0;
};

/// Makes the memory of a team of `size` ranks and returns its descriptor, which the caller closes.
/// It is inherited by child processes (no close-on-exec), which attach with
/// `AttachOptions::descriptor`. Throws Error (invalid_argument, unsupported, io).
[[nodiscard]] CORYMB_EXPORT int make_team_descriptor(int size);

/// Ranks of such a team that have not attached; for launchers. Throws Error as ProcessTeam.
[[nodiscard]] CORYMB_EXPORT std::vector<Rank> absent_ranks(int descriptor);

} // namespace corymb
