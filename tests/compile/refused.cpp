// SPDX-License-Identifier: Apache-2.0
// What does not compile. The compiler's text for each marked line says the words behind it. A type
// is refused once for all, so each line has types of its own.
#include <corymb/corymb.hpp>

#include <array>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

namespace {

template <int>
struct Own {
    int value = 0;
};
struct Holder {
    const char* name;
};

} // namespace

template <>
inline constexpr bool corymb::is_plain_data<Holder> = false;

void values(corymb::Team& team) {
    Own<0> own;
    team.broadcast(&own);                     // refused: points to
    team.broadcast(std::ref(own));            // refused: points to
    team.broadcast(std::optional<Own<1>*>()); // refused: points to
    using Either = std::variant<int, std::span<Own<2>, 3>>;
    team.broadcast(Either());                          // refused: points to
    team.broadcast(std::pair(1, 2));                   // refused: move a struct
    team.broadcast(std::tuple(1, std::string_view())); // refused: move a struct
    team.broadcast(Holder{});                          // refused: points to
    std::array<std::array<Own<3>*, 2>, 2> pointers{};
    team.broadcast(pointers); // refused: points to
    Own<6> other;
    team.allreduce(&other);                // refused: points to
    team.allreduce(std::vector<Own<4>>()); // refused: pass two buffers
    team.allreduce(Own<5>());              // refused: cannot combine two
}

void buffers(corymb::Team& team, const std::vector<Own<10>>& constant) {
    std::string_view text = "text";
    std::vector<int> in(3);
    std::vector<long> longs(3);
    std::vector<Own<11>> own(3);
    std::vector<Own<12>> others(3);
    team.broadcast(text);                      // refused: elements are const
    team.recv(constant, 1);                    // refused: elements are const
    team.allreduce(in, longs);                 // refused: different types
    team.gather(own, std::vector<Own<11>>(6)); // refused: gone after the call
    team.isend(std::vector<Own<12>>(3), 1);    // refused: until it is complete
    team.send<double>(others, 1);              // refused: than the one that is named
    team.send(std::array<Own<13>*, 2>(), 1);   // refused: points to
    std::vector<std::string_view> words(3);
    team.alltoall(words, words); // refused: points to
}

void pointers(corymb::Team& team, const std::vector<int>& in, corymb::Parts parts) {
    Own<14>* const a = nullptr;
    Own<15>* const b = nullptr;
    Own<16>* const c = nullptr;
    Own<17>* const d = nullptr;
    Own<18>* const e = nullptr;
    Own<19>* const f = nullptr;
    team.allreduce(a, a);                        // refused: points to
    team.allreduce(b, b, std::plus<>());         // refused: points to
    team.gather(c, in, 1);                       // refused: points to
    static_cast<void>(team.ibroadcast(d));       // refused: points to
    static_cast<void>(team.recv_init(e, 1));     // refused: points to
    team.scan(corymb::strided(&f, 1, 1, 1), in); // refused: points to
    std::vector<int> out(3);
    team.gatherv(in, corymb::strided(&out[0], 3, 1, 1), parts); // refused: lie in one piece
}

void layouts(corymb::Team& team, std::vector<long>& longs, std::vector<Own<20>>& own) {
    int number = 0;
    const auto layout = corymb::strided(&number, 1, 1, 1);
    team.allreduce(layout, longs);                   // refused: different types
    team.broadcast<float>(layout);                   // refused: than the one that is named
    static_cast<void>(team.iallreduce(               // refused: cannot combine two
        corymb::strided(own.data(), 1, 1, 1), own)); // the operator of Own is missing
    static_cast<void>(team.igather(std::vector<int>(1), layout)); // refused: until it is complete
    team.scatter(layout, std::array<int, 1>());                   // refused: gone after the call
}

void messages(corymb::Mailbox& box, corymb::Multicast& multicast,
              corymb::BroadcastPublisher& publisher, corymb::BroadcastReader& reader) {
    box.send_value(1, std::span<Own<30>>());      // refused: points to
    box.probe_values<Own<31>*>([](auto&&...) {}); // refused: points to
    Own<33>* const no_one = nullptr;
    multicast.send(no_one);                                         // refused: points to
    publisher.publish_value(std::vector<Own<34>>().begin());        // refused: points to
    reader.probe_values<std::optional<Own<35>*>>([](auto&&...) {}); // refused: points to
}
