// SPDX-License-Identifier: Apache-2.0
#include "base/file.hpp"
#include "base/sha256.hpp"

#include <corymb/error.hpp>
#include <corymb/machine.hpp>

namespace corymb {

Machine load_machine(const std::filesystem::path& file) {
    const std::string text = read_file(file);
    try {
        return machine_from_json(text);
    } catch (const Error& error) {
        throw Error(error.code(), file.string() + ": " + error.what());
    }
}

void save_machine(const Machine& machine, const std::filesystem::path& file) {
    write_file_atomically(file, to_json(machine));
}

std::string machine_sha256(const Machine& machine) {
    // The canonical form is the one that save_machine writes, so that sha256sum gives the same.
    return sha256_hex(to_json(machine));
}

} // namespace corymb
