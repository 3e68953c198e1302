// SPDX-License-Identifier: Apache-2.0
// Messages between nodes by TCP, without an MPI. docs/reference/remote.md, "Over TCP".
#pragma once

#include <corymb/carrier.hpp>
#include <corymb/export.hpp>
#include <corymb/rank.hpp>

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace corymb {

namespace detail {
struct TcpState;
} // namespace detail

struct TcpOptions {
    /// Ranks that give the same text share memory. At most 127 bytes. Empty: ranks do that are in
    /// the same namespaces of one running kernel, of the same user.
    std::string_view node{};
    /// The longest wait for the other ranks in `meet`.
    std::chrono::nanoseconds deadline = std::chrono::seconds(60);
    /// A node whose kernel has owed an answer for so long counts as ended, from 2 s to an hour; a
    /// half longer at most. Long against a pause of the network, short against people's patience.
    std::chrono::seconds lost_after = std::chrono::seconds(10);
};

/// The carrier of one team or of one group of ranks that call each other. Rank 0 opens a port and
/// tells the others a line, by whatever way the program has; they join by it. It has notices,
/// lanes and a descriptor to sleep on, and it says which ranks have ended. A rank has a connection,
/// and so a descriptor, to each other one.
///
/// The line holds a random key. Who does not know it is refused before anything else is read. The
/// key and the messages are not encrypted: use a network that you trust.
class CORYMB_EXPORT TcpCarrier final : public Carrier {
public:
    /// Rank 0 of `size`. `host` is its name or address, as other nodes reach it. Throws
    /// Errc::invalid_argument for a size below 1, options that cannot be, or a name that other
    /// nodes cannot reach; Errc::io if there is no port to be had there; Errc::unsupported if this
    /// node cannot be told from others.
    TcpCarrier(int size, std::string_view host, const TcpOptions& options = {});
    /// Another rank. `rank` below 0: rank 0 gives it a number, in the order in which ranks come.
    /// Throws Errc::invalid_argument for a line that is none.
    explicit TcpCarrier(std::string_view join_line, Rank rank = -1, const TcpOptions& options = {});
    /// Waits at most a second until what was sent has arrived.
    ~TcpCarrier() override;

    /// What the other ranks join by: one word without spaces, at most 512 bytes. Secret.
    [[nodiscard]] const std::string& join_line() const noexcept;
    /// Connects the ranks. Collective; call it once, and before anything that follows. Throws
    /// Errc::timeout, on rank 0 with the ranks that have not come; Errc::io if another rank cannot
    /// be reached or ends; Errc::invalid_argument if rank 0 refuses this one.
    void meet();
    /// After `meet`.
    [[nodiscard]] Rank rank() const noexcept;
    [[nodiscard]] const std::vector<int>& node_of_rank() const noexcept;

    [[nodiscard]] int lanes() const noexcept override;
    [[nodiscard]] int own_lanes() const noexcept override;
    [[nodiscard]] bool has_notices() const noexcept override;
    Ticket send(const void* data, std::size_t bytes, Rank to, Channel channel, int mark) override;
    Ticket receive(void* data, std::size_t room, Rank from, Channel channel) override;
    bool test(Ticket ticket, Arrival& arrival) override;
    void abandon(Ticket ticket) noexcept override;
    [[nodiscard]] int wait_descriptor() const noexcept override;
    [[nodiscard]] const std::string* loss_of(Rank rank) noexcept override;

private:
    std::unique_ptr<detail::TcpState> state_;
};

} // namespace corymb
