// SPDX-License-Identifier: Apache-2.0
// Every function of <corymb.h>, as c_functions.py finds them, with arguments that are NULL, freed,
// something else, or inherited by a forked child. A handle's address that comes first is one to
// act on; elsewhere it is for the result.
#include <corymb.h>

#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <set>
#include <string>
#include <sys/wait.h>
#include <type_traits>
#include <unistd.h>

namespace corymb {

namespace {

/// `empty`: the address of a handle that is NULL.
enum class Given { nothing, empty, freed, foreign, inherited };

/// A handle of each kind.
struct World {
    corymb_thread_team* group = nullptr;
    corymb_team* team = nullptr;
    corymb_team* other_team = nullptr;
    corymb_request* request = nullptr;
    corymb_call* call = nullptr;
    corymb_process_team* process_team = nullptr;
    corymb_mailbox_group* mailbox_group = nullptr;
    corymb_mailbox* mailbox = nullptr;
    corymb_broadcast_ring* ring = nullptr;
    corymb_broadcast_publisher* publisher = nullptr;
    corymb_broadcast_reader* reader = nullptr;
    corymb_multicast_group* multicast_group = nullptr;
    corymb_multicast* multicast = nullptr;
    corymb_multicast_token* token = nullptr;
    corymb_remote_group* remote_group = nullptr;
    corymb_remote* remote = nullptr;
    corymb_remote_call* remote_call = nullptr;
    corymb_remote_reply* remote_reply = nullptr;
};

#define EACH_KIND(kind)                                                                            \
    kind(corymb_thread_team, group) kind(corymb_team, team) kind(corymb_request, request)          \
        kind(corymb_call, call) kind(corymb_process_team, process_team)                            \
            kind(corymb_mailbox_group, mailbox_group) kind(corymb_mailbox, mailbox)                \
                kind(corymb_broadcast_ring, ring) kind(corymb_broadcast_publisher, publisher)      \
                    kind(corymb_broadcast_reader, reader)                                          \
                        kind(corymb_multicast_group, multicast_group)                              \
                            kind(corymb_multicast, multicast) kind(corymb_multicast_token, token)  \
                                kind(corymb_remote_group, remote_group)                            \
                                    kind(corymb_remote, remote)                                    \
                                        kind(corymb_remote_call, remote_call)                      \
                                            kind(corymb_remote_reply, remote_reply)

template <class T>
struct Kind : std::false_type {};
#define DEFINE_KIND(type, member)                                                                  \
    template <>                                                                                    \
    struct Kind<type> : std::true_type {                                                           \
        static type*& of(World& world) {                                                           \
            return world.member;                                                                   \
        }                                                                                          \
    };
EACH_KIND(DEFINE_KIND)
#undef DEFINE_KIND

World live, freed;

void ok(corymb_status status) {
    ASSERT_EQ(status, CORYMB_OK) << corymb_last_error();
}

corymb_status do_nothing(void* /*context*/) {
    return CORYMB_OK;
}

/// Both ranks are on one node: no function of the carrier is called.
void spread(corymb_team* team, int rank) {
    constexpr int node_of_rank[] = {0, 0};
    corymb_carrier carrier;
    corymb_carrier_init(&carrier);
    carrier.send = [](void*, const void*, size_t, int, int, int, uint64_t*) {
        return 1;
    };
    carrier.receive = [](void*, void*, size_t, int, int, uint64_t*) {
        return 1;
    };
    carrier.test = [](void*, uint64_t, int*, size_t*, int*) {
        return 1;
    };
    carrier.abandon = [](void*, uint64_t) {
    };
    carrier.lanes = carrier.own_lanes = 1;
    corymb_cluster_options options;
    corymb_cluster_options_init(&options);
    options.node_of_rank = node_of_rank;
    options.size = 2;
    options.rank = rank;
    ok(corymb_team_over_nodes(team, &carrier, &options));
}

void make(World& world, bool over_nodes) {
    int descriptor = -1;
    corymb_attach_options attach;
    corymb_attach_options_init(&attach);
    ok(corymb_make_team_descriptor(1, &descriptor));
    attach.descriptor = descriptor;
    ok(corymb_process_team_create(&attach, &world.process_team));
    ::close(descriptor);
    ok(corymb_thread_team_create(2, nullptr, &world.group));
    ok(corymb_thread_team_join(world.group, 0, &world.team));
    ok(corymb_thread_team_join(world.group, 1, &world.other_team));
    if (over_nodes) {
        spread(world.team, 0);
        spread(world.other_team, 1);
    }
    ok(corymb_barrier_init(world.team, &world.request));
    ok(corymb_call_create(CORYMB_ALLREDUCE, 1, CORYMB_INT, CORYMB_SUM, 0, world.team, &world.call));
    ok(corymb_mailbox_group_create(2, nullptr, &world.mailbox_group));
    ok(corymb_mailbox_group_join(world.mailbox_group, 0, &world.mailbox));
    ok(corymb_broadcast_ring_create(nullptr, &world.ring));
    ok(corymb_broadcast_ring_publisher(world.ring, &world.publisher));
    ok(corymb_broadcast_ring_reader(world.ring, CORYMB_BROADCAST_BLOCK, CORYMB_BROADCAST_NEXT,
                                    &world.reader));
    ok(corymb_multicast_group_create(2, nullptr, &world.multicast_group));
    ok(corymb_multicast_group_initiator(world.multicast_group, 0, &world.multicast));
    ok(corymb_multicast_call(world.multicast, do_nothing, nullptr, &world.token));
    ok(corymb_remote_group_create(2, nullptr, &world.remote_group));
    ok(corymb_remote_group_join(world.remote_group, 0, &world.remote));
    const auto keep = [](corymb_remote_request* request, void* reply) {
        return corymb_remote_later(request, static_cast<corymb_remote_reply**>(reply));
    };
    ok(corymb_remote_offer(world.remote, "f", keep, &world.remote_reply));
    ok(corymb_remote_begin(world.remote, 0, "f", nullptr, 0, &world.remote_call));
    ok(corymb_remote_serve(world.remote, 0, nullptr));
}

void end(World world) {
    ok(corymb_remote_reply_free(&world.remote_reply));
    ok(corymb_remote_call_free(&world.remote_call));
    ok(corymb_remote_free(&world.remote));
    ok(corymb_remote_group_free(&world.remote_group));
    ok(corymb_multicast_token_free(&world.token));
    ok(corymb_multicast_free(&world.multicast));
    ok(corymb_multicast_group_free(&world.multicast_group));
    ok(corymb_broadcast_reader_free(&world.reader));
    ok(corymb_broadcast_publisher_free(&world.publisher));
    ok(corymb_broadcast_ring_free(&world.ring));
    ok(corymb_mailbox_free(&world.mailbox));
    ok(corymb_mailbox_group_free(&world.mailbox_group));
    ok(corymb_call_free(&world.call));
    ok(corymb_request_free(&world.request));
    ok(corymb_team_free(&world.team));
    ok(corymb_team_free(&world.other_team));
    ok(corymb_thread_team_free(&world.group));
    ok(corymb_process_team_free(&world.process_team));
}

alignas(64) std::array<char, 1 << 16> room;

template <class R, class... A>
R stub(A... /*unused*/) {
    return R();
}

/// The handle that a parameter of this kind gets.
template <class Handle>
Handle* handle(Given given) {
    switch (given) {
    case Given::freed: return Kind<Handle>::of(freed);
    case Given::inherited: return Kind<Handle>::of(live);
    case Given::foreign:
        return std::is_same_v<Handle, corymb_thread_team> ? reinterpret_cast<Handle*>(live.team)
                                                          : reinterpret_cast<Handle*>(live.group);
    case Given::nothing:
    case Given::empty: break;
    }
    return nullptr;
}

/// A handle behind a pointer, which functions may set to NULL.
template <class Handle>
Handle** place_of_handle(Given given) {
    static Handle* place;
    place = handle<Handle>(given);
    return &place;
}

template <class T>
struct Argument {
    static T of(Given /*given*/) { return T(); }
    static constexpr bool is_handle = false;
};
template <>
struct Argument<std::size_t> {
    static std::size_t of(Given /*given*/) { return 1; }
    static constexpr bool is_handle = false;
};
template <class T>
struct Argument<T*> {
    using Bare = std::remove_const_t<T>;
    static constexpr bool is_handle = Kind<Bare>::value;
    static T* of(Given given) {
        if constexpr (is_handle) {
            return handle<Bare>(given);
        } else if constexpr (std::is_pointer_v<Bare>) {
            using Pointed = std::remove_const_t<std::remove_pointer_t<Bare>>;
            if constexpr (Kind<Pointed>::value) {
                return given == Given::nothing ? nullptr : place_of_handle<Pointed>(given);
            }
        }
        room.fill(0);
        return given == Given::nothing ? nullptr : reinterpret_cast<T*>(room.data());
    }
};
/// Values that would be accepted, so that only the handle can be refused.
template <>
struct Argument<const corymb_operation*> {
    static constexpr bool is_handle = false;
    static const corymb_operation* of(Given given) {
        static corymb_operation barrier;
        corymb_operation_init(&barrier);
        return given == Given::nothing ? nullptr : &barrier;
    }
};
template <>
struct Argument<corymb_statistics*> {
    static constexpr bool is_handle = false;
    static corymb_statistics* of(Given given) {
        static corymb_statistics counted;
        corymb_statistics_init(&counted);
        return given == Given::nothing ? nullptr : &counted;
    }
};
template <class R, class... A>
struct Argument<R (*)(A...)> {
    using Function = R (*)(A...);
    static constexpr bool is_handle = false;
    static Function of(Given given) {
        return given == Given::nothing ? nullptr : static_cast<Function>(stub<R, A...>);
    }
};

/// What a call has returned; CORYMB_OK when it returns no status.
template <class R, class... A>
corymb_status call(R (*function)(A...) noexcept, Given given) {
    if constexpr (std::is_same_v<R, corymb_status>) {
        return function(Argument<A>::of(given)...);
    } else {
        static_cast<void>(function(Argument<A>::of(given)...));
        return CORYMB_OK;
    }
}

template <class T>
constexpr bool is_address = false;
template <class Handle>
constexpr bool is_address<Handle**> = Kind<Handle>::value;

template <class... A>
constexpr bool takes_address = false;
template <class First, class... Others>
constexpr bool takes_address<First, Others...> = is_address<First>;

/// Where a function finds the handle that it acts on.
enum class Takes { nothing, handle, address };
template <class R, class... A>
constexpr Takes takes_of(R (* /*function*/)(A...) noexcept) {
    return !std::is_same_v<R, corymb_status> ? Takes::nothing
           : takes_address<A...>             ? Takes::address
           : (Argument<A>::is_handle || ...) ? Takes::handle
                                             : Takes::nothing;
}

template <class Body>
void each_function(const Body& body) {
#define C_FUNCTION(name)                                                                           \
    body(#name, [](Given given) { return call(&(name), given); }, takes_of(&(name)));
#include "c_functions.inc"
#undef C_FUNCTION
}

/// Parameter: the team is one over nodes.
class CSweep : public testing::TestWithParam<bool> {
protected:
    void SetUp() override {
        make(freed, GetParam());
        end(freed);
        make(live, GetParam());
    }
    void TearDown() override { end(live); }
};

TEST_P(CSweep, SurvivesNull) {
    int of_addresses = 0;
    each_function([&](const char* name, const auto& call_with, Takes takes) {
        const corymb_status status = call_with(Given::nothing);
        if (takes != Takes::nothing) {
            EXPECT_EQ(status, CORYMB_INVALID_ARGUMENT) << name;
        }
        of_addresses += takes == Takes::address ? 1 : 0;
    });
    EXPECT_GE(of_addresses, 20);
}

TEST_P(CSweep, SurvivesTheAddressOfNoHandle) {
    each_function([](const char* name, const auto& call_with, Takes takes) {
        if (takes == Takes::address) {
            const corymb_status status = call_with(Given::empty);
            EXPECT_TRUE(status == CORYMB_OK || status == CORYMB_INVALID_ARGUMENT) << name;
        }
    });
}

TEST_P(CSweep, RefusesWhatIsNoHandleAnyMore) {
    each_function([](const char* name, const auto& call_with, Takes takes) {
        if (takes == Takes::nothing) {
            return; // Functions that make something would only leave it behind.
        }
        EXPECT_EQ(call_with(Given::freed), CORYMB_INVALID_ARGUMENT) << name;
        EXPECT_EQ(call_with(Given::foreign), CORYMB_INVALID_ARGUMENT) << name;
    });
}

bool is_free(const char* name) {
    return std::string(name).ends_with("_free");
}

TEST_P(CSweep, RefusesWhatAForkedChildHasInherited) {
    // They look, or begin nothing.
    const std::set<std::string> harmless{"corymb_mailbox_group_make_descriptor",
                                         "corymb_mailbox_group_protocol",
                                         "corymb_mailbox_group_reason",
                                         "corymb_broadcast_ring_make_descriptor",
                                         "corymb_multicast_group_make_descriptor",
                                         "corymb_multicast_group_topology",
                                         "corymb_process_team_ranks",
                                         "corymb_wait_all"}; // The request is not started.
    const pid_t child = ::fork();
    if (child == 0) {
        ::alarm(60);
        int let_through = 0;
        each_function([&](const char* name, const auto& call_with, Takes takes) {
            if (takes == Takes::nothing || harmless.contains(name) || is_free(name)) {
                return;
            }
            const corymb_status status = call_with(Given::inherited);
            if (status != CORYMB_INVALID_ARGUMENT) {
                std::fprintf(stderr, "in a forked child %s: %s\n", name,
                             corymb_status_name(status));
                ++let_through;
            }
        });
        // A child may free what it has inherited; the parent's handles stay as they are.
        each_function([](const char* name, const auto& call_with, Takes takes) {
            if (takes != Takes::nothing && is_free(name)) {
                static_cast<void>(call_with(Given::inherited));
            }
        });
        ::_exit(let_through == 0 ? 0 : 1);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
}

INSTANTIATE_TEST_SUITE_P(Teams, CSweep, testing::Bool(),
                         [](const auto& given) { return given.param ? "OverNodes" : "OnOneNode"; });

} // namespace

} // namespace corymb
