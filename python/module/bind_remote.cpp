// SPDX-License-Identifier: Apache-2.0
// corymb/remote_name.hpp for Python. What calls mean is in the package: corymb/remote/.
#include "bindings.hpp"
#include "buffer.hpp"
#include "long_wait.hpp"
#include "python_remote.hpp"

#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>

#include <span>
#include <string>

namespace corymb::python {

PythonRemoteRank::Use::Use(PythonRemoteRank& of) : of_(of) {
    if (of.uses_ != 0 && of.user_ != std::this_thread::get_id()) {
        throw Error(Errc::invalid_argument,
                    "another thread uses this rank; one thread at a time does");
    }
    if (!of.own_) {
        throw Error(Errc::invalid_argument, "this rank has left its group");
    }
    static_cast<void>(of.own_->scheduler().stop_token()); // Refuses a forked child.
    ++of.uses_;
    of.user_ = std::this_thread::get_id();
}

void PythonRemoteRank::offer(std::uint64_t function, std::string name) {
    offer_function(*own_, std::move(name),
                   [this, function](NamedRequest& request) { note_request(function, request); });
}

void PythonRemoteRank::note_request(std::uint64_t function, NamedRequest& request) {
    const auto bytes = request.argument();
    Event made{Kind::request, 0, request.from(), function, {bytes.begin(), bytes.end()}, nullptr};
    if (request.is_wanted()) {
        made.number = next_++;
        Asked& asked = asked_.try_emplace(made.number, request.later(), std::nullopt).first->second;
        asked.on_stop.emplace(asked.reply.stop_token(), [this, number = made.number] {
            events_.push_back({Kind::stop, number, -1, 0, {}, nullptr});
        });
    }
    events_.push_back(std::move(made));
}

std::uint64_t PythonRemoteRank::begin(Rank to, const std::string& name, const ByteParts& argument) {
    const std::uint64_t number = next_++;
    NamedCall& call =
        calls_.try_emplace(number, begin_named(*own_, to, name, argument)).first->second;
    call.then([this, number] {
        const auto node = calls_.extract(number);
        Event over{Kind::answer, number, -1, 0, {}, nullptr};
        try {
            over.bytes = node.mapped().wait();
        } catch (...) {
            over.kind = Kind::failure;
            over.failure = std::current_exception();
        }
        events_.push_back(std::move(over));
    });
    if (has_events()) { // No message will announce it.
        own_->scheduler().spawn([]() -> Task<> {
            co_return;
        }());
    }
    return number;
}

NamedReply PythonRemoteRank::take_reply(std::uint64_t request) {
    auto node = asked_.extract(request);
    if (node.empty()) {
        throw Error(Errc::invalid_argument, "the request was answered already");
    }
    node.mapped().on_stop.reset();
    return std::move(node.mapped().reply);
}

void PythonRemoteRank::begin_end() {
    auto end = [](std::vector<Event>& events) -> Task<> {
        co_await detail::EndOfAll();
        events.push_back({Kind::end, 0, -1, 0, {}, nullptr});
    };
    if (!std::exchange(is_ending_, true)) {
        own_->scheduler().spawn(end(events_));
    }
}

template <class Begin>
std::uint64_t PythonRemoteRank::run(Begin begin) {
    const std::uint64_t number = next_++;
    const auto body = [](PythonRemoteRank* self, std::uint64_t of, Begin first) -> Task<> {
        Event over{Kind::answer, of, -1, 0, {}, nullptr};
        try {
            co_await first(of);
        } catch (...) {
            over.kind = Kind::failure;
            over.failure = std::current_exception();
        }
        self->events_.push_back(std::move(over));
    };
    own_->scheduler().spawn(body(this, number, std::move(begin)));
    return number;
}

std::uint64_t PythonRemoteRank::make_array(std::string name, std::size_t bytes, std::size_t tile,
                                           std::uint64_t mark) {
    ByteArray::Options options;
    options.mapping = ArrayMapping::tiled(tile);
    options.mark = mark;
    return run([this, name = std::move(name), bytes, options](std::uint64_t of) -> Task<> {
        ByteArray made = co_await ByteArray::make(name, bytes, options);
        arrays_[of] = std::make_unique<ByteArray>(std::move(made));
    });
}

std::unique_ptr<PythonSharedArray> PythonRemoteRank::take_array(std::uint64_t number) {
    return std::make_unique<PythonSharedArray>(std::move(arrays_.extract(number).mapped()), ended_);
}

std::uint64_t PythonRemoteRank::sync_array(ByteArray& array) {
    return run([&array](std::uint64_t) { return array.sync(); });
}

void PythonRemoteRank::close() {
    if (own_) {
        const Use use(*this);
        if (uses_ > 1) {
            throw Error(Errc::invalid_argument,
                        "a rank must not be closed by what it serves; end its block instead");
        }
        let_go();
    }
}

void PythonRemoteRank::let_go() noexcept {
    own_.reset(); // Calls and replies do nothing from here on.
    calls_.clear();
    asked_.clear();
    arrays_.clear();
    ended_->is_open = false;
    ended_->arrays.clear();
}

namespace {

using std::chrono::nanoseconds;

nb::bytes bytes_of(std::span<const std::byte> bytes) {
    return nb::bytes(static_cast<const void*>(bytes.data()), bytes.size());
}

/// Buffers of a list, or one buffer.
class Parts {
public:
    explicit Parts(nb::handle given) {
        if (nb::isinstance<nb::list>(given)) {
            for (const nb::handle one : nb::borrow<nb::list>(given)) {
                add(one);
            }
        } else {
            add(given);
        }
    }
    [[nodiscard]] ByteParts all() const noexcept {
        return ByteParts(std::span<const ByteParts::Part>(parts_));
    }

private:
    void add(nb::handle one) {
        if (PyBytes_CheckExact(one.ptr())) { // The usual one; a view costs more.
            char* data = nullptr;
            Py_ssize_t bytes = 0;
            PyBytes_AsStringAndSize(one.ptr(), &data, &bytes);
            parts_.push_back(std::as_bytes(std::span(data, static_cast<std::size_t>(bytes))));
            return;
        }
        const Buffer& made = buffers_.emplace_back(one, false, "argument");
        parts_.emplace_back(made.data(), made.bytes());
    }
    std::vector<Buffer> buffers_;
    std::vector<ByteParts::Part> parts_;
};

/// What has failed, as (code, text, ranks); the code is "" for what is no Error.
nb::object failure_of(const std::exception_ptr& failure) {
    std::string code;
    std::string text = "an exception without a text";
    nb::list ranks;
    try {
        std::rethrow_exception(failure);
    } catch (const Error& error) {
        code = to_string(error.code());
        text = error.what();
        for (const int rank : error.ranks()) {
            ranks.append(rank);
        }
    } catch (const std::exception& error) {
        text = error.what();
    } catch (...) {
    }
    return nb::make_tuple(code, text, ranks);
}

nb::list rows_of(PythonRemoteRank& self) {
    nb::list rows;
    for (const auto& event : self.take_events()) {
        const nb::object data = event.kind == PythonRemoteRank::Kind::failure
                                    ? failure_of(event.failure)
                                    : nb::object(bytes_of(event.bytes));
        rows.append(nb::make_tuple(static_cast<int>(event.kind), event.number, event.from,
                                   event.function, data));
    }
    return rows;
}

nb::list poll(PythonRemoteRank& self) {
    const PythonRemoteRank::Use use(self);
    self.end_arrays();
    self.own().scheduler().poll();
    return rows_of(self);
}

nb::list wait(PythonRemoteRank& self, const std::optional<double>& seconds) {
    const PythonRemoteRank::Use use(self);
    self.end_arrays();
    const auto has_some = [&self] {
        return self.has_events();
    };
    if (!has_some()) {
        static_cast<void>(LongWait(seconds).until(
            [&](nanoseconds piece) { return serve_until(self.own(), has_some, piece); }));
    }
    return rows_of(self);
}

nb::list linger(PythonRemoteRank& self) {
    const PythonRemoteRank::Use use(self);
    self.end_arrays();
    if (!self.has_events()) {
        const nb::gil_scoped_release unlocked;
        static_cast<void>(serve_briefly(self.own(), [&self] { return self.has_events(); }));
    }
    return rows_of(self);
}

std::uint64_t begin(PythonRemoteRank& self, Rank to, const std::string& name, nb::handle argument) {
    const Parts parts(argument);
    const PythonRemoteRank::Use use(self);
    return self.begin(to, name, parts.all());
}

void post(PythonRemoteRank& self, Rank to, const std::string& name, nb::handle argument) {
    const Parts parts(argument);
    const PythonRemoteRank::Use use(self);
    post_named(self.own(), to, name, parts.all());
}

void answer(PythonRemoteRank& self, std::uint64_t request, nb::handle result) {
    const Parts parts(result);
    const PythonRemoteRank::Use use(self);
    self.take_reply(request).answer(parts.all());
}

void fail(PythonRemoteRank& self, std::uint64_t request, const std::string& text) {
    const PythonRemoteRank::Use use(self);
    self.take_reply(request).fail(std::make_exception_ptr(std::runtime_error(text)));
}

void bind_array(nb::module_& module, nb::class_<PythonRemoteRank>& rank) {
    using R = PythonRemoteRank;
    using Bytes = nb::ndarray<nb::numpy, std::uint8_t, nb::ndim<1>>;
    nb::class_<PythonSharedArray>(module, "NativeSharedArray",
                                  "What corymb.remote.SharedArray stands on.")
        .def(
            "part",
            [](nb::handle self, Rank rank) {
                const ByteArray& array = nb::cast<PythonSharedArray&>(self).array();
                if (rank < 0 || rank >= array.layout().ranks()) {
                    throw Error(Errc::invalid_argument,
                                "the array has no rank " + std::to_string(rank));
                }
                const std::span<std::byte> bytes = array.near(rank);
                return Bytes(bytes.data(), {bytes.size()}, self);
            },
            nb::arg("rank"), "The bytes of a rank, which hold the array.");
    rank.def(
            "make_array",
            [](R& self, std::string name, std::size_t bytes, std::size_t tile, std::uint64_t mark) {
                const R::Use use(self);
                return self.make_array(std::move(name), bytes, tile, mark);
            },
            nb::arg("name"), nb::arg("bytes"), nb::arg("tile"), nb::arg("mark"),
            "Makes an array with all other ranks; an answer with this number says that it is "
            "there.")
        .def(
            "take_array",
            [](R& self, std::uint64_t number) {
                const R::Use use(self);
                return self.take_array(number);
            },
            nb::arg("number"))
        .def(
            "sync_array",
            [](R& self, PythonSharedArray& array) {
                const R::Use use(self);
                return self.sync_array(array.array());
            },
            nb::arg("array"), "As make_array. Keep the array until then.");
}

void bind_group(nb::module_& module) {
    static const RemoteOptions defaults;
    nb::class_<RemoteGroup>(module, "NativeRemoteGroup", "What corymb.RemoteGroup stands on.")
        .def(
            "__init__",
            [](RemoteGroup* self, int size, std::size_t message_bytes, std::size_t capacity,
               const std::string& wait_name, bool between_processes, const std::string& name) {
                RemoteOptions options;
                options.message_bytes = message_bytes;
                options.capacity = capacity;
                options.wait = wait_policy(wait_name);
                options.between_processes = between_processes;
                options.name = name;
                const nb::gil_scoped_release unlocked; // Others may have to come first.
                new (self) RemoteGroup(size, options);
            },
            nb::arg("size"), nb::kw_only(), nb::arg("message_bytes") = defaults.message_bytes,
            nb::arg("capacity") = defaults.capacity, nb::arg("wait") = "ladder",
            nb::arg("between_processes") = false, nb::arg("name") = "")
        .def_static("open", &RemoteGroup::open, nb::arg("descriptor"),
                    "The group behind an inherited descriptor, which stays the caller's.")
        .def("make_descriptor", &RemoteGroup::make_descriptor,
             "A descriptor for child processes, of a group between processes; close it.")
        .def(
            "join",
            [](RemoteGroup& self, Rank rank) {
                return std::make_unique<PythonRemoteRank>(self.join(rank));
            },
            nb::arg("rank"))
        .def_prop_ro("size", &RemoteGroup::size);
}

} // namespace

void bind_remote(nb::module_& module) {
    using R = PythonRemoteRank;
    nb::class_<R> rank(module, "NativeRemoteRank", "What corymb.RemoteRank stands on.");
    bind_array(module, rank);
    rank.def_prop_ro("rank", &R::rank, "-1 when closed.")
        .def_prop_ro("size", &R::size, "0 when closed.")
        .def(
            "offer",
            [](R& self, std::uint64_t function, std::string name) {
                const R::Use use(self);
                self.offer(function, std::move(name));
            },
            nb::arg("function"), nb::arg("name"),
            "Calls of this name come as events with this number.")
        .def(
            "withdraw",
            [](R& self, const std::string& name) {
                const R::Use use(self);
                withdraw_function(self.own(), name);
            },
            nb::arg("name"))
        .def("begin", &begin, nb::arg("to"), nb::arg("name"), nb::arg("argument"),
             "Calls a function; the number of the call. A list of buffers travels as one row.")
        .def("post", &post, nb::arg("to"), nb::arg("name"), nb::arg("argument"),
             "The same without an answer.")
        .def(
            "cancel",
            [](R& self, std::uint64_t call) {
                const R::Use use(self);
                self.cancel(call);
            },
            nb::arg("call"), "Asks the function to stop; nothing comes of the call any more.")
        .def("answer", &answer, nb::arg("request"), nb::arg("result"))
        .def("fail", &fail, nb::arg("request"), nb::arg("text"))
        .def("poll", &poll, "What has come, as rows (kind, number, from, function, data).")
        .def("linger", &linger, "As `poll`, but waits for a moment, without the interpreter lock.")
        .def("wait", &wait, nb::arg("seconds") = nb::none(),
             "As `poll`; when there is nothing, waits for it, without the interpreter lock. Ctrl-C "
             "ends it.")
        .def(
            "descriptor",
            [](R& self) {
                const R::Use use(self);
                return self.own().scheduler().descriptor();
            },
            "Readable when `poll` may have something; stays the rank's.")
        .def(
            "begin_end",
            [](R& self) {
                const R::Use use(self);
                self.begin_end();
            },
            "An event of kind 4 comes when all ranks have called this or have gone.")
        .def("close", &R::close);
    bind_group(module);
}

} // namespace corymb::python
