// SPDX-License-Identifier: Apache-2.0
#include "remote/trace_file.hpp"

#include "base/json.hpp"

#include <corymb/detail/output.hpp>

#include <nlohmann/json.hpp>

#include <array>
#include <chrono>
#include <cstdlib>
#include <unistd.h>

namespace corymb::detail {

namespace {

using nlohmann::ordered_json;

const char* text_of(TaskWait::Kind kind) noexcept {
    static constexpr std::array<const char*, 6> texts{"nothing", "answer", "object",
                                                      "task",    "finish", "other"};
    return texts[static_cast<std::size_t>(kind)];
}

ordered_json json_of(const std::vector<CallUnderWay>& calls) {
    ordered_json all = ordered_json::array();
    for (const CallUnderWay& call : calls) {
        all.push_back({{"number", call.number}, {"to", call.to}});
    }
    return all;
}

ordered_json json_of(const TaskWait& task) {
    ordered_json one{{"wait", task.wait},          {"runs", task.runs},
                     {"kind", text_of(task.kind)}, {"waits_for", task.waits_for},
                     {"tasks", task.tasks},        {"calls", json_of(task.calls)}};
    if (task.serves.from >= 0) {
        one["serves"] = {{"from", task.serves.from}, {"number", task.serves.number}};
    }
    return one;
}

ordered_json json_of(const RankWaits& rank) {
    ordered_json tasks = ordered_json::array();
    for (const TaskWait& task : rank.tasks) {
        tasks.push_back(json_of(task));
    }
    ordered_json queued = ordered_json::array();
    for (const auto& [to, messages] : rank.queued) {
        queued.push_back({{"to", to}, {"messages", messages}});
    }
    return {{"rank", rank.rank}, {"ready", rank.ready},          {"parked", rank.parked},
            {"queued", queued},  {"calls", json_of(rank.calls)}, {"tasks", tasks}};
}

ordered_json json_of(const Deadlock& deadlock) {
    ordered_json steps = ordered_json::array();
    for (const Deadlock::Step& step : deadlock.steps) {
        steps.push_back({{"rank", step.rank},
                         {"wait", step.wait},
                         {"runs", step.runs},
                         {"waits_for", step.waits_for}});
    }
    return {{"text", deadlock.text()},
            {"steps", steps},
            {"others", deadlock.stuck.size() - deadlock.steps.size()}};
}

} // namespace

std::unique_ptr<TraceFile> TraceFile::open(std::uint32_t group, Rank rank, int size) {
    const char* const folder = std::getenv("CORYMB_TRACE");
    if (folder == nullptr || *folder == '\0') {
        return nullptr;
    }
    std::unique_ptr<TraceFile> made(new TraceFile(folder, group, rank, size));
    made->write();
    return made;
}

TraceFile::TraceFile(const std::filesystem::path& folder, std::uint32_t group, Rank rank, int size)
    : file_(folder /
            ("group-" + std::to_string(group) + "-rank-" + std::to_string(rank) + ".json")),
      group_(group), rank_(rank), size_(size),
      to_wall_ns_(
          std::chrono::nanoseconds(std::chrono::system_clock::now().time_since_epoch()).count() -
          now_ns()) {}

double TraceFile::seconds(std::int64_t at_ns) const noexcept {
    return static_cast<double>(at_ns + to_wall_ns_) * 1e-9;
}

void TraceFile::note(const std::vector<RankWaits>& shown, const std::optional<Deadlock>& found) {
    if (found.has_value() || !deadlock_.has_value()) {
        shown_ = shown;
        shown_at_ns_ = now_ns();
        deadlock_ = found;
    }
    write();
}

void TraceFile::write() const {
    ordered_json shown = ordered_json::array();
    for (const RankWaits& rank : shown_) {
        shown.push_back(json_of(rank));
    }
    ordered_json calls = ordered_json::array();
    calls_.for_each([&](const CallLog::Entry& call) {
        ordered_json one{{"to", call.to}, {"begin", seconds(call.begin_ns)}};
        one["end"] = call.end_ns == 0 ? ordered_json() : ordered_json(seconds(call.end_ns));
        calls.push_back(std::move(one));
    });
    ordered_json document{{"schema", "corymb-tasks/1"},
                          {"group", group_},
                          {"rank", rank_},
                          {"size", size_},
                          {"pid", ::getpid()},
                          {"seconds", seconds(now_ns())}};
    document["shown_at"] = shown_.empty() ? ordered_json() : ordered_json(seconds(shown_at_ns_));
    document["shown"] = std::move(shown);
    document["deadlock"] = deadlock_.has_value() ? json_of(*deadlock_) : ordered_json();
    document["calls"] = std::move(calls);
    write_output(file_, dump_json(document));
}

} // namespace corymb::detail
