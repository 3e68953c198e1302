// SPDX-License-Identifier: Apache-2.0
// How all ranks come to the same plan: down a binomial tree over all of them goes for which call it
// is, up whether their nodes allow copies between processes, down what rank 0 has planned.
#pragma once

#include "cluster/mail.hpp"
#include "cluster/station.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace corymb::cluster {

class PlanExchange {
public:
    /// Rank 0 answers to whether all nodes allow copies between processes.
    using Answer = std::function<std::string(bool all_can_pull)>;

    /// Of messages with this mark, which `mail` carries; there are no others on it meanwhile. If
    /// this goes before they are over, `mail` must abandon them first.
    PlanExchange(Station& station, Mail& mail, const team::PlanKey& key, int mark, Answer answer);
    /// The answer is the plan for the key (Station::plan_text).
    PlanExchange(Station& station, Mail& mail, const team::PlanKey& key, int mark)
        : PlanExchange(station, mail, key, mark, [&station, key](bool all_can_pull) {
              return station.plan_text(key, all_can_pull);
          }) {}

    /// Goes on as far as it can at once; true: `text` is that of all ranks. On rank 0 it answers.
    /// Throws as the carrier does, and Errc::mismatch where a rank calls something else.
    [[nodiscard]] bool advance();
    /// Of rank 0.
    [[nodiscard]] const std::string& text() const noexcept { return text_; }
    /// Who is waited for.
    [[nodiscard]] Rank awaited() const noexcept;
    /// Grows with what has come.
    [[nodiscard]] std::size_t moves() const noexcept {
        return static_cast<std::size_t>(stage_) + voted_;
    }

private:
    enum class Stage : std::uint8_t { beginning, call, votes, length, text, handing_on, over };

    void begin();
    [[nodiscard]] bool collect();
    [[nodiscard]] bool has_come(std::size_t bytes);
    void vote();
    void hand_on();

    Station* station_;
    Mail* mail_;
    team::PlanKey key_;
    int mark_;
    Answer answer_;
    Stage stage_ = Stage::beginning;
    Rank parent_ = -1;
    std::vector<Rank> children_;         ///< The nearest first.
    unsigned char call_ = 0, heard_ = 0; ///< Only their marks matter.
    std::vector<unsigned char> votes_;   ///< Of the children, then the rank's own.
    std::size_t voted_ = 0;
    std::uint64_t length_ = 0;
    std::string text_;
};

} // namespace corymb::cluster
