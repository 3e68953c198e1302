// SPDX-License-Identifier: Apache-2.0
#include "explorer/search.hpp"

#include <algorithm>

namespace corymb::verify {

void Search::start_exhaustive() {
    mode_ = Mode::exhaustive;
    trail_.clear();
}

void Search::start_random(std::uint64_t seed) {
    mode_ = Mode::random;
    random_ = seed;
}

void Search::start_replay(std::string_view text) {
    mode_ = Mode::replay;
    recorded_ = text;
}

void Search::begin_execution() {
    depth_ = 0;
    recorded_at_ = 0;
    decisions_.clear();
}

bool Search::advance() {
    if (mode_ != Mode::exhaustive) {
        return true;
    }
    while (!trail_.empty() && trail_.back().chosen + 1 == trail_.back().count) {
        trail_.pop_back();
    }
    if (trail_.empty()) {
        return false;
    }
    ++trail_.back().chosen;
    return true;
}

std::size_t Search::pick(std::size_t count) {
    if (count <= 1) {
        return 0;
    }
    if (mode_ == Mode::random) {
        // SplitMix64 (Steele, Lea, Flood, OOPSLA 2014); the bias of the remainder is harmless.
        random_ += 0x9e3779b97f4a7c15u;
        std::uint64_t z = random_;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
        return static_cast<std::size_t>((z ^ (z >> 31)) % count);
    }
    if (depth_ == trail_.size()) {
        trail_.push_back({0, count});
    }
    return trail_[depth_++].chosen;
}

int Search::choose_thread(const std::vector<int>& allowed) {
    if (mode_ == Mode::replay && recorded_at_ < recorded_.size()) {
        const int thread = recorded_[recorded_at_++] - 'a';
        decisions_.push_back(static_cast<char>('a' + thread));
        tried_before_ = 0;
        // A recording that does not fit is noticed by the caller: the thread is not allowed.
        return std::find(allowed.begin(), allowed.end(), thread) == allowed.end() ? -1 : thread;
    }
    tried_before_ = mode_ == Mode::replay ? 0 : pick(allowed.size());
    const int thread = allowed[tried_before_];
    decisions_.push_back(static_cast<char>('a' + thread));
    return thread;
}

std::size_t Search::choose_option(const std::vector<std::size_t>& allowed, std::size_t total) {
    if (total <= 1) {
        return 0;
    }
    const std::size_t option = mode_ == Mode::replay ? std::min(replayed_number(), total - 1)
                                                     : allowed[pick(allowed.size())];
    record_option(option);
    return option;
}

std::size_t Search::replayed_number() {
    const auto is_digit = [this] {
        return recorded_at_ < recorded_.size() && recorded_[recorded_at_] >= '0' &&
               recorded_[recorded_at_] <= '9';
    };
    if (recorded_at_ < recorded_.size() && recorded_[recorded_at_] == '.') {
        ++recorded_at_;
    }
    std::size_t number = 0;
    while (is_digit()) {
        number = number * 10 + static_cast<std::size_t>(recorded_[recorded_at_++] - '0');
    }
    return number;
}

void Search::record_option(std::size_t option) {
    if (!decisions_.empty() && decisions_.back() >= '0' && decisions_.back() <= '9') {
        decisions_.push_back('.');
    }
    decisions_ += std::to_string(option);
}

} // namespace corymb::verify
