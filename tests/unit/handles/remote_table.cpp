// SPDX-License-Identifier: Apache-2.0
#include "handles/table.hpp"

#include <chrono>
#include <stop_token>

namespace corymb::handles {

namespace {

Task<> nothing() {
    co_return;
}

} // namespace

const Calls<Scheduler>& scheduler_calls() {
    static const Calls<Scheduler> all{
        {"Scheduler::run", Kind::acts,
         [](Scheduler& s) {
             s.run(nothing());
         }},
        {"Scheduler::spawn", Kind::acts,
         [](Scheduler& s) {
             static_cast<void>(s.spawn(nothing()));
         }},
        {"Scheduler::spawn (token)", Kind::acts,
         [](Scheduler& s) {
             static_cast<void>(s.spawn(nothing(), std::stop_token()));
         }},
        {"Scheduler::poll", Kind::acts,
         [](Scheduler& s) {
             static_cast<void>(s.poll());
         }},
        {"Scheduler::request_stop", Kind::acts,
         [](Scheduler& s) {
             s.request_stop();
         }},
        {"Scheduler::stop_token", Kind::acts,
         [](Scheduler& s) {
             static_cast<void>(s.stop_token());
         }},
        {"Scheduler::descriptor", Kind::acts,
         [](Scheduler& s) {
             static_cast<void>(s.descriptor());
         }},
        {"Scheduler::size", Kind::asks,
         [](Scheduler& s) {
             static_cast<void>(s.size());
         }},
    };
    return all;
}

const Calls<RemoteRank>& remote_rank_calls() {
    static const Calls<RemoteRank> all{
        {"RemoteRank::run", Kind::acts,
         [](RemoteRank& r) {
             r.run(nothing());
         }},
        {"RemoteRank::scheduler", Kind::looks,
         [](RemoteRank& r) {
             static_cast<void>(r.scheduler());
         }},
        {"RemoteRank::rank", Kind::asks,
         [](RemoteRank& r) {
             static_cast<void>(r.rank());
         }},
        {"RemoteRank::size", Kind::asks,
         [](RemoteRank& r) {
             static_cast<void>(r.size());
         }},
    };
    return all;
}

const Calls<RemoteGroup>& remote_group_calls() {
    static const Calls<RemoteGroup> all{
        {"RemoteGroup::join", Kind::any_thread,
         [](RemoteGroup& g) {
             static_cast<void>(g.join(1));
         }},
        {"RemoteGroup::make_descriptor", Kind::looks,
         [](RemoteGroup& g) {
             static_cast<void>(g.make_descriptor());
         }},
        {"RemoteGroup::size", Kind::looks,
         [](RemoteGroup& g) {
             static_cast<void>(g.size());
         }},
    };
    return all;
}

const Calls<NamedCall>& named_call_calls() {
    static const Calls<NamedCall> all{
        {"NamedCall::test", Kind::acts_if_any,
         [](NamedCall& c) {
             static_cast<void>(c.test());
         }},
        {"NamedCall::wait", Kind::acts,
         [](NamedCall& c) {
             c.wait(std::chrono::milliseconds(1));
         }},
        {"NamedCall::then", Kind::acts_if_any,
         [](NamedCall& c) {
             c.then([] {});
         }},
        {"NamedCall::is_over", Kind::asks,
         [](NamedCall& c) {
             static_cast<void>(c.is_over());
         }},
        {"NamedCall::valid", Kind::asks,
         [](NamedCall& c) {
             static_cast<void>(c.valid());
         }},
    };
    return all;
}

const Calls<NamedReply>& named_reply_calls() {
    static const Calls<NamedReply> all{
        {"NamedReply::answer", Kind::acts,
         [](NamedReply& r) {
             r.answer({});
         }},
        {"NamedReply::fail", Kind::acts,
         [](NamedReply& r) {
             r.fail(nullptr);
         }},
        {"NamedReply::stop_token", Kind::asks,
         [](NamedReply& r) {
             static_cast<void>(r.stop_token());
         }},
        {"NamedReply::valid", Kind::asks,
         [](NamedReply& r) {
             static_cast<void>(r.valid());
         }},
    };
    return all;
}

} // namespace corymb::handles
