// SPDX-License-Identifier: Apache-2.0
#include "cluster/plan_exchange.hpp"

#include <algorithm>
#include <utility>

namespace corymb::cluster {

PlanExchange::PlanExchange(Station& station, Mail& mail, const team::PlanKey& key, int mark,
                           Answer answer)
    : station_(&station), mail_(&mail), key_(key), mark_(mark), answer_(std::move(answer)) {
    // The children of a rank in a binomial tree over all are those at these distances above it.
    const auto number = static_cast<unsigned>(station.rank);
    const auto size = static_cast<unsigned>(station.size());
    unsigned reach = 1;
    while (reach <= number) {
        reach *= 2;
    }
    if (number != 0) {
        parent_ = static_cast<Rank>(number - reach / 2);
    }
    for (; number + reach < size; reach *= 2) {
        children_.push_back(static_cast<Rank>(number + reach));
    }
    votes_.resize(children_.size() + 1);
    votes_.back() = station.can_pull() ? 1 : 0;
}

bool PlanExchange::advance() {
    for (;;) {
        switch (stage_) {
        case Stage::beginning: begin(); break;
        case Stage::call:
            if (!has_come(sizeof call_)) {
                return false;
            }
            stage_ = Stage::votes;
            break;
        case Stage::votes:
            if (!collect()) {
                return false;
            }
            vote();
            break;
        case Stage::length:
            if (!has_come(sizeof length_)) {
                return false;
            }
            text_.resize(length_);
            mail_->post(text_.data(), length_, parent_);
            stage_ = Stage::text;
            break;
        case Stage::text:
            if (!has_come(length_)) {
                return false;
            }
            hand_on();
            break;
        case Stage::handing_on:
            if (!mail_->are_sent()) {
                return false;
            }
            stage_ = Stage::over;
            break;
        case Stage::over: return true;
        }
    }
}

/// A child that calls an operation whose plan it has may wait for this rank, which would wait for
/// its vote: it is told of this call first.
void PlanExchange::begin() {
    for (const Rank child : children_) {
        mail_->send(&call_, sizeof call_, child, mark_);
    }
    if (parent_ >= 0) {
        mail_->post(&heard_, sizeof heard_, parent_);
    }
    for (std::size_t i = 0; i < children_.size(); ++i) {
        mail_->post(&votes_[i], 1, children_[i]);
    }
    stage_ = parent_ >= 0 ? Stage::call : Stage::votes;
}

bool PlanExchange::collect() {
    Carrier::Arrival arrival;
    while (voted_ < children_.size()) {
        if (!mail_->test_next(arrival)) { // The way down says whether all call it.
            return false;
        }
        mail_->take();
        ++voted_;
    }
    return true;
}

bool PlanExchange::has_come(std::size_t bytes) {
    Carrier::Arrival arrival;
    if (!mail_->test_next(arrival)) {
        return false;
    }
    mail_->take();
    if (!Station::is_of_call(arrival, bytes, mark_)) {
        station_->fail_foreign(parent_, std::string(to_string(key_.op)));
    }
    return true;
}

/// What holds on the nodes of this rank and of all below it.
void PlanExchange::vote() {
    votes_.back() = std::ranges::min(votes_);
    if (station_->rank == 0) {
        text_ = answer_(votes_.back() != 0);
        length_ = text_.size();
        hand_on();
        return;
    }
    mail_->send(&votes_.back(), 1, parent_, mark_);
    mail_->post(&length_, sizeof length_, parent_);
    stage_ = Stage::length;
}

void PlanExchange::hand_on() {
    for (const Rank child : children_) {
        mail_->send(&length_, sizeof length_, child, mark_);
        mail_->send(text_.data(), text_.size(), child, mark_);
    }
    stage_ = Stage::handing_on;
}

Rank PlanExchange::awaited() const noexcept {
    switch (stage_) {
    case Stage::votes: return children_[std::min(voted_, children_.size() - 1)];
    case Stage::handing_on: return mail_->last_receiver();
    default: return parent_;
    }
}

} // namespace corymb::cluster
