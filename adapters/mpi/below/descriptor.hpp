// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <unistd.h>

namespace corymb::mpi {

/// A file descriptor, closed at the end.
class Descriptor {
public:
    explicit Descriptor(int number = -1) noexcept : number_(number) {}
    ~Descriptor() { reset(-1); }
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    [[nodiscard]] int number() const noexcept { return number_; }
    void reset(int number) noexcept {
        if (number_ >= 0) {
            ::close(number_);
        }
        number_ = number;
    }

private:
    int number_;
};

} // namespace corymb::mpi
