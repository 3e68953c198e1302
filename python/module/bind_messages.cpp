// SPDX-License-Identifier: Apache-2.0
// Messages between two ranks. They have no tags: the k-th message goes to the k-th receive.
#include "python_team.hpp"

#include <corymb/error.hpp>

#include <span>

namespace corymb::python {

namespace {

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

std::span<const std::byte> sent(const Keep& keep) {
    return {keep.send.data, keep.send.bytes()};
}

std::span<std::byte> received(const Keep& keep) {
    return {keep.recv.data, keep.recv.bytes()};
}

void send(NativeTeam& team, nb::handle buffer, Rank to, int tag) {
    refuse_tag(tag);
    const auto keep = to_send(buffer);
    team.handle->call([&](Team& native) { native.send(sent(*keep), to); });
}

void receive(NativeTeam& team, nb::handle buffer, Rank from, int tag) {
    refuse_tag(tag);
    const auto keep = to_receive(buffer);
    team.handle->call([&](Team& native) { native.recv(received(*keep), from); });
}

void send_and_receive(NativeTeam& team, nb::handle out, Rank to, int send_tag, nb::handle in,
                      Rank from, int receive_tag) {
    refuse_tag(send_tag);
    refuse_tag(receive_tag);
    const auto outgoing = to_send(out, "sendbuf");
    const auto incoming = to_receive(in, "recvbuf");
    team.handle->call(
        [&](Team& native) { native.sendrecv(sent(*outgoing), to, received(*incoming), from); });
}

template <Request (Team::*Function)(std::span<const std::byte>, Rank)>
PythonRequest start_send(NativeTeam& team, nb::handle buffer, Rank to, int tag) {
    refuse_tag(tag);
    auto keep = to_send(buffer);
    Request request =
        team.handle->call([&](Team& native) { return (native.*Function)(sent(*keep), to); });
    return {team.handle, std::move(request), std::move(keep)};
}

template <Request (Team::*Function)(std::span<std::byte>, Rank)>
PythonRequest start_receive(NativeTeam& team, nb::handle buffer, Rank from, int tag) {
    refuse_tag(tag);
    auto keep = to_receive(buffer);
    Request request =
        team.handle->call([&](Team& native) { return (native.*Function)(received(*keep), from); });
    return {team.handle, std::move(request), std::move(keep)};
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
        .def("Isend", &start_send<&Team::isend<std::byte>>, buffer, to, tag, "Nonblocking Send.")
        .def("Irecv", &start_receive<&Team::irecv<std::byte>>, buffer, from, tag,
             "Nonblocking Recv.")
        .def("Send_init", &start_send<&Team::send_init<std::byte>>, buffer, to, tag,
             "Persistent Send.")
        .def("Recv_init", &start_receive<&Team::recv_init<std::byte>>, buffer, from, tag,
             "Persistent Recv.");
}

} // namespace corymb::python
