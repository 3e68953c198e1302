// SPDX-License-Identifier: Apache-2.0
// The blocks of docs/reference/messages.md, processes.md and partition.md, to be compiled.
#include <corymb/broadcast_ring.hpp>
#include <corymb/mailbox.hpp>
#include <corymb/partition.hpp>
#include <corymb/process.hpp>
#include <corymb/shared_graph.hpp>
#include <corymb/team.hpp>

#include <chrono>
#include <cstdint>
#include <vector>

using namespace std::chrono_literals;

struct Task {
    int number;
};
struct Price {
    int symbol, cents;
};

void run(const Task& task);
void use(const Price& price, std::uint64_t missed);

void mailboxes_of_threads(int rank);
void mailboxes_of_threads(int rank) {
    corymb::MailboxGroup group(4);          // once
    corymb::Mailbox box = group.join(rank); // in each thread
    if (!box.send_value(2, Task{7})) {      /* no room until rank 2 probes */
    }
    box.probe_values<Task>([](corymb::Rank from, const Task& task) { run(task); });
}

void mailboxes_of_processes(int rank);
void mailboxes_of_processes(int rank) {
    corymb::MailboxGroup group(4, {.between_processes = true});
    const int descriptor = group.make_descriptor(); // inherited by children
    corymb::Mailbox box = corymb::MailboxGroup::open(descriptor).join(rank); // in a child
}

void mailboxes_by_name();
void mailboxes_by_name() {
    corymb::MailboxGroup group(4, {.name = "my-job"}); // the same line in each process
}

void broadcast_rings(int descriptor);
void broadcast_rings(int descriptor) {
    corymb::BroadcastRing ring({.slots = 1024, .between_processes = true});
    corymb::BroadcastPublisher publisher = ring.publisher(); // one
    publisher.publish_value(Price{7, 101});

    corymb::BroadcastRing same = corymb::BroadcastRing::open(descriptor); // in a child
    corymb::BroadcastReader reader = same.reader(corymb::BroadcastPolicy::overrun);
    while (reader.wait(1s)) {
        reader.probe_values<Price>([](const Price& price, const corymb::BroadcastMessage& message) {
            use(price, message.missed);
        });
    }
}

void launched();
void launched() {
    corymb::Team team = corymb::Team::attach();
    team.barrier();
}

void by_name();
void by_name() {
    corymb::AttachOptions options;
    options.name = "my-job";
    options.size = 4;
    corymb::Team team = corymb::Team::attach(options);
}

void graphs();
void graphs() {
    corymb::threads(4, [](corymb::Team& team) {
        const corymb::SharedGraph graph = corymb::read_graph(team, "mesh.graph");
        std::vector<int> depth(graph.own() + graph.ghosts());
        // ... sets those of own vertices: 0 to graph.own() - 1
        graph.update_ghosts<int>(team, depth); // Ghosts have the values of their owners.
    });
}

void partitions(corymb::Team& team, const corymb::SharedGraph& graph);
void partitions(corymb::Team& team, const corymb::SharedGraph& graph) {
    const corymb::Partition partition =
        corymb::partition_graph(team, graph, {.parts = 16, .imbalance = 0.03});
}
