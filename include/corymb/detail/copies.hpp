// SPDX-License-Identifier: Apache-2.0
// Copies of pieces of a shared structure that ranks keep until the owner of a piece changes it. The
// owner knows who has one. After the fixed managers of Li, Hudak: Memory Coherence in Shared
// Virtual Memory Systems (1989), with all changes done by the owner.
//
// A change of pieces, on their owner:
//   1. from now on nobody who fetches one of them may keep it;
//   2. all ranks that may have one forget it, and say so;
//   3. the change is made, at once;
//   4. they may be kept again.
// So there is no copy when a change is made. A value that is on its way meanwhile is used once: the
// rank that has asked for it was told to forget it before it came, or is told after.
#pragma once

#include <corymb/detail/remote_function.hpp>
#include <corymb/distributed.hpp>
#include <corymb/export.hpp>
#include <corymb/rank.hpp>
#include <corymb/task.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

namespace corymb::detail {

/// A piece of a structure, as all ranks number it.
using Piece = std::uint64_t;

/// What a rank knows of the copies of a structure: those that it keeps itself, and who may keep
/// copies of its own pieces. For the thread of its rank.
class CORYMB_EXPORT Copies : public std::enable_shared_from_this<Copies> {
public:
    /// `most_bytes`: of values that are kept. With one more, all others are dropped.
    explicit Copies(std::size_t most_bytes) noexcept : most_bytes_(most_bytes) {}

    // Pieces of other ranks.
    /// Null: there is no copy. Good until the task waits. The type is that of `keep`.
    template <class T>
    [[nodiscard]] const T* find(Piece piece) const noexcept {
        const auto found = kept_.find(piece);
        return found == kept_.end() ? nullptr : static_cast<const T*>(found->second.value.get());
    }
    /// As `find`, good as long as it is held.
    template <class T>
    [[nodiscard]] std::shared_ptr<const T> share(Piece piece) const noexcept {
        const auto found = kept_.find(piece);
        return found == kept_.end() ? nullptr
                                    : std::static_pointer_cast<const T>(found->second.value);
    }
    /// From before a piece is asked for until it has come.
    class CORYMB_EXPORT Fetch {
    public:
        Fetch(std::shared_ptr<Copies> to, Piece piece);
        Fetch(Fetch&& other) noexcept = default;
        Fetch& operator=(Fetch&&) = delete;
        ~Fetch();
        /// The owner allows to keep it.
        void keep(std::shared_ptr<const void> value, std::size_t bytes);

    private:
        std::shared_ptr<Copies> copies_; ///< Null: moved from.
        Piece piece_;
        std::uint64_t forgotten_; ///< How often, when it began.
    };
    void forget(const std::vector<Piece>& pieces) noexcept;
    void forget_all() noexcept { drop_all(true); }
    [[nodiscard]] std::size_t kept_bytes() const noexcept { return kept_bytes_; }

    // Pieces of this rank.
    /// Notes that the rank gets one. Whether it may keep it.
    [[nodiscard]] bool hand_out(Piece piece, Rank to);
    /// Whether a change of it has to wait.
    [[nodiscard]] bool is_kept(Piece piece) const noexcept { return owned_.contains(piece); }
    /// Calls `change` when no rank has a copy of one of these, and gives its result. Several
    /// messages in a row, about log2 of the ranks that have copies. A rank that has gone has none.
    /// `change` may give a task: until that ends, others read the pieces and keep no copies. Throws
    /// Errc::interrupted, and what `change` throws.
    template <class F>
    auto change(std::vector<Piece> pieces, F change)
        -> Task<typename ResultOf<std::invoke_result_t<F&>>::Type> {
        const Changing changing(*this, std::move(pieces));
        co_await changing.recall();
        if constexpr (is_task<std::invoke_result_t<F&>>) {
            co_return co_await change();
        } else {
            co_return change();
        }
    }

    /// All that this class has allocated, without the values that are kept.
    [[nodiscard]] std::size_t overhead() const noexcept;

private:
    friend class CopiesPlace;
    struct Kept {
        std::shared_ptr<const void> value; ///< Null: there is no copy.
        std::size_t bytes = 0;
        std::size_t fetches = 0;     ///< That are under way.
        std::uint64_t forgotten = 0; ///< How often.
    };
    /// Invariant: it has holders or changes.
    struct Owned {
        std::vector<Rank> holders; ///< In order. They may have copies.
        std::size_t changes = 0;   ///< That are under way.
    };
    class CORYMB_EXPORT Changing {
    public:
        Changing(Copies& of, std::vector<Piece> pieces);
        Changing(const Changing&) = delete;
        Changing& operator=(const Changing&) = delete;
        ~Changing();
        /// All ranks forget the pieces.
        [[nodiscard]] inline Task<> recall() const;

    private:
        std::shared_ptr<Copies> copies_;
        std::vector<Piece> pieces_;
    };
    struct End;
    static inline Task<> tell(Remote<End> own, std::vector<Rank> ranks, std::vector<Piece> pieces);
    static inline Task<> tell_part(Remote<End> own, std::vector<Rank> ranks,
                                   std::vector<Piece> pieces, std::size_t& told);
    using KeptPieces = std::unordered_map<Piece, Kept>;
    /// Gives the next one. `is_forgotten`: values that are on their way are not kept, either.
    KeptPieces::iterator drop(KeptPieces::iterator at, bool is_forgotten) noexcept;
    void drop_all(bool is_forgotten) noexcept;

    KeptPieces kept_;
    std::unordered_map<Piece, Owned> owned_;
    std::size_t most_bytes_;
    std::size_t kept_bytes_ = 0;
    Remote<End> end_;
};

/// What other ranks call.
struct Copies::End {
    std::shared_ptr<Copies> copies;
    void forget(const std::vector<Piece>& pieces) const noexcept { copies->forget(pieces); }
    /// These ranks, too.
    inline Task<> forget_with(std::vector<Piece> pieces, std::vector<Rank> ranks);
};

/// Keeps the copies of one structure on this rank. Movable.
class CORYMB_EXPORT CopiesPlace {
public:
    /// Names as Distributed.
    CopiesPlace(std::string_view name, std::size_t most_bytes);
    [[nodiscard]] const std::shared_ptr<Copies>& copies() const noexcept { return copies_; }

private:
    std::shared_ptr<Copies> copies_;
    Distributed<Copies::End> end_;
};

} // namespace corymb::detail
