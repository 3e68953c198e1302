// SPDX-License-Identifier: Apache-2.0
#include "explorer/memory.hpp"

#include <utility>

namespace corymb::verify {

void Memory::reset() {
    locations_.clear();
    threads_ = {};
    for (std::size_t i = 0; i < threads_.size(); ++i) {
        threads_[i].now.clock[i] = 1; // so that an access is never at time 0, "before everything"
    }
    seq_cst_.clear();
}

LocationId Memory::add_location(std::uint64_t value) {
    Location& added = locations_.emplace_back();
    added.stores.emplace_back().value = value;
    added.order.push_back(0);
    added.position.push_back(0);
    return static_cast<LocationId>(locations_.size() - 1);
}

std::uint64_t Memory::newest(LocationId location) const {
    const Location& it = locations_[location];
    return it.stores[it.order.back()].value;
}

void Memory::overwrite(LocationId location, std::uint64_t value) {
    Location& it = locations_[location];
    it.stores[it.order.back()].value = value;
}

std::uint32_t Memory::position(const View& view, LocationId location) const {
    return location < view.size() ? locations_[location].position[view[location]] : 0;
}

void Memory::raise(View& view, LocationId location, StoreId store) const {
    if (view.size() <= location) {
        view.resize(location + 1);
    }
    const auto& positions = locations_[location].position;
    if (positions[store] > positions[view[location]]) {
        view[location] = store;
    }
}

void Memory::join_view(View& into, const View& other) const {
    if (into.size() < other.size()) {
        into.resize(other.size());
    }
    for (LocationId location = 0; location < other.size(); ++location) {
        if (into[location] != other[location]) {
            raise(into, location, other[location]);
        }
    }
}

void Memory::join_knowledge(Knowledge& into, const Knowledge& other) const {
    join_view(into.view, other.view);
    join(into.clock, other.clock);
}

std::uint32_t Memory::oldest_allowed(int thread, LocationId location,
                                     std::memory_order order) const {
    const std::uint32_t own = position(at(thread).now.view, location);
    return order == std::memory_order_seq_cst ? std::max(own, position(seq_cst_, location)) : own;
}

std::vector<StoreId> Memory::from_position(LocationId location, std::uint32_t oldest,
                                           bool exclusive) const {
    const Location& it = locations_[location];
    std::vector<StoreId> ids;
    for (auto i = static_cast<std::uint32_t>(it.order.size()); i-- > oldest;) {
        const bool taken = i + 1 < it.order.size() && it.stores[it.order[i + 1]].reads_previous;
        if (!exclusive || !taken) {
            ids.push_back(it.order[i]);
        }
    }
    return ids;
}

std::vector<StoreId> Memory::readable(int thread, LocationId location, std::memory_order order,
                                      bool exclusive) const {
    return from_position(location, oldest_allowed(thread, location, order), exclusive);
}

std::vector<StoreId> Memory::placements(int thread, LocationId location,
                                        std::memory_order order) const {
    return from_position(location, oldest_allowed(thread, location, order), true);
}

std::uint64_t Memory::read(int thread, LocationId location, StoreId store,
                           std::memory_order order) {
    const Store& from = locations_[location].stores[store];
    raise(at(thread).now.view, location, store);
    if (order == std::memory_order_seq_cst) {
        raise(seq_cst_, location, store);
    }
    join_knowledge(acquires(order) ? at(thread).now : at(thread).for_acquire_fence, from.message);
    return from.value;
}

void Memory::write(int thread, LocationId location, std::uint64_t value, std::memory_order order,
                   StoreId after, bool read_after, std::uint64_t step) {
    Location& it = locations_[location];
    const auto id = static_cast<StoreId>(it.stores.size());
    const std::uint32_t place = it.position[after] + 1;
    it.order.insert(it.order.begin() + place, id);
    it.position.resize(it.order.size());
    for (std::uint32_t i = place; i < it.order.size(); ++i) {
        it.position[it.order[i]] = i;
    }

    it.stores.emplace_back();
    raise(at(thread).now.view, location, id);
    if (order == std::memory_order_seq_cst) {
        raise(seq_cst_, location, id);
    }
    Knowledge message = releases(order) ? at(thread).now : at(thread).of_release_fence;
    raise(message.view, location, id);
    if (read_after) {
        join_knowledge(message, it.stores[after].message);
    }
    it.stores[id] = Store{value, std::move(message), thread, step, read_after};
}

void Memory::fence(int thread, std::memory_order order) {
    Thread& it = at(thread);
    if (acquires(order)) {
        join_knowledge(it.now, it.for_acquire_fence);
    }
    if (order == std::memory_order_seq_cst) {
        join_view(it.now.view, seq_cst_);
        seq_cst_ = it.now.view;
    }
    if (releases(order)) {
        it.of_release_fence = it.now;
    }
}

void Memory::light_fence(int thread) {
    Thread& it = at(thread);
    join_view(it.now.view, it.from_heavy);
    it.at_light_fence = it.now.view;
}

void Memory::heavy_begin(int thread) {
    fence(thread, std::memory_order_seq_cst);
    at(thread).heavy_begun = at(thread).now.view;
    at(thread).heavy_collected.clear();
}

void Memory::heavy_moment(int thread, int other) {
    join_view(at(other).from_heavy, at(thread).heavy_begun);
    join_view(at(thread).heavy_collected, at(other).at_light_fence);
}

void Memory::heavy_end(int thread) {
    join_view(at(thread).now.view, at(thread).heavy_collected);
    fence(thread, std::memory_order_seq_cst);
}

void Memory::kernel_publish(int thread, LocationId location) {
    join_view(locations_[location].kernel, at(thread).now.view);
}

void Memory::observe(int thread, LocationId location, StoreId store) {
    raise(at(thread).now.view, location, store);
}

std::vector<StoreId> Memory::kernel_readable(int thread, LocationId location) const {
    const std::uint32_t oldest = std::max(position(at(thread).now.view, location),
                                          position(locations_[location].kernel, location));
    return from_position(location, oldest, false);
}

} // namespace corymb::verify
