// SPDX-License-Identifier: Apache-2.0
#include "remote/scheduler_state.hpp"

#include <corymb/error.hpp>
#include <corymb/finish.hpp>

#include <algorithm>
#include <cstddef>
#include <set>
#include <string>
#include <utility>

namespace corymb {

namespace {

constexpr std::size_t told_most = 4;

Errc code_of(const std::exception_ptr& thrown) noexcept {
    try {
        std::rethrow_exception(thrown);
    } catch (const Error& error) {
        return error.code();
    } catch (...) {
        return Errc::internal;
    }
}

std::string text_of(const std::exception_ptr& thrown) {
    try {
        std::rethrow_exception(thrown);
    } catch (const std::exception& error) {
        return error.what();
    } catch (...) {
        return "an exception without a text";
    }
}

std::string text_of_all(const std::vector<std::exception_ptr>& all) {
    std::string text = std::to_string(all.size()) + " tasks have failed:";
    for (std::size_t i = 0; i < std::min(all.size(), told_most); ++i) {
        text += (i == 0 ? " " : "; ") + text_of(all[i]);
    }
    return text + (all.size() > told_most ? "; and so on" : "");
}

/// Those that any of the errors names, each once, from the lowest on.
std::vector<int> ranks_of_all(const std::vector<std::exception_ptr>& all) {
    std::set<int> ranks;
    for (const std::exception_ptr& thrown : all) {
        try {
            std::rethrow_exception(thrown);
        } catch (const Error& error) {
            ranks.insert(error.ranks().begin(), error.ranks().end());
        } catch (...) { // It names none.
        }
    }
    return {ranks.begin(), ranks.end()};
}

/// In place of each TaskErrors what it has.
std::vector<std::exception_ptr> flattened(const std::vector<std::exception_ptr>& all) {
    std::vector<std::exception_ptr> flat;
    for (const std::exception_ptr& thrown : all) {
        try {
            std::rethrow_exception(thrown);
        } catch (const TaskErrors& several) {
            flat.insert(flat.end(), several.all().begin(), several.all().end());
        } catch (...) {
            flat.push_back(thrown);
        }
    }
    return flat;
}

} // namespace

TaskErrors::TaskErrors(std::vector<std::exception_ptr> all)
    : Error(code_of(all.front()), text_of_all(all), ranks_of_all(all)), all_(std::move(all)) {}

void detail::throw_all(std::vector<std::exception_ptr> all) {
    if (all.size() == 1) {
        std::rethrow_exception(all.front());
    }
    throw TaskErrors(flattened(all));
}

void detail::FinishScope::pass_on_untaken() noexcept {
    SchedulerState& scheduler = *strand_->scheduler;
    for (const auto& strand : scheduler.strands) {
        if (strand->scope == this) {
            strand->scope = &scheduler;
            scheduler.add_untaken();
        }
    }
}

void detail::FinishScope::note_thrown(const std::exception_ptr& thrown) noexcept {
    try {
        thrown_.push_back(thrown);
    } catch (...) { // No memory: the first ones are kept.
    }
}

} // namespace corymb
