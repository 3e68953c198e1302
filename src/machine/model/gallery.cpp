// SPDX-License-Identifier: Apache-2.0
// The machines that ship with the library: files in the data folder "machines" (its README.md says
// what they are), read when asked for. index.json adds what the CSV files cannot say.
#include "base/data_directory.hpp"
#include "base/file.hpp"
#include "base/json.hpp"
#include "base/nearest_name.hpp"

#include <corymb/error.hpp>
#include <corymb/machine.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace corymb {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view cycles_suffix = "-cycles";

/// The files by name: a square CSV, a folder with Smelt's two files, or a model in JSON.
std::map<std::string, fs::path> gallery_files(const fs::path& folder) {
    std::map<std::string, fs::path> out;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
        const fs::path& path = entry.path();
        const bool is_model =
            entry.is_directory() ? fs::exists(path / "send.csv") && fs::exists(path / "receive.csv")
                                 : path.extension() == ".csv" || (path.extension() == ".json" &&
                                                                  path.filename() != "index.json");
        if (is_model) {
            out.emplace(entry.is_directory() ? path.filename().string() : path.stem().string(),
                        path);
        }
    }
    return out;
}

void add_remarks(const JsonView& entry, Machine& machine) {
    entry.allow_only({"cpu", "source", "unit_ns", "remarks"});
    machine.fingerprint.cpu = entry.at("cpu").text();
    machine.source = "imported CSV: " + entry.at("source").text();
    if (const auto unit_ns = entry.find("unit_ns")) {
        machine.unit_ns = unit_ns->number(0);
    }
    if (const auto remarks = entry.find("remarks")) {
        for (std::string& remark : remarks->texts()) {
            machine.quality.remarks.push_back(std::move(remark));
        }
    }
}

void add_index(const fs::path& file, Machine& machine) {
    if (!fs::exists(file)) {
        return; // A folder of somebody's own CSV files needs none.
    }
    const std::string text = read_file(file);
    try {
        const JsonDocument document(text, Errc::invalid_model);
        if (const auto entry = document.root().at("machines").find(machine.name)) {
            add_remarks(*entry, machine);
        }
    } catch (const Error& error) {
        throw Error(error.code(), file.string() + ": " + error.what());
    }
}

} // namespace

std::vector<std::string> gallery_names() {
    std::vector<std::string> names;
    for (const auto& [name, path] : gallery_files(data_directory("machines"))) {
        names.push_back(name);
    }
    return names;
}

Machine gallery_machine(std::string_view name) {
    const fs::path folder = data_directory("machines");
    const std::map<std::string, fs::path> files = gallery_files(folder);
    auto found = files.find(std::string(name));
    if (found == files.end()) {
        found = files.find(std::string(name) + std::string(cycles_suffix));
    }
    if (found == files.end()) {
        const std::vector<std::string> names = gallery_names();
        const std::string nearest = nearest_name(name, names);
        throw Error(Errc::unknown_name,
                    fmt::format("no machine \"{}\" in the gallery; {}", name.substr(0, 80),
                                nearest.empty()
                                    ? fmt::format("there are {}", fmt::join(names, ", "))
                                    : fmt::format("did you mean {}?", nearest)));
    }
    Machine machine = load_machine(found->second);
    if (found->second.extension() != ".json") {
        add_index(folder / "index.json", machine);
        machine.check();
    }
    return machine;
}

} // namespace corymb
