// SPDX-License-Identifier: Apache-2.0
#include "plan/names.hpp"

#include <corymb/error.hpp>

#include <array>
#include <span>
#include <string>

namespace corymb {

namespace {

template <class Value>
struct Named {
    Value value;
    std::string_view name;
};

constexpr std::array<Named<Collective>, collective_count> collectives{{
    {Collective::barrier, "barrier"},
    {Collective::broadcast, "broadcast"},
    {Collective::reduce, "reduce"},
    {Collective::allreduce, "allreduce"},
    {Collective::gather, "gather"},
    {Collective::scatter, "scatter"},
    {Collective::allgather, "allgather"},
    {Collective::alltoall, "alltoall"},
    {Collective::reduce_scatter, "reduce_scatter"},
    {Collective::scan, "scan"},
    {Collective::exscan, "exscan"},
}};

constexpr std::array<Named<StepKind>, 12> step_kinds{{
    {StepKind::signal, "signal"},
    {StepKind::wait, "wait"},
    {StepKind::send, "send"},
    {StepKind::recv, "recv"},
    {StepKind::fold, "fold"},
    {StepKind::publish, "publish"},
    {StepKind::read, "read"},
    {StepKind::read_fold, "read_fold"},
    {StepKind::copy, "copy"},
    {StepKind::offer, "offer"},
    {StepKind::put, "put"},
    {StepKind::put_fold, "put_fold"},
}};

constexpr std::array<Named<Mechanism>, 7> mechanisms{{
    {Mechanism::none, "none"},
    {Mechanism::line, "line"},
    {Mechanism::cells, "cells"},
    {Mechanism::pull, "pull"},
    {Mechanism::network, "network"},
    {Mechanism::exchange, "exchange"},
    {Mechanism::push, "push"},
}};

constexpr std::array<Named<Buffer>, 3> buffers{{
    {Buffer::input, "input"},
    {Buffer::output, "output"},
    {Buffer::scratch, "scratch"},
}};

template <class Value>
std::string_view name_of(std::span<const Named<Value>> table, Value value) noexcept {
    for (const Named<Value>& entry : table) {
        if (entry.value == value) {
            return entry.name;
        }
    }
    return "unknown";
}

template <class Value>
Value value_of(std::span<const Named<Value>> table, std::string_view name, const char* what) {
    std::string known;
    for (const Named<Value>& entry : table) {
        if (entry.name == name) {
            return entry.value;
        }
        known += known.empty() ? "" : ", ";
        known += entry.name;
    }
    constexpr std::size_t longest = 60;
    throw Error(Errc::unknown_name, "no " + std::string(what) + " is called \"" +
                                        std::string(name.substr(0, longest)) + "\"; there are " +
                                        known);
}

} // namespace

std::string_view to_string(Collective op) noexcept {
    return name_of<Collective>(collectives, op);
}

std::string_view to_string(StepKind kind) noexcept {
    return name_of<StepKind>(step_kinds, kind);
}

std::string_view to_string(Mechanism via) noexcept {
    return name_of<Mechanism>(mechanisms, via);
}

std::string_view to_string(Buffer buffer) noexcept {
    return name_of<Buffer>(buffers, buffer);
}

Collective collective_from_string(std::string_view name) {
    return value_of<Collective>(collectives, name, "operation");
}

namespace plan {

StepKind step_kind_from_string(std::string_view name) {
    return value_of<StepKind>(step_kinds, name, "step");
}

Mechanism mechanism_from_string(std::string_view name) {
    return value_of<Mechanism>(mechanisms, name, "mechanism");
}

Buffer buffer_from_string(std::string_view name) {
    return value_of<Buffer>(buffers, name, "buffer");
}

} // namespace plan

} // namespace corymb
