// SPDX-License-Identifier: Apache-2.0
#include "remote/build_mark.hpp"

#include "base/sha256.hpp"

#include <corymb/version.hpp>

#include <cstddef>
#include <cstring>
#include <elf.h>
#include <fmt/format.h>
#include <link.h>
#include <span>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>

namespace corymb::detail {

namespace {

constexpr char gnu[] = "GNU"; ///< The name of such notes, with its end.

/// The build ID that the linker gives a program (ld --build-id, the default of most
/// distributions); empty: it has none.
std::string build_id() {
    std::string id;
    const auto look = [](dl_phdr_info* info, std::size_t /*size*/, void* to) {
        auto& found = *static_cast<std::string*>(to);
        for (const ElfW(Phdr) & part : std::span(info->dlpi_phdr, info->dlpi_phnum)) {
            if (part.p_type != PT_NOTE) {
                continue;
            }
            // NOLINTNEXTLINE(performance-no-int-to-ptr): the loader gives numbers.
            const auto* at = reinterpret_cast<const char*>(info->dlpi_addr + part.p_vaddr);
            const char* const end = at + part.p_memsz;
            while (end - at >= static_cast<std::ptrdiff_t>(sizeof(ElfW(Nhdr)))) {
                ElfW(Nhdr) note;
                std::memcpy(&note, at, sizeof note);
                const auto padded = [](std::size_t bytes) {
                    return (bytes + 3) & ~std::size_t{3};
                };
                const char* const name = at + sizeof note;
                const char* const body = name + padded(note.n_namesz);
                if (note.n_type == NT_GNU_BUILD_ID &&
                    std::string_view(name, note.n_namesz) == std::string_view(gnu, sizeof gnu)) {
                    found.assign(body, note.n_descsz);
                    return 1;
                }
                at = body + padded(note.n_descsz);
            }
        }
        return 1; // The program comes first.
    };
    ::dl_iterate_phdr(look, &id);
    return id;
}

std::string path_of_program() {
    std::string path(4096, '\0');
    const auto length = ::readlink("/proc/self/exe", path.data(), path.size());
    path.resize(length < 0 ? 0 : static_cast<std::size_t>(length));
    return path;
}

BuildMark look_up() {
    std::string id = build_id();
    if (id.empty()) { // Then its file has to do.
        struct stat status{};
        ::stat("/proc/self/exe", &status);
        id = fmt::format("{} {}", status.st_size, status.st_mtime);
    }
    BuildMark found{sha256_hex(id + version()), path_of_program()};
    found.program += " (build " + found.mark.substr(0, 16) + ")";
    return found;
}

} // namespace

const BuildMark& own_build() {
    static const auto* const own =
        new BuildMark(look_up()); // The library destroys nothing at exit.
    return *own;
}

} // namespace corymb::detail
