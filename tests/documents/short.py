# SPDX-License-Identifier: Apache-2.0
"""Short blocks of Python on pages, run by tests/python/test_documents.py."""

import corymb


def work(team):
    return team.allreduce(1)


def first_page():
    results = corymb.run(work, 4)
    print(results)
    return results


def choose_messages():
    machine, why = corymb.cached_machine()
    group = corymb.MailboxGroup(8, machine=machine)
    print(group.protocol, "-", group.reason)
    return why


def total(numbers, ranks=2):
    """May be called from anywhere: no main module is needed."""

    def work(team):
        return team.allreduce(sum(numbers[team.rank :: team.size]))

    return corymb.run(work, ranks, threads=True)[0]


if __name__ == "__main__":
    assert first_page() == [4, 4, 4, 4]
    choose_messages()
    assert total(list(range(10))) == 45
