// SPDX-License-Identifier: Apache-2.0
// corymb/multicast.hpp for Python.
#include "bindings.hpp"
#include "buffer.hpp"
#include "collected.hpp"
#include "long_wait.hpp"
#include "multicast_way.hpp"
#include "named.hpp"
#include "python_call.hpp"

#include <corymb/machine.hpp>
#include <corymb/multicast.hpp>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace corymb::python {

namespace {

constexpr std::array states{std::pair{"told", MulticastLate::State::told},
                            std::pair{"running", MulticastLate::State::running},
                            std::pair{"untold", MulticastLate::State::untold},
                            std::pair{"ended", MulticastLate::State::ended}};

struct Group {
    MulticastGroup group;
    bool is_between_processes;
};

/// Says for its life that a rank is used: by a thread, without the interpreter lock, or by one in
/// whose midst a call runs.
class Use {
public:
    explicit Use(std::shared_ptr<bool> of) : flag_(std::move(of)) {
        if (*flag_) {
            throw Error(Errc::invalid_argument,
                        "this rank's multicast is in use: by another thread, or by a call that "
                        "runs on it, which must not use the group");
        }
        *flag_ = true;
    }
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;
    ~Use() { *flag_ = false; }

private:
    std::shared_ptr<bool> flag_;
};

Multicast::Handler handler_of(std::weak_ptr<nb::callable> held, bool is_between_processes) {
    return [held = std::move(held), is_between_processes](std::span<const std::byte> message) {
        if (auto function = held.lock()) {
            PythonCall(std::move(function), is_between_processes)(message);
        }
    };
}

/// A rank's place. What may wait runs without the interpreter lock.
class Place {
public:
    Place(Multicast&& own, bool is_between_processes, HeldFunctions handlers)
        : own_(std::move(own)), is_between_processes_(is_between_processes),
          handlers_(std::move(handlers)) {}
    Place(Place&&) noexcept = default;
    Place& operator=(Place&&) = delete;
    ~Place() { let_go(); }

    int visit(visitproc visit, void* arg) const { return handlers_.visit(visit, arg); }
    /// Leaves, with the handlers, which are no longer needed then.
    void let_go() noexcept {
        if (own_) {
            const nb::gil_scoped_release unlocked;
            own_.reset();
        }
        handlers_.clear();
    }

    void close() {
        if (own_) {
            const Use use(is_used_);
            let_go();
        }
    }
    void on(std::uint32_t number, nb::callable handler) {
        const Use use(is_used_);
        Multicast& own = open();
        auto function = shared_function(std::move(handler));
        own.on(number, handler_of(function, is_between_processes_));
        handlers_.hold(number, std::move(function));
    }
    /// `body(multicast)`.
    template <class Body>
    auto unlocked(const Body& body) {
        const Use use(is_used_);
        Multicast& own = open();
        const nb::gil_scoped_release unlocked;
        return body(own);
    }
    int poll() {
        const Use use(is_used_);
        return open().poll();
    }
    int sleep(std::optional<double> seconds) {
        const Use use(is_used_);
        Multicast& own = open();
        int count = 0;
        static_cast<void>(LongWait(seconds).until([&](std::chrono::nanoseconds limit) {
            count += own.sleep(limit);
            return count != 0;
        }));
        return count;
    }
    [[nodiscard]] Multicast& open() {
        if (!own_) {
            throw Error(Errc::invalid_argument, "this rank's multicast is closed");
        }
        return *own_;
    }
    [[nodiscard]] bool is_between_processes() const noexcept { return is_between_processes_; }
    [[nodiscard]] const std::shared_ptr<bool>& is_used() const noexcept { return is_used_; }

private:
    std::optional<Multicast> own_;
    bool is_between_processes_;
    HeldFunctions handlers_;
    std::shared_ptr<bool> is_used_ = std::make_shared<bool>(false);
};

class Token {
public:
    Token(MulticastToken&& token, const Place& place)
        : token_(std::move(token)), members_(token_.members()), is_used_(place.is_used()) {}

