// SPDX-License-Identifier: Apache-2.0
// MPI's functions that complete something, mostly requests. Requests of the MPI go straight to it.
// In an array that also has corymb's requests, the MPI finds null in their places.
#include "below/mpi_progress.hpp"
#include "below/small_list.hpp"
#include "below/tuning.hpp"
#include "below/unless_done.hpp"
#include "requests/completed_messages.hpp"
#include "requests/polling.hpp"
#include "requests/request_trials.hpp"
#include "requests/requests.hpp"

#include <sched.h>

using namespace corymb::mpi;

#define CORYMB_MPI_ENTRY extern "C" __attribute__((visibility("default")))

namespace {

/// Around each function that completes requests.
class Completing {
public:
    Completing(int count, const MPI_Request* requests) noexcept
        : attempts_(count, requests), messages_(count, requests) {}

private:
    CompletionWatch attempts_;
    CompletedMessages messages_;
};

/// Writes the status that MPI gives to requests without an operation.
void set_empty(MPI_Status* status) noexcept {
    MPI_Request none = host().request_null;
    int flag = 0;
    host().Test(&none, &flag, status);
}

void set_empty_at(MPI_Status* statuses, int place) noexcept {
    if (statuses != MPI_STATUSES_IGNORE) {
        set_empty(statuses + place);
        statuses[place].MPI_ERROR = MPI_SUCCESS;
    }
}

/// Calls `call` for the MPI's requests of an array. In the places of corymb's requests it finds
/// null, because some MPIs refuse inactive requests in some functions. The MPI's requests as `call`
/// leaves them go to `back`, if that is not null.
template <class Call>
int with_others(int count, const MPI_Request* requests, const Call& call,
                MPI_Request* back = nullptr) {
    const auto length = static_cast<std::size_t>(count);
    SmallList<MPI_Request, 16> others;
    SmallList<bool, 16>
        are_own; // Afterwards another thread may have the handle of one that is complete.
    try {
        others.reserve(length);
        are_own.reserve(length);
    } catch (const std::exception&) {
        return MPI_ERR_NO_MEM;
    }
    for (std::size_t i = 0; i < length; ++i) {
        are_own.push_back(find_request(requests[i]) != nullptr);
        others.push_back(are_own[i] ? host().request_null : requests[i]);
    }
    const auto give_back = [&] {
        for (std::size_t i = 0; back != nullptr && i < length; ++i) {
            if (!are_own[i]) {
                back[i] = others[i];
            }
        }
    };
    const UnlessDone at_the_end(give_back);
    return call(others.data());
}

/// As with_others, for functions in which the MPI gives requests back, or sets them to null.
template <class Call>
int with_others_back(int count, MPI_Request* requests, const Call& call) {
    return with_others(count, requests, call, requests);
}

/// MPI_Waitall of the MPI's own, one after the other: after an error MPI_Testall leaves some that
/// MPI_Waitall completes, or forgets the error.
int wait_in_order(int count, MPI_Request* requests, MPI_Status* statuses) {
    const bool has_statuses = statuses != MPI_STATUSES_IGNORE;
    int outcome = MPI_SUCCESS;
    for (int i = 0; i < count; ++i) {
        const int error = wait_below(requests[i], has_statuses ? &statuses[i] : MPI_STATUS_IGNORE);
        for (int k = 0; has_statuses && error != MPI_SUCCESS && outcome == MPI_SUCCESS && k < i;
             ++k) {
            statuses[k].MPI_ERROR = MPI_SUCCESS;
        }
        outcome = error != MPI_SUCCESS ? MPI_ERR_IN_STATUS : outcome;
        if (has_statuses && outcome != MPI_SUCCESS) {
            statuses[i].MPI_ERROR = error;
        }
    }
    return outcome;
}

int wait_for_all(int count, MPI_Request* requests, MPI_Status* statuses) {
    return count > 0 && must_poll() ? wait_in_order(count, requests, statuses)
                                    : host().Waitall(count, requests, statuses);
}

/// The handler belongs to the communicator, which may go together with its last request.
int raise_and_complete(Requested& requested, MPI_Request* request) {
    const auto end = [&] {
        complete(requested, request);
    };
    const UnlessDone at_the_end(end);
    return raise_error(requested, requested.error);
}

/// The request is over: tells the program, as MPI_Wait does.
int tell(Requested& requested, MPI_Request* request, MPI_Status* status) {
    if (status != MPI_STATUS_IGNORE) {
        set_empty(status);
    }
    if (requested.error == MPI_SUCCESS) {
        return complete(requested, request);
    }
    return raise_and_complete(requested, request);
}

/// Whether all of corymb's requests among them are over. Looks at least at one that is not, which
/// goes on with all of its communicator, and at all of other communicators.
bool are_over(int count, const MPI_Request* requests) noexcept {
    const Requested* waits = nullptr;
    for (int i = 0; i < count; ++i) {
        Requested* const own = find_request(requests[i]);
        if (own == nullptr || (waits != nullptr && own->communicator == waits->communicator)) {
            continue;
        }
        if (!poll(*own)) {
            waits = own;
        }
    }
    return waits == nullptr;
}

/// All are over and the MPI has written all statuses, with `result`: completes corymb's.
int tell_all(int count, MPI_Request* requests, MPI_Status* statuses, int result) {
    int error = MPI_SUCCESS;
    for (int i = 0; i < count; ++i) {
        Requested* const own = find_request(requests[i]);
        if (own == nullptr) {
            continue;
        }
        if (own->error != MPI_SUCCESS) {
            // Statuses of the other requests are not written.
            if (error == MPI_SUCCESS && result == MPI_SUCCESS) {
                for (int k = 0; statuses != MPI_STATUSES_IGNORE && k < count; ++k) {
                    statuses[k].MPI_ERROR = MPI_SUCCESS;
                }
            }
            error = MPI_ERR_IN_STATUS;
            if (statuses != MPI_STATUSES_IGNORE) {
                statuses[i].MPI_ERROR = own->error;
            }
            raise_and_complete(*own, &requests[i]);
            continue;
        }
        complete(*own, &requests[i]);
    }
    return error != MPI_SUCCESS ? error : result;
}

/// The first of corymb's that is over and active, or -1; `others` are active and not over.
int find_over(int count, const MPI_Request* requests, bool& others) noexcept {
    others = false;
    for (int i = 0; i < count; ++i) {
        Requested* const own = find_request(requests[i]);
        if (own != nullptr && own->is_active) {
            if (poll(*own)) {
                return i;
            }
            others = true;
        }
    }
    return -1;
}

/// Completes one if it can. `flag` is also set when none is active.
int test_any(int count, MPI_Request* requests, int* index, int* flag, MPI_Status* status) {
    bool others = false;
    const int place = find_over(count, requests, others);
    if (place >= 0) {
        *index = place;
        *flag = 1;
        return tell(*find_request(requests[place]), &requests[place], status);
    }
    const int result = with_others_back(count, requests, [&](MPI_Request* list) {
        return host().Testany(count, list, index, flag, status);
    });
    if (others && *flag != 0 && *index == MPI_UNDEFINED) {
        *flag = 0;
    }
    return result;
}

/// Completes all that it can; `*outcount` is MPI_UNDEFINED when none is active.
int test_some(int count, MPI_Request* requests, int* outcount, int* indices, MPI_Status* statuses) {
    int result = with_others_back(count, requests, [&](MPI_Request* others) {
        return host().Testsome(count, others, outcount, indices, statuses);
    });
    int found = *outcount == MPI_UNDEFINED ? 0 : *outcount;
    bool is_active = *outcount != MPI_UNDEFINED;
    for (int i = 0; i < count; ++i) {
        Requested* const own = find_request(requests[i]);
        if (own == nullptr || !own->is_active) {
            continue;
        }
        is_active = true;
        if (!poll(*own)) {
            continue;
        }
        set_empty_at(statuses, found);
        indices[found] = i;
        if (own->error != MPI_SUCCESS) {
            if (statuses != MPI_STATUSES_IGNORE) {
                for (int k = 0; k < found && result == MPI_SUCCESS; ++k) {
                    statuses[k].MPI_ERROR = MPI_SUCCESS; // The MPI has not said so.
                }
                statuses[found].MPI_ERROR = own->error;
            }
            result = MPI_ERR_IN_STATUS;
            raise_and_complete(*own, &requests[i]);
        } else {
            complete(*own, &requests[i]);
        }
        ++found;
    }
    *outcount = is_active ? found : MPI_UNDEFINED;
    return result;
}

/// Corymb's of that handle, or null. MPI itself refuses a null pointer.
Requested* own_of(const MPI_Request* request) noexcept {
    return has_requests() && request != nullptr ? find_request(*request) : nullptr;
}

/// Between two looks of a wait.
void pause(int looks) noexcept {
    progress_mpi();
    if (looks > tuning::polls_awake) {
        sched_yield();
    }
}

bool has_own(int count, const MPI_Request* requests) noexcept {
    for (int i = 0; has_requests() && i < count; ++i) {
        if (find_request(requests[i]) != nullptr) {
            return true;
        }
    }
    return false;
}

} // namespace

