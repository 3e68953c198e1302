// SPDX-License-Identifier: Apache-2.0
#include "cluster/plan_exchange.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

namespace corymb::cluster {

PlanExchange::PlanExchange(Station& station, Mail& mail, int mark, Answer answer)
    : station_(&station), mail_(&mail), mark_(mark), answer_(std::move(answer)),
      tree_(&station.tree), votes_(tree_->children.size() + 1), headers_(tree_->children.size()) {
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
        case Stage::header:
            if (!has_come(sizeof header_)) {
                return false;
            }
            text_.resize(header_.length);
            mail_->post(text_.data(), text_.size(), tree_->parent);
            stage_ = Stage::text;
            break;
        case Stage::text:
            if (!has_come(text_.size())) {
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

/// Tells the children of this call first. A child may call an operation whose plan it has, and wait
/// for this rank, which would wait for its vote.
void PlanExchange::begin() {
    for (const NodeTree::Child& child : tree_->children) {
        mail_->send(&call_, sizeof call_, child.rank, mark_);
    }
    if (tree_->parent >= 0) {
        mail_->post(&heard_, sizeof heard_, tree_->parent);
    }
    for (std::size_t i = 0; i < tree_->children.size(); ++i) {
        mail_->post(&votes_[i], 1, tree_->children[i].rank);
    }
    stage_ = tree_->parent >= 0 ? Stage::call : Stage::votes;
}

bool PlanExchange::collect() {
    Carrier::Arrival arrival;
    while (voted_ < tree_->children.size()) {
        if (!mail_->test_next(arrival)) {
            return false;
        }
        mail_->take();
        if (!Station::is_of_call(arrival, 1, mark_)) {
            throw ForeignMessage{tree_->children[voted_].rank};
        }
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
        throw ForeignMessage{tree_->parent};
    }
    return true;
}

/// Combines the votes of this rank's node and of all nodes below it.
void PlanExchange::vote() {
    votes_.back() = std::ranges::min(votes_);
    if (station_->rank == 0) {
        lay_out(answer_(votes_.back() != 0));
        hand_on();
        return;
    }
    mail_->send(&votes_.back(), 1, tree_->parent, mark_);
    mail_->post(&header_, sizeof header_, tree_->parent);
    stage_ = Stage::header;
}

/// On rank 0: lays the texts out in the order in which the tree has the nodes.
void PlanExchange::lay_out(const Texts& texts) {
    header_.has_parts = texts.size() > 1 ? 1 : 0;
    if (header_.has_parts == 0) {
        text_ = texts.front();
    } else {
        for (const int node : tree_->order) {
            const std::string& text = texts[static_cast<std::size_t>(node)];
            std::array<char, sizeof(std::uint64_t)> length{};
            const std::uint64_t size = text.size();
            std::memcpy(length.data(), &size, sizeof size);
            text_.append(length.data(), length.size()).append(text);
        }
    }
    header_.length = text_.size();
}

/// The texts for nodes at or below this rank's node, with their lengths.
std::string_view PlanExchange::text_for(NodeRange nodes) const noexcept {
    if (header_.has_parts == 0) {
        return text_;
    }
    std::size_t begin = 0;
    std::size_t end = 0;
    for (std::size_t node = tree_->nodes.first; node < nodes.end; ++node) {
        if (node == nodes.first) {
            begin = end;
        }
        std::uint64_t size = 0;
        std::memcpy(&size, text_.data() + end, sizeof size);
        end += sizeof size + size;
    }
    return std::string_view(text_).substr(begin, end - begin);
}

std::string_view PlanExchange::text() const noexcept {
    const std::string_view own = text_for({tree_->nodes.first, tree_->nodes.first + 1});
    return header_.has_parts == 0 ? own : own.substr(sizeof(std::uint64_t));
}

void PlanExchange::hand_on() {
    for (std::size_t i = 0; i < headers_.size(); ++i) {
        const NodeTree::Child& child = tree_->children[i];
        const std::string_view text = text_for(child.nodes);
        headers_[i] = {text.size(), header_.has_parts};
        mail_->send(&headers_[i], sizeof headers_[i], child.rank, mark_);
        mail_->send(text.data(), text.size(), child.rank, mark_);
    }
    stage_ = Stage::handing_on;
}

Rank PlanExchange::awaited() const noexcept {
    switch (stage_) {
    case Stage::votes: return tree_->children[std::min(voted_, tree_->children.size() - 1)].rank;
    case Stage::handing_on: return mail_->last_receiver();
    default: return tree_->parent;
    }
}

} // namespace corymb::cluster
