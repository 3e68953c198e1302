// SPDX-License-Identifier: Apache-2.0
// Bulk messages from each rank to each other one.
#pragma once

#include <corymb/shared_graph.hpp>
#include <corymb/team.hpp>

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

namespace corymb::partition {

using Vertex = SharedGraph::Vertex;
using Weight = SharedGraph::Weight;

/// Items for each rank.
template <class T>
using Outbox = std::vector<std::vector<T>>;

/// What has come, in the order of ranks.
template <class T>
struct Inbox {
    std::vector<T> items;
    std::vector<std::size_t> counts; ///< By sender.
};

[[nodiscard]] inline std::size_t size_of(const Team& team) noexcept {
    return static_cast<std::size_t>(team.size());
}

/// Collective. Empties the outbox.
template <class T>
Inbox<T> exchange(Team& team, Outbox<T>& outbox) {
    Inbox<T> inbox;
    if (team.size() == 1) {
        inbox.counts = {outbox[0].size()};
        inbox.items.swap(outbox[0]);
        return inbox;
    }
    std::vector<std::size_t> sent_counts;
    std::size_t total = 0;
    for (const auto& part : outbox) {
        sent_counts.push_back(part.size());
        total += part.size();
    }
    inbox.counts.resize(outbox.size());
    team.alltoall(sent_counts, inbox.counts);
    std::vector<T> sent;
    sent.reserve(total);
    for (auto& part : outbox) {
        sent.insert(sent.end(), part.begin(), part.end());
        part.clear();
    }
    std::size_t coming = 0;
    for (const std::size_t count : inbox.counts) {
        coming += count;
    }
    inbox.items.resize(coming);
    team.alltoallv(sent, {sent_counts}, inbox.items, {inbox.counts});
    return inbox;
}

/// Collective. Answers questions: `inbox` has those of all ranks, and the answers to the own ones
/// come in the order in which they were asked, by ranks.
template <class Answer, class Question, class Reply>
std::vector<Answer> answer(Team& team, const Inbox<Question>& inbox,
                           const std::vector<std::size_t>& asked_counts, Reply&& reply) {
    std::vector<Answer> answers;
    answers.reserve(inbox.items.size());
    for (const Question& question : inbox.items) {
        answers.push_back(reply(question));
    }
    if (team.size() == 1) {
        return answers;
    }
    std::size_t total = 0;
    for (const std::size_t count : asked_counts) {
        total += count;
    }
    std::vector<Answer> mine(total);
    team.alltoallv(std::span<const Answer>(answers), {inbox.counts}, std::span<Answer>(mine),
                   {asked_counts});
    return mine;
}

/// Collective. value_of(local) of the vertex `ids[i]` of `graph`, asked from its owner, for each i.
/// prepare(asked) comes before, with what other ranks have asked this one.
template <class Answer, class ValueOf, class Prepare>
std::vector<Answer> fetch(Team& team, const SharedGraph& graph, std::span<const Vertex> ids,
                          ValueOf&& value_of, Prepare&& prepare) {
    const auto is_own = [&](Vertex id) {
        return id - graph.first() < graph.own();
    };
    Outbox<Vertex> questions(size_of(team));
    for (const Vertex id : ids) {
        if (!is_own(id)) {
            questions[static_cast<std::size_t>(graph.owner(id))].push_back(id);
        }
    }
    std::vector<std::size_t> counts;
    std::vector<std::size_t> next;
    std::size_t total = 0;
    for (const auto& part : questions) {
        counts.push_back(part.size());
        next.push_back(total);
        total += part.size();
    }
    const Inbox<Vertex> asked = exchange(team, questions);
    questions = {};
    prepare(asked.items);
    const auto answers = answer<Answer>(team, asked, counts, [&](Vertex id) {
        return static_cast<Answer>(value_of(id - graph.first()));
    });
    std::vector<Answer> values;
    values.reserve(ids.size());
    for (const Vertex id : ids) {
        values.push_back(is_own(id) ? static_cast<Answer>(value_of(id - graph.first()))
                                    : answers[next[static_cast<std::size_t>(graph.owner(id))]++]);
    }
    return values;
}

} // namespace corymb::partition
