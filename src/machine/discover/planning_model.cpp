// SPDX-License-Identifier: Apache-2.0
#include "machine/discover/planning_model.hpp"

#include "base/cpu_list.hpp"
#include "base/file.hpp"
#include "base/sha256.hpp"
#include "base/small_file.hpp"
#include "machine/discover/this_machine.hpp"

#include <corymb/detail/output.hpp>
#include <corymb/discover.hpp>
#include <corymb/error.hpp>
#include <corymb/usable_cpus.hpp>
#include <corymb/version.hpp>

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <unistd.h>

namespace corymb::discover {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::minutes kept_for{10};

/// HWLOC_XMLFILE and its like: what hwloc says is then about something else.
bool has_variables_of_hwloc() {
    for (char** variable = ::environ; variable != nullptr && *variable != nullptr; ++variable) {
        if (std::string_view(*variable).starts_with("HWLOC_")) {
            return true;
        }
    }
    return false;
}

fs::path file_of_answer() {
    return cached_model_path().parent_path() / ("planning-" + host_name() + ".txt");
}

std::string hash_of_measured_model() {
    try {
        return sha256_hex(read_file(cached_model_path()));
    } catch (const Error&) {
        return "none";
    }
}

/// What an answer holds for, as the first line of its file.
std::string conditions() {
    return std::string("corymb ") + version() + ", boot " +
           read_small_file("/proc/sys/kernel/random/boot_id").value_or("unknown") + ", CPUs " +
           format_cpu_list(usable_cpus().allowed) + ", measured " + hash_of_measured_model() + '\n';
}

std::optional<Machine> kept_answer(const fs::path& file, const std::string& wanted) {
    std::error_code failed;
    const auto age = fs::file_time_type::clock::now() - fs::last_write_time(file, failed);
    if (failed || age < age.zero() || age > kept_for) {
        return std::nullopt;
    }
    try {
        const std::string text = read_file(file);
        if (text.starts_with(wanted)) {
            return machine_from_json(std::string_view(text).substr(wanted.size()));
        }
    } catch (const Error&) { // Somebody has removed or damaged it: it is asked anew.
    }
    return std::nullopt;
}

Machine asked_anew() {
    auto measured = load_cached_machine();
    return measured ? std::move(*measured) : discover_topology();
}

} // namespace

Machine planning_model() {
    if (has_variables_of_hwloc()) {
        return asked_anew();
    }
    fs::path file;
    try {
        file = file_of_answer();
    } catch (const Error&) { // A user without a home.
        return asked_anew();
    }
    const std::string wanted = conditions();
    if (auto kept = kept_answer(file, wanted)) {
        return std::move(*kept);
    }
    Machine machine = asked_anew();
    try {
        fs::create_directories(file.parent_path());
        detail::write_output(file, wanted + to_json(machine));
    } catch (const std::exception&) { // Asked anew next time.
    }
    return machine;
}

} // namespace corymb::discover