    [[nodiscard]] bool test() {
        const Use use(is_used_);
        const nb::gil_scoped_release unlocked;
        return token_.test();
    }
    /// What a piece of the wait says of late members is kept until the last one.
    void wait(std::optional<double> seconds) {
        const Use use(is_used_);
        try {
            wait_in_pieces(
                seconds, [this](std::chrono::nanoseconds piece) { token_.wait(piece); },
                [this] { return token_.is_complete(); });
        } catch (...) {
            if (token_.is_complete()) {
                const MulticastToken told = std::move(token_); // Of an exception, once.
                throw;
            }
            throw;
        }
    }
    [[nodiscard]] std::vector<MulticastLate> late() const { return token_.late(); }
    [[nodiscard]] int members() const noexcept { return members_; }

private:
    MulticastToken token_;
    int members_;
    std::shared_ptr<bool> is_used_;
};

Token call(Place& self, nb::callable function) {
    if (self.is_between_processes()) {
        throw Error(Errc::invalid_argument, "a function cannot be called in other processes: name "
                                            "handlers with Multicast.on and send them a message");
    }
    PythonCall call(std::move(function), false);
    return {self.unlocked(
                [&](Multicast& own) { return own.call([call = std::move(call)] { call(); }); }),
            self};
}

Token send(Place& self, nb::handle message, std::uint32_t handler) {
    const Buffer buffer(message, false, "message");
    const std::span<const std::byte> bytes(buffer.data(), buffer.bytes());
    return {self.unlocked([&](Multicast& own) { return own.send(bytes, handler); }), self};
}

/// What `with multicast.quiescent():` holds.
class Quiescence {
public:
    explicit Quiescence(nb::object of) : of_(std::move(of)) {}
    void enter() {
        was_member_.push_back(nb::cast<Place&>(of_).unlocked([](Multicast& own) {
            const bool was_member = own.is_member();
            own.leave();
            return was_member;
        }));
    }
    void exit() {
        if (was_member_.empty()) {
            throw Error(Errc::invalid_argument, "this quiescence has not begun");
        }
        if (was_member_.back()) {
            nb::cast<Place&>(of_).unlocked([](Multicast& own) { own.join(); });
        }
        was_member_.pop_back();
    }

private:
    nb::object of_;
    std::vector<bool> was_member_;
};

MulticastGroup make_group(int size, const std::string& topology, const std::optional<Plan>& plan,
                          int fan_out, int flat_up_to, bool skipping,
                          const std::string& acknowledgement, const std::optional<Plan>& gather,
                          int calls, double deadline, const std::string& wait,
                          bool between_processes, const std::optional<Machine>& machine,
                          const std::vector<int>& placement, const std::string& name) {
    MulticastOptions options =
        multicast_way(topology, plan, fan_out, flat_up_to, skipping, acknowledgement, gather);
    options.calls = calls;
    options.deadline = std::chrono::duration_cast<std::chrono::nanoseconds>(
        std::chrono::duration<double>(std::min(deadline, 1e9)));
    options.wait_policy = wait_policy(wait);
    options.between_processes = between_processes;
    options.machine = machine ? std::make_shared<const Machine>(*machine) : nullptr;
    options.placement = placement;
    options.name = name;
    const nb::gil_scoped_release unlocked;
    return MulticastGroup(size, options);
}

Place place_of(Group& self, Rank rank, std::optional<nb::callable> handler, bool is_member) {
    HeldFunctions handlers;
    Multicast::Handler on_message;
    if (handler) {
        auto function = shared_function(std::move(*handler));
        on_message = handler_of(function, self.is_between_processes);
        handlers.hold(0, std::move(function));
    }
    std::optional<Multicast> own;
    {
        const nb::gil_scoped_release unlocked;
        own = is_member ? self.group.join(rank, std::move(on_message))
                        : self.group.initiator(rank, std::move(on_message));
    }
    return {std::move(*own), self.is_between_processes, std::move(handlers)};
}

void bind_late(nb::module_& module) {
    nb::class_<MulticastLate>(module, "MulticastLate", "A member that has not acknowledged a call.")
        .def_ro("rank", &MulticastLate::rank)
        .def_prop_ro(
            "state", [](const MulticastLate& self) { return name_of(states, self.state); },
            "'told' (has not polled since), 'running', 'untold' (waits for another late member) or "
            "'ended' (its process has).")
        .def_prop_ro(
            "seconds",
            [](const MulticastLate& self) {
                return std::chrono::duration<double>(self.by).count();
            },
            "Since the call began.")
        .def_ro("pid", &MulticastLate::pid, "Its process; 0 among threads.");
    nb::class_<MulticastUnderWay>(module, "MulticastUnderWay", "A call that is not complete.")
        .def_ro("initiator", &MulticastUnderWay::initiator)
        .def_ro("number", &MulticastUnderWay::number, "Counts the calls of one slot of the group.")
        .def_ro("members", &MulticastUnderWay::members,
                "For how many it is, the initiator not counted.")
        .def_ro("late", &MulticastUnderWay::late, "Those that have not run it.");
}

void bind_token(nb::module_& module) {
    nb::class_<Token>(module, "MulticastToken",
                      "A call to its initiator. When it is dropped the call goes on.")
        .def("wait", &Token::wait, nb::arg("seconds") = 60.0,
             "Until all members have run it, or, when `seconds` have passed, an error that names "
             "the late ones; the call goes on, and wait may be called again. Raises, once, the "
             "first exception of a member. Serves other calls meanwhile, without the interpreter "
             "lock; Ctrl-C ends it.")
        .def("test", &Token::test, "Whether all members have run it. Polls; never waits.")
        .def("late", &Token::late, "Members that have not run it yet.")
        .def_prop_ro("members", &Token::members, "For how many members the call was.");
    nb::class_<Quiescence>(module, "MulticastQuiescence", "Of Multicast.quiescent.")
        .def(
            "__enter__",
            [](nb::pointer_and_handle<Quiescence> self) {
                self.p->enter();
                return nb::borrow(self.h);
            },
            nb::sig("def __enter__(self) -> MulticastQuiescence"))
        .def(
            "__exit__", [](Quiescence& self, const nb::args&) { self.exit(); },
            nb::sig("def __exit__(self, *error: object) -> None"));
}

void bind_place(nb::module_& module) {
    const nb::keep_alive<0, 1> keeps_self;
    nb::class_<Place>(module, "Multicast",
                      "One rank's place in a group, of MulticastGroup.join. One thread at a time "
                      "uses it; as a context manager it closes itself.",
                      nb::type_slots(Collected<Place>::slots))
        .def_prop_ro("rank", [](Place& self) { return self.open().rank(); })
        .def_prop_ro(
            "size", [](Place& self) { return self.open().size(); }, "Ranks of the group.")
        .def_prop_ro("is_member", [](Place& self) { return self.open().is_member(); })
        .def(
            "join", [](Place& self) { self.unlocked([](Multicast& own) { own.join(); }); },
            "Is told of every call that begins from now on, and must poll.")
        .def(
            "leave", [](Place& self) { self.unlocked([](Multicast& own) { own.leave(); }); },
            "Is told of none any more; runs those that count on it.")
        .def("poll", &Place::poll, "Runs what this member was told; how many calls.")
        .def("sleep", &Place::sleep, nb::arg("seconds") = nb::none(),
             "The same; when there is nothing, waits for it, at most `seconds`. Releases the "
             "interpreter lock; Ctrl-C ends it.")
        .def("on", &Place::on, nb::arg("number"), nb::arg("handler"),
             "Messages to handlers of this number run handler(message) here.")
        .def("call", &call, nb::arg("function"), keeps_self,
             "Runs function() on every member, here before it returns if this rank is one. Not "
             "between processes.")
        .def("send", &send, nb::arg("message"), nb::arg("handler") = 0, keeps_self,
             "Gives at most 56 bytes of a buffer to each member's handler of this number.")
        .def(
            "quiescent", [](nb::handle_t<Place> self) { return Quiescence(nb::borrow(self)); },
            "A context manager: inside, the rank is no member and calls do not wait for it.")
        .def("close", &Place::close, "Leaves; the rank can be taken again.")
        .def(
            "__enter__", [](nb::handle self) { return nb::borrow(self); },
            nb::sig("def __enter__(self) -> Multicast"))
        .def(
            "__exit__", [](Place& self, const nb::args&) { self.close(); },
            nb::sig("def __exit__(self, *error: object) -> None"));
}

} // namespace

