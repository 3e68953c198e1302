// SPDX-License-Identifier: Apache-2.0
// Every operation in every mode as corymb has it.
#pragma once

#include "payload.h"

#include <corymb/corymb.hpp>

#include <span>
#include <string_view>

namespace corymb::bench {

/// One operation of one rank on its buffers.
class Work {
public:
    Work(Team& team, payload& data) : team_(team), data_(data) {}

    /// Fills in what the mode does, with this object as the state. False if there is no such mode.
    bool choose(std::string_view mode, actions& chosen);

    void blocking();
    void start_nonblocking();
    void start_persistent();
    void test();
    void wait();
    [[nodiscard]] payload& data() { return data_; }
    void pingpong();
    void pingpong_nonblocking();
    void pingpong_persistent();

private:
    [[nodiscard]] std::span<const double> input() const {
        return {data_.input, data_.input_parts * data_.count};
    }
    [[nodiscard]] std::span<double> output() const {
        return {data_.output, data_.output_parts * data_.count};
    }
    [[nodiscard]] Request nonblocking() const;
    [[nodiscard]] Request persistent() const;
    void choose_pingpong(std::string_view mode, actions& chosen);

    Team& team_;
    payload& data_;
    Request request_;
    Request receive_; // Of a ping-pong, whose send is the other.
};

} // namespace corymb::bench
