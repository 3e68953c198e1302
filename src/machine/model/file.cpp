// SPDX-License-Identifier: Apache-2.0
#include "base/file.hpp"
#include "base/sha256.hpp"

#include <corymb/detail/output.hpp>
#include <corymb/error.hpp>
#include <corymb/machine.hpp>

#include <string_view>

namespace corymb {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view cycles_suffix = "-cycles";

Machine read_machine(const fs::path& path) {
    if (fs::is_directory(path) && fs::exists(path / "send.csv")) {
        const std::string name = fs::absolute(path / "").parent_path().filename().string();
        return import_smelt_csv(read_file(path / "send.csv"), read_file(path / "receive.csv"),
                                name);
    }
    const std::string text = read_file(path);
    if (path.extension() == ".csv") {
        const std::string name = path.stem().string();
        const bool cycles = name.ends_with(cycles_suffix);
        return import_latency_csv(text, name, cycles ? TimeUnit::cycles : TimeUnit::nanoseconds);
    }
    return machine_from_json(text);
}

} // namespace

Machine load_machine(const fs::path& file) {
    try {
        return read_machine(file);
    } catch (const Error& error) {
        if (error.code() == Errc::io) {
            throw; // Has the path already.
        }
        throw Error(error.code(), file.string() + ": " + error.what());
    }
}

void save_machine(const Machine& machine, const fs::path& file) {
    detail::write_output(file, to_json(machine));
}

std::string machine_sha256(const Machine& machine) {
    // The canonical form is the one that save_machine writes, so that sha256sum gives the same.
    return sha256_hex(to_json(machine));
}

} // namespace corymb
