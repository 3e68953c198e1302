// SPDX-License-Identifier: Apache-2.0
// The file begins with a header; blocks follow. A block's length is a power of two; free blocks of
// one length form a list through their first word.
#include "base/shared_memory.hpp"

#include "base/commit.hpp"
#include "base/held_signals.hpp"
#include "base/limit_text.hpp"
#include "base/robust_lock.hpp"
#include "base/small_file.hpp"

#include <corymb/error.hpp>
#include <corymb/version.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

namespace corymb {

/// The first words of the file; a process of any version can read them.
struct MemoryMaker {
    std::uint64_t magic; ///< "corymb" and, in the highest 16 bits, the number of the layout.
    std::uint64_t capacity;
    std::uint64_t root;
    std::array<char, 40> version; ///< The maker's `version()`; from layout 7 on.
};

struct SharedMemory::Header {
    MemoryMaker maker;
    std::uint64_t end;                         ///< First byte that was never part of a block.
    std::uint64_t file_bytes;                  ///< Length of the file.
    std::array<std::uint64_t, 48> free_blocks; ///< Free blocks by the logarithm of their length.
    RobustLock lock;
};

namespace {

// Grows with each change of what lies in the memory.
constexpr std::uint64_t layout_of_this_version = 7;
constexpr std::uint64_t layouts_with_version = 7; ///< And all later ones.
constexpr int layout_shift = 48;
constexpr std::uint64_t corymb_word = 0x626d'7972'6f63; // "corymb".
constexpr std::size_t header_bytes = 4096;
constexpr int smallest_block = 12;    // 4096 bytes.
constexpr int whole_pages_block = 16; // Blocks from here on go back to the system when free.
constexpr std::uint64_t step_bytes = 1u << 20;
constexpr std::size_t capacity_max = std::size_t{64} << 30;
constexpr std::size_t capacity_min = std::size_t{64} << 20;

std::string reason() {
    return reason_with_limit(errno);
}

/// ftruncate, which may end the process where files are limited in length.
bool set_length(int file, std::uint64_t bytes) noexcept {
    const HeldSignals held({SIGXFSZ});
    return ::ftruncate(file, static_cast<off_t>(bytes)) == 0;
}

int class_of(std::size_t bytes) noexcept {
    return std::max(smallest_block, static_cast<int>(std::bit_width(bytes - 1)));
}

MemoryMaker this_maker(std::size_t capacity) noexcept {
    MemoryMaker maker{corymb_word | layout_of_this_version << layout_shift, capacity, 0, {}};
    const std::string_view own = version();
    own.copy(maker.version.data(), maker.version.size() - 1);
    return maker;
}

/// "corymb 0.1.0 (layout 7)", of memory that corymb has made.
std::string name_of(const MemoryMaker& maker) {
    const std::uint64_t layout = maker.magic >> layout_shift;
    std::string_view text(maker.version.data(), maker.version.size());
    text = text.substr(0, text.find('\0'));
    return fmt::format("corymb {} (layout {})",
                       layout >= layouts_with_version ? text : "of an earlier version", layout);
}

/// The address range that this machine's memory could fill.
std::size_t wanted_capacity() noexcept {
    const long pages = ::sysconf(_SC_PHYS_PAGES);
    const std::size_t physical =
        pages > 0 ? static_cast<std::size_t>(pages) * static_cast<std::size_t>(::getpagesize())
                  : capacity_min;
    return std::clamp(std::bit_ceil(physical), capacity_min, capacity_max);
}

/// Addresses that all memory of this process's teams takes.
constinit std::atomic<std::size_t> addresses_taken{0};

/// How many more it may take: a quarter of the process's limit (RLIMIT_AS), for the program needs
/// addresses, too. Nothing where there is no limit.
std::optional<std::size_t> addresses_left() noexcept {
    constexpr rlim_t share = 4;
    rlimit limit{};
    if (::getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) {
        return std::nullopt;
    }
    const std::size_t most = limit.rlim_cur / share;
    const std::size_t taken = addresses_taken.load(std::memory_order_relaxed);
    return most > taken ? most - taken : 0;
}

/// Allowed addresses, in whole steps.
std::size_t allowed_capacity(std::size_t needed) noexcept {
    const auto left = addresses_left();
    if (!left) {
        return wanted_capacity();
    }
    const std::size_t rounded = (needed + capacity_min - 1) / capacity_min * capacity_min;
    return std::clamp(needed != 0 ? rounded : *left / 2 / capacity_min * capacity_min, capacity_min,
                      wanted_capacity());
}

} // namespace

SharedMemory::Header& SharedMemory::header() const noexcept {
    return *std::launder(reinterpret_cast<Header*>(base_));
}

std::shared_ptr<SharedMemory> SharedMemory::create(std::size_t needed) {
    const int file = ::memfd_create("corymb", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (file < 0 && (errno == EMFILE || errno == ENFILE || errno == ENOMEM)) {
        throw Error(Errc::io, fmt::format("no memory to share can be had ({})", reason()));
    }
    if (file < 0) {
        throw Error(Errc::unsupported, fmt::format("memfd_create is refused ({}): memory between "
                                                   "processes needs it; allow it in seccomp",
                                                   reason()));
    }
    std::shared_ptr<SharedMemory> made(new SharedMemory(file));
    if (::fchmod(file, S_IRUSR | S_IWUSR) != 0 || !set_length(file, step_bytes) ||
        ::fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_SEAL) != 0) {
        throw Error(Errc::io, fmt::format("shared memory cannot be prepared ({})", reason()));
    }
    const std::size_t capacity = allowed_capacity(needed);
    made->map(capacity);
    auto& header = *new (made->base_) Header{};
    const MemoryMaker own = this_maker(capacity);
    header.maker.capacity = own.capacity;
    header.maker.version = own.version;
    header.end = header_bytes;
    header.file_bytes = step_bytes;
    commit(header.maker.magic, own.magic);
    return made;
}

std::shared_ptr<SharedMemory> SharedMemory::open(int descriptor) {
    struct stat file{};
    if (::fstat(descriptor, &file) != 0) {
        throw Error(Errc::invalid_argument,
                    fmt::format("descriptor {} is not open ({}): it must be inherited, that is, "
                                "passed without close-on-exec",
                                descriptor, reason()));
    }
    const int seals = ::fcntl(descriptor, F_GET_SEALS);
    if (seals < 0 || (seals & F_SEAL_SHRINK) == 0 ||
        file.st_size < static_cast<off_t>(header_bytes)) {
        throw Error(Errc::invalid_argument,
                    fmt::format("descriptor {} is not the memory of a team", descriptor));
    }
    if (file.st_uid != ::geteuid()) {
        throw Error(Errc::unsupported,
                    fmt::format("the team's memory belongs to user {}, this process to user {}; "
                                "all processes of a team run as one user",
                                file.st_uid, ::geteuid()));
    }
    const int own = ::fcntl(descriptor, F_DUPFD_CLOEXEC, 3);
    if (own < 0) {
        throw Error(Errc::io, fmt::format("no descriptor for the team's memory ({})", reason()));
    }
    std::shared_ptr<SharedMemory> opened(new SharedMemory(own));
    opened->map(form_of(own).capacity);
    return opened;
}

SharedMemory::Form SharedMemory::form_of(int descriptor) {
    MemoryMaker maker{};
    const ssize_t got = ::pread(descriptor, &maker, sizeof maker, 0);
    constexpr std::uint64_t word_bits = (std::uint64_t{1} << layout_shift) - 1;
    if (got != static_cast<ssize_t>(sizeof maker) || (maker.magic & word_bits) != corymb_word) {
        throw Error(Errc::invalid_argument,
                    fmt::format("descriptor {} is not memory that corymb has made", descriptor));
    }
    const MemoryMaker own = this_maker(maker.capacity);
    if (maker.magic != own.magic || maker.version != own.version) {
        throw Error(Errc::invalid_argument,
                    fmt::format("the memory was made by {}, and this process runs {}; use one "
                                "version of corymb in all processes of a group",
                                name_of(maker), name_of(own)));
    }
    if (maker.capacity < capacity_min || maker.capacity > capacity_max) {
        throw Error(Errc::invalid_argument,
                    fmt::format("the memory behind descriptor {} is damaged: it has {} bytes",
                                descriptor, maker.capacity));
    }
    return {maker.capacity, maker.root};
}

void SharedMemory::map(std::size_t capacity) {
    if (const auto left = addresses_left(); left && *left < capacity) {
        throw Error(
            Errc::unsupported,
            fmt::format("{} MiB of addresses for the team's memory are more than is left of "
                        "the quarter of the limit (ulimit -v) that teams take; raise the "
                        "limit of all its processes, or have fewer teams",
                        capacity >> 20));
    }
    // The mapping reaches beyond the end of the file until the file grows. The file cannot shrink,
    // so blocks that were given out stay there.
    void* const base = ::mmap(nullptr, capacity, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE,
                              descriptor_, 0);
    if (base == MAP_FAILED) {
        throw Error(Errc::unsupported,
                    fmt::format("{} MiB of addresses for the team's memory are refused ({}); raise "
                                "the limit (ulimit -v) of all its processes",
                                capacity >> 20, reason()));
    }
    // A core dump would walk through, and bring in, every page that the file may grow to.
    ::madvise(base, capacity, MADV_DONTDUMP);
    base_ = static_cast<std::byte*>(base);
    capacity_ = capacity;
    addresses_taken.fetch_add(capacity, std::memory_order_relaxed);
}

SharedMemory::~SharedMemory() {
    if (base_ != nullptr) {
        ::munmap(base_, capacity_);
        addresses_taken.fetch_sub(capacity_, std::memory_order_relaxed);
    }
    ::close(descriptor_);
}

void SharedMemory::lock() {
    header().lock.lock();
}

void SharedMemory::unlock() noexcept {
    header().lock.unlock();
}

void SharedMemory::grow(std::uint64_t end) {
    if (end > capacity_) {
        throw Error(Errc::io, fmt::format("the team's shared memory is full at {} MiB; raise the "
                                          "limit of address space (ulimit -v)",
                                          header().end >> 20));
    }
    const std::uint64_t length =
        std::min<std::uint64_t>(capacity_, (end + step_bytes - 1) / step_bytes * step_bytes);
    if (!set_length(descriptor_, length)) {
        throw Error(Errc::io, fmt::format("the team's shared memory cannot grow ({})", reason()));
    }
    header().file_bytes = length;
}

Offset SharedMemory::take(std::size_t bytes) {
    Header& shared = header();
    const int log = class_of(bytes);
    const std::size_t length = std::size_t{1} << log;
    std::uint64_t& list = shared.free_blocks[static_cast<std::size_t>(log)];
    if (list != 0) {
        const Offset block = list;
        std::uint64_t next = 0;
        std::memcpy(&next, at(block), sizeof next);
        commit(list, next);
        std::memset(at(block), 0, log < whole_pages_block ? length : sizeof next);
        return block;
    }
    const Offset block = shared.end;
    if (block + length > shared.file_bytes) {
        grow(block + length);
    }
    commit(shared.end, block + length);
    return block;
}

void SharedMemory::give_back(Offset block, std::size_t bytes) noexcept {
    const int log = class_of(bytes);
    const std::size_t length = std::size_t{1} << log;
    if (log >= whole_pages_block &&
        ::fallocate(descriptor_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                    static_cast<off_t>(block), static_cast<off_t>(length)) != 0) {
        std::memset(at(block), 0, length);
    }
    std::uint64_t& list = header().free_blocks[static_cast<std::size_t>(log)];
    std::memcpy(at(block), &list, sizeof list);
    commit(list, block);
}

Offset SharedMemory::root() const noexcept {
    return header().maker.root;
}

void SharedMemory::set_root(Offset root) noexcept {
    commit(header().maker.root, root);
}

std::string SharedMemory::ask_for_huge_pages() noexcept {
    const auto mode = read_small_file("/sys/kernel/mm/transparent_hugepage/shmem_enabled");
    if (!mode || mode->find("[never]") != std::string::npos ||
        mode->find("[deny]") != std::string::npos) {
        return "small pages: huge ones for shared memory are switched off. As root: echo advise > "
               "/sys/kernel/mm/transparent_hugepage/shmem_enabled";
    }
    if (::madvise(base_, capacity_, MADV_HUGEPAGE) != 0) {
        return "small pages: the kernel refuses huge ones for this memory";
    }
    return {};
}

} // namespace corymb
