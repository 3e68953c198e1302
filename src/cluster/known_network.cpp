// SPDX-License-Identifier: Apache-2.0
// Networks that were measured before: a small file each in this user's cache, three lines with the
// kind of file, the key and the costs as CORYMB_NETWORK says them.
#include "base/file.hpp"
#include "base/sha256.hpp"
#include "cluster/places.hpp"
#include "cluster/shared_word.hpp"

#include <corymb/carrier.hpp>
#include <corymb/detail/output.hpp>
#include <corymb/discover.hpp>
#include <corymb/error.hpp>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

namespace corymb {

namespace {

constexpr std::string_view head = "corymb-network/2\n";
/// Value of $CORYMB_NETWORK: takes nothing that other processes have kept.
constexpr std::string_view anew = "measure";

std::filesystem::path file_of(const std::string& key) {
    return cached_model_path().parent_path() /
           ("network-" + sha256_hex(key).substr(0, 16) + ".txt");
}

/// The networks that this process knows, also where there is no cache to write to.
struct Found {
    std::mutex lock;
    std::map<std::string, Networks> networks;
};
Found& found() {
    static auto* const one = new Found; // Never destroyed: a program's static objects may ask.
    return *one;
}

std::optional<Networks> cached(const std::string& key, int nodes) {
    constexpr std::size_t longest = 1 << 20;
    try {
        const std::string text = read_file(file_of(key), longest);
        const std::string wanted = std::string(head) + key + "\n";
        if (!text.starts_with(wanted) || !text.ends_with('\n')) {
            return std::nullopt;
        }
        return networks_from(
            std::string_view(text).substr(wanted.size(), text.size() - wanted.size() - 1), nodes);
    } catch (const Error&) { // None, or a damaged one: it is measured again.
        return std::nullopt;
    }
}

void keep(const std::string& key, const Networks& networks) {
    {
        const std::lock_guard lock(found().lock);
        found().networks[key] = networks;
    }
    try {
        const std::filesystem::path file = file_of(key);
        std::filesystem::create_directories(file.parent_path());
        detail::write_output(file, std::string(head) + key + "\n" + to_text(networks) + "\n");
    } catch (const std::exception&) { // A user without a home: measured again next time.
    }
}

/// The networks that rank 0 knows without a measurement. Throws for a variable with an unknown
/// value.
std::optional<Networks> remembered(const std::string& key, int nodes) {
    const char* given = std::getenv("CORYMB_NETWORK");
    if (given != nullptr && *given == '\0') {
        given = nullptr;
    }
    if (given != nullptr && given != anew) {
        return networks_from(given, nodes);
    }
    if (given == nullptr) {
        if (auto kept = cached(key, nodes)) {
            return kept;
        }
    }
    const std::lock_guard lock(found().lock);
    const auto own = found().networks.find(key);
    return own != found().networks.end() ? std::optional(own->second) : std::nullopt;
}

/// The networks that rank 0 knows, as a message to the other ranks.
cluster::Word said(const std::string& key, int nodes) {
    try {
        const std::optional<Networks> known = remembered(key, nodes);
        return {known.has_value(), known ? to_text(*known) : ""};
    } catch (const Error& error) {
        return {false, error.what()};
    }
}

} // namespace

bool knows_network(const std::string& key, int nodes) {
    const cluster::Word word = said(key, nodes);
    return word.is_known || !word.text.empty(); // A wrong variable is refused at once.
}

Networks known_networks(Carrier& carrier, const std::vector<int>& node_of_rank, Rank rank,
                        const std::string& key, std::chrono::nanoseconds budget,
                        std::chrono::nanoseconds deadline) {
    if (key.find('\n') != std::string::npos) {
        throw Error(Errc::invalid_argument, "the key of a network is one line");
    }
    cluster::check_places(node_of_rank, rank);
    const int nodes = std::ranges::max(node_of_rank) + 1;
    const cluster::Word word =
        cluster::shared_word(carrier, static_cast<Rank>(node_of_rank.size()), rank, 0,
                             rank == 0 ? said(key, nodes) : cluster::Word{}, deadline);
    if (word.is_known) {
        return networks_from(word.text, nodes);
    }
    if (!word.text.empty()) {
        throw Error(Errc::invalid_argument,
                    "CORYMB_NETWORK must be `measure`, or costs: " + word.text);
    }
    Networks measured = measure_networks(carrier, node_of_rank, rank, budget, deadline);
    if (rank == 0) {
        keep(key, measured);
    }
    return measured;
}

} // namespace corymb
