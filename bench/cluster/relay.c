// SPDX-License-Identifier: Apache-2.0
// Delays what the nodes of nodes.py send, where the kernel has no netem: relay MICROSECONDS NODES.
//
// For each node K it makes the tap device tapK and passes frames between that and the interface
// toK: those that the node sends after the delay, those that it receives at once. It prints a line
// when all is there, and goes on until it is killed, or its parent ends. Frames keep the header in
// which the kernel describes segments that nobody has cut yet, so that they are few.
#define _GNU_SOURCE
#include <linux/if_packet.h>
#include <linux/if_tun.h>
#include <linux/virtio_net.h>

#include <arpa/inet.h>
#include <fcntl.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { nodes_most = 64, frame_most = 70000, queue_most = 8192 };

struct delayed {
    int64_t due_ns;
    int node;
    size_t bytes;
    char* frame;
};

static struct pollfd ends[2 * nodes_most]; // Of node K: 2 K its interface, 2 K + 1 its tap device.
static struct delayed queue[queue_most];   // The delay is one for all: first in, first out.
static size_t first, held;
static char frame[frame_most];

static void fail(const char* what) {
    fprintf(stderr, "relay: ");
    perror(what);
    exit(1);
}

static int64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static int open_interface(int node) {
    const int one = 1;
    char name[IFNAMSIZ];
    snprintf(name, sizeof name, "to%d", node);
    struct sockaddr_ll address = {.sll_family = AF_PACKET,
                                  .sll_protocol = htons(ETH_P_ALL),
                                  .sll_ifindex = (int)if_nametoindex(name)};
    const int end = socket(AF_PACKET, SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (end < 0 || address.sll_ifindex == 0 ||
        setsockopt(end, SOL_PACKET, PACKET_VNET_HDR, &one, sizeof one) != 0 ||
        setsockopt(end, SOL_PACKET, PACKET_IGNORE_OUTGOING, &one, sizeof one) != 0 ||
        bind(end, (struct sockaddr*)&address, sizeof address) != 0) {
        fail(name);
    }
    return end;
}

static int open_tap(int node) {
    struct ifreq request = {.ifr_flags = IFF_TAP | IFF_NO_PI | IFF_VNET_HDR};
    const int end = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
    snprintf(request.ifr_name, sizeof request.ifr_name, "tap%d", node);
    if (end < 0 || ioctl(end, TUNSETIFF, &request) != 0 ||
        ioctl(end, TUNSETOFFLOAD, TUN_F_CSUM | TUN_F_TSO4 | TUN_F_TSO6) != 0) {
        fail(request.ifr_name);
    }
    return end;
}

// A frame that cannot be passed on is lost, as on a wire; who has sent it sends it again.
static void pass(int end, const char* bytes, size_t count) {
    if (write(end, bytes, count) < 0) {
        return;
    }
}

static void delay(int node, size_t bytes, int64_t due_ns) {
    struct delayed* place = &queue[(first + held) % queue_most];
    char* copy = held < queue_most ? malloc(bytes) : NULL;
    if (copy == NULL) {
        return;
    }
    memcpy(copy, frame, bytes);
    *place = (struct delayed){due_ns, node, bytes, copy};
    ++held;
}

static void take(int nodes, int64_t delay_ns) {
    for (int k = 0; k < 2 * nodes; ++k) {
        ssize_t bytes = 0;
        while (ends[k].revents != 0 && (bytes = read(ends[k].fd, frame, sizeof frame)) > 0) {
            if (k % 2 == 0) {
                delay(k / 2, (size_t)bytes, now_ns() + delay_ns);
            } else {
                pass(ends[k - 1].fd, frame, (size_t)bytes);
            }
        }
    }
}

static void give_due(void) {
    while (held > 0 && queue[first].due_ns <= now_ns()) {
        pass(ends[2 * queue[first].node + 1].fd, queue[first].frame, queue[first].bytes);
        free(queue[first].frame);
        first = (first + 1) % queue_most;
        --held;
    }
}

int main(int argc, char** argv) {
    const long delay_us = argc == 3 ? atol(argv[1]) : 0;
    const int nodes = argc == 3 ? atoi(argv[2]) : 0;
    // Before the ranks, which keep all CPUs busy; it sleeps most of the time.
    const struct sched_param soon = {.sched_priority = 1};
    if (delay_us < 1 || nodes < 1 || nodes > nodes_most) {
        fputs("usage: relay MICROSECONDS NODES\n", stderr);
        return 2;
    }
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (int node = 0; node < nodes; ++node) {
        ends[2 * node] = (struct pollfd){open_interface(node), POLLIN, 0};
        ends[2 * node + 1] = (struct pollfd){open_tap(node), POLLIN, 0};
    }
    if (sched_setscheduler(0, SCHED_FIFO, &soon) != 0) {
        perror("relay: delays will be longer on a busy machine");
    }
    puts("ready");
    fflush(stdout);
    for (;;) {
        const int64_t left = held > 0 ? queue[first].due_ns - now_ns() : 1000000000;
        const struct timespec limit = {left > 0 ? left / 1000000000 : 0,
                                       left > 0 ? left % 1000000000 : 0};
        if (ppoll(ends, (nfds_t)(2 * nodes), &limit, NULL) > 0) {
            take(nodes, delay_us * 1000);
        }
        give_due();
    }
}
