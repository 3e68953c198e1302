// SPDX-License-Identifier: Apache-2.0
// The objects behind the opaque pointers of the C interface.
#pragma once

#include "base/one_user.hpp"
#include "c/operators.hpp"
#include "c/slots.hpp"

#include <corymb.h>
#include <corymb/carrier.hpp>
#include <corymb/process.hpp>
#include <corymb/request.hpp>
#include <corymb/team.hpp>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace corymb::c {
struct RequestHome;

/// What a C caller has given, and asks for later, of a team over several nodes.
struct OverNodes {
    std::unique_ptr<Carrier> carrier;
    std::string network;
    std::string insides;
};
} // namespace corymb::c

struct corymb_request : corymb::c::SlotBase<corymb_request> {
    static constexpr std::uint64_t live_tag = 0x636F72796D620002;
    static constexpr const char* name = "the request";

    corymb::Request request;
    /// Set if the operator is the user's: an exception of it is noticed when the operation is
    /// completed.
    std::shared_ptr<corymb::c::OwnCall> own_call;
    corymb::c::RequestHome* home = nullptr;
};

struct corymb_team : corymb::c::SlotBase<corymb_team> {
    static constexpr std::uint64_t live_tag = 0x636F72796D620001;
    static constexpr const char* name = "the team";

    /// Set for a team over several nodes; goes after the team.
    std::unique_ptr<corymb::c::OverNodes> over_nodes;
    corymb::Team team;
    corymb::c::RequestHome* home = nullptr;
    bool is_of_threads = false;      ///< Given back by corymb_threads, not by its user.
    std::vector<corymb_call*> calls; ///< Calls of corymb_call_create; they end with the handle.
};

struct corymb_thread_team : corymb::c::SlotBase<corymb_thread_team> {
    static constexpr std::uint64_t live_tag = 0x636F72796D620003;
    static constexpr const char* name = "the thread team";
    std::optional<corymb::ThreadTeam> team;
};

struct corymb_process_team : corymb::c::SlotBase<corymb_process_team> {
    static constexpr std::uint64_t live_tag = 0x636F72796D620004;
    static constexpr const char* name = "the process team";
    std::optional<corymb::ProcessTeam> team;
};

namespace corymb::c {

/// The requests of one team handle, which one thread uses at a time. Requests that outlive the
/// handle keep it.
struct RequestHome {
    OneUser user{"team"};
    Slots<corymb_request> slots;
    bool team_is_gone = false;
};

/// A call that makes, completes or frees requests of a home: one thread at a time does. Deletes a
/// home that is empty and without a team at its end, so it goes after all that uses the home.
class InHome {
public:
    /// Throws Errc::invalid_argument while another thread is in such a call, and in a forked child.
    explicit InHome(RequestHome& home) : InHome(home, home.user.enter()) {}
    /// As the constructor, by OneUser::enter_to_end.
    static InHome to_end(RequestHome& home) { return {home, home.user.enter_to_end()}; }
    /// Waits for the other thread.
    static InHome when_free(RequestHome& home) noexcept {
        return {home, home.user.enter_when_free()};
    }
    InHome(const InHome&) = delete;
    InHome& operator=(const InHome&) = delete;
    ~InHome();

private:
    InHome(RequestHome& home, OneUser::Call&& call) noexcept
        : home_(&home), call_(std::move(call)) {}

    RequestHome* home_;
    std::optional<OneUser::Call> call_;
};

/// A handle for this team; with an empty team, null.
[[nodiscard]] corymb_team* make_handle(Team&& team);
/// Completes the operations under way, as ~Team.
void free_handle(corymb_team& handle);
/// The team handle of these requests is gone; within a call of the home.
void leave(RequestHome& home) noexcept;

/// A request that will hold an operation of a team; given back unless it is kept.
class NewRequest {
public:
    explicit NewRequest(RequestHome& home);
    NewRequest(const NewRequest&) = delete;
    NewRequest& operator=(const NewRequest&) = delete;
    ~NewRequest();
    [[nodiscard]] corymb_request& operator*() const noexcept { return *slot_; }
    [[nodiscard]] corymb_request* keep() noexcept;

private:
    corymb_request* slot_;
};
/// Lets go of its operation, as ~Request; within a call of its home.
void free_request(corymb_request& request) noexcept;

} // namespace corymb::c
