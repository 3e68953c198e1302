// SPDX-License-Identifier: Apache-2.0
// A table of words, spread over the ranks: each rank counts the words whose hash is its own.
#include <corymb/remote.hpp>
#include <corymb/remote_object.hpp>

#include <cstdio>
#include <functional>
#include <map>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr int size = 3;

class Words {
public:
    void count(const std::string& word) { ++counts_[word]; }
    [[nodiscard]] long of(const std::string& word) const {
        const auto found = counts_.find(word);
        return found == counts_.end() ? 0 : found->second;
    }

private:
    std::map<std::string, long> counts_;
};

using Table = std::vector<corymb::Remote<Words>>;

const corymb::Remote<Words>& part_of(const Table& table, const std::string& word) {
    return table[std::hash<std::string>()(word) % table.size()];
}

/// Runs on each rank. The words are counted where they belong.
corymb::Task<> count_all(Table table) {
    for (int i = 0; i < 1000; ++i) {
        const std::string word = "word " + std::to_string(i % 7);
        co_await part_of(table, word).tell<&Words::count>(word);
    }
}

corymb::Task<> lead() {
    Table table;
    for (corymb::Rank rank = 0; rank < size; ++rank) {
        table.push_back(co_await corymb::create<Words>(rank));
    }
    co_await corymb::finish([&]() -> corymb::Task<> {
        for (corymb::Rank rank = 0; rank < size; ++rank) {
            co_await corymb::tell<&count_all>(rank, table);
        }
    });
    const std::string word = "word 3";
    std::printf("%d ranks have counted '%s' %ld times\n", size, word.c_str(),
                co_await part_of(table, word).call<&Words::of>(word));
}

} // namespace

int main() {
    corymb::RemoteGroup group(size);
    std::vector<std::jthread> others;
    for (corymb::Rank rank = 1; rank < size; ++rank) {
        others.emplace_back([&group, rank] {
            group.join(rank).run([]() -> corymb::Task<> {
                co_return;
            }()); // Serves the others.
        });
    }
    group.join(0).run(lead());
}