void bind_multicast(nb::module_& module) {
    const MulticastOptions defaults;
    bind_late(module);
    bind_place(module);
    bind_token(module);
    nb::class_<Group>(module, "MulticastGroup",
                      "Acknowledged multicast: something runs on every member, and its initiator "
                      "knows when all have done it. docs/reference/multicast.md has the promises.")
        .def(
            "__init__",
            [](Group* self, int size, const std::string& topology, const std::optional<Plan>& plan,
               int fan_out, int flat_up_to, bool skipping, const std::string& acknowledgement,
               const std::optional<Plan>& gather, int calls, double deadline,
               const std::string& wait, bool between_processes,
               const std::optional<Machine>& machine, const std::vector<int>& placement,
               const std::string& name) {
                new (self) Group{make_group(size, topology, plan, fan_out, flat_up_to, skipping,
                                            acknowledgement, gather, calls, deadline, wait,
                                            between_processes, machine, placement, name),
                                 between_processes || !name.empty()};
            },
            nb::arg("size"), nb::kw_only(), nb::arg("topology") = "best",
            nb::arg("plan") = nb::none(), nb::arg("fan_out") = defaults.fan_out,
            nb::arg("flat_up_to") = defaults.flat_up_to, nb::arg("skipping") = defaults.skipping,
            nb::arg("acknowledgement") = "counters", nb::arg("gather") = nb::none(),
            nb::arg("calls") = defaults.calls, nb::arg("deadline") = 0.0,
            nb::arg("wait") = "ladder", nb::arg("between_processes") = false,
            nb::arg("machine") = nb::none(), nb::arg("placement") = std::vector<int>(),
            nb::arg("name") = "")
        .def_static(
            "open", [](int descriptor) { return Group{MulticastGroup::open(descriptor), true}; },
            nb::arg("descriptor"),
            "The group behind an inherited descriptor, which stays the caller's.")
        .def(
            "make_descriptor", [](const Group& self) { return self.group.make_descriptor(); },
            "A descriptor for child processes, of a group between processes; close it.")
        .def(
            "join",
            [](Group& self, Rank rank, std::optional<nb::callable> handler) {
                return place_of(self, rank, std::move(handler), true);
            },
            nb::arg("rank"), nb::arg("handler") = nb::none(),
            "This thread becomes `rank`, a member, which must poll. `handler(message)` gets the "
            "messages that are sent to handler 0.")
        .def(
            "initiator",
            [](Group& self, Rank rank, std::optional<nb::callable> handler) {
                return place_of(self, rank, std::move(handler), false);
            },
            nb::arg("rank"), nb::arg("handler") = nb::none(),
            "As join, but the rank is no member: it may call, and join later.")
        .def_prop_ro(
            "size", [](const Group& self) { return self.group.size(); }, "Number of ranks.")
        .def_prop_ro(
            "members", [](const Group& self) { return self.group.members(); },
            "Members at this moment.")
        .def_prop_ro(
            "topology", [](const Group& self) { return self.group.topology(); },
            "Which one calls take, and why, for people.")
        .def(
            "under_way", [](const Group& self) { return self.group.under_way(); },
            "The calls that are not complete at this moment, for a monitor.");
}

} // namespace corymb::python
