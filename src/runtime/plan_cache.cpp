// SPDX-License-Identifier: Apache-2.0
#include "runtime/plan_cache.hpp"

#include "plan/limits.hpp"
#include "tune/request.hpp"

#include <bit>
#include <utility>

namespace corymb::runtime {

namespace {

std::string key_of(const std::string& model_sha256, const PlanRequest& request) {
    std::string key = model_sha256;
    const auto add = [&key](const auto& number) {
        key += ' ' + std::to_string(number);
    };
    add(static_cast<int>(request.op));
    add(request.root);
    add(request.bytes);
    add(request.seed);
    add(request.moves);
    add(request.ordered ? 1 : 0);
    add(request.oversubscribed ? 1 : 0);
    for (const int pu : request.placement) {
        add(pu);
    }
    return key + ' ' + request.algorithm;
}

} // namespace

std::uint64_t size_class(std::uint64_t bytes) noexcept {
    if (bytes <= line_payload_bytes) {
        return line_payload_bytes;
    }
    return bytes >= plan::payload_bytes_max ? bytes : std::bit_ceil(bytes);
}

std::shared_ptr<const PlanChoice> PlanCache::get(const Machine& machine,
                                                 const std::string& model_sha256,
                                                 const PlanRequest& request) {
    PlanRequest full = tune::completed(machine, request);
    if (full.op != Collective::barrier) {
        full.bytes = size_class(full.bytes);
    }
    const std::string key = key_of(model_sha256, full);
    {
        const std::lock_guard lock(mutex_);
        if (const auto known = plans_.find(key); known != plans_.end()) {
            return known->second;
        }
    }
    auto made = std::make_shared<const PlanChoice>(make_plan(machine, full));
    const std::lock_guard lock(mutex_);
    const auto [place, is_new] = plans_.emplace(key, std::move(made));
    auto result = place->second;
    if (is_new) {
        oldest_first_.push_back(key);
        if (oldest_first_.size() > capacity_) {
            plans_.erase(oldest_first_.front());
            oldest_first_.pop_front();
        }
    }
    return result;
}

std::size_t PlanCache::size() const {
    const std::lock_guard lock(mutex_);
    return plans_.size();
}

} // namespace corymb::runtime