CORYMB_MPI_ENTRY int MPI_Wait(MPI_Request* request, MPI_Status* status) {
    const Completing watch(1, request);
    Requested* const own = own_of(request);
    if (own == nullptr) {
        return must_poll() && request != nullptr ? wait_below(*request, status)
                                                 : host().Wait(request, status);
    }
    wait_for(*own);
    return tell(*own, request, status);
}

CORYMB_MPI_ENTRY int MPI_Test(MPI_Request* request, int* flag, MPI_Status* status) {
    const Completing watch(1, request);
    Requested* const own = own_of(request);
    if (own == nullptr) {
        go_on_before_poll();
        return host().Test(request, flag, status);
    }
    *flag = poll(*own) ? 1 : 0;
    if (*flag == 0) {
        progress_mpi_briefly();
        return MPI_SUCCESS;
    }
    return tell(*own, request, status);
}

CORYMB_MPI_ENTRY int MPI_Waitall(int count, MPI_Request* requests, MPI_Status* statuses) {
    const Completing watch(count, requests);
    if (!has_own(count, requests)) {
        return wait_for_all(count, requests, statuses);
    }
    for (int i = 0; i < count; ++i) {
        if (Requested* const own = find_request(requests[i])) {
            wait_for(*own);
        }
    }
    const int result = with_others_back(count, requests, [&](MPI_Request* others) {
        return wait_for_all(count, others, statuses);
    });
    return tell_all(count, requests, statuses, result);
}

