// SPDX-License-Identifier: Apache-2.0
// What a rank has begun and waited for, counted as it goes on. Used by that rank's thread only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>
#include <vector>

namespace corymb::channel {

class WaitRecord {
public:
    /// An operation begins in which the rank moves about so many bytes.
    void begin(std::uint64_t bytes) noexcept {
        ++operations_;
        bytes_ += bytes;
    }
    /// The rank has waited for `rank`, or for any if that is -1.
    void note_wait(std::int32_t rank, std::int64_t waited_ns) noexcept {
        ++waits_;
        waited_ns_ += waited_ns;
        of_any_ns_ = rank < 0 ? waited_ns : 0;
        add(rank, waited_ns);
    }
    /// A wait that is looked at again and again has become longer; `is_new`: it has just begun.
    void note_wait_goes_on(std::int32_t rank, std::int64_t longer_ns, bool is_new) noexcept {
        waits_ += is_new ? 1 : 0;
        waited_ns_ += longer_ns;
        add(rank, longer_ns);
    }
    void note_sleep() noexcept { ++sleeps_; }
    /// A wait for any rank begins.
    void begin_wait_for_any() noexcept { of_any_ns_ = 0; }
    /// The wait for any rank that ended last has in truth been for this one.
    void attribute_last(std::int32_t rank) noexcept {
        add(rank, of_any_ns_);
        of_any_ns_ = 0;
    }

    [[nodiscard]] std::uint64_t operations() const noexcept { return operations_; }
    [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }
    [[nodiscard]] std::uint64_t waits() const noexcept { return waits_; }
    [[nodiscard]] std::uint64_t sleeps() const noexcept { return sleeps_; }
    [[nodiscard]] std::int64_t waited_ns() const noexcept { return waited_ns_; }
    /// By rank, up to the last one that was waited for.
    [[nodiscard]] const std::vector<std::int64_t>& waited_for_ns() const noexcept {
        return waited_for_ns_;
    }

private:
    void add(std::int32_t rank, std::int64_t waited_ns) noexcept {
        if (rank < 0) {
            return;
        }
        const auto place = static_cast<std::size_t>(rank);
        if (place >= waited_for_ns_.size()) {
            try {
                waited_for_ns_.resize(place + 1);
            } catch (const std::bad_alloc&) { // The rank is missing in the record.
                return;
            }
        }
        waited_for_ns_[place] += waited_ns;
    }

    std::uint64_t operations_ = 0;
    std::uint64_t bytes_ = 0;
    std::uint64_t waits_ = 0;
    std::uint64_t sleeps_ = 0;
    std::int64_t waited_ns_ = 0;
    std::int64_t of_any_ns_ = 0; ///< Time of the last wait if it was for any rank.
    std::vector<std::int64_t> waited_for_ns_;
};

} // namespace corymb::channel
