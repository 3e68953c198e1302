// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "remote/source.hpp"
#include "remote/tuning.hpp"
#include "team/driver.hpp"

#include <cstddef>
#include <cstdint>

namespace corymb::detail {

/// The requests of one rank of a team, while tasks await some of them.
class TeamSource final : public Source {
public:
    explicit TeamSource(Driver& driver) noexcept : driver_(&driver), cpus_(driver.cpus()) {}

    bool look() noexcept override {
        driver_->look();
        return false;
    }
    void look_after() noexcept override {} ///< The driver does so by itself.
    [[nodiscard]] std::int64_t add_events(Events& to) override {
        auto* const of_team = driver_->events();
        if (of_team == nullptr) {
            return remote::tuning::nap_ns;
        }
        to.add(*of_team);
        return until_woken;
    }
    [[nodiscard]] channel::WaiterCpus* cpus() noexcept override { return cpus_; }
    [[nodiscard]] Driver& driver() const noexcept { return *driver_; }

    std::size_t awaited = 0; ///< Requests that tasks await.

private:
    Driver* driver_;
    channel::WaiterCpus* cpus_;
};

} // namespace corymb::detail