CORYMB_MPI_ENTRY int MPI_Testall(int count, MPI_Request* requests, int* flag,
                                 MPI_Status* statuses) {
    const Completing watch(count, requests);
    if (!has_own(count, requests)) {
        go_on_before_poll();
        return host().Testall(count, requests, flag, statuses);
    }
    *flag = 0;
    if (!are_over(count, requests)) {
        progress_mpi_briefly();
        return MPI_SUCCESS;
    }
    const int result = with_others_back(count, requests, [&](MPI_Request* others) {
        return host().Testall(count, others, flag, statuses);
    });
    return *flag != 0 ? tell_all(count, requests, statuses, result) : result;
}

CORYMB_MPI_ENTRY int MPI_Waitany(int count, MPI_Request* requests, int* index, MPI_Status* status) {
    const Completing watch(count, requests);
    if (!has_own(count, requests)) {
        return must_poll() ? wait_by_polling([&](int& flag) {
            return host().Testany(count, requests, index, &flag, status);
        })
                           : host().Waitany(count, requests, index, status);
    }
    for (int looks = 0;; ++looks) {
        int flag = 0;
        const int result = test_any(count, requests, index, &flag, status);
        if (flag != 0 || result != MPI_SUCCESS) {
            return result;
        }
        pause(looks);
    }
}

CORYMB_MPI_ENTRY int MPI_Testany(int count, MPI_Request* requests, int* index, int* flag,
                                 MPI_Status* status) {
    const Completing watch(count, requests);
    if (has_own(count, requests)) {
        return test_any(count, requests, index, flag, status);
    }
    go_on_before_poll();
    return host().Testany(count, requests, index, flag, status);
}

CORYMB_MPI_ENTRY int MPI_Waitsome(int count, MPI_Request* requests, int* outcount, int* indices,
                                  MPI_Status* statuses) {
    const Completing watch(count, requests);
    if (!has_own(count, requests)) {
        return must_poll() ? wait_by_polling([&](int& flag) {
            const int result = host().Testsome(count, requests, outcount, indices, statuses);
            flag = *outcount;
            return result;
        })
                           : host().Waitsome(count, requests, outcount, indices, statuses);
    }
    for (int looks = 0;; ++looks) {
        const int result = test_some(count, requests, outcount, indices, statuses);
        if (*outcount != 0 || result != MPI_SUCCESS) {
            return result;
        }
        pause(looks);
    }
}

CORYMB_MPI_ENTRY int MPI_Testsome(int count, MPI_Request* requests, int* outcount, int* indices,
                                  MPI_Status* statuses) {
    const Completing watch(count, requests);
    if (has_own(count, requests)) {
        return test_some(count, requests, outcount, indices, statuses);
    }
    go_on_before_poll();
    return host().Testsome(count, requests, outcount, indices, statuses);
}

