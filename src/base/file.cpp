// SPDX-License-Identifier: Apache-2.0
#include "base/file.hpp"

#include "base/descriptor.hpp"

#include <corymb/error.hpp>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <system_error>
#include <unistd.h>

namespace corymb {

namespace fs = std::filesystem;

namespace {

[[noreturn]] void fail(const fs::path& file, const std::string& what) {
    throw Error(Errc::io, file.string() + ": " + what);
}

[[noreturn]] void fail_with_errno(const fs::path& file, const char* doing) {
    fail(file, std::string("cannot be ") + doing + ": " + std::strerror(errno));
}

bool write_all(int descriptor, std::string_view text) {
    while (!text.empty()) {
        const ssize_t written = ::write(descriptor, text.data(), text.size());
        if (written < 0 && errno != EINTR) {
            return false;
        }
        text.remove_prefix(written < 0 ? 0 : static_cast<std::size_t>(written));
    }
    return true;
}

void write_directly(const fs::path& file, std::string_view text) {
    const Descriptor target(::open(file.c_str(), O_WRONLY | O_CLOEXEC));
    if (target.number() < 0 || !write_all(target.number(), text)) {
        fail_with_errno(file, "written");
    }
}

/// Process and count make the name unique; O_EXCL makes sure.
fs::path temporary_beside(const fs::path& file) {
    static std::atomic<unsigned> count{0};
    fs::path out = file;
    out += "." + std::to_string(::getpid()) + "-" +
           std::to_string(count.fetch_add(1, std::memory_order_relaxed)) + ".tmp";
    return out;
}

} // namespace

std::string read_file(const fs::path& file, std::size_t bytes_max) {
    const Descriptor source(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
    if (source.number() < 0) {
        fail_with_errno(file, "opened");
    }
    std::string out;
    char block[1 << 16];
    for (;;) {
        const ssize_t length = ::read(source.number(), block, sizeof block);
        if (length < 0 && errno == EINTR) {
            continue;
        }
        if (length < 0) {
            fail_with_errno(file, "read");
        }
        if (length == 0) {
            return out;
        }
        out.append(block, static_cast<std::size_t>(length));
        if (out.size() > bytes_max) {
            fail(file, "is longer than " + std::to_string(bytes_max) + " bytes");
        }
    }
}

void write_file_atomically(const fs::path& file, std::string_view text) {
    std::error_code ignored;
    const fs::file_status status = fs::status(file, ignored);
    if (fs::is_directory(status)) {
        fail(file, "cannot be written: it is a directory");
    }
    if (fs::exists(status) && !fs::is_regular_file(status)) {
        write_directly(file, text);
        return;
    }
    // A link stays a link: what it points to is replaced.
    const fs::path target = fs::exists(status) ? fs::canonical(file, ignored) : file;
    const fs::path temporary = temporary_beside(target);
    Descriptor out(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
    if (out.number() < 0) {
        fail_with_errno(file, "written");
    }
    // The data has to be on the disk before the name is, or a crash leaves an empty file.
    const bool written = write_all(out.number(), text) && ::fsync(out.number()) == 0 &&
                         out.close() && ::rename(temporary.c_str(), target.c_str()) == 0;
    if (!written) {
        const int reason = errno;
        ::unlink(temporary.c_str());
        errno = reason;
        fail_with_errno(file, "written");
    }
}

} // namespace corymb
