// SPDX-License-Identifier: Apache-2.0
// corymb/active_message.hpp for Python.
#include "bindings.hpp"
#include "long_wait.hpp"
#include "python_active.hpp"
#include "python_mailbox.hpp"

#include <nanobind/operators.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <cstring>
#include <string>

namespace corymb::python {

ActiveRank::Use::Use(ActiveRank& of) : of_(of) {
    if (of.uses_ != 0 && of.user_ != std::this_thread::get_id()) {
        throw Error(Errc::invalid_argument, "another thread uses these active messages; one thread "
                                            "at a time does");
    }
    if (!of.own) {
        throw Error(Errc::invalid_argument, "these active messages are closed");
    }
    ++of.uses_;
    of.user_ = std::this_thread::get_id();
}

ActiveRank::Use::~Use() {
    if (--of_.uses_ == 0) {
        of_.dropped_.clear();
    }
}

ActiveMessages& ActiveRank::open() {
    const Use use(*this); // Throws.
    return *own;
}

void ActiveRank::close() {
    if (own) {
        const Use use(*this);
        if (uses_ > 1) {
            throw Error(Errc::invalid_argument, "a handler must not close what it runs in");
        }
        let_go();
    }
}

void ActiveRank::drop(ActiveCall&& call) {
    if (uses_ != 0 && user_ != std::this_thread::get_id()) {
        dropped_.push_back(std::move(call));
    } else {
        const ActiveCall ended = std::move(call);
    }
}

namespace {

using std::chrono::nanoseconds;

/// Longest wait in one piece: signals are looked for in between.
constexpr nanoseconds piece_most = std::chrono::milliseconds(50);

nb::bytes bytes_of(std::span<const std::byte> message) {
    return nb::bytes(static_cast<const void*>(message.data()), message.size());
}

std::span<const std::byte> span_of(const Buffer& buffer) {
    return {buffer.data(), buffer.bytes()};
}

PythonActive make(PythonMailbox& mailbox, double deadline) {
    const Mailbox& box = mailbox.use();
    static_cast<void>(LongWait(deadline)); // Refuses what is no time.
    if (box.message_bytes() <= active_header_bytes) {
        throw Error(Errc::invalid_argument,
                    "active messages need an open mailbox whose messages are longer than " +
                        std::to_string(active_header_bytes) + " bytes");
    }
    return PythonActive(
        std::make_shared<ActiveRank>(ActiveMessages(mailbox.take(), piece_most), deadline));
}

void on(PythonActive& self, std::uint16_t number, nb::callable handler) {
    ActiveRank& rank = *self.rank();
    const ActiveRank::Use use(rank);
    auto function = shared_function(std::move(handler));
    rank.own->on(number, [held = std::weak_ptr(function)](Rank from,
                                                          std::span<const std::byte> argument,
                                                          std::span<std::byte> answer) {
        std::size_t bytes = 0;
        if (auto asked = held.lock()) {
            PythonCall(std::move(asked), true).ask(from, argument, [&](nb::handle result) {
                if (!result.is_none()) {
                    const Buffer buffer(result, false, "answer");
                    bytes = detail::put_answer(answer, buffer.data(), buffer.bytes());
                }
            });
        }
        return bytes;
    });
    rank.handlers.hold(number, std::move(function));
}

/// A request that `begin(own)` makes as soon as there is room.
template <class Begin>
PythonCallOfRank begun(PythonActive& self, const Begin& begin) {
    ActiveRank& rank = *self.rank();
    const ActiveRank::Use use(rank);
    ActiveCall made;
    wait_in_pieces(
        rank.deadline_s, [&](nanoseconds /*piece_most*/) { made = begin(*rank.own); },
        [] { return false; });
    return {std::move(made), self.rank()};
}

PythonCallOfRank call(PythonActive& self, Rank to, std::uint16_t number, nb::handle argument) {
    const Buffer buffer(argument, false, "argument");
    return begun(self, [&](ActiveMessages& own) { return own.call(to, number, span_of(buffer)); });
}

std::size_t poll(PythonActive& self) {
    ActiveRank& rank = *self.rank();
    const ActiveRank::Use use(rank);
    return rank.own->poll();
}

std::size_t serve(PythonActive& self, const std::optional<double>& seconds) {
    ActiveRank& rank = *self.rank();
    const ActiveRank::Use use(rank);
    std::size_t served = 0;
    static_cast<void>(LongWait(seconds).until([&](nanoseconds piece) {
        served += rank.own->serve(piece);
        return served != 0;
    }));
    return served;
}

GlobalAddress offer(PythonActive& self, nb::handle memory) {
    ActiveRank& rank = *self.rank();
    const ActiveRank::Use use(rank);
    Buffer buffer(memory, true, "memory");
    const GlobalAddress first = rank.own->offer(std::span(buffer.data(), buffer.bytes())).address;
    rank.offered.emplace(first.region, std::move(buffer));
    return first;
}

void withdraw(PythonActive& self, GlobalAddress first) {
    ActiveRank& rank = *self.rank();
    const ActiveRank::Use use(rank);
    rank.own->withdraw(GlobalPointer<std::byte>{first});
    rank.offered.erase(first.region);
}

/// The answer of a request to the owner of memory, which `begin(own)` makes.
template <class Begin>
nb::bytes at_owner(PythonActive& self, const std::optional<double>& seconds, const Begin& begin) {
    return begun(self, begin).wait(seconds.value_or(self.rank()->deadline_s));
}

nb::bytes get(PythonActive& self, GlobalAddress from, std::size_t count,
              const std::optional<double>& seconds) {
    return at_owner(self, seconds, [&](ActiveMessages& own) { return own.begin_get(from, count); });
}

void put(PythonActive& self, GlobalAddress to, nb::handle value,
         const std::optional<double>& seconds) {
    const Buffer buffer(value, false, "value");
    static_cast<void>(at_owner(
        self, seconds, [&](ActiveMessages& own) { return own.begin_put(to, span_of(buffer)); }));
}

nb::bytes compare_exchange(PythonActive& self, GlobalAddress at, nb::handle expected,
                           nb::handle desired, const std::optional<double>& seconds) {
    const Buffer one(expected, false, "expected");
    const Buffer other(desired, false, "desired");
    if (one.bytes() != other.bytes()) {
        throw Error(Errc::invalid_argument,
                    "what is expected and what is desired must have equally many bytes");
    }
    std::vector<std::byte> both(span_of(one).begin(), span_of(one).end());
    both.insert(both.end(), span_of(other).begin(), span_of(other).end());
    return at_owner(self, seconds,
                    [&](ActiveMessages& own) { return own.begin_exchange(at, both); });
}

GlobalAddress moved(GlobalAddress from, std::int64_t bytes) {
    from.offset += static_cast<std::uint64_t>(bytes);
    return from;
}

GlobalAddress address_of(nb::handle bytes) {
    const Buffer buffer(bytes, false, "address");
    GlobalAddress address;
    if (buffer.bytes() != sizeof address) {
        throw Error(Errc::mismatch, "an address has " + std::to_string(sizeof address) +
                                        " bytes, not " + std::to_string(buffer.bytes()));
    }
    std::memcpy(&address, buffer.data(), sizeof address);
    return address;
}

std::string text_of(const GlobalAddress& address) {
    return "GlobalAddress(owner=" + std::to_string(address.owner) +
           ", region=" + std::to_string(address.region) +
           ", offset=" + std::to_string(address.offset) + ")";
}

void bind_address(nb::module_& module) {
    nb::class_<GlobalAddress>(module, "GlobalAddress",
                              "A place in memory that a rank has offered, the same on all ranks. "
                              "`address + n` is n bytes further on.")
        .def(nb::init<>(), "Null.")
        .def_ro("owner", &GlobalAddress::owner, "A rank; -1 for null.")
        .def_ro("region", &GlobalAddress::region)
        .def_ro("offset", &GlobalAddress::offset, "In bytes.")
        .def("__add__", &moved, nb::arg("bytes"))
        .def("__bool__", [](const GlobalAddress& self) { return self.owner >= 0; })
        .def(
            "__bytes__",
            [](const GlobalAddress& self) { return bytes_of(std::as_bytes(std::span(&self, 1))); },
            "To be sent in a message.")
        .def_static("from_bytes", &address_of, nb::arg("buffer"),
                    "What `bytes(address)` has given.")
        .def("__repr__", &text_of)
        .def("__hash__",
             [](const GlobalAddress& self) { return nb::hash(nb::str(text_of(self).c_str())); })
        .def(nb::self == nb::self, nb::sig("def __eq__(self, other: object, /) -> bool"))
        .def(nb::self < nb::self);
}

void bind_call(nb::module_& module) {
    nb::class_<PythonCallOfRank>(module, "ActiveCall",
                                 "A request to who made it. When it is dropped the handler still "
                                 "runs.")
        .def("test", &PythonCallOfRank::test, "Whether `wait` would return at once. Polls.")
        .def("wait", &PythonCallOfRank::wait, nb::arg("seconds") = 60.0,
             "The answer, once. Serves others' requests meanwhile, without the interpreter lock; "
             "Ctrl-C ends it. After `seconds` an error that names the rank; the call goes on, and "
             "wait may be called again.");
}

void bind_memory(nb::class_<PythonActive>& active) {
    active
        .def("offer", &offer, nb::arg("memory"),
             "Others may use this writable buffer through its address, while this rank polls, "
             "until it is withdrawn; it cannot be resized meanwhile.")
        .def("withdraw", &withdraw, nb::arg("first"), "The address is of no use from now on.")
        .def("get", &get, nb::arg("address"), nb::arg("count"), nb::arg("seconds") = nb::none(),
             "`count` bytes that are there.")
        .def("put", &put, nb::arg("address"), nb::arg("value"), nb::arg("seconds") = nb::none(),
             "Writes the bytes of a buffer there.")
        .def("compare_exchange", &compare_exchange, nb::arg("address"), nb::arg("expected"),
             nb::arg("desired"), nb::arg("seconds") = nb::none(),
             "Writes `desired` if what is there equals `expected`; what was there.");
}

} // namespace

bool PythonCallOfRank::test() {
    const ActiveRank::Use use(*rank_);
    return call_.test();
}

nb::bytes PythonCallOfRank::wait(const std::optional<double>& seconds) {
    const ActiveRank::Use use(*rank_);
    std::vector<std::byte> answer;
    wait_in_pieces(
        seconds, [&](nanoseconds piece) { answer = call_.wait(piece); },
        [this] { return call_.is_taken(); });
    return bytes_of(answer);
}

void bind_active_messages(nb::module_& module) {
    bind_address(module);
    bind_call(module);
    nb::class_<PythonActive> active(
        module, "ActiveMessages",
        "Requests and handlers of one member, upon its mailbox, which it takes over. One thread at "
        "a time uses it; as a context manager it closes itself.",
        nb::type_slots(Collected<PythonActive>::slots));
    active
        .def(
            "__init__",
            [](PythonActive* self, PythonMailbox& mailbox, double deadline) {
                new (self) PythonActive(make(mailbox, deadline));
            },
            nb::arg("mailbox"), nb::kw_only(), nb::arg("deadline") = 60.0)
        .def_prop_ro("rank", [](PythonActive& self) { return self.rank()->open().rank(); })
        .def_prop_ro("size", [](PythonActive& self) { return self.rank()->open().size(); })
        .def_prop_ro(
            "bytes_max", [](PythonActive& self) { return self.rank()->open().bytes_max(); },
            "Of an argument, and of an answer.")
        .def("on", &on, nb::arg("number"), nb::arg("handler"),
             "Requests with this number run handler(source, argument) here; what it returns, a "
             "buffer or None, is the answer. It may begin calls, but not wait.")
        .def("call", &call, nb::arg("to"), nb::arg("number"), nb::arg("argument") = nb::bytes(""),
             "Has the handler of this number run at rank `to`, with the bytes of a buffer.")
        .def("poll", &poll, "Runs what others have asked for; how much.")
        .def("serve", &serve, nb::arg("seconds") = nb::none(),
             "The same; when there is nothing, waits for it, at most `seconds`. Releases the "
             "interpreter lock; Ctrl-C ends it.")
        .def(
            "close", [](PythonActive& self) { self.rank()->close(); },
            "Closes the mailbox; calls that are under way end with an error.")
        .def(
            "__enter__", [](nb::handle self) { return nb::borrow(self); },
            nb::sig("def __enter__(self) -> ActiveMessages"))
        .def(
            "__exit__", [](PythonActive& self, const nb::args&) { self.rank()->close(); },
            nb::sig("def __exit__(self, *error: object) -> None"));
    bind_memory(active);
}

} // namespace corymb::python
