// SPDX-License-Identifier: Apache-2.0
// Messages between two ranks. They have no tags: the k-th message goes to the k-th receive.
#include "python_team.hpp"

#include <corymb/detail/contents.hpp>
#include <corymb/detail/untyped.hpp>
#include <corymb/error.hpp>

#include <cstdint>
#include <utility>

namespace corymb::python {

namespace {

using detail::Untyped;

void refuse_tag(int tag) {
    if (tag != 0) {
        throw Error(Errc::invalid_argument, "messages of corymb have no tags, they arrive in the "
                                            "order in which they are sent; leave the tag 0");
    }
}

Operand message(nb::handle given, bool written, const char* name) {
    Operand operand(given, written, name);
    if (operand.is_in_place || operand.has_parts) {
        throw Error(Errc::invalid_argument,
                    std::string(name) + " is the buffer of one message, without IN_PLACE or parts");
    }
    return operand;
}

std::unique_ptr<Keep> to_send(nb::handle given, const char* name = "buf") {
    auto keep = std::make_unique<Keep>();
    keep->send = message(given, false, name);
    return keep;
}

std::unique_ptr<Keep> to_receive(nb::handle given, const char* name = "buf") {
    auto keep = std::make_unique<Keep>();
    keep->recv = message(given, true, name);
    return keep;
}

/// Elements of one size go as what they are said to be at both ends, so that a C++ program can be
/// the other one. Another byte order and objects are told apart.
std::uint32_t contents_of_message(const Operand& operand, std::uint32_t contents) {
    const bool is_swapped = (operand.contents - 1U) % 256U == detail::other_byte_order;
    return contents != 0 ? contents : is_swapped ? operand.contents : 0;
}

Untyped::Message message_of(const Operand& operand, std::uint32_t contents) {
    return {operand.data, operand.bytes(), contents_of_message(operand, contents)};
}

PythonRequest start_send(NativeTeam& team, std::unique_ptr<Keep> keep, Rank to, bool is_persistent,
                         std::uint32_t contents = 0) {
    const Untyped::Message message = message_of(keep->send, contents);
    Request request = team.handle->call(
        [&](Team& native) { return Untyped::send(native, is_persistent, message, to); });
    return {team.handle, std::move(request), std::move(keep)};
}

PythonRequest start_receive(NativeTeam& team, std::unique_ptr<Keep> keep, Rank from,
                            bool is_persistent, std::uint32_t contents = 0) {
    const Untyped::Message message = message_of(keep->recv, contents);
    Request request = team.handle->call(
        [&](Team& native) { return Untyped::receive(native, is_persistent, message, from); });
    return {team.handle, std::move(request), std::move(keep)};
}

void send(NativeTeam& team, nb::handle buffer, Rank to, int tag) {
    refuse_tag(tag);
    const auto keep = to_send(buffer);
    team.handle->call(
        [&](Team& native) { Untyped::send(native, false, message_of(keep->send, 0), to).wait(); });
}

void receive(NativeTeam& team, nb::handle buffer, Rank from, int tag) {
    refuse_tag(tag);
    const auto keep = to_receive(buffer);
    team.handle->call([&](Team& native) {
        Untyped::receive(native, false, message_of(keep->recv, 0), from).wait();
    });
}

void send_and_receive(NativeTeam& team, nb::handle out, Rank to, int send_tag, nb::handle in,
                      Rank from, int receive_tag) {
    refuse_tag(send_tag);
    refuse_tag(receive_tag);
    const auto outgoing = to_send(out, "sendbuf");
    const auto incoming = to_receive(in, "recvbuf");
    team.handle->call([&](Team& native) {
        Request received = Untyped::receive(native, false, message_of(incoming->recv, 0), from);
        Request sent = Untyped::send(native, false, message_of(outgoing->send, 0), to);
        sent.wait();
        received.wait();
    });
}

template <bool is_persistent>
PythonRequest begin_send(NativeTeam& team, nb::handle buffer, Rank to, int tag) {
    refuse_tag(tag);
    return start_send(team, to_send(buffer), to, is_persistent);
}

template <bool is_persistent>
PythonRequest begin_receive(NativeTeam& team, nb::handle buffer, Rank from, int tag) {
    refuse_tag(tag);
    return start_receive(team, to_receive(buffer), from, is_persistent);
}

} // namespace

void bind_messages(TeamClass& team) {
    const auto buffer = nb::arg("buf");
    const auto to = nb::arg("dest");
    const auto from = nb::arg("source");
    const auto tag = nb::arg("tag") = 0;
    team.def("Send", &send, buffer, to, tag,
             "Sends to one rank; may wait for its receive. Both name the same number of bytes.")
        .def("Recv", &receive, buffer, from, tag, "Receives the next message of one rank.")
        .def("Sendrecv", &send_and_receive, nb::arg("sendbuf"), to, nb::arg("sendtag") = 0,
             nb::arg("recvbuf").none() = nb::none(), nb::arg("source") = -1, nb::arg("recvtag") = 0,
             "Both at once, with any two ranks.")
        .def("Isend", &begin_send<false>, buffer, to, tag, "Nonblocking Send.")
        .def("Irecv", &begin_receive<false>, buffer, from, tag, "Nonblocking Recv.")
        .def("Send_init", &begin_send<true>, buffer, to, tag, "Persistent Send.")
        .def("Recv_init", &begin_receive<true>, buffer, from, tag, "Persistent Recv.")
        .def(
            "native_isend",
            [](NativeTeam& self, nb::handle data, Rank receiver) {
                return start_send(self, to_send(data), receiver, false, detail::object_message);
            },
            buffer, to, "Isend of a part of an object.")
        .def(
            "native_irecv",
            [](NativeTeam& self, nb::handle data, Rank sender) {
                return start_receive(self, to_receive(data), sender, false, detail::object_message);
            },
            buffer, from, "Irecv of a part of an object.");
}

} // namespace corymb::python
