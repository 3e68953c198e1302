// SPDX-License-Identifier: Apache-2.0
#include "remote/scheduler_state.hpp"
#include "remote/team_source.hpp"
#include "team/driver.hpp"

#include <corymb/task.hpp>

#include <utility>

namespace corymb::detail {

void RequestAwait::attend(Strand& of) {
    Operation& operation = *request_->operation_;
    source_ = &of.scheduler->attend(*operation.driver);
    strand_ = &of;
    operation.notice = {[](void* self) noexcept { static_cast<RequestAwait*>(self)->note_end(); },
                        this};
}

void RequestAwait::note_end() noexcept {
    Strand& strand = *std::exchange(strand_, nullptr);
    strand.scheduler->neglect(*source_);
    strand.make_ready();
}

RequestAwait::~RequestAwait() {
    if (strand_ != nullptr) {
        request_->operation_->notice = {};
        strand_->scheduler->neglect(*source_);
    }
}

} // namespace corymb::detail
