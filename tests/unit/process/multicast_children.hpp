// SPDX-License-Identifier: Apache-2.0
// What the tests of multicast among processes have in common.
#pragma once

#include "children.hpp"

#include <corymb/multicast.hpp>

#include <new>
#include <stdexcept>
#include <sys/mman.h>

namespace corymb::process_test {

inline MulticastOptions between_processes(MulticastTopology topology) {
    MulticastOptions options;
    options.topology = topology;
    options.fan_out = 1; // A split is a chain then: everybody has to forward.
    options.between_processes = true;
    return options;
}

inline MulticastGroup open(const Descriptor& group) {
    return MulticastGroup::open(group.number());
}

/// A T of zeros that this process has in common with the children that it forks later.
template <class T>
class InCommon {
public:
    InCommon()
        : at_(::mmap(nullptr, sizeof(T), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
                     0)) {
        if (at_ == MAP_FAILED) {
            throw std::runtime_error("no memory in common");
        }
        value_ = new (at_) T;
    }
    ~InCommon() { ::munmap(at_, sizeof(T)); }
    InCommon(const InCommon&) = delete;
    InCommon& operator=(const InCommon&) = delete;
    T* operator->() const noexcept { return value_; }
    T& operator*() const noexcept { return *value_; }

private:
    void* at_;
    T* value_;
};

} // namespace corymb::process_test
