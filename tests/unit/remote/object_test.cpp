// SPDX-License-Identifier: Apache-2.0
#include "remote/among.hpp"

#include <corymb/remote.hpp>
#include <corymb/remote_object.hpp>
#include <corymb/this_task.hpp>

#include <atomic>
#include <gtest/gtest.h>
#include <stdexcept>

namespace corymb {
namespace {

class Account {
public:
    explicit Account(long balance) : balance_(balance) { ++alive; }
    Account(const Account&) = delete;
    Account& operator=(const Account&) = delete;
    virtual ~Account() { --alive; }
    long add(long amount) { return balance_ += amount; }
    [[nodiscard]] long balance() const noexcept { return balance_; }
    Task<> wait_for(long amount) {
        while (balance_ < amount) {
            co_await this_task::yield();
        }
    }
    static inline std::atomic<int> alive{0};

private:
    long balance_;
};

struct Padding {
    long bytes[3];
    virtual ~Padding() = default;
};
struct Savings : Padding, Account {
    explicit Savings(long balance) : Account(balance) {}
};

TEST(RemoteObject, MethodsRunWhereTheObjectIs) {
    among(2, [](Rank rank) -> Task<> {
        const Remote<Account> account = co_await create<Account>(1 - rank, 10L);
        EXPECT_EQ(account.rank(), 1 - rank);
        EXPECT_EQ(account.local(), nullptr);
        EXPECT_EQ(co_await account.call<&Account::add>(5L), 15);
        EXPECT_EQ(co_await account.call<&Account::balance>(), 15);
        Spawned<void> waits = spawn([](Remote<Account> of) -> Task<> {
            co_await of.call<&Account::wait_for>(20L);
        }(account));
        co_await account.tell<&Account::add>(5L);
        co_await waits;
        co_await account.destroy();
        try {
            co_await account.call<&Account::balance>();
            ADD_FAILURE() << "the object is gone";
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), Errc::invalid_argument);
        }
    });
    EXPECT_EQ(Account::alive, 0);
}

TEST(RemoteObject, PointersTravelAndCompare) {
    among(3, [](Rank rank) -> Task<> {
        const Remote<Account> own = co_await create<Account>(rank, 1L);
        EXPECT_NE(own.local(), nullptr);
        EXPECT_EQ(own.local()->balance(), 1);
        const auto use = [](Remote<Account> of) -> Task<Remote<Account>> {
            co_await of.call<&Account::add>(1L);
            co_return of;
        };
        for (Rank to = 0; to < 3; ++to) {
            EXPECT_EQ(co_await at(to, use, own), own);
        }
        EXPECT_EQ(own.local()->balance(), 4);
        EXPECT_FALSE(Remote<Account>());
        EXPECT_TRUE(own);
    });
    EXPECT_EQ(Account::alive, 0) << "a rank that leaves ends its objects";
}

TEST(RemoteObject, BasesAreFound) {
    among(2, [](Rank rank) -> Task<> {
        const Remote<Savings> savings = co_await create<Savings>(1 - rank, 3L);
        const Remote<Account> account = savings;
        EXPECT_EQ(co_await account.call<&Account::add>(4L), 7);
        EXPECT_EQ(co_await savings.call<&Savings::balance>(), 7);
    });
}

TEST(RemoteObject, AnOfferedObjectIsNotEnded) {
    among(2, [](Rank rank) -> Task<> {
        Account mine(rank);
        const Remote<Account> offered = offer(mine);
        EXPECT_EQ(offered.local(), &mine);
        EXPECT_EQ(co_await at(
                      1 - rank,
                      [](Remote<Account> of) -> Task<long> {
                          co_return co_await of.call<&Account::add>(10L);
                      },
                      offered),
                  rank + 10);
        co_await offered.destroy();
        EXPECT_EQ(mine.balance(), rank + 10);
    });
}

TEST(RemoteObject, EndsAfterTheCallsThatUseIt) {
    among(1, [](Rank) -> Task<> {
        const Remote<Account> account = co_await create<Account>(0, 0L);
        Account* const place = account.local();
        Spawned<void> waits = spawn([](Remote<Account> of) -> Task<> {
            co_await of.call<&Account::wait_for>(1L);
        }(account));
        for (int i = 0; i < 5; ++i) {
            co_await this_task::yield();
        }
        co_await account.destroy();
        EXPECT_EQ(Account::alive, 1);
        place->add(1);
        co_await waits;
        EXPECT_EQ(Account::alive, 0);
    });
}

TEST(RemoteObject, AnExceptionOfAConstructorArrives) {
    struct Refuses {
        explicit Refuses(int) { throw std::length_error("no"); }
    };
    among(2, [](Rank rank) -> Task<> {
        try {
            co_await create<Refuses>(1 - rank, 1);
            ADD_FAILURE() << "nothing thrown";
        } catch (const std::length_error&) {
        }
    });
}

} // namespace
} // namespace corymb
