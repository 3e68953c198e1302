// SPDX-License-Identifier: Apache-2.0
#include "plan/matching.hpp"

#include "plan/cells.hpp"
#include "plan/refuse.hpp"
#include "plan/step_kind.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace corymb::plan {

namespace {

/// Signals, messages and exchanges are matched per ordered pair, each kind by itself.
enum class Channel : std::uint8_t { none, signals, messages, exchanges };

Channel channel_of(const Step& step) {
    if (step.via == Mechanism::exchange) {
        return Channel::exchanges;
    }
    switch (step.kind) {
    case StepKind::signal:
    case StepKind::wait: return Channel::signals;
    case StepKind::send:
    case StepKind::recv:
    case StepKind::fold:
    case StepKind::offer:
    case StepKind::put:
    case StepKind::put_fold: return Channel::messages;
    default: return Channel::none;
    }
}

/// Stable counting sort of step numbers by a rank.
template <class Key>
void sort_by_rank(std::vector<StepNumber>& numbers, std::size_t ranks, Key key) {
    std::vector<std::uint32_t> place(ranks + 1, 0);
    for (const StepNumber number : numbers) {
        ++place[static_cast<std::size_t>(key(number)) + 1];
    }
    for (std::size_t rank = 0; rank < ranks; ++rank) {
        place[rank + 1] += place[rank];
    }
    std::vector<StepNumber> sorted(numbers.size());
    for (const StepNumber number : numbers) {
        sorted[place[static_cast<std::size_t>(key(number))]++] = number;
    }
    numbers.swap(sorted);
}

/// Whether there is what a read takes: all of the publication or, via pull, whole parts of the
/// payload or blocks within one.
bool can_take(const Step& read, const Step& publication, std::uint32_t block_count) {
    if (read.offset == 0 && read.to.count == publication.from.count) {
        return true;
    }
    const Blocks taken = taken_blocks(publication, read);
    const std::uint32_t within = block_count == 0 ? 0 : taken.first % block_count;
    return read.via == Mechanism::pull && read.to.count > 0 &&
           std::uint64_t{read.offset} + read.to.count <= publication.from.count &&
           (within + std::uint64_t{taken.count} <= block_count ||
            (within == 0 && taken.count % block_count == 0));
}

std::string text_of_offset(const Step& read) {
    return read.offset == 0 ? "" : " from place " + std::to_string(read.offset) + " on";
}

std::string nth_of(const char* what, std::size_t count) {
    return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

} // namespace

Matching::Matching(const Plan& plan) : plan_(&plan) {
    number_steps();
    match_messages();
    match_publications();
}

void Matching::number_steps() {
    offset_.reserve(plan_->steps.size() + 1);
    offset_.push_back(0);
    for (const auto& program : plan_->steps) {
        offset_.push_back(offset_.back() + static_cast<StepNumber>(program.size()));
    }
    rank_of_.resize(step_count());
    for (Rank rank = 0; rank < plan_->size(); ++rank) {
        std::fill(rank_of_.begin() + first_step(rank), rank_of_.begin() + end_step(rank), rank);
    }
    partner_.assign(step_count(), no_step);
    room_.assign(step_count(), no_step);
    rendezvous_.assign(step_count(), 0);
}

// Sends sorted by (to, from, position) and receives sorted alike stand opposite each other.
void Matching::match_messages() {
    const std::size_t ranks = plan_->steps.size();
    for (const Channel channel : {Channel::signals, Channel::messages, Channel::exchanges}) {
        std::vector<StepNumber> sending;
        std::vector<StepNumber> receiving;
        for (Rank rank = 0; rank < plan_->size(); ++rank) {
            StepNumber number = first_step(rank);
            for (const Step& step : plan_->steps[index(rank)]) {
                if (channel_of(step) == channel) {
                    (is_sending(step.kind) ? sending : receiving).push_back(number);
                }
                ++number;
            }
        }
        const auto peer = [this](StepNumber number) {
            return step(number).peer;
        };
        const auto own = [this](StepNumber number) {
            return rank_of(number);
        };
        sort_by_rank(sending, ranks, peer);
        sort_by_rank(receiving, ranks, peer);
        sort_by_rank(receiving, ranks, own);

        std::size_t s = 0;
        std::size_t r = 0;
        while (s < sending.size() || r < receiving.size()) {
            const auto key = [&](const std::vector<StepNumber>& of, std::size_t at, bool sends) {
                if (at == of.size()) {
                    return std::pair<Rank, Rank>{plan_->size(), 0};
                }
                return sends ? std::pair{peer(of[at]), own(of[at])}
                             : std::pair{own(of[at]), peer(of[at])};
            };
            const auto edge = std::min(key(sending, s, true), key(receiving, r, false));
            const std::size_t s_first = s;
            const std::size_t r_first = r;
            while (key(sending, s, true) == edge) {
                ++s;
            }
            while (key(receiving, r, false) == edge) {
                ++r;
            }
            const std::size_t sent = s - s_first;
            const std::size_t received = r - r_first;
            const char* what = channel == Channel::signals ? "signal" : "message";
            if (sent > received) {
                const StepNumber extra = sending[s_first + received];
                refuse(*plan_, rank_of(extra), index_of(extra),
                       "rank " + std::to_string(edge.first) + " takes only " +
                           nth_of(what, received) + " from this rank");
            }
            if (received > sent) {
                const StepNumber extra = receiving[r_first + sent];
                refuse(*plan_, rank_of(extra), index_of(extra),
                       "waits for ever: rank " + std::to_string(edge.second) + " sends only " +
                           nth_of(what, sent) + " to this rank");
            }
            for (std::size_t k = 0; k < sent; ++k) {
                match_pair(sending[s_first + k], receiving[r_first + k]);
            }
            if (channel == Channel::messages) {
                find_room({sending.data() + s_first, sent});
            }
        }
    }
}

void Matching::match_pair(StepNumber sending, StepNumber receiving) {
    const Step& from = step(sending);
    const Step& to = step(receiving);
    if (from.via != to.via) {
        refuse(*plan_, rank_of(receiving), index_of(receiving),
               "the matching send, step " + std::to_string(index_of(sending)) + " of rank " +
                   std::to_string(rank_of(sending)) + ", goes via " +
                   std::string(to_string(from.via)));
    }
    if (is_putting(to.kind)) {
        match_offer(sending, receiving);
    } else if (from.from.count != to.to.count) {
        refuse(*plan_, rank_of(receiving), index_of(receiving),
               "takes " + nth_of("block", to.to.count) + ", but the matching send, step " +
                   std::to_string(index_of(sending)) + " of rank " +
                   std::to_string(rank_of(sending)) + ", has " + std::to_string(from.from.count));
    }
    partner_[sending] = receiving;
    partner_[receiving] = sending;
}

void Matching::match_offer(StepNumber offering, StepNumber putting) const {
    const Step& offer = step(offering);
    const Step& put = step(putting);
    const std::string name = "the matching offer, step " + std::to_string(index_of(offering)) +
                             " of rank " + std::to_string(rank_of(offering)) + ", ";
    if (offer.to.count != put.from.count) {
        refuse(*plan_, rank_of(putting), index_of(putting),
               "puts " + nth_of("block", put.from.count) + ", but " + name + "has room for " +
                   std::to_string(offer.to.count));
    }
    if ((offer.from.count > 0) != is_folding(put.kind)) {
        refuse(*plan_, rank_of(putting), index_of(putting),
               is_folding(put.kind) ? "combines, but " + name + "names no blocks to combine with"
                                    : "does not combine, but " + name + "names blocks for that");
    }
}

// Messages via line and descriptors of pull and push share the ring of one edge; cells have their
// own.
void Matching::find_room(std::span<const StepNumber> edge) {
    std::vector<StepNumber> line;
    std::vector<std::pair<StepNumber, std::uint64_t>> cells; // with the slots of each
    std::size_t first = 0;                                   // of those that may be in the channel
    std::uint64_t held = 0;                                  // slots of them
    for (const StepNumber send : edge) {
        const Step& message = step(send);
        if (message.via == Mechanism::line || message.via == Mechanism::pull ||
            message.via == Mechanism::push) {
            if (line.size() >= line_slots) {
                room_[send] = partner_[line[line.size() - line_slots]];
            }
            line.push_back(send);
            continue;
        }
        if (message.via == Mechanism::network) {
            // The network takes any number of messages; their source blocks are lent, see
            // reuse.cpp.
            continue;
        }
        const std::uint64_t need = cells_of(*plan_, message.from);
        rendezvous_[send] = need > plan_->cell_slots ? 1 : 0;
        held += need;
        for (; held > plan_->cell_slots && first != cells.size(); ++first) {
            room_[send] = partner_[cells[first].first];
            held -= cells[first].second;
        }
        cells.emplace_back(send, need);
    }
}

void Matching::match_publications() {
    publication_index_.assign(step_count(), 0);
    for (Rank rank = 0; rank < plan_->size(); ++rank) {
        publication_offset_.push_back(static_cast<std::uint32_t>(publications_.size()));
        std::vector<StepNumber> with_data;
        for (StepNumber number = first_step(rank); number < end_step(rank); ++number) {
            const Step& publication = step(number);
            if (publication.kind != StepKind::publish) {
                continue;
            }
            publication_index_[number] = static_cast<std::uint32_t>(publications_.size());
            publications_.push_back(number);
            if (publication.from.count > 0) {
                if (with_data.size() >= line_slots) {
                    room_[number] = with_data[with_data.size() - line_slots];
                }
                with_data.push_back(number);
            }
        }
    }
    publication_offset_.push_back(static_cast<std::uint32_t>(publications_.size()));
    for (Rank rank = 0; rank < plan_->size(); ++rank) {
        match_reads(rank);
    }
    collect_readers();
}

void Matching::match_reads(Rank rank) {
    std::vector<std::pair<Rank, StepNumber>> reads; // (publisher, step), stable within a publisher
    for (StepNumber number = first_step(rank); number < end_step(rank); ++number) {
        if (is_reading(step(number).kind)) {
            reads.emplace_back(step(number).peer, number);
        }
    }
    std::sort(reads.begin(), reads.end());
    std::uint32_t expected = 0;
    for (std::size_t k = 0; k < reads.size(); ++k) {
        const auto [publisher, number] = reads[k];
        const Step& reading = step(number);
        const std::uint32_t first = publication_offset_[index(publisher)];
        const std::uint32_t count = publication_offset_[index(publisher) + 1] - first;
        if (reading.ordinal >= count) {
            refuse(*plan_, rank, index_of(number),
                   "waits for ever: ordinal is " + std::to_string(reading.ordinal) + ", but rank " +
                       std::to_string(publisher) + " has " + nth_of("publication", count));
        }
        if (k == 0 || reads[k - 1].first != publisher) {
            expected = 0;
        }
        if (reading.ordinal != expected) {
            refuse(*plan_, rank, index_of(number),
                   "reads publication " + std::to_string(reading.ordinal) + " where " +
                       std::to_string(expected) +
                       " is next: a reader of a rank reads all its publications in order");
        }
        ++expected;
        if (expected < count && (k + 1 == reads.size() || reads[k + 1].first != publisher)) {
            refuse(*plan_, rank, index_of(number),
                   "is the last read from this rank, which publishes " + nth_of("time", count) +
                       ": a reader of a rank reads all its publications");
        }
        const StepNumber publication = publications_[first + reading.ordinal];
        const Step& published = step(publication);
        if (published.via != reading.via || !can_take(reading, published, plan_->block_count)) {
            refuse(*plan_, rank, index_of(number),
                   "takes " + nth_of("block", reading.to.count) + text_of_offset(reading) +
                       " via " + std::string(to_string(reading.via)) + ", but step " +
                       std::to_string(index_of(publication)) + " of rank " +
                       std::to_string(publisher) + " publishes " +
                       nth_of("block", published.from.count) + " via " +
                       std::string(to_string(published.via)));
        }
        partner_[number] = publication;
    }
}

void Matching::collect_readers() {
    reader_offset_.assign(publications_.size() + 2, 0);
    for (StepNumber number = 0; number < step_count(); ++number) {
        if (is_reading(step(number).kind)) {
            ++reader_offset_[publication_index_[partner_[number]] + 2];
        }
    }
    for (std::size_t which = 2; which < reader_offset_.size(); ++which) {
        reader_offset_[which] += reader_offset_[which - 1];
    }
    readers_.resize(reader_offset_.back());
    for (StepNumber number = 0; number < step_count(); ++number) {
        if (is_reading(step(number).kind)) {
            readers_[reader_offset_[publication_index_[partner_[number]] + 1]++] = number;
        }
    }
    for (const StepNumber publication : publications_) {
        if (readers(publication).empty()) {
            refuse(*plan_, rank_of(publication), index_of(publication), "nobody reads this");
        }
    }
}

} // namespace corymb::plan
