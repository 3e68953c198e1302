// SPDX-License-Identifier: Apache-2.0
// Processes that know a name find each other's memory: the first one holds an abstract socket (a
// name that is in no file system and goes with its holder) and hands the memory's descriptor to the
// others. The name holds the user's number, and both ends check the other's user.
#pragma once

#include "base/fork_count.hpp"
#include "base/shared_memory.hpp"
#include "group/group.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>

namespace corymb::group {

/// The longest wait for the holder of a name where a caller gives none.
inline constexpr std::int64_t meeting_patience_ns = 60'000'000'000;

class NameMeeting {
public:
    using Make = std::function<std::shared_ptr<SharedMemory>()>;

    /// Holds the name, after `make` has made a group's memory, or gets the memory of the holder's
    /// group, for `patience_ns` at most. `size` must be the same everywhere. Throws Error:
    /// invalid_argument (name too long, another size or kind), unsupported (another user holds the
    /// name, another PID namespace), timeout; and what `make` throws.
    NameMeeting(std::string name, Kind kind, int size, const Make& make,
                std::int64_t patience_ns = meeting_patience_ns);
    /// The name is free again.
    ~NameMeeting();
    NameMeeting(const NameMeeting&) = delete;
    NameMeeting& operator=(const NameMeeting&) = delete;

    [[nodiscard]] bool is_holder() const noexcept { return listener_ >= 0; }
    [[nodiscard]] const std::shared_ptr<SharedMemory>& memory() const noexcept { return memory_; }

private:
    [[nodiscard]] bool hold(const std::string& address, const Make& make);
    [[nodiscard]] bool ask(const std::string& address);
    void serve() const noexcept;
    void answer(int client) const noexcept;

    const std::string name_;
    const Kind kind_;
    const int size_;
    int listener_ = -1;
    std::shared_ptr<SharedMemory> memory_;
    std::thread server_;
    const std::uint32_t fork_count_ = fork_count();
};

/// The group of this name: of `make(memory)` where the name is free, which is held for as long as
/// that group lives; else `open(memory)`. Throws as NameMeeting.
template <class Make, class Open>
auto meet(const std::string& name, Kind kind, int size, const Make& make, const Open& open) {
    decltype(make(std::shared_ptr<SharedMemory>())) group;
    auto meeting = std::make_unique<NameMeeting>(name, kind, size, [&] {
        auto memory = SharedMemory::create();
        group = make(memory);
        return memory;
    });
    if (group == nullptr) {
        return open(meeting->memory());
    }
    group->keep(std::move(meeting));
    return group;
}

} // namespace corymb::group
