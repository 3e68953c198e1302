// SPDX-License-Identifier: Apache-2.0
#include "cluster/notices.hpp"

#include "channel/env.hpp"
#include "cluster/attic.hpp"

#include <algorithm>
#include <cstring>
#include <exception>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>

namespace corymb::cluster {

namespace {

/// Room for a message. The longest wait has the terms of a whole log, which are 2 KiB.
constexpr std::size_t notice_bytes = Carrier::notice_bytes_most;
static_assert(team::CallLog<channel::StandardEnv>::entries * sizeof(team::CallTerms) +
                  sizeof(FarWait) <=
              notice_bytes);
constexpr std::size_t ranks_told = 64; ///< A failure tells so many of its ranks.

template <class T>
void put(std::vector<std::byte>& bytes, const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    const auto* const from = reinterpret_cast<const std::byte*>(&value);
    bytes.insert(bytes.end(), from, from + sizeof value);
}

/// Reads what `put` has written, as far as it is there.
class Reader {
public:
    explicit Reader(std::span<const std::byte> bytes) noexcept : rest_(bytes) {}
    template <class T>
    T take() noexcept {
        T value{};
        const std::size_t count = std::min(sizeof value, rest_.size());
        std::memcpy(&value, rest_.data(), count);
        rest_ = rest_.subspan(count);
        return value;
    }
    [[nodiscard]] std::span<const std::byte> rest() const noexcept { return rest_; }

private:
    std::span<const std::byte> rest_;
};

void put_calls(std::vector<std::byte>& bytes, const FarCalls& calls) {
    put(bytes, calls.sequence);
    put(bytes, calls.number);
    put(bytes, calls.rank);
    put(bytes, calls.digest);
    put(bytes, calls.blocking_begun);
    put(bytes, calls.nonblocking_started);
    for (const team::CallTerms& terms : calls.last) {
        put(bytes, terms);
    }
}

void take_calls(Reader& reader, FarCalls& calls) {
    calls.sequence = reader.take<int>();
    calls.number = reader.take<std::uint64_t>();
    calls.rank = reader.take<Rank>();
    calls.digest = reader.take<std::uint64_t>();
    calls.blocking_begun = reader.take<std::uint64_t>();
    calls.nonblocking_started = reader.take<std::uint64_t>();
    while (reader.rest().size() >= sizeof(team::CallTerms)) {
        calls.last.push_back(reader.take<team::CallTerms>());
    }
}

std::vector<std::byte> bytes_of(const FarWait& wait) {
    std::vector<std::byte> bytes;
    put(bytes, wait.peer);
    put(bytes, wait.channel ? static_cast<std::int64_t>(*wait.channel) : -1);
    put(bytes, wait.sends);
    put(bytes, wait.is_foreign);
    put(bytes, wait.is_only);
    put(bytes, wait.messages);
    put_calls(bytes, wait);
    return bytes;
}

FarWait wait_of(Reader reader) {
    FarWait wait;
    wait.peer = reader.take<Rank>();
    if (const auto channel = reader.take<std::int64_t>(); channel >= 0) {
        wait.channel = static_cast<Carrier::Channel>(channel);
    }
    wait.sends = reader.take<bool>();
    wait.is_foreign = reader.take<bool>();
    wait.is_only = reader.take<bool>();
    wait.messages = reader.take<std::uint64_t>();
    take_calls(reader, wait);
    return wait;
}

std::vector<std::byte> bytes_of(const Farewell& farewell) {
    std::vector<std::byte> bytes;
    put(bytes, farewell.is_last);
    put_calls(bytes, farewell);
    return bytes;
}

Farewell farewell_of(Reader reader) {
    Farewell farewell;
    farewell.is_last = reader.take<bool>();
    take_calls(reader, farewell);
    return farewell;
}

std::vector<std::byte> bytes_of(const Release& /*release*/) {
    return {};
}

std::vector<std::byte> bytes_of(const Taken& taken) {
    std::vector<std::byte> bytes;
    put(bytes, taken.rank);
    return bytes;
}

std::vector<std::byte> bytes_of(const team::Failure& failure) {
    std::vector<std::byte> bytes;
    put(bytes, failure.code);
    const std::size_t ranks = std::min(failure.ranks.size(), ranks_told);
    put(bytes, static_cast<std::uint32_t>(ranks));
    for (std::size_t i = 0; i < ranks; ++i) {
        put(bytes, failure.ranks[i]);
    }
    const std::string_view text =
        std::string_view(failure.text).substr(0, notice_bytes - bytes.size());
    for (const char character : text) {
        put(bytes, character);
    }
    return bytes;
}

team::Failure failure_of(Reader reader) {
    team::Failure failure;
    failure.code = reader.take<Errc>();
    for (auto ranks = reader.take<std::uint32_t>(); ranks > 0; --ranks) {
        failure.ranks.push_back(reader.take<int>());
    }
    failure.text.assign(reinterpret_cast<const char*>(reader.rest().data()), reader.rest().size());
    return failure;
}

/// The mark of the message is the kind of notice.
Notice notice_of(int mark, Reader reader) {
    switch (mark) {
    case 0: return wait_of(reader);
    case 1: return failure_of(reader);
    case 2: return farewell_of(reader);
    case 3: return Release{};
    default: return Taken{reader.take<Rank>()};
    }
}

} // namespace

Notices::Notices(Carrier& carrier) noexcept
    : carrier_(&carrier), is_carried_(carrier.has_notices()) {}

Notices::~Notices() {
    if (receive_) {
        carrier_->abandon(*receive_);
    }
    try {
        let_go_of_sent();
    } catch (const std::exception&) { // The carrier fails. Nobody waits for the rest.
    }
    for (const Sent& sent : sent_) {
        carrier_->abandon(sent.ticket);
    }
    if (!sent_.empty()) {
        keep_for_good(std::move(sent_));
    }
}

void Notices::tell(Rank to, const Notice& notice) {
    if (!is_carried_) {
        return;
    }
    let_go_of_sent();
    Sent& made = sent_.emplace_back();
    try {
        made.bytes = std::visit([](const auto& one) { return bytes_of(one); }, notice);
        made.ticket = carrier_->send(made.bytes.data(), made.bytes.size(), to,
                                     Carrier::Channel::notices, static_cast<int>(notice.index()));
    } catch (...) {
        sent_.pop_back();
        throw;
    }
}

std::optional<Notice> Notices::next() {
    if (!is_carried_) {
        return std::nullopt;
    }
    let_go_of_sent();
    if (!receive_) {
        incoming_.resize(notice_bytes);
        receive_ = carrier_->receive(incoming_.data(), incoming_.size(), Carrier::any_rank,
                                     Carrier::Channel::notices);
    }
    Carrier::Arrival arrival;
    const Carrier::Ticket ticket = *std::exchange(receive_, std::nullopt);
    if (!carrier_->test(ticket, arrival)) { // If it throws, the ticket is used up.
        receive_ = ticket;
        return std::nullopt;
    }
    return notice_of(
        arrival.mark,
        Reader(
            std::span(std::as_const(incoming_)).first(std::min(arrival.bytes, incoming_.size()))));
}

void Notices::let_go_of_sent() {
    std::list<Sent> under_way;
    while (!sent_.empty()) {
        std::list<Sent> one;
        one.splice(one.end(), sent_, sent_.begin()); // If its test throws, its ticket is used up.
        Carrier::Arrival nothing;
        if (!carrier_->test(one.front().ticket, nothing)) {
            under_way.splice(under_way.end(), one);
        }
    }
    sent_.swap(under_way);
}

} // namespace corymb::cluster
