// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "remote/call_log.hpp"

#include <corymb/rank.hpp>
#include <corymb/waits.hpp>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace corymb::detail {

/// A file in the folder that CORYMB_TRACE names, for `corymb trace --merge`: what a rank and those
/// that its tasks depend on have shown last, the deadlock if there was one, and the last calls.
class TraceFile {
public:
    /// Null: there is no such folder to write to. Writes the file, so that errors come at once:
    /// throws Errc::io.
    [[nodiscard]] static std::unique_ptr<TraceFile> open(std::uint32_t group, Rank rank, int size);
    [[nodiscard]] CallLog& calls() noexcept { return calls_; }
    /// Keeps what was shown, and writes the file. A deadlock is kept with what belongs to it.
    void note(const std::vector<RankWaits>& shown, const std::optional<Deadlock>& found);
    /// Throws Errc::io.
    void write() const;

private:
    TraceFile(const std::filesystem::path& folder, std::uint32_t group, Rank rank, int size);
    [[nodiscard]] double seconds(std::int64_t at_ns) const noexcept;

    std::filesystem::path file_;
    std::uint32_t group_;
    Rank rank_;
    int size_;
    std::int64_t to_wall_ns_; ///< What makes the clock's time one since 1970.
    std::int64_t shown_at_ns_ = 0;
    std::vector<RankWaits> shown_;
    std::optional<Deadlock> deadlock_;
    CallLog calls_;
};

} // namespace corymb::detail
