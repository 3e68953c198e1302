// SPDX-License-Identifier: Apache-2.0
#include "explorer/trace.hpp"

#include "explorer/explorer.hpp"

#include <cstdio>

namespace corymb::verify {

std::string thread_text(int thread) {
    return std::string(1, static_cast<char>('a' + thread));
}

std::string value_text(std::uint64_t value) {
    char text[32];
    std::snprintf(text, sizeof text, value < 100'000 ? "%llu" : "0x%llx",
                  static_cast<unsigned long long>(value));
    return text;
}

std::string place_text(std::source_location where) {
    const std::string file = where.file_name();
    return file.substr(file.rfind('/') + 1) + ":" + std::to_string(where.line());
}

std::string order_text(std::memory_order order) {
    switch (order) {
    case std::memory_order_relaxed: return "relaxed";
    case std::memory_order_acquire: return "acquire";
    case std::memory_order_release: return "release";
    case std::memory_order_acq_rel: return "acq_rel";
    case std::memory_order_seq_cst: return "seq_cst";
    default: return "consume";
    }
}

std::string kind_text(Kind kind) {
    switch (kind) {
    case Kind::begin: return "begin";
    case Kind::load: return "load";
    case Kind::store: return "store";
    case Kind::exchange: return "modify";
    case Kind::await: return "await";
    case Kind::fence: return "fence";
    case Kind::light_fence: return "light fence";
    case Kind::heavy_begin: return "heavy fence begins";
    case Kind::heavy_moment: return "heavy fence reaches";
    case Kind::heavy_end: return "heavy fence ends";
    case Kind::futex_wait: return "futex wait";
    case Kind::asleep: return "asleep";
    case Kind::futex_wake: return "futex wake";
    }
    return "?";
}

std::string read_text(std::uint64_t value, const Store& from) {
    const std::string source =
        from.writer < 0 ? "the beginning"
                        : thread_text(from.writer) + " at step " + std::to_string(from.step);
    return "reads " + value_text(value) + " from " + source;
}

std::string written_text(std::uint64_t value, bool newest) {
    return "writes " + value_text(value) + (newest ? "" : " behind an older store");
}

std::string plain_text(std::uint64_t step, int thread, bool is_write, const std::string& what,
                       std::size_t count, std::source_location where) {
    char line[256];
    std::snprintf(line, sizeof line, "%5llu  %s      plain %s of %zu bytes at %s   [%s]",
                  static_cast<unsigned long long>(step), thread_text(thread).c_str(),
                  is_write ? "write" : "read", count, what.c_str(), place_text(where).c_str());
    return line;
}

std::string Explorer::describe(const void* address) const {
    const auto* byte = static_cast<const std::byte*>(address);
    for (const Named& range : names_) {
        if (byte >= range.address && byte < range.address + range.bytes) {
            const auto offset = byte - range.address;
            const std::string text = range.text;
            return offset == 0 ? text : text + "+" + std::to_string(offset);
        }
    }
    return "memory";
}

std::string Explorer::describe(LocationId location) const {
    const std::string name = describe(addresses_[location]);
    return name == "memory" ? "word " + std::to_string(location) : name;
}

void Explorer::trace(const Operation& operation, const std::string& outcome) {
    if (!tracing_) {
        return;
    }
    std::string what = kind_text(operation.kind);
    const bool access = operation.kind == Kind::store || operation.kind == Kind::load ||
                        operation.kind == Kind::exchange || operation.kind == Kind::await;
    if (access || operation.kind == Kind::fence) {
        what += " " + order_text(operation.order);
    }
    if (access || operation.is_futex() || operation.kind == Kind::asleep) {
        what += " " + describe(operation.location);
    }
    char line[320];
    std::snprintf(line, sizeof line, "%5llu  %s  %-34s %s   [%s]",
                  static_cast<unsigned long long>(steps_), thread_text(current_).c_str(),
                  what.c_str(), outcome.c_str(), place_text(operation.where).c_str());
    trace_.emplace_back(line);
}

} // namespace corymb::verify
