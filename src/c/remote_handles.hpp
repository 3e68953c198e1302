// SPDX-License-Identifier: Apache-2.0
// The handles of ranks that call each other by names.
#pragma once

#include "c/of_rank.hpp"

#include <corymb.h>
#include <corymb/remote.hpp>
#include <corymb/remote_name.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>

namespace corymb::c {

/// Objects that others have made on a rank, and the classes of which they can.
class RemoteObjects {
public:
    RemoteObjects() = default;
    RemoteObjects(const RemoteObjects&) = delete;
    RemoteObjects& operator=(const RemoteObjects&) = delete;
    ~RemoteObjects();

    struct Object {
        corymb_remote_class kind;
        void* object;
    };
    std::map<std::string, corymb_remote_class> classes;
    std::map<std::uint64_t, Object> objects;
    std::uint64_t next = 0; ///< Not 0 when a class is offered.
};

/// A rank, and what its handlers need.
struct RemotePlace {
    explicit RemotePlace(RemoteRank&& of) : rank(std::move(of)) {}

    std::unique_ptr<RemoteObjects> objects = std::make_unique<RemoteObjects>();
    std::unique_ptr<std::size_t> served = std::make_unique<std::size_t>(0);
    RemoteRank rank; ///< Ends first: no handler runs from then on.
};

/// What corymb_remote_request::call points to.
struct RequestInHandler {
    NamedRequest* request;
    std::shared_ptr<OneUser> user;
};

/// Runs a handler of C. Throws its status.
void run_handler(NamedRequest& request, const std::shared_ptr<OneUser>& user, const char* name,
                 std::span<const std::byte> argument, corymb_remote_handler handler, void* context);

/// Throws Errc::invalid_argument for bytes at NULL.
inline std::span<const std::byte> bytes_at(const void* memory, std::size_t bytes,
                                           const char* what) {
    if (bytes != 0) {
        require(memory, what);
    }
    return {static_cast<const std::byte*>(memory), bytes};
}

/// The function by which ranks make, call and end each other's objects: its argument has the number
/// of the object, the length of a name, the name, and the argument of the method or the class.
inline constexpr const char* object_function = "corymb.object";

} // namespace corymb::c

struct corymb_remote : corymb::c::Holder<corymb_remote, corymb::c::OfRank<corymb::c::RemotePlace>> {
    static constexpr std::uint64_t live_tag = 0x636F72796D620011;
    static constexpr const char* name = "the rank of a remote group";
};

struct corymb_remote_call
    : corymb::c::Holder<corymb_remote_call, corymb::c::OfRank<corymb::NamedCall>> {
    static constexpr std::uint64_t live_tag = 0x636F72796D620012;
    static constexpr const char* name = "the remote call";
};

struct corymb_remote_reply
    : corymb::c::Holder<corymb_remote_reply, corymb::c::OfRank<corymb::NamedReply>> {
    static constexpr std::uint64_t live_tag = 0x636F72796D620013;
    static constexpr const char* name = "the remote reply";
};
