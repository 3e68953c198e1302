// SPDX-License-Identifier: Apache-2.0
// corymb/mailbox.hpp for Python.
#include "bindings.hpp"
#include "buffer.hpp"
#include "long_wait.hpp"
#include "python_mailbox.hpp"

#include <corymb/machine.hpp>
#include <corymb/mailbox.hpp>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <limits>
#include <optional>
#include <utility>
#include <vector>

namespace corymb::python {

namespace {

constexpr std::size_t all = std::numeric_limits<std::size_t>::max();

MailboxGroup make_group(int size, const std::string& protocol, std::size_t message_bytes,
                        std::size_t capacity, const std::string& wait, bool between_processes,
                        const std::optional<Machine>& machine, const std::string& name) {
    MailboxOptions options;
    options.protocol = mailbox_protocol(protocol);
    options.message_bytes = message_bytes;
    options.capacity = capacity;
    options.wait = wait_policy(wait);
    options.between_processes = between_processes;
    options.machine = machine ? &*machine : nullptr;
    options.name = name;
    const nb::gil_scoped_release unlocked;
    return MailboxGroup(size, options);
}

bool wait_for_room(PythonMailbox& self, Rank to, const std::optional<double>& seconds) {
    Mailbox& box = self.use();
    const LongWait::Mark mark(self.is_waiting);
    return LongWait(seconds).until(
        [&box, to](std::chrono::nanoseconds limit) { return box.wait_for_room(to, limit); });
}

bool send(PythonMailbox& self, Rank to, nb::handle message, const std::optional<double>& seconds) {
    const Buffer buffer(message, false, "message");
    if (self.use().send(to, buffer.data(), buffer.bytes())) {
        return true;
    }
    if (seconds && *seconds == 0) {
        return false;
    }
    return wait_for_room(self, to, seconds) && self.use().send(to, buffer.data(), buffer.bytes());
}

std::size_t send_batch(PythonMailbox& self, Rank to, const nb::sequence& messages) {
    std::vector<Buffer> buffers;
    std::vector<std::span<const std::byte>> spans;
    for (const nb::handle message : messages) {
        buffers.emplace_back(message, false, "message");
        spans.emplace_back(buffers.back().data(), buffers.back().bytes());
    }
    return self.use().send_batch(to, spans);
}

nb::bytes bytes_of(std::span<const std::byte> message) {
    return nb::bytes(static_cast<const void*>(message.data()), message.size());
}

std::size_t probe(PythonMailbox& self, const nb::callable& callback,
                  std::optional<std::size_t> most) {
    const auto run = [&, &box = self.use()] {
        return box.probe(
            [&](Rank from, std::span<const std::byte> message) {
                callback(from, bytes_of(message));
            },
            most.value_or(all));
    };
    if (self.is_probing) {
        return run(); // Is refused.
    }
    const LongWait::Mark mark(self.is_probing);
    return run();
}

nb::list receive(PythonMailbox& self, std::optional<std::size_t> most) {
    nb::list found;
    self.use().probe(
        [&](Rank from, std::span<const std::byte> message) {
            found.append(nb::make_tuple(from, bytes_of(message)));
        },
        most.value_or(all));
    return found;
}

bool wait(PythonMailbox& self, const std::optional<double>& seconds) {
    Mailbox& box = self.use();
    const LongWait::Mark mark(self.is_waiting);
    return LongWait(seconds).until(
        [&box](std::chrono::nanoseconds limit) { return box.wait(limit); });
}

void bind_group(nb::module_& module) {
    const MailboxOptions defaults;
    nb::class_<MailboxGroup>(
        module, "MailboxGroup",
        "The mailboxes of `size` threads, of one process or of several: make it once, then each "
        "thread joins with its rank. docs/reference/messages.md says what is promised.")
        .def(
            "__init__",
            [](MailboxGroup* self, int size, const std::string& protocol, std::size_t message_bytes,
               std::size_t capacity, const std::string& policy, bool between_processes,
               const std::optional<Machine>& machine, const std::string& name) {
                new (self) MailboxGroup(make_group(size, protocol, message_bytes, capacity, policy,
                                                   between_processes, machine, name));
            },
            nb::arg("size"), nb::kw_only(), nb::arg("protocol") = "automatic",
            nb::arg("message_bytes") = defaults.message_bytes,
            nb::arg("capacity") = defaults.capacity, nb::arg("wait") = "ladder",
            nb::arg("between_processes") = false, nb::arg("machine") = nb::none(),
            nb::arg("name") = "")
        .def_static("open", &MailboxGroup::open, nb::arg("descriptor"),
                    "The group behind an inherited descriptor, which stays the caller's.")
        .def("make_descriptor", &MailboxGroup::make_descriptor,
             "A descriptor for child processes, of a group between processes; close it.")
        .def(
            "join", [](MailboxGroup& self, Rank rank) { return PythonMailbox{self.join(rank)}; },
            nb::arg("rank"),
            "This thread becomes `rank`. One that has left or died can be taken again, but not "
            "with "
            "protocol 'srbp'.")
        .def_prop_ro("size", &MailboxGroup::size, "Number of members.")
        .def_prop_ro(
            "protocol",
            [](const MailboxGroup& self) { return std::string(to_string(self.protocol())); },
            "'ring', 'nvp' or 'srbp'.")
        .def_prop_ro(
            "reason", [](const MailboxGroup& self) { return self.reason(); },
            "Why this protocol was taken, for people.")
        .def_prop_ro("memory", &MailboxGroup::memory, "Bytes of shared memory.");
}

} // namespace

void bind_mailbox(nb::module_& module) {
    nb::class_<PythonMailbox>(module, "Mailbox",
                              "One member's handle, of MailboxGroup.join. One thread at a time "
                              "uses it; as a context manager it closes itself.")
        .def_prop_ro(
            "rank", [](const PythonMailbox& self) { return self.box.rank(); },
            "This member's number; -1 when closed.")
        .def_prop_ro(
            "size", [](const PythonMailbox& self) { return self.box.size(); },
            "Number of members; 0 when closed.")
        .def(
            "send", &send, nb::arg("to"), nb::arg("message"), nb::arg("seconds").none() = 0.0,
            "Copies a buffer to member `to`. Where there is no room it waits up to `seconds` until "
            "`to` probes, with None as long as it takes. False: no room, and nothing was sent. "
            "While it waits it releases the interpreter lock; Ctrl-C ends it.")
        .def("wait_for_room", &wait_for_room, nb::arg("to"), nb::arg("seconds") = nb::none(),
             "Returns when there is room for a message to member `to`; False after `seconds` "
             "without. Releases the interpreter lock; Ctrl-C ends it.")
        .def("send_batch", &send_batch, nb::arg("to"), nb::arg("messages"),
             "As many of the buffers as there is room for; how many.")
        .def("probe", &probe, nb::arg("callback"), nb::arg("most") = nb::none(),
             "Calls callback(source, message) for the messages that are there; how many. What it "
             "raises comes out; its message counts as received.")
        .def("receive", &receive, nb::arg("most") = nb::none(),
             nb::sig("def receive(self, most: int | None = None) -> list[tuple[int, bytes]]"),
             "The messages that are there, with their senders.")
        .def("wait", &wait, nb::arg("seconds") = nb::none(),
             "Returns when a message is there; False after `seconds` without one. Releases the "
             "interpreter lock; Ctrl-C ends it.")
        .def(
            "has_left",
            [](PythonMailbox& self, Rank member) { return self.use().has_left(member); },
            nb::arg("member"),
            "Whether `member` has closed its mailbox, or its process is known to have ended.")
        .def(
            "close", [](PythonMailbox& self) { static_cast<void>(self.take()); },
            "What is unread is lost, and whoever sends to it from now on is told.")
        .def(
            "__enter__", [](nb::handle self) { return nb::borrow(self); },
            nb::sig("def __enter__(self) -> Mailbox"))
        .def(
            "__exit__",
            [](PythonMailbox& self, const nb::args&) { static_cast<void>(self.take()); },
            nb::sig("def __exit__(self, *error: object) -> None"));
    bind_group(module);
}

} // namespace corymb::python
