// SPDX-License-Identifier: Apache-2.0
// Typed front of operations on data that does not lie in one piece: copied out, and back.
#pragma once

#include <corymb/detail/staging.hpp>
#include <corymb/packed.hpp>
#include <corymb/team.hpp>

#include <memory>
#include <string>
#include <utility>

namespace corymb {

namespace detail {

/// The elements of two layouts, each in one piece.
template <class T>
class StagedBuffers final : public Staging {
public:
    static_assert(moves_as_bytes<T>());

    /// The uses of the output by the operation. Throws Errc::invalid_argument when a function is
    /// missing: without it the operation would be in vain.
    struct Uses {
        bool is_read = false;
        bool is_written = false;
    };
    StagedBuffers(Packed<T> input, Packed<T> output, Uses output_uses)
        : input_(std::move(input)), output_(std::move(output)), uses_(output_uses),
          in_(std::make_unique_for_overwrite<T[]>(input_.count)),
          out_(std::make_unique_for_overwrite<T[]>(output_.count)) {
        require(input_.count == 0 || input_.pack, "pack");
        require(output_.count == 0 || !uses_.is_read || output_.pack, "pack");
        require(output_.count == 0 || !uses_.is_written || output_.unpack, "unpack");
    }

    [[nodiscard]] std::span<const T> input() const { return {in_.get(), input_.count}; }
    [[nodiscard]] std::span<T> output() const { return {out_.get(), output_.count}; }

    void before() override {
        if (input_.count != 0) {
            input_.pack(std::span<T>(in_.get(), input_.count));
        }
        if (uses_.is_read && output_.count != 0) {
            output_.pack(output());
        }
    }
    void after() override {
        if (uses_.is_written && output_.count != 0) {
            output_.unpack(output());
        }
    }

private:
    static void require(bool holds, const char* function) {
        if (!holds) {
            throw Error(Errc::invalid_argument, std::string("the packed layout has no function ") +
                                                    function + ", which this operation needs");
        }
    }

