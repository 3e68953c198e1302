// SPDX-License-Identifier: Apache-2.0
// The functions, exceptions and base classes that this process knows, by the names of their types.
#include "remote/functions.hpp"

#include <corymb/error.hpp>
#include <corymb/remote_object.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <map>
#include <mutex>
#include <new>
#include <stdexcept>
#include <string>
#include <typeinfo>
#include <unordered_map>
#include <utility>
#include <vector>

namespace corymb::detail {

namespace {

/// Libraries add to it when they are loaded, so it exists before the first of them and for ever.
struct Registry {
    /// Knows the exceptions of the standard library that have a text and no other value.
    Registry() {
        add<std::logic_error, std::domain_error, std::invalid_argument, std::length_error,
            std::out_of_range, std::runtime_error, std::range_error, std::overflow_error,
            std::underflow_error>();
        exceptions.emplace(typeid(std::bad_alloc).name(),
                           [](const std::string& /*text*/) { throw std::bad_alloc(); });
    }
    template <class... E>
    void add() {
        (exceptions.emplace(typeid(E).name(), [](const std::string& text) { throw E(text); }), ...);
    }

    std::mutex mutex;
    std::unordered_multimap<std::uint64_t, const RemoteFunction*> functions;
    std::multimap<std::string, ExceptionEntry::Throw> exceptions;
    std::multimap<std::pair<std::string, std::string>, Subobject::Step> subobjects;
    std::atomic<std::uint64_t> changes{1};
};

Registry& registry() {
    static auto* const all = new Registry;
    return *all;
}

} // namespace

std::uint64_t hash_of(std::string_view text) noexcept {
    std::uint64_t hash = 0xcbf2'9ce4'8422'2325U; // FNV-1a
    for (const char letter : text) {
        hash = (hash ^ static_cast<unsigned char>(letter)) * 0x100'0000'01b3U;
    }
    return hash;
}

RemoteFunction::RemoteFunction(const std::type_info& named, Invoke run)
    : name_(named.name()), id_(hash_of(name_)), invoke_(run) {
    Registry& all = registry();
    const std::lock_guard lock(all.mutex);
    all.functions.emplace(id_, this);
}

RemoteFunction::~RemoteFunction() {
    Registry& all = registry();
    const std::lock_guard lock(all.mutex);
    const auto [begin, end] = all.functions.equal_range(id_);
    for (auto found = begin; found != end; ++found) {
        if (found->second == this) {
            all.functions.erase(found);
            break;
        }
    }
    all.changes.fetch_add(1, std::memory_order_relaxed);
}

RemoteFunction::Invoke FunctionCache::find_anew(std::uint64_t id) {
    Registry& all = registry();
    const std::lock_guard lock(all.mutex);
    const std::uint64_t changes = all.changes.load(std::memory_order_relaxed);
    if (changes != changes_) {
        known_ = {};
        changes_ = changes;
    }
    const auto [begin, end] = all.functions.equal_range(id);
    if (begin == end) {
        throw Error(Errc::mismatch, "this rank has no such function; all ranks must run one build "
                                    "of the program, with the same libraries loaded");
    }
    for (auto other = begin; other != end; ++other) {
        if (other->second->invoke() != begin->second->invoke()) {
            throw Error(Errc::invalid_argument,
                        std::string("several functions of the program are called ") +
                            readable(begin->second->name()) +
                            "; lambdas in unnamed namespaces of two files, for example: put one "
                            "into a function of another name");
        }
    }
    Known& place = known_[id % known_.size()];
    place = {id, begin->second->invoke()};
    return place.invoke;
}

bool FunctionCache::is_current() const noexcept {
    return changes_ == registry().changes.load(std::memory_order_relaxed);
}

ExceptionEntry::ExceptionEntry(const std::type_info& type, Throw thrower) : name_(type.name()) {
    Registry& all = registry();
    const std::lock_guard lock(all.mutex);
    all.exceptions.emplace(name_, thrower);
}

ExceptionEntry::~ExceptionEntry() {
    Registry& all = registry();
    const std::lock_guard lock(all.mutex);
    if (const auto found = all.exceptions.find(name_); found != all.exceptions.end()) {
        all.exceptions.erase(found);
    }
}

ExceptionEntry::Throw find_exception(const std::string& name) {
    Registry& all = registry();
    const std::lock_guard lock(all.mutex);
    const auto found = all.exceptions.find(name);
    return found == all.exceptions.end() ? nullptr : found->second;
}

Subobject::Subobject(const std::type_info& from, const std::type_info& to, const Step& step)
    : from_(from.name()), to_(to.name()) {
    Registry& all = registry();
    const std::lock_guard lock(all.mutex);
    all.subobjects.emplace(std::pair(from_, to_), step);
}

Subobject::~Subobject() {
    Registry& all = registry();
    const std::lock_guard lock(all.mutex);
    if (const auto found = all.subobjects.find({from_, to_}); found != all.subobjects.end()) {
        all.subobjects.erase(found);
    }
}

namespace {

struct Reached {
    std::string type;
    void* object;
    bool is_at; ///< It, or that of which it is a base, begins at the offset.
    bool operator==(const Reached&) const = default;
};

} // namespace

void* part_of(void* object, const std::type_info& whole, std::uint64_t offset,
              const std::type_info& part) {
    const void* const wanted = static_cast<std::byte*>(object) + offset;
    Registry& all = registry();
    const std::lock_guard lock(all.mutex);
    // Breadth first, since a pointer may have been made in several steps.
    std::vector<Reached> reached{{whole.name(), object, offset == 0}};
    for (std::size_t i = 0; i < reached.size(); ++i) {
        const Reached from = reached[i];
        if (from.is_at && from.type == part.name()) {
            return from.object;
        }
        for (auto step = all.subobjects.lower_bound({from.type, ""});
             step != all.subobjects.end() && step->first.first == from.type; ++step) {
            void* const to = step->second.take(from.object);
            Reached next{step->first.second, to, step->second.is_base ? from.is_at : to == wanted};
            if (std::ranges::find(reached, next) == reached.end()) {
                reached.push_back(std::move(next));
            }
        }
    }
    return nullptr;
}

} // namespace corymb::detail
