// SPDX-License-Identifier: Apache-2.0
// Where the measured model of this machine is kept, and whether it may still be used.
#include "machine/discover/this_machine.hpp"

#include <corymb/discover.hpp>
#include <corymb/error.hpp>

#include <fmt/format.h>
#include <pwd.h>
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <system_error>
#include <utility>

namespace corymb {
namespace {

namespace fs = std::filesystem;

/// An absolute path in an environment variable, else empty: a relative one would depend on where a
/// program is started.
fs::path path_from(const char* variable) {
    const char* const text = std::getenv(variable);
    const fs::path path = text != nullptr ? text : "";
    return path.is_absolute() ? path : fs::path();
}

fs::path cache_directory() {
    if (const fs::path own = path_from("CORYMB_CACHE_DIR"); !own.empty()) {
        return own;
    }
    if (const fs::path shared = path_from("XDG_CACHE_HOME"); !shared.empty()) {
        return shared / "corymb";
    }
    if (const fs::path home = path_from("HOME"); !home.empty()) {
        return home / ".cache" / "corymb";
    }
    const passwd* const user = getpwuid(getuid());
    if (user != nullptr && user->pw_dir != nullptr && user->pw_dir[0] == '/') {
        return fs::path(user->pw_dir) / ".cache" / "corymb";
    }
    throw Error(Errc::io, "this user has no home directory for the measured model; set "
                          "CORYMB_CACHE_DIR to a directory that can be written");
}

/// How the model's fingerprint differs from what is here, or empty.
std::string difference(const Fingerprint& model, const Fingerprint& here) {
    if (model.cpu != here.cpu) {
        return fmt::format("it was measured on a '{}', this is a '{}'", model.cpu, here.cpu);
    }
    if (model.cpuset != here.cpuset) {
        return fmt::format("it was measured with CPUs {}, this process may use {}", model.cpuset,
                           here.cpuset);
    }
    if (model.virtualization != here.virtualization) {
        return fmt::format("it was measured under virtualisation '{}', this is '{}'",
                           model.virtualization, here.virtualization);
    }
    if (model.topology_sha256 != here.topology_sha256) {
        return "the topology has changed since it was measured";
    }
    return {};
}

std::optional<Machine> load_checked(std::string& reason) {
    const fs::path file = cached_model_path();
    std::error_code failed;
    if (!fs::exists(file, failed)) {
        reason = failed ? fmt::format("'{}' cannot be reached: {}", file.string(), failed.message())
                        : fmt::format("there is no measured model at '{}'; 'corymb map' makes one",
                                      file.string());
        return std::nullopt;
    }
    Machine machine = load_machine(file);
    const std::string differs =
        difference(machine.fingerprint, discover::describe_this_machine({}).machine.fingerprint);
    if (!differs.empty()) {
        reason = fmt::format("the model '{}' is not used: {}", file.string(), differs);
        return std::nullopt;
    }
    const SpotCheck check = spot_check(machine);
    if (!check.fits) {
        reason = fmt::format("the model '{}' is not used: {}; measure again with 'corymb map'",
                             file.string(), check.text);
        return std::nullopt;
    }
    return machine;
}

} // namespace

std::filesystem::path cached_model_path() {
    // Home directories are shared between machines, so the name has the host's.
    return cache_directory() / ("machine-" + discover::host_name() + ".json");
}

std::filesystem::path cached_noise_path() {
    return cache_directory() / ("noise-" + discover::host_name() + ".json");
}

std::optional<Machine> load_cached_machine(std::string* why) {
    std::string reason;
    std::optional<Machine> machine;
    try {
        machine = load_checked(reason);
    } catch (const Error& error) { // A damaged file is as good as none, but worth saying.
        reason = fmt::format("the measured model cannot be used: {}", error.what());
    }
    if (why != nullptr) {
        *why = reason;
    }
    return machine;
}

} // namespace corymb
