// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <corymb/error.hpp>

#include <cerrno>
#include <string>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace corymb {

/// A file descriptor, or -1, that is closed on every way out.
class Descriptor {
public:
    explicit Descriptor(int number) noexcept : number_(number) {}
    ~Descriptor() { close(); }
    Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    /// Closes what it had.
    Descriptor& operator=(Descriptor&& other) noexcept {
        if (this != &other) {
            close();
            number_ = std::exchange(other.number_, -1);
        }
        return *this;
    }

    [[nodiscard]] int number() const noexcept { return number_; }
    /// Whether the system had nothing to object; it is closed in any case.
    bool close() noexcept {
        const int number = number_;
        number_ = -1;
        return number < 0 || ::close(number) == 0;
    }

private:
    int number_;
};

/// What a call has made. Throws Errc::io, with errno, if that is none; `whose` is for people.
inline Descriptor made_descriptor(int number, const std::string& whose) {
    if (number < 0) {
        throw Error(Errc::io, "there is no descriptor for " + whose + ": " +
                                  std::generic_category().message(errno) + "; see ulimit -n");
    }
    return Descriptor(number);
}

} // namespace corymb
