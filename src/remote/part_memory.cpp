// SPDX-License-Identifier: Apache-2.0
#include <corymb/detail/part_memory.hpp>

#include "base/cache_line.hpp"
#include "base/commit.hpp"
#include "message/mailbox_shared.hpp"
#include "remote/remote_state.hpp"

#include <corymb/error.hpp>

#include <mutex>
#include <sched.h>
#include <utility>

namespace corymb::detail {

/// In front of the bytes. Read and written with the memory's lock.
struct PartMemory::Head {
    /// A bit for each member of the group: it has the memory open.
    std::uint64_t users[1];

    static std::size_t words(int members) noexcept {
        return (static_cast<std::size_t>(members) + 63) / 64;
    }
    static std::size_t bytes(int members) noexcept {
        const std::size_t used = words(members) * sizeof(std::uint64_t);
        return (used + line_pair_bytes - 1) / line_pair_bytes * line_pair_bytes;
    }
    void set(int number, bool is_user) noexcept {
        std::uint64_t& word = users[number / 64];
        const std::uint64_t bit = std::uint64_t{1} << (number % 64);
        commit(word, is_user ? word | bit : word & ~bit);
    }
};

PartMemory::PartMemory(std::size_t bytes) {
    RemoteState& here = remote_state_here();
    group_ = here.transport.near_group();
    number_ = here.transport.near_number();
    Memory& memory = group_->memory();
    const std::lock_guard lock(memory);
    name_ = {memory.take(Head::bytes(group_->size) + bytes), bytes};
    use();
}

PartMemory::PartMemory(const PartName& name) : name_(name) {
    RemoteState& here = remote_state_here();
    group_ = here.transport.near_group();
    number_ = here.transport.near_number();
    const std::lock_guard lock(group_->memory());
    use();
}

void PartMemory::use() {
    std::byte* const place = group_->memory().at(name_.offset);
    reinterpret_cast<Head*>(place)->set(number_, true);
    data_ = place + Head::bytes(group_->size);
}

PartMemory::PartMemory(PartMemory&& other) noexcept
    : group_(std::move(other.group_)), number_(other.number_),
      name_(std::exchange(other.name_, {})), data_(std::exchange(other.data_, nullptr)) {}

PartMemory& PartMemory::operator=(PartMemory&& other) noexcept {
    if (this != &other) {
        close();
        group_ = std::move(other.group_);
        number_ = other.number_;
        name_ = std::exchange(other.name_, {});
        data_ = std::exchange(other.data_, nullptr);
    }
    return *this;
}

PartMemory::~PartMemory() {
    close();
}

void PartMemory::close() noexcept {
    if (data_ == nullptr) {
        return;
    }
    try {
        const auto ended = group_->look_after();
        Memory& memory = group_->memory();
        const std::lock_guard lock(memory);
        auto* const head = reinterpret_cast<Head*>(memory.at(name_.offset));
        head->set(number_, false);
        for (const MailboxShared::Ended& one : ended) {
            head->set(one.rank, false);
        }
        std::uint64_t users = 0;
        for (std::size_t word = 0; word < Head::words(group_->size); ++word) {
            users |= head->users[word];
        }
        if (users == 0) {
            memory.give_back(name_.offset, Head::bytes(group_->size) + name_.bytes);
        }
    } catch (const Error&) { // A stopped process has the lock. The bytes go with the group.
    }
    data_ = nullptr;
}

std::size_t PartMemory::overhead() const noexcept {
    return data_ == nullptr ? 0 : Head::bytes(group_->size);
}

bool shares_memory(Rank with) {
    return remote_state_here().transport.shares_memory(with);
}

int memory_node_here() noexcept {
    unsigned cpu = 0;
    unsigned node = 0;
    return ::getcpu(&cpu, &node) == 0 ? static_cast<int>(node) : 0;
}

} // namespace corymb::detail
