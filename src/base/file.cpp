// SPDX-License-Identifier: Apache-2.0
#include "base/file.hpp"

#include "base/descriptor.hpp"

#include <corymb/error.hpp>

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

} // namespace corymb
