// SPDX-License-Identifier: Apache-2.0
// Processes that know a name find each other's memory: the first one binds an abstract socket (a
// name that is in no file system and goes with its holders) and hands the memory's descriptor to
// the others. It may hand them the listening socket as well: then each of them answers, and the
// name goes with the last one. The name holds the user's number, and both ends check the other's
// user.
#pragma once

#include "base/descriptor.hpp"
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

/// The processes that hold a name: all that have met by it, or the first one alone.
enum class Holders : std::uint8_t { all, first };

class NameMeeting {
public:
    using Make = std::function<std::shared_ptr<SharedMemory>()>;

    /// Binds the name, after `make` has made a group's memory, or gets the memory of a holder's
    /// group, for `patience_ns` at most. `size` must be the same everywhere. Throws Error:
    /// invalid_argument (name too long, another size or kind), unsupported (another user holds the
    /// name, another PID namespace), timeout, io; and what `make` throws.
    NameMeeting(std::string name, Kind kind, int size, const Make& make, Holders holders,
                std::int64_t patience_ns = meeting_patience_ns);
    /// The name is free once no process holds it.
    ~NameMeeting();
    NameMeeting(const NameMeeting&) = delete;
    NameMeeting& operator=(const NameMeeting&) = delete;

    [[nodiscard]] const std::shared_ptr<SharedMemory>& memory() const noexcept { return memory_; }

private:
    [[nodiscard]] bool hold(const std::string& address, const Make& make);
    [[nodiscard]] bool ask(const std::string& address);
    void start_to_serve(Descriptor& listener);
    void serve() const noexcept;
    void answer(int client) const noexcept;

    const std::string name_;
    const Kind kind_;
    const int size_;
    const Holders holders_;
    Descriptor listener_{-1}; ///< One socket for all holders; no wait in `accept`.
    Descriptor stop_{-1};     ///< An eventfd that ends the thread.
    std::shared_ptr<SharedMemory> memory_;
    std::thread server_;
    const std::uint32_t fork_count_ = fork_count();
};

/// The group of this name: `make(memory)` where the name is free, else `open(memory)`. This process
/// holds the name for as long as that object lives. Throws as NameMeeting.
template <class Make, class Open>
auto meet(const std::string& name, Kind kind, int size, const Make& make, const Open& open) {
    decltype(make(std::shared_ptr<SharedMemory>())) group;
    const auto make_memory = [&] {
        auto memory = SharedMemory::create();
        group = make(memory);
        return memory;
    };
    auto meeting = std::make_unique<NameMeeting>(name, kind, size, make_memory, Holders::all);
    if (group == nullptr) {
        group = open(meeting->memory());
    }
    group->keep(std::move(meeting));
    return group;
}

} // namespace corymb::group
