// SPDX-License-Identifier: Apache-2.0
// Everything at once: all headers of include/corymb.
#pragma once

#include <corymb/active_message.hpp>
#include <corymb/barrier.hpp>
#include <corymb/broadcast_ring.hpp>
#include <corymb/carrier.hpp>
#include <corymb/cluster.hpp>
#include <corymb/discover.hpp>
#include <corymb/doubts.hpp>
#include <corymb/elements.hpp>
#include <corymb/error.hpp>
#include <corymb/export.hpp>
#include <corymb/hooks.hpp>
#include <corymb/kernel_copy.hpp>
#include <corymb/machine.hpp>
#include <corymb/mailbox.hpp>
#include <corymb/mailbox_model.hpp>
#include <corymb/multicast.hpp>
#include <corymb/multicast_model.hpp>
#include <corymb/operators.hpp>
#include <corymb/packed.hpp>
#include <corymb/plain_data.hpp>
#include <corymb/plan.hpp>
#include <corymb/plan_need.hpp>
#include <corymb/planner.hpp>
#include <corymb/process.hpp>
#include <corymb/rank.hpp>
#include <corymb/request.hpp>
#include <corymb/simulate.hpp>
#include <corymb/statistics.hpp>
#include <corymb/team.hpp>
#include <corymb/trace.hpp>
#include <corymb/types.hpp>
#include <corymb/usable_cpus.hpp>
#include <corymb/version.hpp>
#include <corymb/wait_policy.hpp>