CORYMB_MPI_ENTRY int MPI_Request_get_status(MPI_Request request, int* flag, MPI_Status* status) {
    Requested* const own = own_of(&request);
    if (own == nullptr) {
        go_on_before_poll();
        return host().Request_get_status(request, flag, status);
    }
    *flag = poll(*own) ? 1 : 0;
    if (*flag == 0) {
        progress_mpi_briefly();
    } else if (status != MPI_STATUS_IGNORE) {
        set_empty(status);
    }
    return MPI_SUCCESS;
}

CORYMB_MPI_ENTRY int MPI_Request_free(MPI_Request* request) {
    Requested* const own = own_of(request);
    if (own == nullptr) {
        const CompletedMessages message(1, request);
        return host().Request_free(request);
    }
    if (own->is_active) { // MPI forbids it.
        return raise_error(*own, MPI_ERR_REQUEST);
    }
    free_request(*own, request);
    return MPI_SUCCESS;
}

/// MPI's own barrier has seen all messages before it; after corymb's barrier the MPI may first have
/// to look, and MPICH reports its findings only at the next call.
CORYMB_MPI_ENTRY int MPI_Win_test(MPI_Win window, int* flag) {
    const int result = host().Win_test(window, flag);
    return result == MPI_SUCCESS && *flag == 0 ? host().Win_test(window, flag) : result;
}

CORYMB_MPI_ENTRY int MPI_Cancel(MPI_Request* request) {
    Requested* const own = own_of(request);
    return own == nullptr ? host().Cancel(request) : raise_error(*own, MPI_ERR_REQUEST);
}

CORYMB_MPI_ENTRY int MPI_Start(MPI_Request* request) {
    Requested* const own = own_of(request);
    if (own == nullptr) {
        return host().Start(request);
    }
    const int error = start(*own);
    return error == MPI_SUCCESS ? error : raise_error(*own, error);
}

CORYMB_MPI_ENTRY int MPI_Startall(int count, MPI_Request* requests) {
    if (!has_own(count, requests)) {
        return host().Startall(count, requests);
    }
    for (int i = 0; i < count; ++i) {
        const int error = MPI_Start(&requests[i]);
        if (error != MPI_SUCCESS) {
            return error;
        }
    }
    return MPI_SUCCESS;
}

#if CORYMB_MPI_HAS_GET_STATUS_ALL

CORYMB_MPI_ENTRY int MPI_Request_get_status_all(int count, const MPI_Request* requests, int* flag,
                                                MPI_Status* statuses) {
    if (!has_own(count, requests)) {
        go_on_before_poll();
        return host().Request_get_status_all(count, requests, flag, statuses);
    }
    if (!are_over(count, requests)) {
        *flag = 0;
        progress_mpi_briefly();
        return MPI_SUCCESS;
    }
    return with_others(count, requests, [&](const MPI_Request* others) {
        return host().Request_get_status_all(count, others, flag, statuses);
    });
}

CORYMB_MPI_ENTRY int MPI_Request_get_status_any(int count, const MPI_Request* requests, int* index,
                                                int* flag, MPI_Status* status) {
    if (!has_own(count, requests)) {
        go_on_before_poll();
        return host().Request_get_status_any(count, requests, index, flag, status);
    }
    bool others = false;
    const int place = find_over(count, requests, others);
    if (place >= 0) {
        *index = place;
        *flag = 1;
        if (status != MPI_STATUS_IGNORE) {
            set_empty(status);
        }
        return MPI_SUCCESS;
    }
    const int result = with_others(count, requests, [&](const MPI_Request* list) {
        return host().Request_get_status_any(count, list, index, flag, status);
    });
    if (others && *flag != 0 && *index == MPI_UNDEFINED) {
        *flag = 0;
    }
    return result;
}

CORYMB_MPI_ENTRY int MPI_Request_get_status_some(int count, const MPI_Request* requests,
                                                 int* outcount, int* indices,
                                                 MPI_Status* statuses) {
    if (!has_own(count, requests)) {
        go_on_before_poll();
        return host().Request_get_status_some(count, requests, outcount, indices, statuses);
    }
    const int result = with_others(count, requests, [&](const MPI_Request* others) {
        return host().Request_get_status_some(count, others, outcount, indices, statuses);
    });
    int found = *outcount == MPI_UNDEFINED ? 0 : *outcount;
    bool is_active = *outcount != MPI_UNDEFINED;
    for (int i = 0; i < count; ++i) {
        Requested* const own = find_request(requests[i]);
        if (own != nullptr && own->is_active) {
            is_active = true;
            if (poll(*own)) {
                set_empty_at(statuses, found);
                indices[found++] = i;
            }
        }
    }
    *outcount = is_active ? found : MPI_UNDEFINED;
    return result;
}

#endif
