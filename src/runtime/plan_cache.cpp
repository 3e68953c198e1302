// SPDX-License-Identifier: Apache-2.0
#include "runtime/plan_cache.hpp"

#include "base/file.hpp"
#include "base/sha256.hpp"
#include "plan/plan_bytes.hpp"

#include <corymb/detail/output.hpp>
#include <corymb/discover.hpp>
#include <corymb/error.hpp>
#include <corymb/version.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <dlfcn.h>
#include <exception>
#include <sys/stat.h>
#include <system_error>
#include <type_traits>
#include <utility>
#include <vector>

namespace corymb::team {

namespace {

namespace fs = std::filesystem;

constexpr const char* suffix = ".plan";
constexpr std::size_t digest_length = 64;

/// The contents of a file: the key, the plan, and a digest of both.
std::string text_of(const std::string& key, const Plan& plan) {
    std::string text = key + '\n' + plan::to_bytes(plan);
    text += sha256_hex(text);
    return text;
}

/// Throws Error for anything but a text of this key.
Plan plan_of(const std::string& text, const std::string& key) {
    const std::string head = key + '\n';
    const std::size_t end = text.size() - std::min(text.size(), digest_length);
    const std::string_view body(text.data(), end);
    if (!body.starts_with(head) || text.substr(end) != sha256_hex(body)) {
        throw Error(Errc::invalid_plan, "damaged");
    }
    return plan::plan_from_bytes(body.substr(head.size()));
}

template <class T>
void add(std::string& bytes, const std::vector<T>& values) {
    static_assert(std::is_trivially_copyable_v<T>);
    const std::size_t before = bytes.size();
    bytes.resize(before + values.size() * sizeof(T));
    if (!values.empty()) {
        std::memcpy(bytes.data() + before, values.data(), values.size() * sizeof(T));
    }
    bytes += '|';
}

void add(std::string& bytes, const std::vector<Curve>& curves) {
    for (const Curve& curve : curves) {
        bytes += fmt::format("{}:", curve.pair_class);
        add(bytes, curve.count);
        add(bytes, curve.value);
    }
    bytes += '|';
}

} // namespace

PlanCache PlanCache::of_user() {
    try {
        const fs::path model = cached_model_path(); // machine-HOST.json
        const std::string host = model.stem().string().substr(std::strlen("machine-"));
        return PlanCache(model.parent_path() / ("plans-" + host));
    } catch (const std::exception&) {
        return PlanCache({});
    }
}

fs::path PlanCache::file_of(const std::string& key) const {
    return folder_ / (sha256_hex(key) + suffix);
}

std::optional<plan::ProvenPlan> PlanCache::find(const std::string& key,
                                                bool ordered) const noexcept {
    try {
        if (folder_.empty()) {
            return std::nullopt;
        }
        const fs::path file = file_of(key);
        std::error_code failed;
        if (!fs::is_regular_file(file, failed)) {
            return std::nullopt;
        }
        try {
            return plan::ProvenPlan(plan_of(read_file(file, 2 * bytes_max), key), ordered);
        } catch (const Error&) {
            fs::remove(file, failed);
        }
    } catch (const std::exception&) { // No memory, no path.
    }
    return std::nullopt;
}

void PlanCache::keep(const std::string& key, const Plan& plan) const noexcept {
    try {
        if (folder_.empty()) {
            return;
        }
        const std::string text = text_of(key, plan);
        if (text.size() <= bytes_max) {
            fs::create_directories(folder_);
            remove_oldest();
            detail::write_output(file_of(key), text);
        }
    } catch (const std::exception&) { // The plan is searched for again next time.
    }
}

/// Leaves room for one more.
void PlanCache::remove_oldest() const {
    std::vector<std::pair<fs::file_time_type, fs::path>> files;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder_)) {
        std::error_code failed;
        const auto written = entry.last_write_time(failed);
        if (!failed && entry.path().extension() == suffix) {
            files.emplace_back(written, entry.path());
        }
    }
    if (files.size() < files_max) {
        return;
    }
    // A few at a time, so that not each further one looks for the oldest.
    const auto count = static_cast<std::ptrdiff_t>(files.size() - files_max + files_max / 8);
    std::ranges::nth_element(files, files.begin() + count);
    for (auto file = files.begin(); file != files.begin() + count; ++file) {
        std::error_code failed;
        fs::remove(file->second, failed);
    }
}

std::string digest_of(const Machine& machine) {
    std::string bytes = fmt::format("{} {} {} |", static_cast<int>(machine.unit), machine.unit_ns,
                                    machine.step_overhead);
    add(bytes, machine.topology.pus);
    add(bytes, machine.group);
    add(bytes, machine.group_class);
    add(bytes, machine.send);
    add(bytes, machine.receive);
    for (const PairClass& pair : machine.classes) {
        bytes += fmt::format("{} {},", pair.send.median, pair.receive.median);
    }
    for (const auto* curves :
         {&machine.send_batch, &machine.fan_out, &machine.receive_batch, &machine.shared_line,
          &machine.exchange, &machine.transfer, &machine.fresh, &machine.rewrite}) {
        add(bytes, *curves);
    }
    for (const MemoryLevel& level : machine.memory) {
        bytes += fmt::format("{} {} {},", level.level, level.working_set_bytes, level.copy_gbs);
    }
    for (const GivenLevel& level : machine.levels) {
        add(bytes, level.group);
    }
    for (const SharedResource& shared : machine.shared) {
        bytes += fmt::format("{} {} {},", static_cast<int>(shared.use),
                             static_cast<int>(shared.scope), shared.from_bytes);
        add(bytes, shared.count);
        add(bytes, shared.value);
    }
    return sha256_hex(bytes);
}

std::string key_of(const PlanRequest& request) {
    return fmt::format(
        "{} root {}{} of {} bytes like {} by {}{}{}{}{}{}{}{}, {} slots, cpus {}, moves {}, "
        "seed {}, on {}",
        to_string(request.op), request.root, request.root_first ? " first" : "", request.bytes,
        request.example_bytes, request.algorithm, request.ordered ? " ordered" : "",
        request.reproducible ? " reproducible" : "", request.keeps_parts ? " parts" : "",
        request.one_block ? " uncut" : "", request.pull ? " pull" : "", request.push ? " push" : "",
        request.oversubscribed ? " crowded" : "", request.cell_slots, request.cpus, request.moves,
        request.seed, fmt::join(request.placement, ","));
}

const std::string& planner_name() {
    // Never destroyed: a thread may search to the very end of the process.
    static const auto& name = *new std::string([] {
        Dl_info info{};
        struct stat file{};
        const bool is_known = dladdr(reinterpret_cast<const void*>(&version), &info) != 0 &&
                              info.dli_fname != nullptr && ::stat(info.dli_fname, &file) == 0;
        return is_known ? fmt::format("corymb {} {} {}.{}", version(), file.st_size,
                                      file.st_mtim.tv_sec, file.st_mtim.tv_nsec)
                        : fmt::format("corymb {}", version());
    }());
    return name;
}

} // namespace corymb::team
