// SPDX-License-Identifier: Apache-2.0
#include "explorer/explorer.hpp"

#include <exception>
#include <utility>

namespace corymb::verify {

namespace {

Explorer* at_work = nullptr;

} // namespace

Explorer& Explorer::current() noexcept {
    return *at_work;
}

Result Explorer::explore(const Program& program, const Options& options) {
    options_ = options;
    if (options.random) {
        search_.start_random(options.seed);
    } else {
        search_.start_exhaustive();
    }
    Result result;
    do {
        run_execution(program);
        ++result.executions;
        result.steps += steps_;
        result.pruned += pruned_ ? 1 : 0;
        if (!error_.empty()) {
            return finish_failed(program, std::move(result));
        }
        if (result.executions == options.executions_max && !options.random) {
            return result;
        }
    } while (result.executions < options.executions_max && search_.advance());
    result.complete = true;
    return result;
}

Result Explorer::replay(const Program& program, const Options& options, std::string_view text) {
    options_ = options;
    search_.start_replay(text);
    tracing_ = true;
    trace_.clear();
    run_execution(program);
    tracing_ = false;
    Result result;
    result.executions = 1;
    result.steps = steps_;
    result.violated = !error_.empty();
    result.error = error_;
    result.trace = trace_;
    result.replay = search_.replay();
    return result;
}

/// Runs the failing execution once more, to write down what happened.
Result Explorer::finish_failed(const Program& program, Result result) {
    const std::string error = error_;
    const Result again = replay(program, options_, std::string(search_.replay()));
    result.violated = true;
    result.error = again.error == error ? error : error + " (a replay says: " + again.error + ")";
    result.trace = again.trace;
    result.replay = again.replay;
    return result;
}

void Explorer::run_execution(const Program& program) {
    at_work = this;
    memory_.reset();
    shadow_.reset();
    addresses_.clear();
    names_.clear();
    error_.clear();
    search_.begin_execution();
    threads_.assign(static_cast<std::size_t>(program.threads), Thread{});
    steps_ = 0;
    preemptions_ = 0;
    preferred_ = -1;
    spurious_left_ = options_.spurious_wakeups;
    pruned_ = false;
    mortal_ = -1;

    const auto instance = program.make();
    instance_ = instance.get();
    fibers_.prepare(program.threads, [this](int index) { run_thread(index); });
    const int first = pick();
    if (first >= 0) {
        current_ = first;
        fibers_.enter(first);
    }
    current_ = -1;
    if (error_.empty() && !pruned_) {
        instance->finish();
    }
}

void Explorer::run_thread(int index) {
    step_done(); // Kind::begin
    instance_->run(index);
    threads_[static_cast<std::size_t>(index)].done = true;
    hand_over();
}

LocationId Explorer::add_location(const void* address, std::uint64_t value) {
    addresses_.push_back(static_cast<const std::byte*>(address));
    return memory_.add_location(value);
}

void Explorer::name(const void* address, std::size_t bytes, const char* text) {
    names_.push_back({static_cast<const std::byte*>(address), bytes, text});
}

void Explorer::require(bool holds, const char* what, std::source_location where) {
    if (!holds) {
        fail(std::string(what) + " does not hold at line " + std::to_string(where.line()));
    }
}

void Explorer::assertion_failed(const char* invariant, const char* file, int line) {
    fail(std::string("the assertion ") + invariant + " fails at " + file + ":" +
         std::to_string(line));
    std::terminate(); // Outside the threads of a world nothing can go on.
}

void Explorer::fail(std::string text) {
    if (error_.empty()) {
        error_ = std::move(text);
    }
    if (current_ >= 0) {
        fibers_.leave();
    }
}

} // namespace corymb::verify
