// SPDX-License-Identifier: Apache-2.0
// What handles are asked for by their kind.
#include <corymb.h>

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <unistd.h>

namespace {

constexpr std::int64_t none = -77;

void ok(corymb_status status) {
    ASSERT_EQ(status, CORYMB_OK) << corymb_last_error();
}

class CNumbers : public testing::Test {
protected:
    void SetUp() override {
        ok(corymb_mailbox_group_create(3, nullptr, &group));
        ok(corymb_mailbox_group_join(group, 2, &mailbox));
        ok(corymb_broadcast_ring_create(nullptr, &ring));
        ok(corymb_broadcast_ring_publisher(ring, &publisher));
        ok(corymb_broadcast_ring_reader(ring, CORYMB_BROADCAST_BLOCK, CORYMB_BROADCAST_NEXT,
                                        &reader));
        ok(corymb_multicast_group_create(5, nullptr, &multicast_group));
        ok(corymb_multicast_group_join(multicast_group, 4, &multicast));
    }
    void TearDown() override {
        ok(corymb_multicast_free(&multicast));
        ok(corymb_multicast_group_free(&multicast_group));
        ok(corymb_broadcast_reader_free(&reader));
        ok(corymb_broadcast_publisher_free(&publisher));
        ok(corymb_broadcast_ring_free(&ring));
        ok(corymb_mailbox_free(&mailbox));
        ok(corymb_mailbox_group_free(&group));
    }

    corymb_mailbox_group* group = nullptr;
    corymb_mailbox* mailbox = nullptr;
    corymb_broadcast_ring* ring = nullptr;
    corymb_broadcast_publisher* publisher = nullptr;
    corymb_broadcast_reader* reader = nullptr;
    corymb_multicast_group* multicast_group = nullptr;
    corymb_multicast* multicast = nullptr;
};

TEST_F(CNumbers, TheTypedFunctionsTellThem) {
    EXPECT_EQ(corymb_mailbox_rank(mailbox), 2);
    EXPECT_EQ(corymb_mailbox_size(mailbox), 3);
    EXPECT_EQ(corymb_multicast_group_size(multicast_group), 5);
    EXPECT_EQ(corymb_multicast_group_members(multicast_group), 1);
    EXPECT_EQ(corymb_multicast_rank(multicast), 4);
    EXPECT_EQ(corymb_multicast_is_member(multicast), 1);
    ok(corymb_multicast_leave(multicast));
    EXPECT_EQ(corymb_multicast_is_member(multicast), 0);
    EXPECT_GE(corymb_broadcast_reader_number(reader), 0);
    ok(corymb_broadcast_publish(publisher, "a", 1, 0));
    ok(corymb_broadcast_publish(publisher, "b", 1, 0));
    EXPECT_EQ(corymb_broadcast_published(publisher), 2U);
    const auto take = [](const corymb_broadcast_message* /*message*/, void* /*context*/) {
        return CORYMB_OK;
    };
    ok(corymb_broadcast_probe(reader, take, nullptr, 1, nullptr));
    EXPECT_EQ(corymb_broadcast_last(reader), 1U);
    corymb_remote_group* ranks = nullptr;
    corymb_remote* own = nullptr;
    ok(corymb_remote_group_create(3, nullptr, &ranks));
    ok(corymb_remote_group_join(ranks, 1, &own));
    EXPECT_EQ(corymb_remote_rank(own), 1);
    EXPECT_EQ(corymb_remote_size(own), 3);
    ok(corymb_remote_free(&own));
    ok(corymb_remote_group_free(&ranks));
}

TEST_F(CNumbers, WhatAHandleHasNotIsTheCallersNumber) {
    const auto ask = [](corymb_handle_kind kind, const void* handle, corymb_number_kind number) {
        return corymb_number(kind, handle, number, none);
    };
    EXPECT_EQ(ask(CORYMB_HANDLE_MAILBOX, mailbox, CORYMB_NUMBER_SIZE), 3);
    EXPECT_EQ(ask(CORYMB_HANDLE_MAILBOX, mailbox, CORYMB_NUMBER_MEMBERS), none);
    EXPECT_EQ(ask(CORYMB_HANDLE_MAILBOX, nullptr, CORYMB_NUMBER_SIZE), none);
    EXPECT_EQ(ask(CORYMB_HANDLE_TEAM, mailbox, CORYMB_NUMBER_SIZE), none) << "of another kind";
    EXPECT_EQ(ask(CORYMB_HANDLE_MAILBOX_GROUP, group, CORYMB_NUMBER_SIZE), none);
    EXPECT_EQ(ask(CORYMB_HANDLE_MAX, mailbox, CORYMB_NUMBER_SIZE), none);
    EXPECT_EQ(ask(CORYMB_HANDLE_BROADCAST_PUBLISHER, publisher, CORYMB_NUMBER_RANK), none);
    EXPECT_EQ(ask(CORYMB_HANDLE_BROADCAST_READER, reader, CORYMB_NUMBER_SIZE), none);
    EXPECT_EQ(ask(CORYMB_HANDLE_MULTICAST, multicast, CORYMB_NUMBER_SIZE), none);
    EXPECT_EQ(ask(CORYMB_HANDLE_MULTICAST_GROUP, multicast_group, CORYMB_NUMBER_RANK), none);
}

TEST_F(CNumbers, MemoryAndDescriptorsAreRefusedWhereThereAreNone) {
    std::size_t bytes = 0;
    ok(corymb_mailbox_group_memory(group, &bytes));
    EXPECT_GT(bytes, 0U);
    bytes = 0;
    ok(corymb_broadcast_ring_memory(ring, &bytes));
    EXPECT_GT(bytes, 0U);
    EXPECT_EQ(corymb_memory(CORYMB_HANDLE_MULTICAST, multicast, &bytes), CORYMB_INVALID_ARGUMENT);
    EXPECT_NE(std::string(corymb_last_error()).find("mailbox group"), std::string::npos);
    EXPECT_EQ(corymb_memory(CORYMB_HANDLE_TEAM, group, &bytes), CORYMB_INVALID_ARGUMENT);
    EXPECT_EQ(corymb_mailbox_group_memory(group, nullptr), CORYMB_INVALID_ARGUMENT);
    int descriptor = 3;
    EXPECT_EQ(corymb_make_descriptor(CORYMB_HANDLE_TEAM, group, &descriptor),
              CORYMB_INVALID_ARGUMENT);
    EXPECT_EQ(descriptor, -1);
    EXPECT_NE(std::string(corymb_last_error()).find("corymb_make_team_descriptor"),
              std::string::npos);
    corymb_mailbox_options options;
    corymb_mailbox_options_init(&options);
    options.between_processes = 1;
    corymb_mailbox_group* shared = nullptr;
    ok(corymb_mailbox_group_create(2, &options, &shared));
    ok(corymb_mailbox_group_make_descriptor(shared, &descriptor));
    corymb_mailbox_group* opened = nullptr;
    ok(corymb_mailbox_group_open(descriptor, &opened));
    ::close(descriptor);
    ok(corymb_mailbox_group_free(&opened));
    ok(corymb_mailbox_group_free(&shared));
}

} // namespace
