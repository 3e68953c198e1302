// SPDX-License-Identifier: Apache-2.0
// Processes that know a name and a size find each other's memory: the first one holds an abstract
// socket (a name that is in no file system and goes with its holder) and hands the memory's
// descriptor to the others. The name holds the user's number, and both ends check the other's user.
#pragma once

#include "base/shared_memory.hpp"

#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>
#include <thread>

namespace corymb::team {

class NameMeeting {
public:
    /// For `patience_ns` at most. Throws Error: invalid_argument (name too long,
    /// another size), unsupported (another user holds the name, another PID namespace), timeout.
    NameMeeting(const std::string& name, int size, std::int64_t patience_ns);
    ~NameMeeting();
    NameMeeting(const NameMeeting&) = delete;
    NameMeeting& operator=(const NameMeeting&) = delete;

    [[nodiscard]] const std::shared_ptr<SharedMemory>& memory() const noexcept { return memory_; }

private:
    [[nodiscard]] bool hold(const std::string& address);
    [[nodiscard]] bool ask(const std::string& address, const std::string& name);
    void serve(const std::stop_token& stop) const noexcept;
    void answer(int client) const noexcept;

    int size_;
    int listener_ = -1;
    std::shared_ptr<SharedMemory> memory_;
    std::jthread server_;
};

} // namespace corymb::team
