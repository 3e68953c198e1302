// SPDX-License-Identifier: Apache-2.0
// corymb/broadcast_ring.hpp for Python.
#include "bindings.hpp"
#include "buffer.hpp"
#include "long_wait.hpp"

#include <corymb/broadcast_ring.hpp>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <limits>
#include <optional>

namespace corymb::python {

namespace {

constexpr std::size_t all = std::numeric_limits<std::size_t>::max();

/// An end of a ring, and whether a thread waits with it, without the interpreter lock.
template <class End>
struct PythonEnd {
    End end;
    bool is_waiting = false;
    bool is_open = true;

    End& use() {
        if (is_waiting) {
            throw Error(Errc::invalid_argument,
                        "another thread waits with this handle; one thread at a time uses it");
        }
        if (!is_open) {
            throw Error(Errc::invalid_argument, "this handle is closed");
        }
        return end;
    }
    void close() {
        if (is_open) {
            use() = End();
            is_open = false;
        }
    }
};
using Publisher = PythonEnd<BroadcastPublisher>;
using Reader = PythonEnd<BroadcastReader>;

BroadcastPolicy policy_of(const std::string& name) {
    if (name == "block") {
        return BroadcastPolicy::block;
    }
    if (name == "drop") {
        return BroadcastPolicy::drop;
    }
    if (name == "overrun") {
        return BroadcastPolicy::overrun;
    }
    throw Error(Errc::unknown_name,
                "there is no policy '" + name + "'; there are block, drop and overrun");
}
BroadcastStart start_of(const std::string& name) {
    if (name == "next" || name == "last") {
        return name == "next" ? BroadcastStart::next : BroadcastStart::last;
    }
    throw Error(Errc::unknown_name, "there is no start '" + name + "'; there are next and last");
}
const char* name_of(BroadcastPolicy policy) {
    return policy == BroadcastPolicy::block  ? "block"
           : policy == BroadcastPolicy::drop ? "drop"
                                             : "overrun";
}

/// What a piece of the wait says of late readers is kept until the last one.
void publish(Publisher& self, nb::handle message, double seconds) {
    const Buffer buffer(message, false, "message");
    BroadcastPublisher& end = self.use();
    const LongWait::Mark mark(self.is_waiting);
    wait_in_pieces(
        seconds,
        [&](std::chrono::nanoseconds piece) { end.publish(buffer.data(), buffer.bytes(), piece); },
        [] { return false; });
}

bool try_publish(Publisher& self, nb::handle message) {
    const Buffer buffer(message, false, "message");
    return self.use().try_publish(buffer.data(), buffer.bytes());
}

nb::list receive(Reader& self, std::optional<std::size_t> most) {
    nb::list found;
    self.use().probe(
        [&](const BroadcastMessage& message) {
            const auto& bytes = message.bytes;
            found.append(nb::make_tuple(
                message.number, nb::bytes(static_cast<const void*>(bytes.data()), bytes.size()),
                message.missed));
        },
        most.value_or(all));
    return found;
}

bool wait(Reader& self, const std::optional<double>& seconds) {
    BroadcastReader& end = self.use();
    const LongWait::Mark mark(self.is_waiting);
    return LongWait(seconds).until([&end](std::chrono::nanoseconds limit) {
        return end.wait(limit) || end.at_end();
    }) && !end.at_end();
}

nb::object itself(nb::handle self) {
    return nb::borrow(self);
}
template <class End>
void leave(End& self, const nb::args&) {
    self.close();
}

void bind_info(nb::module_& module) {
    nb::class_<BroadcastReaderInfo>(module, "BroadcastReaderInfo", "How far a reader is.")
        .def_ro("reader", &BroadcastReaderInfo::reader, "Its number.")
        .def_ro("pid", &BroadcastReaderInfo::pid, "Its process.")
        .def_prop_ro(
            "policy",
            [](const BroadcastReaderInfo& self) { return std::string(name_of(self.policy)); },
            "'block', 'drop' or 'overrun'.")
        .def_ro("last", &BroadcastReaderInfo::last, "Last message that it has told to have read.")
        .def_ro("lag", &BroadcastReaderInfo::lag, "Messages published since.")
        .def_ro("is_dropped", &BroadcastReaderInfo::is_dropped, "The publisher goes on without.")
        .def_ro("has_ended", &BroadcastReaderInfo::has_ended, "Its process has.");
}

void bind_ends(nb::module_& module) {
    nb::class_<Publisher>(module, "BroadcastPublisher",
                          "The one who publishes, of BroadcastRing.publisher. One thread at a "
                          "time uses it; as a context manager it closes the ring.")
        .def("publish", &publish, nb::arg("message"), nb::arg("seconds") = 60.0,
             "Copies a buffer into the ring; waits for readers that block, without the "
             "interpreter lock, at most `seconds`, and then raises an error that names them. "
             "Ctrl-C ends it.")
        .def("try_publish", &try_publish, nb::arg("message"),
             "Without waiting. False: a reader that blocks is a whole ring behind.")
        .def_prop_ro(
            "published", [](Publisher& self) { return self.use().published(); },
            "How many messages were published.")
        .def(
            "drop", [](Publisher& self, int reader) { self.use().drop(reader); }, nb::arg("reader"),
            "Goes on without a reader, whatever its policy.")
        .def(
            "take_dropped", [](Publisher& self) { return self.use().take_dropped(); },
            "Readers that were dropped or have ended since the last call.")
        .def("close", &Publisher::close, "Closes the ring: readers still get what is there.")
        .def("__enter__", &itself, nb::sig("def __enter__(self) -> BroadcastPublisher"))
        .def("__exit__", &leave<Publisher>, nb::sig("def __exit__(self, *error: object) -> None"));
    nb::class_<Reader>(module, "BroadcastReader",
                       "A reader, of BroadcastRing.reader. One thread at a time uses it; as a "
                       "context manager it leaves.")
        .def_prop_ro(
            "number", [](Reader& self) { return self.use().number(); },
            "Unique among the readers of the moment.")
        .def_prop_ro(
            "policy", [](Reader& self) { return std::string(name_of(self.use().policy())); },
            "'block', 'drop' or 'overrun'.")
        .def("receive", &receive, nb::arg("most") = nb::none(),
             nb::sig("def receive(self, most: int | None = None) -> list[tuple[int, bytes, int]]"),
             "The messages that are there: their numbers, their bytes, and how many before each "
             "were missed.")
        .def("wait", &wait, nb::arg("seconds") = nb::none(),
             "Returns when a message is there; False after `seconds`, or when the ring was closed. "
             "Releases the interpreter lock; Ctrl-C ends it.")
        .def_prop_ro(
            "at_end", [](Reader& self) { return self.use().at_end(); },
            "The publisher has closed the ring and everything is read.")
        .def_prop_ro(
            "last", [](Reader& self) { return self.use().last(); },
            "Number of the last message that was read or missed.")
        .def("close", &Reader::close, "Leaves.")
        .def("__enter__", &itself, nb::sig("def __enter__(self) -> BroadcastReader"))
        .def("__exit__", &leave<Reader>, nb::sig("def __exit__(self, *error: object) -> None"));
}

} // namespace

void bind_broadcast_ring(nb::module_& module) {
    const BroadcastOptions defaults;
    bind_info(module);
    bind_ends(module);
    nb::class_<BroadcastRing>(module, "BroadcastRing",
                              "One publishes, many read, in threads or in processes; "
                              "docs/reference/messages.md says what is promised.")
        .def(
            "__init__",
            [](BroadcastRing* self, std::size_t message_bytes, std::size_t slots, int readers,
               bool between_processes, const std::string& policy, const std::string& name) {
                BroadcastOptions options;
                options.message_bytes = message_bytes;
                options.slots = slots;
                options.readers = readers;
                options.between_processes = between_processes;
                options.wait = wait_policy(policy);
                options.name = name;
                const nb::gil_scoped_release unlocked;
                new (self) BroadcastRing(options);
            },
            nb::kw_only(), nb::arg("message_bytes") = defaults.message_bytes,
            nb::arg("slots") = defaults.slots, nb::arg("readers") = defaults.readers,
            nb::arg("between_processes") = false, nb::arg("wait") = "ladder", nb::arg("name") = "")
        .def_static("open", &BroadcastRing::open, nb::arg("descriptor"),
                    "The ring behind an inherited descriptor, which stays the caller's.")
        .def("make_descriptor", &BroadcastRing::make_descriptor,
             "A descriptor for child processes, of a ring between processes; close it.")
        .def(
            "publisher", [](BroadcastRing& self) { return Publisher{self.publisher()}; },
            "This thread publishes. If the process of an earlier publisher has ended without "
            "closing the ring, it goes on after the last message.")
        .def(
            "reader",
            [](BroadcastRing& self, const std::string& policy, const std::string& start) {
                return Reader{self.reader(policy_of(policy), start_of(start))};
            },
            nb::arg("policy") = "block", nb::arg("start") = "next",
            "This thread reads from now on. With start='last' it first gets the last message that "
            "was published before, if there is one.")
        .def("readers", &BroadcastRing::readers, "All readers and how far they are.")
        .def_prop_ro("memory", &BroadcastRing::memory, "Bytes of shared memory.");
}

} // namespace corymb::python
