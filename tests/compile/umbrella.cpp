// SPDX-License-Identifier: Apache-2.0
// <corymb/corymb.hpp> is enough for everything public.
#include <corymb/corymb.hpp>

namespace {

template <class... T>
constexpr bool are_complete = ((sizeof(T) > 0) && ...);

static_assert(are_complete<corymb::AttachOptions, corymb::BroadcastRing, corymb::Carried,
                           corymb::Error, corymb::Insides, corymb::KernelCopy, corymb::Machine,
                           corymb::MailboxGroup, corymb::MulticastGroup, corymb::Packed<double>,
                           corymb::Plan, corymb::PlanRequest, corymb::ProcessTeam, corymb::Request,
                           corymb::Team, corymb::TeamOptions, corymb::Timeline,
                           corymb::ValueIndex<double>, corymb::WaitPolicy, corymb::barrier<>>);

} // namespace
