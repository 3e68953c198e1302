// SPDX-License-Identifier: Apache-2.0
#include "base/descriptor.hpp"
#include "remote/rank_making.hpp"
#include "remote/remote_state.hpp"

#include <corymb/error.hpp>
#include <corymb/mailbox.hpp>
#include <corymb/remote.hpp>

#include <atomic>
#include <string>
#include <sys/stat.h>
#include <utility>

namespace corymb {

namespace {

/// A header, the length of a long message, and something of it.
constexpr std::size_t message_least = 32;

} // namespace

MailboxOptions detail::mail_options(const RemoteOptions& options) {
    if (options.message_bytes < message_least) {
        throw Error(Errc::invalid_argument,
                    "message_bytes is " + std::to_string(options.message_bytes) +
                        ", but calls need messages of at least " + std::to_string(message_least));
    }
    MailboxOptions mail;
    mail.message_bytes = options.message_bytes;
    mail.capacity = options.capacity;
    mail.wait = options.wait;
    mail.between_processes = options.between_processes;
    mail.name = options.name;
    return mail;
}

namespace {

/// Differs among the groups of this process, and is equal in all processes of a group.
std::uint32_t mark_of(const MailboxGroup& boxes, bool is_shared) {
    static std::atomic<std::uint32_t> groups{0};
    if (!is_shared) {
        return groups.fetch_add(1, std::memory_order_relaxed) << 1U;
    }
    const Descriptor memory(boxes.make_descriptor());
    struct stat status{};
    ::fstat(memory.number(), &status);
    return static_cast<std::uint32_t>(status.st_ino ^ (status.st_ino >> 32U)) << 1U | 1U;
}

} // namespace

struct RemoteGroup::Parts {
    MailboxGroup boxes;
    RemoteOptions options;
    std::uint32_t mark;
    bool is_shared; ///< Among processes.
};

RemoteGroup::RemoteGroup(std::shared_ptr<Parts> made) noexcept : parts_(std::move(made)) {}

RemoteGroup::RemoteGroup(int size, const RemoteOptions& options)
    : parts_(std::make_shared<Parts>(MailboxGroup(size, detail::mail_options(options)), options, 0U,
                                     options.between_processes || !options.name.empty())) {
    parts_->mark = mark_of(parts_->boxes, parts_->is_shared);
    parts_->options.name = {}; // The caller's text.
}

RemoteGroup RemoteGroup::open(int descriptor) {
    auto opened =
        std::make_shared<Parts>(MailboxGroup::open(descriptor), RemoteOptions(), 0U, true);
    opened->mark = mark_of(opened->boxes, true);
    return RemoteGroup(std::move(opened));
}

RemoteGroup::Parts& RemoteGroup::parts() const {
    if (parts_ == nullptr) {
        refuse_empty("group that calls", "it was moved from");
    }
    return *parts_;
}

int RemoteGroup::make_descriptor() const {
    return parts().boxes.make_descriptor();
}

int RemoteGroup::size() const {
    return parts().boxes.size();
}

RemoteRank RemoteGroup::join(Rank rank) {
    Parts& group = parts();
    return detail::RemoteRankAccess::make(detail::Transport(group.boxes.join(rank)), group.options,
                                          group.mark, group.is_shared);
}

RemoteRank detail::RemoteRankAccess::make(Transport transport, const RemoteOptions& options,
                                          std::uint32_t group_mark, bool is_shared) {
    return RemoteRank({new RemoteState(std::move(transport), options, group_mark, is_shared),
                       [](RemoteState* state) {
                           delete state;
                       }});
}

RemoteRank::RemoteRank(std::unique_ptr<detail::RemoteState, void (*)(detail::RemoteState*)> state)
    : state_(std::move(state)) {}
RemoteRank::RemoteRank(RemoteRank&& other) noexcept = default;
RemoteRank& RemoteRank::operator=(RemoteRank&& other) noexcept = default;
RemoteRank::~RemoteRank() = default;

Rank RemoteRank::rank() const noexcept {
    return state_ == nullptr ? -1 : state_->transport.rank();
}

int RemoteRank::size() const noexcept {
    return state_ == nullptr ? 0 : state_->transport.size();
}

Scheduler& RemoteRank::scheduler() {
    if (state_ == nullptr) {
        refuse_empty("rank of a group that calls", "it was moved from");
    }
    return state_->scheduler;
}

} // namespace corymb
