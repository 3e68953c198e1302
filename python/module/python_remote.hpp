// SPDX-License-Identifier: Apache-2.0
// A rank that calls others by name, as Python has it: what arrives is kept without the interpreter
// lock, and handed over in rows by `poll`.
#pragma once

#include "bindings.hpp"
#include "python_shared_array.hpp"

#include <corymb/remote.hpp>
#include <corymb/remote_name.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace corymb::python {

/// Touched by the thread that is in `Use` only.
class PythonRemoteRank {
public:
    /// Python has these numbers in corymb/remote/rank.py.
    enum class Kind { request, answer, failure, stop, end };
    struct Event {
        Kind kind;
        std::uint64_t number = 0; ///< The call's, or the request's.
        Rank from = -1;
        std::uint64_t function = 0; ///< Requests: the number that `offer` was given.
        std::vector<std::byte> bytes;
        std::exception_ptr failure;
    };

    /// Says for its life that this thread uses the rank.
    class Use {
    public:
        /// Throws Errc::invalid_argument while another thread does, and when the rank is closed.
        explicit Use(PythonRemoteRank& of);
        Use(const Use&) = delete;
        Use& operator=(const Use&) = delete;
        ~Use() { --of_.uses_; }

    private:
        PythonRemoteRank& of_;
    };

    explicit PythonRemoteRank(RemoteRank&& rank) : own_(std::move(rank)) {}
    PythonRemoteRank(PythonRemoteRank&&) = delete;
    PythonRemoteRank& operator=(PythonRemoteRank&&) = delete;
    ~PythonRemoteRank() { let_go(); }

    [[nodiscard]] RemoteRank& own() noexcept { return *own_; }
    [[nodiscard]] Rank rank() const noexcept { return own_ ? own_->rank() : -1; }
    [[nodiscard]] int size() const noexcept { return own_ ? own_->size() : 0; }
    void offer(std::uint64_t function, std::string name);
    [[nodiscard]] std::uint64_t begin(Rank to, const std::string& name, const ByteParts& argument);
    void cancel(std::uint64_t call) { calls_.erase(call); }
    /// Throws Errc::invalid_argument for a request that was answered.
    [[nodiscard]] NamedReply take_reply(std::uint64_t request);
    /// An event of kind `end` comes when the tasks of all ranks have ended.
    void begin_end();
    [[nodiscard]] bool has_events() const noexcept { return !events_.empty(); }
    [[nodiscard]] std::vector<Event> take_events() { return std::exchange(events_, {}); }
    /// An answer without bytes, or a failure, comes as an event when all ranks have called this.
    [[nodiscard]] std::uint64_t make_array(std::string name, std::size_t bytes, std::size_t tile,
                                           std::uint64_t mark);
    /// The array that this number has made.
    [[nodiscard]] std::unique_ptr<PythonSharedArray> take_array(std::uint64_t number);
    /// As make_array; the array must live until then.
    [[nodiscard]] std::uint64_t sync_array(ByteArray& array);
    /// Ends arrays that nobody has any more.
    void end_arrays() noexcept { ended_->arrays.clear(); }
    void close();

private:
    struct Asked {
        NamedReply reply;
        std::optional<std::stop_callback<std::function<void()>>> on_stop;
    };
    /// Runs what `begin()` gives as a task; its end is an event with the number.
    template <class Begin>
    std::uint64_t run(Begin begin);
    void note_request(std::uint64_t function, NamedRequest& request);
    void let_go() noexcept;

    std::optional<RemoteRank> own_;
    std::map<std::uint64_t, NamedCall> calls_;
    std::map<std::uint64_t, Asked> asked_;
    std::map<std::uint64_t, std::unique_ptr<ByteArray>> arrays_; ///< Made, and not taken.
    std::shared_ptr<EndedArrays> ended_ = std::make_shared<EndedArrays>();
    std::vector<Event> events_;
    std::uint64_t next_ = 1;
    bool is_ending_ = false;
    int uses_ = 0; ///< By `user_`, one in another.
    std::thread::id user_;
};

} // namespace corymb::python
