// SPDX-License-Identifier: Apache-2.0
#include "base/data_directory.hpp"

#include <corymb/error.hpp>
#include <corymb/version.hpp>

#include <cstdlib>
#include <dlfcn.h>
#include <string>
#include <system_error>
#include <vector>

namespace corymb {

namespace fs = std::filesystem;

namespace {

/// The file that holds this code: the shared library, or the program that it was linked into.
fs::path this_binary() {
    Dl_info info{};
    if (dladdr(reinterpret_cast<const void*>(&version), &info) == 0 || info.dli_fname == nullptr) {
        return {};
    }
    std::error_code error;
    fs::path file = fs::canonical(info.dli_fname, error);
    return error ? fs::path() : file;
}

std::vector<fs::path> candidates() {
    std::vector<fs::path> out;
    if (const fs::path file = this_binary(); !file.empty()) {
        const fs::path folder = file.parent_path();
        out.push_back(folder.parent_path() / "share" / "corymb");
        out.push_back(folder / "share" / "corymb");
        out.push_back(folder);
    }
    out.emplace_back(CORYMB_INSTALL_DATA_DIR);
    out.emplace_back(CORYMB_SOURCE_DATA_DIR);
    return out;
}

} // namespace

fs::path data_directory(std::string_view name) {
    const char* chosen = std::getenv("CORYMB_DATA_DIR");
    const bool is_chosen = chosen != nullptr && *chosen != '\0';
    std::string looked;
    for (const fs::path& base : is_chosen ? std::vector<fs::path>{chosen} : candidates()) {
        const fs::path folder = base / name;
        std::error_code error;
        if (fs::is_directory(folder, error)) {
            return folder;
        }
        looked += (looked.empty() ? "" : ", ") + folder.string();
    }
    throw Error(Errc::io, "the data folder \"" + std::string(name) +
                              "\" was not found; looked at " + looked +
                              (is_chosen ? " ($CORYMB_DATA_DIR is set)"
                                         : "; set CORYMB_DATA_DIR to the folder that holds it"));
}

} // namespace corymb
