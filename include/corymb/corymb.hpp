// SPDX-License-Identifier: Apache-2.0
// Everything at once.
#pragma once

#include <corymb/active_message.hpp>
#include <corymb/barrier.hpp>
#include <corymb/broadcast_ring.hpp>
#include <corymb/cluster.hpp>
#include <corymb/cluster_planner.hpp>
#include <corymb/discover.hpp>
#include <corymb/error.hpp>
#include <corymb/hooks.hpp>
#include <corymb/machine.hpp>
#include <corymb/mailbox.hpp>
#include <corymb/mailbox_model.hpp>
#include <corymb/multicast.hpp>
#include <corymb/multicast_model.hpp>
#include <corymb/operators.hpp>
#include <corymb/plan.hpp>
#include <corymb/planner.hpp>
#include <corymb/request.hpp>
#include <corymb/simulate.hpp>
#include <corymb/team.hpp>
#include <corymb/trace.hpp>
#include <corymb/usable_cpus.hpp>
#include <corymb/version.hpp>
