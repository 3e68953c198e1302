// SPDX-License-Identifier: Apache-2.0
#include <corymb/detail/output.hpp>

#include "base/descriptor.hpp"
#include "base/held_signals.hpp"
#include "base/limit_text.hpp"

#include <corymb/error.hpp>

#include <atomic>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <fcntl.h>
#include <optional>
#include <string>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

namespace corymb {

namespace fs = std::filesystem;

namespace {

[[noreturn]] void fail(const fs::path& file, const std::string& reason) {
    throw Error(Errc::io, "cannot write " + file.string() + ": " + reason);
}

[[noreturn]] void fail_with(const fs::path& file, int error) {
    fail(file, reason_with_limit(error));
}

/// 0, or errno.
int write_all(int descriptor, std::string_view text) noexcept {
    while (!text.empty()) {
        const ssize_t written = ::write(descriptor, text.data(), text.size());
        if (written < 0 && errno != EINTR) {
            return errno;
        }
        text.remove_prefix(written < 0 ? 0 : static_cast<std::size_t>(written));
    }
    return 0;
}

/// The number at the end of "/proc/self/fd/1" and the like.
std::optional<int> descriptor_in(const fs::path& path) {
    std::error_code failed;
    const fs::path folder = fs::canonical(path.parent_path(), failed);
    const fs::path own = fs::path("/proc") / std::to_string(::getpid()) / "fd";
    const fs::path own_of_thread =
        fs::path("/proc") / std::to_string(::getpid()) / "task" / std::to_string(::gettid()) / "fd";
    if (failed || (folder != own && folder != own_of_thread)) {
        return std::nullopt;
    }
    const std::string name = path.filename().string();
    int number = -1;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
    return error == std::errc{} && end == name.data() + name.size() ? std::optional(number)
                                                                    : std::nullopt;
}

/// The destination of a text.
struct Target {
    enum Kind { descriptor, device, replaced, overwritten } kind = replaced;
    int number = -1; ///< Number of an open descriptor.
    fs::path path;   ///< Without symbolic links at its end.
    bool exists = false;
    struct stat is{};
};

/// Follows links at the end of a name, also one whose target does not exist yet.
fs::path followed(const fs::path& file, std::optional<int>& descriptor) {
    constexpr int links_max = 40; // The kernel's limit.
    fs::path path = file;
    for (int links = 0; links < links_max; ++links) {
        descriptor = descriptor_in(fs::absolute(path));
        std::error_code failed;
        if (descriptor || !fs::is_symlink(path, failed)) {
            return path;
        }
        const fs::path next = fs::read_symlink(path, failed);
        if (failed) {
            fail_with(file, failed.value());
        }
        path = next.is_absolute() ? next : path.parent_path() / next;
    }
    fail_with(file, ELOOP);
}

bool may_make_files_in(const fs::path& folder) noexcept {
    return ::faccessat(AT_FDCWD, folder.c_str(), W_OK | X_OK, AT_EACCESS) == 0;
}

fs::path folder_of(const fs::path& path) {
    return path.has_parent_path() ? path.parent_path() : fs::path(".");
}

/// Whether a file that replaces this one can have its owner and mode: a new file belongs to this
/// user.
bool keeps_owner(const struct stat& is) noexcept {
    return ::geteuid() == 0 || (is.st_uid == ::geteuid() && is.st_gid == ::getegid());
}

/// Throws when it is known that nothing can be written.
Target target_of(const fs::path& file) {
    Target target;
    if (file == "-") {
        target.kind = Target::descriptor;
        target.number = STDOUT_FILENO;
        return target;
    }
    std::optional<int> number;
    target.path = followed(file, number);
    if (number) {
        target.kind = Target::descriptor;
        target.number = *number;
        return target;
    }
    target.exists = ::stat(target.path.c_str(), &target.is) == 0;
    if (!target.exists && errno != ENOENT) {
        fail_with(file, errno);
    }
    const fs::path folder = folder_of(target.path);
    if (!target.exists) {
        std::error_code failed;
        if (!fs::is_directory(folder, failed)) {
            fail(file, "there is no directory " + folder.string());
        }
        if (!may_make_files_in(folder)) {
            fail_with(file, errno);
        }
        return target;
    }
    if (S_ISDIR(target.is.st_mode)) {
        fail(file, "it is a directory");
    }
    if (S_ISSOCK(target.is.st_mode)) {
        fail(file, "it is a socket");
    }
    if (::faccessat(AT_FDCWD, target.path.c_str(), W_OK, AT_EACCESS) != 0) {
        fail_with(file, errno);
    }
    if (!S_ISREG(target.is.st_mode)) {
        target.kind = Target::device;
    } else if (target.is.st_nlink > 1 || !keeps_owner(target.is) || !may_make_files_in(folder)) {
        target.kind = Target::overwritten;
    }
    return target;
}

int write_to_descriptor(int number, std::string_view text) {
    if (number == STDOUT_FILENO || number == STDERR_FILENO) {
        std::fflush(number == STDOUT_FILENO ? stdout : stderr); // Earlier output goes first.
    }
    return write_all(number, text);
}

int write_to_device(const fs::path& path, std::string_view text) {
    Descriptor to(::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY));
    if (to.number() < 0) {
        return errno;
    }
    const int error = write_all(to.number(), text);
    return error != 0 ? error : to.close() ? 0 : errno;
}

/// Writes the text to the disk, where there is one. Some file systems cannot confirm it.
bool is_synced(int descriptor) noexcept {
    return ::fsync(descriptor) == 0 || errno == EINVAL || errno == ENOSYS || errno == EROFS;
}

/// Overwrites a file in place. Room is taken first, so that hardly anything can fail once the old
/// text is gone.
int overwrite(const fs::path& path, std::string_view text) {
    Descriptor to(::open(path.c_str(), O_RDWR | O_CLOEXEC));
    if (to.number() < 0) {
        return errno;
    }
    const auto length = static_cast<off_t>(text.size());
    struct stat is{};
    if (::fstat(to.number(), &is) != 0) {
        return errno;
    }
    std::string old(static_cast<std::size_t>(is.st_size), '\0');
    if (::pread(to.number(), old.data(), old.size(), 0) != is.st_size) {
        return errno != 0 ? errno : EIO;
    }
    if (length > is.st_size && ::fallocate(to.number(), FALLOC_FL_KEEP_SIZE, 0, length) != 0 &&
        errno != EOPNOTSUPP && errno != ENOSYS) {
        return errno;
    }
    int error = write_all(to.number(), text);
    if (error == 0 && (::ftruncate(to.number(), length) != 0 || !is_synced(to.number()))) {
        error = errno;
    }
    if (error != 0) {
        ::lseek(to.number(), 0, SEEK_SET);
        static_cast<void>(write_all(to.number(), old));
        static_cast<void>(::ftruncate(to.number(), is.st_size));
        return error;
    }
    return to.close() ? 0 : errno;
}

/// A new file beside another; its name.
fs::path made_beside(const fs::path& path, mode_t mode, Descriptor& made) {
    static std::atomic<unsigned> count{0};
    constexpr int tries = 100; // A process of this number may have left some behind.
    fs::path name;
    for (int i = 0; i < tries; ++i) {
        name = folder_of(path) /
               ("." + path.filename().string().substr(0, 200) + "." + std::to_string(::getpid()) +
                "-" + std::to_string(count.fetch_add(1, std::memory_order_relaxed)));
        made = Descriptor(
            ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode));
        if (made.number() >= 0 || errno != EEXIST) {
            break;
        }
    }
    return name;
}

