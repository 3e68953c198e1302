// SPDX-License-Identifier: Apache-2.0
// Brings all ranks to one plan. Three messages go over a tree of all ranks (node_tree.hpp): down,
// the call; up, whether the nodes allow copies between processes; down, the plan of rank 0, to each
// node the part for its ranks.
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

    /// Exchanges messages with this mark through `mail`, which carries no others meanwhile. If this
    /// object is destroyed before they are over, `mail` must abandon them first.
    PlanExchange(Station& station, Mail& mail, int mark, Answer answer);
    /// The answer is the plan for the key (Station::plan_texts).
    PlanExchange(Station& station, Mail& mail, const team::PlanKey& key, int mark)
        : PlanExchange(station, mail, mark, [&station, key](bool all_can_pull) {
              return station.plan_texts(key, all_can_pull);
          }) {}

    /// Goes on as far as it can at once; true: `text` is there. On rank 0 it answers. Throws as the
    /// carrier does, and ForeignMessage where a rank calls something else.
    [[nodiscard]] bool advance();
    /// The text of rank 0 for this rank's node; valid while this object is.
    [[nodiscard]] std::string_view text() const noexcept;
    /// The rank that is waited for.
    [[nodiscard]] Rank awaited() const noexcept;
    /// Grows with each message that has come.
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
    int mark_;
    Answer answer_;
    Stage stage_ = Stage::beginning;
    const NodeTree* tree_;
    unsigned char call_ = 0, heard_ = 0; ///< Only the marks of these messages matter.
    std::vector<unsigned char> votes_;   ///< Votes of the children, then of the rank itself.
    std::size_t voted_ = 0;
    /// The length of `text_`, and whether it is for several nodes: then each node's text has its
    /// length, as eight bytes, before it.
    Header header_{};
    std::vector<Header> headers_; ///< Headers for the children.
    std::string text_;
};

} // namespace corymb::cluster
