// SPDX-License-Identifier: Apache-2.0
// Ways to have something run on some threads and to know when all have done it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace corymb::bench {

/// What the members do between calls.
enum class Regime : std::uint8_t {
    polling, ///< They run, and look at safe points.
    asleep,  ///< They wait for calls.
};

struct MulticastCase {
    Regime regime = Regime::polling;
    int threads = 2;          ///< The initiator, rank 0, among them; it is no member.
    std::vector<int> members; ///< Ranks. The other ones sleep and have nothing to do with it.
};

/// One way. Rank 0 calls; each member looks until the turn is over.
class Rival {
public:
    Rival() = default;
    Rival(const Rival&) = delete;
    Rival& operator=(const Rival&) = delete;
    virtual ~Rival() = default;

    /// Thread of a member, before the first call and after the last.
    virtual void enter(int /*rank*/) {}
    virtual void leave(int /*rank*/) {}
    /// Thread of a member: runs what there is. In the regime `asleep` it waits a little for it.
    virtual void look(int rank) = 0;
    /// Thread of rank 0: has `value` noted by all members, and returns when they have done it.
    virtual void call(std::uint64_t value) = 0;
    /// Thread of rank 0, after the last call: wakes members that wait without limit.
    virtual void stop() {}
    /// Whether member `rank` has noted `value`.
    [[nodiscard]] virtual bool has_noted(int rank, std::uint64_t value) const = 0;
};

struct Contestant {
    std::string name;
    bool is_corymb = false;
    std::function<bool(const MulticastCase&)> takes_part;
    std::function<std::unique_ptr<Rival>(const MulticastCase&)> make;
};

[[nodiscard]] std::vector<Contestant> multicast_contestants();

} // namespace corymb::bench
