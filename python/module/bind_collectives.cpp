// SPDX-License-Identifier: Apache-2.0
// The collectives of corymb.Team: each blocking (Bcast), nonblocking (Ibcast) and persistent
// (Bcast_init), with mpi4py's names and arguments.
#include "operations.hpp"
#include "python_team.hpp"

#include <corymb/detail/contents.hpp>
#include <corymb/detail/untyped.hpp>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/variant.h>

#include <cctype>
#include <string>

namespace corymb::python {

namespace {

using detail::Untyped;

void run(NativeTeam& team, const Arguments& arguments) {
    const Prepared prepared = prepare(team.handle->team(), arguments);
    prepared.keep->start();
    team.handle->call([&](Team& native) { native.run(prepared.operation); });
}

PythonRequest start(NativeTeam& team, const Arguments& arguments) {
    Prepared prepared = prepare(team.handle->team(), arguments);
    prepared.keep->start();
    Request request =
        team.handle->call([&](Team& native) { return native.start(prepared.operation); });
    return {team.handle, std::move(request), std::move(prepared.keep)};
}

PythonRequest make(NativeTeam& team, const Arguments& arguments) {
    Prepared prepared = prepare(team.handle->team(), arguments);
    Request request =
        team.handle->call([&](Team& native) { return native.prepare(prepared.operation); });
    return {team.handle, std::move(request), std::move(prepared.keep)};
}

/// The names and texts of the three forms.
struct Forms {
    std::string blocking;
    const char* text;

