// SPDX-License-Identifier: Apache-2.0
// Prefix combinations, always in rank order. Linear: along the ranks, block by block. Doubling
// (Hillis, Steele, CACM 1986): log2 n rounds in which rank r takes over the data of r - 2^k. Tree
// (Brent, Kung 1982): up and down a binary tree, with about 2 n messages in all. An exclusive scan
// is an inclusive one of the contributions that every rank first takes from its predecessor.
#include "plan/generate/family_list.hpp"
#include "plan/generate/plan_writer.hpp"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

namespace corymb::generate {

namespace {

/// A scan over the ranks `first` to size - 1, which have their operands in `operand`.
class Scan {
public:
    Scan(Collective op, const GenerateInput& input, std::string_view name)
        : writer_(op, input.costs.size(), 0, short_blocks(input), name),
          first_(op == Collective::exscan ? 1 : 0), pulls_(input.via == Mechanism::pull) {
        if (op == Collective::exscan) {
            // Output may be the memory of the input that the next rank still pulls from.
            operand_ = pulls_ ? Buffer::scratch : Buffer::output;
            writer_.need_scratch(pulls_ ? blocks() : 0);
            shift();
        }
    }

    [[nodiscard]] Rank count() const { return std::max<Rank>(0, writer_.size() - first_); }
    [[nodiscard]] std::uint32_t blocks() const { return writer_.plan().block_count; }
    [[nodiscard]] Blocks at(Buffer buffer, std::uint32_t block) const { return {buffer, block, 1}; }
    [[nodiscard]] Buffer operand() const { return operand_; }
    [[nodiscard]] bool pulls() const { return pulls_; }
    [[nodiscard]] Rank rank(Rank member) const { return first_ + member; }
    PlanWriter& writer() { return writer_; }

    /// The first of the members has its result already, once it is in the right buffer.
    void settle(Rank member) {
        if (operand_ != Buffer::output) {
            writer_.copy(rank(member), {operand_, 0, blocks()}, {Buffer::output, 0, blocks()});
        }
    }
    [[nodiscard]] Plan finished() && { return std::move(writer_).finished(); }

private:
    /// Ranks send before they receive, so each block has to fit a cell.
    static Transport short_blocks(const GenerateInput& input) {
        Transport how = transport(input);
        if (how.via == Mechanism::cells) {
            const std::uint64_t needed = (how.bytes + cell_bytes - 1) / cell_bytes;
            how.blocks = std::max(how.blocks, static_cast<std::uint32_t>(needed));
        }
        return how;
    }

    void shift() {
        for (Rank rank = 0; rank < writer_.size(); ++rank) {
            for (std::uint32_t block = 0; block < blocks(); ++block) {
                if (rank + 1 < writer_.size()) {
                    writer_.send(rank, rank + 1, at(Buffer::input, block));
                }
                if (rank > 0) {
                    writer_.recv(rank, rank - 1, at(operand_, block));
                }
            }
        }
    }

    PlanWriter writer_;
    Buffer operand_ = Buffer::input;
    Rank first_;
    bool pulls_;
};

Plan make_linear(Collective op, const GenerateInput& input) {
    Scan scan(op, input, scan_linear.name);
    for (Rank member = 0; member < scan.count(); ++member) {
        const bool is_last = member + 1 == scan.count();
        const Rank rank = scan.rank(member);
        for (std::uint32_t block = 0; block < scan.blocks(); ++block) {
            const Blocks result = scan.at(Buffer::output, block);
            const Blocks operand = scan.at(scan.operand(), block);
            if (member > 0) {
                scan.writer().fold(rank, rank - 1, operand, result);
            }
            if (!is_last) {
                scan.writer().send(rank, rank + 1, member > 0 ? result : operand);
            }
        }
        if (member == 0) {
            scan.settle(member);
        }
    }
    return std::move(scan).finished();
}

/// Messages of one round: every block of `from` combines into `to` of the rank `distance` above.
void doubling_round(Scan& scan, Rank member, Rank distance, Buffer from, Buffer to) {
    const Rank rank = scan.rank(member);
    for (std::uint32_t block = 0; block < scan.blocks(); ++block) {
        if (member + distance < scan.count()) {
            scan.writer().send(rank, rank + distance, scan.at(from, block));
        }
        if (member >= distance) {
            scan.writer().fold(rank, rank - distance, scan.at(from, block), scan.at(to, block));
        }
    }
}

Plan make_doubling(Collective op, const GenerateInput& input) {
    Scan scan(op, input, scan_doubling.name);
    for (Rank member = 0; member < scan.count(); ++member) {
        Buffer from = scan.operand();
        for (Rank distance = 1; distance < scan.count(); distance *= 2) {
            // Blocks that peers still pull from must not be written at once.
            const bool aside = scan.pulls() && from != Buffer::scratch;
            const Buffer to = aside ? Buffer::scratch : Buffer::output;
            doubling_round(scan, member, distance, from, to);
            if (member < distance) {
                continue; // The member has its result and only passes it on.
            }
            from = to;
            if (aside) {
                scan.writer().need_scratch(scan.blocks());
            }
        }
        if (from != Buffer::output) {
            scan.writer().copy(scan.rank(member), {from, 0, scan.blocks()},
                               {Buffer::output, 0, scan.blocks()});
        }
    }
    return std::move(scan).finished();
}

Plan make_tree(Collective op, const GenerateInput& input) {
    Scan scan(op, input, scan_tree.name);
    const Rank count = scan.count();
    std::vector<Buffer> from(static_cast<std::size_t>(count), scan.operand());
    const auto combine = [&](Rank lower, Rank upper) {
        Buffer& below = from[static_cast<std::size_t>(lower)];
        Buffer& above = from[static_cast<std::size_t>(upper)];
        for (std::uint32_t block = 0; block < scan.blocks(); ++block) {
            scan.writer().transfer({scan.rank(lower), scan.rank(upper), scan.at(below, block),
                                    scan.at(Buffer::output, block), scan.at(above, block)});
        }
        above = Buffer::output;
    };
    Rank top = 1;
    for (; top < count; top *= 2) {
        for (Rank upper = 2 * top - 1; upper < count; upper += 2 * top) {
            combine(upper - top, upper);
        }
    }
    for (Rank distance = top / 2; distance > 0; distance /= 2) {
        for (Rank lower = 2 * distance - 1; lower + distance < count; lower += 2 * distance) {
            combine(lower, lower + distance);
        }
    }
    for (Rank member = 0; member < count; ++member) {
        if (from[static_cast<std::size_t>(member)] != Buffer::output) {
            scan.settle(member);
        }
    }
    return std::move(scan).finished();
}

bool applies(Collective op, const GenerateInput&) {
    return op == Collective::scan || op == Collective::exscan;
}

} // namespace

/// Messages between ranks are cut, so that the last rank does not wait for all of the payload.
constinit const Family scan_linear{
    .name = "scan-linear", .applies = applies, .make = make_linear, .plain_blocks = 16};
constinit const Family scan_doubling{"scan-doubling", applies, make_doubling, true};
constinit const Family scan_tree{"scan-tree", applies, make_tree};

} // namespace corymb::generate
