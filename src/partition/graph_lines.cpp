// SPDX-License-Identifier: Apache-2.0
#include "partition/graph_lines.hpp"

#include "partition/collective.hpp"
#include "partition/tuning.hpp"

#include <corymb/operators.hpp>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <limits>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace corymb::partition {

namespace {

constexpr std::uint64_t no_fault = std::numeric_limits<std::uint64_t>::max();

std::string text_of(const std::filesystem::path& path, const std::string& reason) {
    return "cannot read " + path.string() + ": " + reason;
}

/// Collective. Throws on all ranks what the rank with the least `offset` says, if one has a fault.
template <class Say>
void throw_first(Team& team, std::uint64_t offset, const Say& say) {
    struct First {
        std::uint64_t offset;
        Rank rank;
    };
    const First mine{offset, team.rank()};
    std::vector<First> all(static_cast<std::size_t>(team.size()));
    team.allgather(std::span(&mine, 1), all);
    const First first = *std::min_element(
        all.begin(), all.end(), [](const First& a, const First& b) { return a.offset < b.offset; });
    if (first.offset == no_fault) {
        return;
    }
    std::string text = team.rank() == first.rank ? say() : "";
    text.resize(team.broadcast(text.size(), first.rank));
    team.broadcast(text, first.rank);
    throw AgreedError(Errc::io, text);
}

} // namespace

TextFile::TextFile(Team& team, std::filesystem::path path)
    : path_(std::move(path)), descriptor_(::open(path_.c_str(), O_RDONLY | O_CLOEXEC)) {
    const std::string reason = look();
    throw_first(team, reason.empty() ? no_fault : 0, [&] { return text_of(path_, reason); });
}

std::string TextFile::look() {
    struct stat about{};
    if (descriptor_.number() < 0 || ::fstat(descriptor_.number(), &about) != 0) {
        return std::strerror(errno);
    }
    if (!S_ISREG(about.st_mode)) {
        return "it is no regular file, so that ranks cannot read it in parts; write it to one";
    }
    size_ = static_cast<std::uint64_t>(about.st_size);
    return "";
}

std::size_t TextFile::read(std::uint64_t offset, char* to, std::size_t count) const {
    std::size_t done = 0;
    while (done < count) {
        const ssize_t got = ::pread(descriptor_.number(), to + done, count - done,
                                    static_cast<off_t>(offset + done));
        if (got < 0 && errno != EINTR) {
            throw Error(Errc::io, text_of(path_, std::strerror(errno)));
        }
        if (got == 0) {
            break;
        }
        done += got < 0 ? 0 : static_cast<std::size_t>(got);
    }
    return done;
}

std::uint64_t TextFile::line_at(std::uint64_t offset) const {
    std::uint64_t line = 1;
    Lines before(*this, 0, offset);
    while (before.next()) {
        ++line;
    }
    return line;
}

void TextFile::agree(Team& team, const std::optional<Fault>& fault) const {
    throw_first(team, fault ? fault->offset : no_fault, [&] {
        return path_.string() + ":" + std::to_string(line_at(fault->offset)) + ": " + fault->text;
    });
}

Lines::Lines(const TextFile& file, std::uint64_t begin, std::uint64_t end)
    : file_(&file), end_(std::min(end, file.size())), buffer_offset_(begin),
      buffer_(tuning::read_bytes) {
    if (begin == 0) {
        return;
    }
    // The line that began before belongs to the range before, unless that has just ended.
    char last = 0;
    buffer_offset_ = begin - 1;
    if (file.read(begin - 1, &last, 1) == 1 && last == '\n') {
        buffer_offset_ = begin;
        return;
    }
    end_ = std::max(end_, buffer_offset_ + 1);
    static_cast<void>(next());
    end_ = std::min(end, file.size());
}

bool Lines::fill() {
    if (at_ > 0) {
        std::memmove(buffer_.data(), buffer_.data() + at_, held_ - at_);
        buffer_offset_ += at_;
        held_ -= at_;
        at_ = 0;
    }
    if (held_ == buffer_.size()) {
        buffer_.resize(2 * buffer_.size());
    }
    const std::size_t got =
        file_->read(buffer_offset_ + held_, buffer_.data() + held_, buffer_.size() - held_);
    held_ += got;
    return got > 0;
}

bool Lines::next() {
    if (buffer_offset_ + at_ >= end_) {
        return false;
    }
    std::size_t searched = 0;
    for (;;) {
        const char* const begin = buffer_.data() + at_;
        const void* const found = std::memchr(begin + searched, '\n', held_ - at_ - searched);
        const bool is_whole = found != nullptr;
        searched = is_whole ? static_cast<std::size_t>(static_cast<const char*>(found) - begin)
                            : held_ - at_;
        if (is_whole || !fill()) {
            if (!is_whole && searched == 0) {
                return false;
            }
            line_offset_ = buffer_offset_ + at_;
            line_ = std::string_view(buffer_.data() + at_, searched);
            if (line_.ends_with('\r')) {
                line_.remove_suffix(1);
            }
            at_ += searched + (is_whole ? 1 : 0);
            return true;
        }
    }
}

std::string_view Fields::word() noexcept {
    const char* const begin = at_;
    while (at_ != end_ && !is_gap(*at_)) {
        ++at_;
    }
    const std::string_view found(begin, static_cast<std::size_t>(at_ - begin));
    skip();
    return found;
}

} // namespace corymb::partition