    Packed<T> input_;
    Packed<T> output_;
    Uses uses_;
    std::unique_ptr<T[]> in_;
    std::unique_ptr<T[]> out_;
};

template <class T>
std::shared_ptr<StagedBuffers<T>> staged(const Packed<T>& input, const Packed<T>& output,
                                         bool has_result) {
    using Uses = typename StagedBuffers<T>::Uses;
    return std::make_shared<StagedBuffers<T>>(input, output, Uses{false, has_result});
}

/// A buffer that is read on one rank and written on all others.
template <class T>
std::shared_ptr<StagedBuffers<T>> staged_in_place(const Packed<T>& data, bool is_read) {
    using Uses = typename StagedBuffers<T>::Uses;
    return std::make_shared<StagedBuffers<T>>(Packed<T>(), data, Uses{is_read, !is_read});
}

/// Packs the elements that `team` is about to send. If that throws, the others cannot get them any
/// more, and are told.
template <class T>
void pack_for(Team& team, StagedBuffers<T>& buffers) {
    try {
        buffers.before();
    } catch (...) {
        team.abandon("its function pack has thrown an exception");
        throw;
    }
}

template <class T, class Call>
void run_staged(Team& team, const std::shared_ptr<StagedBuffers<T>>& buffers, const Call& call) {
    pack_for(team, *buffers);
    call(buffers->input(), buffers->output());
    buffers->after();
}

} // namespace detail

template <class T, class Start>
Request Team::start_staged(Mode mode, std::shared_ptr<detail::StagedBuffers<T>> buffers,
                           const Start& start) {
    if (mode == Mode::nonblocking) { // A persistent one does so when it starts.
        detail::pack_for(*this, *buffers);
    }
    return keeping(start(buffers->input(), buffers->output()), buffers);
}

template <class T>
void Team::broadcast(const Packed<T>& data, Rank root) {
    detail::run_staged<T>(*this, detail::staged_in_place(data, rank() == root),
                          [&](auto /*in*/, auto out) { broadcast(out, root); });
}

template <class T>
Request Team::ibroadcast(const Packed<T>& data, Rank root) {
    return start_staged<T>(Mode::nonblocking, detail::staged_in_place(data, rank() == root),
                           [&](auto /*in*/, auto out) { return ibroadcast(out, root); });
}

template <class T>
Request Team::broadcast_init(const Packed<T>& data, Rank root) {
    return start_staged<T>(Mode::persistent, detail::staged_in_place(data, rank() == root),
                           [&](auto /*in*/, auto out) { return broadcast_init(out, root); });
}

template <class T, class Op>
void Team::reduce(const Packed<T>& input, const Packed<T>& output, Op op, Rank root) {
    detail::run_staged<T>(*this, detail::staged(input, output, rank() == root),
                          [&](auto in, auto out) { reduce(in, out, op, root); });
}

template <class T, class Op>
Request Team::ireduce(const Packed<T>& input, const Packed<T>& output, Op op, Rank root) {
    return start_staged<T>(Mode::nonblocking, detail::staged(input, output, rank() == root),
                           [&](auto in, auto out) { return ireduce(in, out, op, root); });
}

template <class T, class Op>
Request Team::reduce_init(const Packed<T>& input, const Packed<T>& output, Op op, Rank root) {
    return start_staged<T>(Mode::persistent, detail::staged(input, output, rank() == root),
                           [&](auto in, auto out) { return reduce_init(in, out, op, root); });
}

template <class T, class Op>
void Team::allreduce(const Packed<T>& input, const Packed<T>& output, Op op) {
    detail::run_staged<T>(*this, detail::staged(input, output, true),
                          [&](auto in, auto out) { allreduce(in, out, op); });
}

template <class T, class Op>
Request Team::iallreduce(const Packed<T>& input, const Packed<T>& output, Op op) {
    return start_staged<T>(Mode::nonblocking, detail::staged(input, output, true),
                           [&](auto in, auto out) { return iallreduce(in, out, op); });
}

template <class T, class Op>
Request Team::allreduce_init(const Packed<T>& input, const Packed<T>& output, Op op) {
    return start_staged<T>(Mode::persistent, detail::staged(input, output, true),
                           [&](auto in, auto out) { return allreduce_init(in, out, op); });
}

template <class T>
void Team::gather(const Packed<T>& input, const Packed<T>& output, Rank root) {
    detail::run_staged<T>(*this, detail::staged(input, output, rank() == root),
                          [&](auto in, auto out) { gather(in, out, root); });
}

template <class T>
Request Team::igather(const Packed<T>& input, const Packed<T>& output, Rank root) {
    return start_staged<T>(Mode::nonblocking, detail::staged(input, output, rank() == root),
                           [&](auto in, auto out) { return igather(in, out, root); });
}

template <class T>
Request Team::gather_init(const Packed<T>& input, const Packed<T>& output, Rank root) {
    return start_staged<T>(Mode::persistent, detail::staged(input, output, rank() == root),
                           [&](auto in, auto out) { return gather_init(in, out, root); });
}

template <class T>
void Team::scatter(const Packed<T>& input, const Packed<T>& output, Rank root) {
    detail::run_staged<T>(*this, detail::staged(rank() == root ? input : Packed<T>(), output, true),
                          [&](auto in, auto out) { scatter(in, out, root); });
}

template <class T>
Request Team::iscatter(const Packed<T>& input, const Packed<T>& output, Rank root) {
    return start_staged<T>(Mode::nonblocking,
                           detail::staged(rank() == root ? input : Packed<T>(), output, true),
                           [&](auto in, auto out) { return iscatter(in, out, root); });
}

template <class T>
Request Team::scatter_init(const Packed<T>& input, const Packed<T>& output, Rank root) {
    return start_staged<T>(Mode::persistent,
                           detail::staged(rank() == root ? input : Packed<T>(), output, true),
                           [&](auto in, auto out) { return scatter_init(in, out, root); });
}

template <class T>
void Team::allgather(const Packed<T>& input, const Packed<T>& output) {
    detail::run_staged<T>(*this, detail::staged(input, output, true),
                          [&](auto in, auto out) { allgather(in, out); });
}

template <class T>
Request Team::iallgather(const Packed<T>& input, const Packed<T>& output) {
    return start_staged<T>(Mode::nonblocking, detail::staged(input, output, true),
                           [&](auto in, auto out) { return iallgather(in, out); });
}

template <class T>
Request Team::allgather_init(const Packed<T>& input, const Packed<T>& output) {
    return start_staged<T>(Mode::persistent, detail::staged(input, output, true),
                           [&](auto in, auto out) { return allgather_init(in, out); });
}

template <class T>
void Team::alltoall(const Packed<T>& input, const Packed<T>& output) {
    detail::run_staged<T>(*this, detail::staged(input, output, true),
                          [&](auto in, auto out) { alltoall(in, out); });
}

template <class T>
Request Team::ialltoall(const Packed<T>& input, const Packed<T>& output) {
    return start_staged<T>(Mode::nonblocking, detail::staged(input, output, true),
                           [&](auto in, auto out) { return ialltoall(in, out); });
}

template <class T>
Request Team::alltoall_init(const Packed<T>& input, const Packed<T>& output) {
    return start_staged<T>(Mode::persistent, detail::staged(input, output, true),
                           [&](auto in, auto out) { return alltoall_init(in, out); });
}

template <class T, class Op>
void Team::reduce_scatter(const Packed<T>& input, const Packed<T>& output, Op op) {
    detail::run_staged<T>(*this, detail::staged(input, output, true),
                          [&](auto in, auto out) { reduce_scatter(in, out, op); });
}

template <class T, class Op>
Request Team::ireduce_scatter(const Packed<T>& input, const Packed<T>& output, Op op) {
    return start_staged<T>(Mode::nonblocking, detail::staged(input, output, true),
                           [&](auto in, auto out) { return ireduce_scatter(in, out, op); });
}

template <class T, class Op>
Request Team::reduce_scatter_init(const Packed<T>& input, const Packed<T>& output, Op op) {
    return start_staged<T>(Mode::persistent, detail::staged(input, output, true),
                           [&](auto in, auto out) { return reduce_scatter_init(in, out, op); });
}

template <class T, class Op>
void Team::scan(const Packed<T>& input, const Packed<T>& output, Op op) {
    detail::run_staged<T>(*this, detail::staged(input, output, true),
                          [&](auto in, auto out) { scan(in, out, op); });
}

template <class T, class Op>
Request Team::iscan(const Packed<T>& input, const Packed<T>& output, Op op) {
    return start_staged<T>(Mode::nonblocking, detail::staged(input, output, true),
                           [&](auto in, auto out) { return iscan(in, out, op); });
}

template <class T, class Op>
Request Team::scan_init(const Packed<T>& input, const Packed<T>& output, Op op) {
    return start_staged<T>(Mode::persistent, detail::staged(input, output, true),
                           [&](auto in, auto out) { return scan_init(in, out, op); });
}

template <class T, class Op>
void Team::exscan(const Packed<T>& input, const Packed<T>& output, Op op) {
    detail::run_staged<T>(*this, detail::staged(input, output, rank() != 0),
                          [&](auto in, auto out) { exscan(in, out, op); });
}

template <class T, class Op>
Request Team::iexscan(const Packed<T>& input, const Packed<T>& output, Op op) {
    return start_staged<T>(Mode::nonblocking, detail::staged(input, output, rank() != 0),
                           [&](auto in, auto out) { return iexscan(in, out, op); });
}

template <class T, class Op>
Request Team::exscan_init(const Packed<T>& input, const Packed<T>& output, Op op) {
    return start_staged<T>(Mode::persistent, detail::staged(input, output, rank() != 0),
                           [&](auto in, auto out) { return exscan_init(in, out, op); });
}

template <class T>
void Team::send(const Packed<T>& data, Rank to) {
    detail::run_staged<T>(*this, detail::staged(data, Packed<T>(), false),
                          [&](auto in, auto /*out*/) { send(in, to); });
}

template <class T>
Request Team::isend(const Packed<T>& data, Rank to) {
    return start_staged<T>(Mode::nonblocking, detail::staged(data, Packed<T>(), false),
                           [&](auto in, auto /*out*/) { return isend(in, to); });
}

template <class T>
Request Team::send_init(const Packed<T>& data, Rank to) {
    return start_staged<T>(Mode::persistent, detail::staged(data, Packed<T>(), false),
                           [&](auto in, auto /*out*/) { return send_init(in, to); });
}

template <class T>
void Team::recv(const Packed<T>& data, Rank from) {
    detail::run_staged<T>(*this, detail::staged(Packed<T>(), data, true),
                          [&](auto /*in*/, auto out) { recv(out, from); });
}

template <class T>
Request Team::irecv(const Packed<T>& data, Rank from) {
    return start_staged<T>(Mode::nonblocking, detail::staged(Packed<T>(), data, true),
                           [&](auto /*in*/, auto out) { return irecv(out, from); });
}

template <class T>
Request Team::recv_init(const Packed<T>& data, Rank from) {
    return start_staged<T>(Mode::persistent, detail::staged(Packed<T>(), data, true),
                           [&](auto /*in*/, auto out) { return recv_init(out, from); });
}

} // namespace corymb
