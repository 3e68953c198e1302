// SPDX-License-Identifier: Apache-2.0
// How all ranks come to the same plan: down a tree over all of them (node_tree.hpp) goes for which
// call it is, up whether their nodes allow copies between processes, down what rank 0 has planned:
// to each node what concerns its ranks.
#pragma once

#include "cluster/mail.hpp"
#include "cluster/node_tree.hpp"
#include "cluster/station.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

namespace corymb::cluster {

class PlanExchange {
public:
    /// Rank 0 answers to whether all nodes allow copies between processes.
    using Answer = std::function<Texts(bool all_can_pull)>;

    /// Of messages with this mark, which `mail` carries; there are no others on it meanwhile. If
    /// this goes before they are over, `mail` must abandon them first.
    PlanExchange(Station& station, Mail& mail, const team::PlanKey& key, int mark, Answer answer);
    /// The answer is the plan for the key (Station::plan_texts).
    PlanExchange(Station& station, Mail& mail, const team::PlanKey& key, int mark)
        : PlanExchange(station, mail, key, mark, [&station, key](bool all_can_pull) {
              return station.plan_texts(key, all_can_pull);
          }) {}

    /// Goes on as far as it can at once; true: `text` is there. On rank 0 it answers. Throws as the
    /// carrier does, and Errc::mismatch where a rank calls something else.
    [[nodiscard]] bool advance();
    /// What rank 0 says to this rank's node; valid while this is.
    [[nodiscard]] std::string_view text() const noexcept;
    /// Who is waited for.
    [[nodiscard]] Rank awaited() const noexcept;
    /// Grows with what has come.
    [[nodiscard]] std::size_t moves() const noexcept {
        return static_cast<std::size_t>(stage_) + voted_;
    }

private:
    enum class Stage : std::uint8_t { beginning, call, votes, header, text, handing_on, over };
    struct Header {
        std::uint64_t length = 0;
        std::uint64_t has_parts = 0;
    };

    void begin();
    [[nodiscard]] bool collect();
    [[nodiscard]] bool has_come(std::size_t bytes);
    void vote();
    void lay_out(const Texts& texts);
    [[nodiscard]] std::string_view text_for(NodeRange nodes) const noexcept;
    void hand_on();

    Station* station_;
    Mail* mail_;
    team::PlanKey key_;
    int mark_;
    Answer answer_;
    Stage stage_ = Stage::beginning;
    const NodeTree* tree_;
    unsigned char call_ = 0, heard_ = 0; ///< Only their marks matter.
    std::vector<unsigned char> votes_;   ///< Of the children, then the rank's own.
    std::size_t voted_ = 0;
    /// How long `text_` is, and whether it is for several nodes: then each one's has its length, as
    /// eight bytes, before it.
    Header header_{};
    std::vector<Header> headers_; ///< Of the children.
    std::string text_;
};

} // namespace corymb::cluster