/// Whether a file that is there may still be written in place: nothing can be made beside it, or it
/// is mounted over and cannot be replaced.
bool allows_in_place(int error) noexcept {
    return error == EBUSY || error == EACCES || error == EPERM || error == EROFS;
}

/// Beside it, and renamed.
int replace(const Target& target, std::string_view text) {
    Descriptor out(-1);
    // Nobody else may read it before it has the mode of the old one.
    const fs::path temporary = made_beside(target.path, target.exists ? 0600 : 0666, out);
    if (out.number() < 0) {
        return errno;
    }
    int error = write_all(out.number(), text);
    if (error == 0 && target.exists &&
        ((::geteuid() == 0 && ::fchown(out.number(), target.is.st_uid, target.is.st_gid) != 0) ||
         ::fchmod(out.number(), target.is.st_mode & 07777U) != 0)) {
        error = errno;
    }
    // The data has to be on the disk before the name is, or a crash leaves an empty file.
    if (error == 0 && (!is_synced(out.number()) || !out.close() ||
                       ::rename(temporary.c_str(), target.path.c_str()) != 0)) {
        error = errno;
    }
    if (error != 0) {
        ::unlink(temporary.c_str());
    }
    return error;
}

int write_to(const Target& target, std::string_view text) {
    switch (target.kind) {
    case Target::descriptor: return write_to_descriptor(target.number, text);
    case Target::device: return write_to_device(target.path, text);
    case Target::overwritten: return overwrite(target.path, text);
    case Target::replaced: break;
    }
    const int error = replace(target, text);
    return target.exists && allows_in_place(error) ? overwrite(target.path, text) : error;
}

} // namespace

void detail::write_output(const fs::path& file, std::string_view text) {
    const HeldSignals held({SIGPIPE, SIGXFSZ});
    if (const int error = write_to(target_of(file), text); error != 0) {
        fail_with(file, error);
    }
}

void detail::require_output(const fs::path& file) {
    const Target target = target_of(file);
    if (target.kind != Target::replaced) {
        return;
    }
    Descriptor made(-1); // Rights alone do not tell: /proc refuses root, too.
    const fs::path temporary = made_beside(target.path, 0600, made);
    if (made.number() >= 0) {
        ::unlink(temporary.c_str());
    } else if (!target.exists || !allows_in_place(errno)) {
        fail_with(file, errno);
    }
}

} // namespace corymb
