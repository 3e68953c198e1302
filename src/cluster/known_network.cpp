// SPDX-License-Identifier: Apache-2.0
// Networks that were measured before: a small file each in this user's cache, three lines with the
// kind of file, the key and the four numbers.
#include "base/file.hpp"
#include "base/sha256.hpp"
#include "cluster/network_probe.hpp"

#include <corymb/cluster_team.hpp>
#include <corymb/discover.hpp>
#include <corymb/error.hpp>

#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

namespace corymb {

namespace {

constexpr std::string_view head = "corymb-network/1\n";
/// What $CORYMB_NETWORK says when nothing is to be taken that other processes have kept.
constexpr std::string_view anew = "measure";

std::string text_of(const Network& network) {
    std::string text;
    for (const double number :
         {network.start_up_ns, network.message_gap_ns, network.stream_gbs, network.node_gbs}) {
        std::array<char, 32> digits{};
        const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
        text += (text.empty() ? "" : ",") + std::string(digits.data(), end);
    }
    return text;
}

std::filesystem::path file_of(const std::string& key) {
    return cached_model_path().parent_path() /
           ("network-" + sha256_hex(key).substr(0, 16) + ".txt");
}

/// Of this process, also where there is no cache to write to.
struct Found {
    std::mutex lock;
    std::map<std::string, Network> networks;
};
Found& found() {
    static Found one;
    return one;
}

std::optional<Network> cached(const std::string& key) {
    constexpr std::size_t longest = 1 << 16;
    try {
        const std::string text = read_file(file_of(key), longest);
        const std::string wanted = std::string(head) + key + "\n";
        if (!text.starts_with(wanted) || !text.ends_with('\n')) {
            return std::nullopt;
        }
        return network_from(
            std::string_view(text).substr(wanted.size(), text.size() - wanted.size() - 1));
    } catch (const Error&) { // None, or a damaged one: it is measured again.
        return std::nullopt;
    }
}

void keep(const std::string& key, const Network& network) {
    {
        const std::lock_guard lock(found().lock);
        found().networks[key] = network;
    }
    try {
        const std::filesystem::path file = file_of(key);
        std::filesystem::create_directories(file.parent_path());
        write_file_atomically(file, std::string(head) + key + "\n" + text_of(network) + "\n");
    } catch (const std::exception&) { // A user without a home: measured again next time.
    }
}

/// What rank 0 knows without a measurement; nothing has start-up 0.
Network remembered(const std::string& key) {
    const char* const given = std::getenv("CORYMB_NETWORK");
    if (given != nullptr && given != anew) {
        return network_from(given).value_or(Network{-1, 0, 0, 0});
    }
    if (given == nullptr) {
        if (const auto kept = cached(key)) {
            return *kept;
        }
    }
    const std::lock_guard lock(found().lock);
    const auto own = found().networks.find(key);
    return own != found().networks.end() ? own->second : Network{};
}

} // namespace

std::optional<Network> network_from(std::string_view text) {
    std::array<double, 4> number{};
    const char* at = text.data();
    const char* const end = at + text.size();
    for (std::size_t i = 0; i < number.size(); ++i) {
        if (i > 0) {
            if (at == end || *at != ',') {
                return std::nullopt;
            }
            ++at;
        }
        const auto [stop, error] = std::from_chars(at, end, number[i]);
        if (error != std::errc{} || !std::isfinite(number[i])) {
            return std::nullopt;
        }
        at = stop;
    }
    const Network network{number[0], number[1], number[2], number[3]};
    const bool is_one = at == end && network.start_up_ns > 0 && network.message_gap_ns >= 0 &&
                        network.stream_gbs > 0 && network.node_gbs >= network.stream_gbs;
    return is_one ? std::optional(network) : std::nullopt;
}

Network known_network(Carrier& carrier, const std::vector<int>& node_of_rank, Rank rank,
                      const std::string& key, std::chrono::nanoseconds budget) {
    if (key.find('\n') != std::string::npos) {
        throw Error(Errc::invalid_argument, "the key of a network is one line");
    }
    const Network known = cluster::shared_network(carrier, node_of_rank, rank, 0,
                                                  rank == 0 ? remembered(key) : Network{});
    if (known.start_up_ns < 0) {
        throw Error(Errc::invalid_argument,
                    "CORYMB_NETWORK must be `measure`, or four numbers such "
                    "as 2000,400,3,12: ns from sending to arrival, ns "
                    "between messages, GB/s of a stream and of a node, "
                    "the last not below the third");
    }
    if (known.start_up_ns > 0) {
        return known;
    }
    const Network measured = measure_network(carrier, node_of_rank, rank, budget);
    if (rank == 0) {
        keep(key, measured);
    }
    return measured;
}

} // namespace corymb
