// SPDX-License-Identifier: Apache-2.0
// The plans of persistent operations over several nodes. All ranks make them in one order but start
// them in any, so a plan cannot come along with a start. The first operation of its kind brings the
// plan when it is made, on its own channels, before any start of it uses them.
#pragma once

#include "cluster/far_operation.hpp"
#include "cluster/notices.hpp"

#include <cstdint>
#include <list>
#include <map>
#include <vector>

namespace corymb::cluster {

class Agreements {
public:
    explicit Agreements(Station& station) noexcept : station_(&station) {}
    Agreements(const Agreements&) = delete;
    Agreements& operator=(const Agreements&) = delete;
    ~Agreements() { abandon_all(); }

    /// The key of an operation that is being made with this call. If it is the first of its kind,
    /// the ranks begin to agree on the channels of `lane`, by messages with the digest's mark. The
    /// agreement goes on even if the operation goes. The key stays for as long as *this.
    [[nodiscard]] FarKey& key_for(const detail::Call& call, int lane,
                                  const team::CallDigest& digest);
    /// Goes on as far as it can at once. Throws as the carrier does.
    void go_on();
    /// The waits of those that are under way.
    [[nodiscard]] std::vector<FarWait> waits() const;
    /// Whether the operation with this lane agrees with others.
    [[nodiscard]] bool has(int lane) const noexcept;
    [[nodiscard]] bool are_over() const noexcept { return under_way_.empty(); }
    /// Grows whenever something has come.
    [[nodiscard]] std::uint64_t moves() const noexcept { return moves_; }
    void abandon_all() noexcept;

private:
    struct Agreement {
        Agreement(Station& station, FarKey& of, const detail::Call& call, int lane,
                  const team::CallDigest& of_call);

        FarKey* key;
        team::PlanKey which;
        team::CallTerms terms;
        team::CallDigest digest;
        Mail mail;
        Rank foreign_from = -1; ///< As in FarOperation.
        std::unique_ptr<PlanExchange> exchange;
    };

    Station* station_;
    std::map<team::PlanKey, FarKey> keys_;
    std::list<Agreement> under_way_;
    std::uint64_t moves_ = 0;
};

} // namespace corymb::cluster