    [[nodiscard]] std::string nonblocking() const {
        std::string name = "I" + blocking;
        name[1] = static_cast<char>(std::tolower(static_cast<unsigned char>(name[1])));
        return name;
    }
    [[nodiscard]] std::string persistent() const { return blocking + "_init"; }
    [[nodiscard]] std::string nonblocking_text() const {
        return "Nonblocking " + blocking + ": starts it and returns a Request.";
    }
    [[nodiscard]] std::string persistent_text() const {
        return "Persistent " + blocking + ": returns a Request that can be started many times.";
    }
};

/// Binds the forms of one operation; `bind(function, name, text)` knows the arguments.
template <class Bind>
void bind_forms(const Forms& forms, const Bind& bind) {
    bind(run, forms.blocking, forms.text);
    bind(start, forms.nonblocking(), forms.nonblocking_text());
    bind(make, forms.persistent(), forms.persistent_text());
}

/// sendbuf and recvbuf.
void bind_pair(TeamClass& team, Collective op, const Forms& forms, bool vector = false) {
    bind_forms(forms, [&](auto function, const std::string& name, const std::string& text) {
        team.def(
            name.c_str(),
            [=](NativeTeam& self, nb::handle send, nb::handle recv) {
                return function(self, {op, send, recv, {}, 0, vector});
            },
            nb::arg("sendbuf").none(), nb::arg("recvbuf").none(), text.c_str());
    });
}

/// sendbuf, recvbuf and root.
void bind_rooted(TeamClass& team, Collective op, const Forms& forms, bool vector = false) {
    bind_forms(forms, [&](auto function, const std::string& name, const std::string& text) {
        team.def(
            name.c_str(),
            [=](NativeTeam& self, nb::handle send, nb::handle recv, Rank root) {
                return function(self, {op, send, recv, {}, root, vector});
            },
            nb::arg("sendbuf").none(), nb::arg("recvbuf").none(), nb::arg("root") = 0,
            text.c_str());
    });
}

/// sendbuf, recvbuf and op.
void bind_reduction(TeamClass& team, Collective op, const Forms& forms) {
    bind_forms(forms, [&](auto function, const std::string& name, const std::string& text) {
        team.def(
            name.c_str(),
            [op, function](NativeTeam& self, nb::handle send, nb::handle recv, AnyOperator with) {
                return function(self, {op, send, recv, with, 0});
            },
            nb::arg("sendbuf").none(), nb::arg("recvbuf").none(),
            nb::arg("op") = AnyOperator(Operator::sum), text.c_str());
    });
}

void bind_broadcast(TeamClass& team) {
    const Forms forms{"Bcast", "Copies the root's buffer to every rank's."};
    bind_forms(forms, [&](auto function, const std::string& name, const std::string& text) {
        team.def(
            name.c_str(),
            [function](NativeTeam& self, nb::handle data, Rank root) {
                return function(self, {Collective::broadcast, {}, data, {}, root});
            },
            nb::arg("buf").none(), nb::arg("root") = 0, text.c_str());
    });
}

void bind_reduce(TeamClass& team) {
    const Forms forms{"Reduce", "Combines all ranks' sendbuf element by element; the root's "
                                "recvbuf has the result, elsewhere it may be None."};
    bind_forms(forms, [&](auto function, const std::string& name, const std::string& text) {
        team.def(
            name.c_str(),
            [function](NativeTeam& self, nb::handle send, nb::handle recv, AnyOperator with,
                       Rank root) {
                return function(self, {Collective::reduce, send, recv, with, root});
            },
            nb::arg("sendbuf").none(), nb::arg("recvbuf").none(),
            nb::arg("op") = AnyOperator(Operator::sum), nb::arg("root") = 0, text.c_str());
    });
}

void bind_reduce_scatter(TeamClass& team) {
    const Forms forms{"Reduce_scatter", "Part r of all ranks' sendbuf, combined, becomes rank r's "
                                        "recvbuf; recvcounts has the parts' lengths."};
    bind_forms(forms, [&](auto function, const std::string& name, const std::string& text) {
        team.def(
            name.c_str(),
            [function](NativeTeam& self, nb::handle send, nb::handle recv, nb::handle counts,
                       AnyOperator with) {
                return function(self,
                                {Collective::reduce_scatter, send, recv, with, 0, true, counts});
            },
            nb::arg("sendbuf").none(), nb::arg("recvbuf").none(),
            nb::arg("recvcounts").none() = nb::none(), nb::arg("op") = AnyOperator(Operator::sum),
            text.c_str());
    });
}

/// Parts may differ in length.
void bind_vectors(TeamClass& team) {
    bind_rooted(team, Collective::gather,
                {"Gatherv", "As Gather; the root's recvbuf is [buffer, counts, displacements]."},
                true);
    bind_rooted(team, Collective::scatter,
                {"Scatterv", "As Scatter; the root's sendbuf is [buffer, counts, displacements]."},
                true);
    bind_pair(team, Collective::allgather,
              {"Allgatherv", "As Allgather; recvbuf is [buffer, counts, displacements], with the "
                             "same counts on all ranks."},
              true);
    bind_pair(team, Collective::alltoall,
              {"Alltoallv", "As Alltoall; both are [buffer, counts, displacements]."}, true);
    bind_reduce_scatter(team);
}

void bind_barrier(TeamClass& team) {
    team.def(
        "Barrier",
        [](NativeTeam& self) { self.handle->call([](Team& native) { native.barrier(); }); },
        "Returns when every rank has called it.");
    team.def(
        "Ibarrier",
        [](NativeTeam& self) {
            return PythonRequest(self.handle,
                                 self.handle->call([](Team& native) { return native.ibarrier(); }),
                                 nullptr);
        },
        "Nonblocking Barrier: starts it and returns a Request.");
    team.def(
        "Barrier_init",
        [](NativeTeam& self) {
            return PythonRequest(
                self.handle, self.handle->call([](Team& native) { return native.barrier_init(); }),
                nullptr);
        },
        "Persistent Barrier: returns a Request that can be started many times.");
}

/// What objects.py makes the collectives of objects of.
void bind_parts_of_object_calls(nb::module_& module, TeamClass& team) {
    module.def(
        "object_contents",
        [](const std::string& called, std::optional<Operator> with) {
            return detail::object_identity(collective_from_string(called), with);
        },
        nb::arg("called"), nb::arg("operator").none() = nb::none(),
        "What ranks compare of a call of objects: which one it is, and its operator.");
    team.def(
        "native_part",
        [](NativeTeam& self, std::uint32_t contents, const std::string& op, nb::handle send,
           nb::handle recv, Rank root, bool is_vector) {
            run(self, {collective_from_string(op), send, recv, {}, root, is_vector, {}, contents});
        },
        nb::arg("contents"), nb::arg("op"), nb::arg("sendbuf").none(), nb::arg("recvbuf").none(),
        nb::arg("root") = 0, nb::arg("vector") = false,
        "A collective on buffers that is a part of one on objects.");
}

} // namespace

void bind_collectives(nb::module_& module, TeamClass& team) {
    bind_parts_of_object_calls(module, team);
    bind_barrier(team);
    bind_broadcast(team);
    bind_reduce(team);
    bind_reduction(team, Collective::allreduce,
                   {"Allreduce", "Combines all ranks' sendbuf into every rank's recvbuf."});
    bind_rooted(team, Collective::gather,
                {"Gather", "Rank r's sendbuf becomes part r of the root's recvbuf, which has size "
                           "times as many elements; elsewhere recvbuf may be None."});
    bind_rooted(team, Collective::scatter,
                {"Scatter", "Part r of the root's sendbuf becomes rank r's recvbuf; elsewhere "
                            "sendbuf may be None."});
    bind_pair(team, Collective::allgather,
              {"Allgather", "As Gather, with the result on every rank."});
    bind_pair(team, Collective::alltoall,
              {"Alltoall", "Part q of rank p's sendbuf becomes part p of rank q's recvbuf."});
    bind_reduction(team, Collective::reduce_scatter,
                   {"Reduce_scatter_block",
                    "Part r of all ranks' sendbuf, combined, becomes rank r's recvbuf."});
    bind_reduction(team, Collective::scan,
                   {"Scan", "Rank r's recvbuf has the sendbufs of the ranks 0 to r combined."});
    bind_reduction(team, Collective::exscan,
                   {"Exscan", "As Scan, of the ranks 0 to r - 1; that of rank 0 is left alone."});
    bind_vectors(team);
}

} // namespace corymb::python
