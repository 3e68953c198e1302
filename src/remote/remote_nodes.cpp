// SPDX-License-Identifier: Apache-2.0
#include <corymb/remote_nodes.hpp>

#include "cluster/places.hpp"
#include "cluster/shared_word.hpp"
#include "remote/rank_making.hpp"
#include "remote/transport.hpp"

#include <corymb/error.hpp>
#include <corymb/mailbox.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <utility>

namespace corymb {

namespace {

/// What all ranks of the group know, and nobody else: 16 hexadecimal digits.
std::string agreed_mark(Carrier& carrier, const std::vector<int>& node_of_rank, Rank rank,
                        std::chrono::nanoseconds deadline) {
    cluster::Word own;
    if (rank == 0) {
        std::random_device random;
        own = {true, fmt::format("{:08x}{:08x}", random(), random())};
    }
    return cluster::shared_word(carrier, static_cast<Rank>(node_of_rank.size()), rank, 0, own,
                                deadline)
        .text;
}

} // namespace

RemoteRank join_over_nodes(Carrier& carrier, const std::vector<int>& node_of_rank, Rank rank,
                           const RemoteOptions& options, std::chrono::nanoseconds deadline) {
    cluster::check_places(node_of_rank, rank);
    if (!carrier.has_notices()) {
        throw Error(Errc::invalid_argument,
                    "ranks that call each other over several nodes need a carrier with notices "
                    "(Carrier::has_notices)");
    }
    const std::string mark = agreed_mark(carrier, node_of_rank, rank, deadline);
    const int node = node_of_rank[static_cast<std::size_t>(rank)];
    std::vector<Rank> near;
    for (std::size_t other = 0; other < node_of_rank.size(); ++other) {
        if (node_of_rank[other] == node) {
            near.push_back(static_cast<Rank>(other));
        }
    }
    const std::string name = fmt::format("remote-{}-{}", mark, node);
    MailboxOptions mail = detail::mail_options(options);
    mail.between_processes = near.size() > 1;
    mail.name = near.size() > 1 ? std::string_view(name) : std::string_view();
    MailboxGroup boxes(static_cast<int>(near.size()), mail);
    const auto number = std::ranges::find(near, rank) - near.begin();
    const auto size = static_cast<int>(node_of_rank.size());
    const auto group = static_cast<std::uint32_t>(std::stoul(mark.substr(0, 8), nullptr, 16));
    auto near_boxes = boxes.join(static_cast<Rank>(number));
    if (near.size() == node_of_rank.size()) {
        return detail::RemoteRankAccess::make(detail::Transport(std::move(near_boxes)), options,
                                              group, true);
    }
    auto far = std::make_unique<detail::FarLink>(carrier, rank, size, near, mail.capacity);
    return detail::RemoteRankAccess::make(
        detail::Transport(std::move(near_boxes), std::move(near), node_of_rank, std::move(far)),
        options, group, true);
}

} // namespace corymb
