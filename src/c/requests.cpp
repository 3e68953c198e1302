// SPDX-License-Identifier: Apache-2.0
// Completing and starting operations under way.
#include "c/give_back.hpp"
#include "c/handles.hpp"

#include <algorithm>
#include <cstddef>
#include <exception>
#include <optional>
#include <utility>
#include <vector>

using namespace corymb;

namespace {

/// Acts at the end of a call that may have completed the operation: gives back a request that is
/// empty now, with whatever outcome.
class Settled {
public:
    explicit Settled(corymb_request** request) noexcept : request_(request) {}
    Settled(const Settled&) = delete;
    Settled& operator=(const Settled&) = delete;
    ~Settled() {
        if (*request_ != nullptr && !(*request_)->request.valid()) {
            c::free_request(*std::exchange(*request_, nullptr));
        }
    }

private:
    corymb_request** request_;
};

/// After a completion without an error: an operator of the user's may have spoilt the result.
void look_at_operator(const corymb_request& request) {
    if (request.own_call) {
        request.own_call->throw_if_broken();
    }
}

corymb_request& checked(corymb_request** request) {
    c::require(request, "the pointer to the request");
    return c::live(*request);
}

void wait(corymb_request** request) {
    corymb_request& handle = checked(request);
    const c::InHome call(*handle.home);
    const Settled settled(request);
    handle.request.wait();
    look_at_operator(handle);
}

/// The active requests, in a row while wait_any needs them so.
class Row {
public:
    Row(corymb_request** requests, std::size_t count) {
        for (std::size_t i = 0; i < count; ++i) {
            if (requests[i] != nullptr && c::live(requests[i]).request.is_active()) {
                places_.push_back(i);
                handles_.push_back(requests[i]);
            }
        }
        // A request that is named twice is empty the second time.
        row_.reserve(handles_.size());
        were_active_.reserve(handles_.size());
        for (corymb_request* handle : handles_) {
            row_.push_back(std::move(handle->request));
            were_active_.push_back(row_.back().is_active());
        }
    }
    Row(const Row&) = delete;
    Row& operator=(const Row&) = delete;
    ~Row() {
        for (std::size_t i = 0; i < row_.size(); ++i) {
            if (row_[i].valid()) {
                handles_[i]->request = std::move(row_[i]);
            }
        }
    }
    [[nodiscard]] std::span<Request> requests() noexcept { return row_; }
    [[nodiscard]] std::size_t place(std::size_t index) const { return places_[index]; }
    /// The place of a request that has been completed since, with an error; no_request: there is
    /// none.
    [[nodiscard]] std::size_t place_of_failed() const {
        for (std::size_t i = 0; i < row_.size(); ++i) {
            if (were_active_[i] && !row_[i].is_active()) {
                return places_[i];
            }
        }
        return no_request;
    }

private:
    std::vector<std::size_t> places_;
    std::vector<corymb_request*> handles_;
    std::vector<Request> row_;
    std::vector<bool> were_active_;
};

} // namespace

corymb_status corymb_test(corymb_request** request, int* done) noexcept {
    return c::guarded([&] {
        c::require(done, "corymb_test: done");
        *done = 0;
        corymb_request& handle = checked(request);
        const c::InHome call(*handle.home);
        const Settled settled(request);
        if (handle.request.test()) {
            *done = 1;
            look_at_operator(handle);
        }
    });
}

corymb_status corymb_wait(corymb_request** request) noexcept {
    return c::guarded([&] { wait(request); });
}

corymb_status corymb_wait_all(corymb_request** requests, size_t count) noexcept {
    return c::guarded([&] {
        if (count != 0) {
            c::require(requests, "corymb_wait_all: requests");
        }
        for (std::size_t i = 0; i < count; ++i) {
            if (requests[i] != nullptr && c::live(requests[i]).request.is_active()) {
                wait(&requests[i]);
            }
        }
    });
}

corymb_status corymb_wait_any(corymb_request** requests, size_t count, size_t* index) noexcept {
    return c::guarded([&] {
        c::require(index, "corymb_wait_any: index");
        *index = CORYMB_NO_REQUEST;
        if (count != 0) {
            c::require(requests, "corymb_wait_any: requests");
        }
        std::optional<c::InHome> call; // Enters the home of the first request: all are of one team.
        if (const auto first = std::find_if(requests, requests + count, c::is_live<corymb_request>);
            first != requests + count) {
            call.emplace(*(*first)->home);
        }
        std::exception_ptr error;
        {
            Row row(requests, count);
            std::size_t place = no_request;
            try {
                const std::size_t done = wait_any(row.requests());
                place = done == no_request ? no_request : row.place(done);
            } catch (...) {
                error = std::current_exception();
                place = row.place_of_failed();
            }
            static_assert(no_request == CORYMB_NO_REQUEST);
            *index = place;
        }
        corymb_request* none = nullptr;
        const Settled settled(*index == no_request ? &none : &requests[*index]);
        if (error) {
            std::rethrow_exception(error);
        }
        if (*index != no_request) {
            look_at_operator(*requests[*index]);
        }
    });
}

corymb_status corymb_cancel(corymb_request** request, int* cancelled) noexcept {
    return c::guarded([&] {
        c::require(cancelled, "corymb_cancel: cancelled");
        *cancelled = 0;
        corymb_request& handle = checked(request);
        const c::InHome call(*handle.home);
        const Settled settled(request);
        *cancelled = handle.request.cancel() ? 1 : 0;
    });
}

corymb_status corymb_start(corymb_request* request) noexcept {
    return c::guarded([&] { c::live(request).request.start(); });
}

corymb_status corymb_start_all(corymb_request** requests, size_t count) noexcept {
    return c::guarded([&] {
        if (count != 0) {
            c::require(requests, "corymb_start_all: requests");
        }
        for (std::size_t i = 0; i < count; ++i) {
            c::live(requests[i]).request.start();
        }
    });
}

void c::give_back(corymb_request*& request) {
    corymb_request& handle = c::live(request);
    const auto call = c::InHome::to_end(*handle.home);
    request = nullptr;
    c::free_request(handle);
}

corymb_status corymb_progress(corymb_team* team, size_t* under_way) noexcept {
    return c::guarded([&] {
        const std::size_t left = c::live(team).team.progress();
        if (under_way != nullptr) {
            *under_way = left;
        }
    });
}

corymb_status corymb_complete_all(corymb_team* team) noexcept {
    return c::guarded([&] { c::live(team).team.complete_all(); });
}
