// SPDX-License-Identifier: Apache-2.0
#include "python_request.hpp"

#include "bindings.hpp"

#include <algorithm>
#include <string>
#include <vector>

namespace corymb::python {

namespace {

using Requests = std::vector<PythonRequest*>;

/// The requests of an iterable, which live for as long as this does. The constructor raises
/// TypeError for an item that is none, such as None.
class Listed {
public:
    Listed(const nb::object& items, const char* call) {
        for (const nb::handle item : nb::iter(items)) {
            if (!nb::isinstance<PythonRequest>(item) || !nb::inst_ready(item)) {
                const std::string text =
                    std::string(call) + ": item " + std::to_string(requests_.size()) +
                    " is of type " + nb::type_name(item.type()).c_str() + ", not corymb.Request";
                throw nb::type_error(text.c_str());
            }
            held_.push_back(nb::borrow(item));
            requests_.push_back(nb::inst_ptr<PythonRequest>(item));
        }
    }
    [[nodiscard]] const Requests& operator*() const noexcept { return requests_; }

private:
    std::vector<nb::object> held_;
    Requests requests_;
};

/// Lets go on every way out.
template <class Action>
class AtExit {
public:
    explicit AtExit(const Action& action) : action_(&action) {}
    AtExit(const AtExit&) = delete;
    AtExit& operator=(const AtExit&) = delete;
    ~AtExit() { (*action_)(); }

private:
    const Action* action_;
};

bool wait_one(PythonRequest& request) {
    request.wait();
    return true;
}

bool wait_all_of(const nb::object& items) {
    const Listed listed(items, "Waitall");
    for (PythonRequest* const request : *listed) {
        if (request->is_active()) {
            request->wait();
        }
    }
    return true;
}

constexpr std::ptrdiff_t undefined = -32766; ///< MPI_UNDEFINED of every MPI that mpi4py knows.

std::ptrdiff_t wait_any_of(const nb::object& items) {
    const Listed listed(items, "Waitany");
    const std::size_t index = PythonRequest::wait_any(*listed);
    return index == no_request ? undefined : static_cast<std::ptrdiff_t>(index);
}

/// Completes all that are done; whether none is left.
bool test_all_of(const nb::object& items) {
    const Listed listed(items, "Testall");
    bool all = true;
    for (PythonRequest* const request : *listed) {
        all = (!request->is_active() || request->test()) && all;
    }
    return all;
}

void start_all_of(const nb::object& items) {
    const Listed listed(items, "Startall");
    for (PythonRequest* const request : *listed) {
        request->start();
    }
}

} // namespace

PythonRequest::~PythonRequest() {
    if (handle_ && request_.valid()) {
        handle_->adopt(std::move(request_), std::move(keep_));
    }
}

void PythonRequest::let_go() noexcept {
    if (!request_.valid()) {
        keep_.reset();
    }
}

bool PythonRequest::test() {
    const auto clean = [this] {
        let_go();
    };
    const AtExit at_exit(clean);
    return handle_->call([this](Team&) { return request_.test(); });
}

void PythonRequest::wait() {
    const auto clean = [this] {
        let_go();
    };
    const AtExit at_exit(clean);
    handle_->call([this](Team&) { request_.wait(); });
}

bool PythonRequest::cancel() {
    const auto clean = [this] {
        let_go();
    };
    const AtExit at_exit(clean);
    return handle_->call([this](Team&) { return request_.cancel(); });
}

void PythonRequest::start() {
    if (keep_ && !request_.is_active()) {
        keep_->start();
    }
    handle_->call([this](Team&) { request_.start(); });
}

std::size_t PythonRequest::wait_any(const Requests& requests) {
    const auto first = std::find_if(requests.begin(), requests.end(),
                                    [](const auto* request) { return request->is_active(); });
    if (first == requests.end()) {
        return no_request;
    }
    Handle& handle = *(*first)->handle_;
    std::vector<Request> moved(requests.size());
    const auto give_back = [&] {
        for (std::size_t i = 0; i < requests.size(); ++i) {
            requests[i]->request_ = std::move(moved[i]);
            requests[i]->let_go();
        }
    };
    for (std::size_t i = 0; i < requests.size(); ++i) {
        if (&*requests[i]->handle_ != &handle && requests[i]->is_active()) {
            throw Error(Errc::invalid_argument, "Waitany takes requests of one team");
        }
    }
    if (Requests sorted = requests;
        std::sort(sorted.begin(), sorted.end()),
        std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end()) {
        throw Error(Errc::invalid_argument, "Waitany was given one request twice");
    }
    const AtExit at_exit(give_back);
    return handle.call([&](Team&) {
        for (std::size_t i = 0; i < requests.size(); ++i) {
            moved[i] = std::move(requests[i]->request_);
        }
        return corymb::wait_any(moved);
    });
}

void bind_request(nb::module_& module) {
    nb::class_<PythonRequest>(
        module, "Request",
        "An operation under way, or a persistent one. The buffers belong to it until it is "
        "complete. See docs/reference/requests.md.")
        .def("Test", &PythonRequest::test,
             "Whether the operation is done, which completes it. Goes on with all operations of "
             "the team; bounded, whatever other ranks do.")
        .def("Wait", &wait_one, "Returns True when the operation is done.")
        .def("Start", &PythonRequest::start, "Starts a persistent operation once more.")
        .def("Cancel", &PythonRequest::cancel,
             "Takes back a message between two ranks that has not begun: a receive whose message "
             "has not come, or a send that waits for others. True when it was taken back, which "
             "completes the request; False when it is too late: complete it as usual. A collective "
             "cannot be cancelled.")
        .def("test", &PythonRequest::test, "As Test.")
        .def("wait", &wait_one, "As Wait.")
        .def("cancel", &PythonRequest::cancel, "As Cancel.")
        .def_prop_ro("active", &PythonRequest::is_active, "Started and not completed.")
        .def_prop_ro("persistent", &PythonRequest::is_persistent, "Can be started again.")
        .def_static("Waitall", &wait_all_of, nb::arg("requests"),
                    nb::sig("def Waitall(requests: collections.abc.Iterable[Request]) -> bool"),
                    "Completes every active request; the others are left alone.")
        .def_static("Waitany", &wait_any_of, nb::arg("requests"),
                    nb::sig("def Waitany(requests: collections.abc.Iterable[Request]) -> int"),
                    "Completes one active request, all of one team; returns its index, or "
                    "corymb.UNDEFINED when none is active.")
        .def_static("Testall", &test_all_of, nb::arg("requests"),
                    nb::sig("def Testall(requests: collections.abc.Iterable[Request]) -> bool"),
                    "Completes those that are done; whether none is active any more.")
        .def_static("Startall", &start_all_of, nb::arg("requests"),
                    nb::sig("def Startall(requests: collections.abc.Iterable[Request]) -> None"),
                    "Starts persistent requests in their order.");
}

} // namespace corymb::python
