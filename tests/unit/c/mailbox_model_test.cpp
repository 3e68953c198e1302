// SPDX-License-Identifier: Apache-2.0
// A model of the machine that chooses the protocol of mailboxes of the C interface.
#include <corymb.h>
#include <corymb/machine.hpp>

#include <gtest/gtest.h>

#include <string>

namespace {

std::string reason_of(const corymb_mailbox_options& options) {
    corymb_mailbox_group* group = nullptr;
    EXPECT_EQ(corymb_mailbox_group_create(2, &options, &group), CORYMB_OK) << corymb_last_error();
    char* text = nullptr;
    EXPECT_EQ(corymb_mailbox_group_reason(group, &text), CORYMB_OK);
    const std::string reason = text;
    corymb_free(text);
    EXPECT_EQ(corymb_mailbox_group_free(&group), CORYMB_OK);
    return reason;
}

TEST(MailboxModelTest, ChoosesTheProtocol) {
    corymb_mailbox_options options;
    corymb_mailbox_options_init(&options);
    EXPECT_NE(reason_of(options).find("no model was given"), std::string::npos);
    const std::string model = corymb::to_json(corymb::gallery_machine("smelt-e5v2-2x10"));
    options.machine_json = model.c_str();
    EXPECT_NE(reason_of(options).find("smelt-e5v2-2x10"), std::string::npos);
    options.machine_json = "{";
    corymb_mailbox_group* group = nullptr;
    EXPECT_EQ(corymb_mailbox_group_create(2, &options, &group), CORYMB_INVALID_MODEL);
}

} // namespace
