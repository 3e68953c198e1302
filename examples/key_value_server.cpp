// SPDX-License-Identifier: Apache-2.0
// A server of keys and values, spread over the ranks. Rank 0 takes commands, as
// `printf 'set colour blue\nget colour\n' | key_value_server -`, or some of its own without `-`.
#include <corymb/rank_barrier.hpp>
#include <corymb/remote.hpp>
#include <corymb/shared_map.hpp>

#include <iostream>
#include <sstream>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace {

using Table = corymb::SharedMap<std::string, std::string>;
constexpr int size = 3;

corymb::Task<std::string> answer(Table& table, std::istringstream command) {
    std::string verb;
    std::string key;
    std::string value;
    command >> verb >> key >> value;
    if (verb == "set") {
        co_return co_await table.put(key, value) ? "new" : "changed";
    }
    if (verb == "get") {
        co_return (co_await table.get(key)).value_or("nothing");
    }
    if (verb == "delete") {
        co_return co_await table.erase(key) ? "deleted" : "nothing";
    }
    if (verb == "size") {
        co_return std::to_string(co_await table.size());
    }
    co_return "say set KEY VALUE, get KEY, delete KEY or size";
}

corymb::Task<> serve(std::istream* commands) {
    Table table("table");
    std::string line;
    while (commands != nullptr && std::getline(*commands, line)) { // The other ranks only serve.
        std::cout << co_await answer(table, std::istringstream(line)) << '\n';
    }
    co_await corymb::RankBarrier("end").arrive(); // Nobody's shard ends before.
}

} // namespace

int main(int argc, char** argv) {
    std::istringstream own("set colour blue\nset size 7\nget colour\ndelete size\nget size\nsize");
    std::istream& commands = argc > 1 && argv[1] == std::string_view("-") ? std::cin : own;
    corymb::RemoteGroup group(size);
    std::vector<std::jthread> others;
    for (corymb::Rank rank = 1; rank < size; ++rank) {
        others.emplace_back([&group, rank] { group.join(rank).run(serve(nullptr)); });
    }
    group.join(0).run(serve(&commands));
}
