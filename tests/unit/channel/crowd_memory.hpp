// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "channel/crowd.hpp"

#include <cstddef>
#include <memory>
#include <new>

namespace corymb::channel {

/// A crowd in memory of its own.
class CrowdMemory {
public:
    CrowdMemory(std::size_t ranks, std::size_t cpus)
        : place_(::operator new(Crowd::bytes(ranks, cpus), std::align_val_t{alignof(Crowd)})),
          crowd_(new(place_.get()) Crowd(ranks, cpus)) {}
    [[nodiscard]] Crowd& crowd() noexcept { return *crowd_; }

private:
    struct Release {
        void operator()(void* place) const noexcept {
            ::operator delete(place, std::align_val_t{alignof(Crowd)});
        }
    };
    std::unique_ptr<void, Release> place_;
    Crowd* crowd_;
};

} // namespace corymb::channel
