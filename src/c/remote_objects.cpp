// SPDX-License-Identifier: Apache-2.0
// Objects of C on other ranks. One function by name makes, calls and ends them.
#include "base/clock.hpp"
#include "base/random.hpp"
#include "c/remote_handles.hpp"

#include <corymb.h>

#include <algorithm>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace corymb::c {

RemoteObjects::~RemoteObjects() {
    for (const auto& [number, one] : objects) {
        one.kind.end(one.object);
    }
}

namespace {

/// In front of the argument: the number of the object, 0 to make one; the length of the name, 0 to
/// end the object.
constexpr std::size_t header_bytes = sizeof(std::uint64_t) + 1;

std::vector<std::byte> packed(std::uint64_t number, std::string_view name) {
    if (name.size() > detail::name_bytes_most) {
        refuse("the name of a class or method has at most " +
               std::to_string(detail::name_bytes_most) + " bytes, not " +
               std::to_string(name.size()));
    }
    std::vector<std::byte> bytes(header_bytes + name.size());
    std::memcpy(bytes.data(), &number, sizeof number);
    bytes[sizeof number] = static_cast<std::byte>(name.size());
    if (!name.empty()) {
        std::memcpy(bytes.data() + header_bytes, name.data(), name.size());
    }
    return bytes;
}

RemoteObjects::Object& found(RemoteObjects& of, std::uint64_t number, Rank own) {
    const auto place = of.objects.find(number);
    if (place == of.objects.end()) {
        throw Error(Errc::invalid_argument,
                    "rank " + std::to_string(own) +
                        " has no such object: it is gone, or of another group",
                    {own});
    }
    return place->second;
}

struct Made {
    const corymb_remote_class* kind;
    void* object = nullptr;
};

void make(RemoteObjects& of, NamedRequest& request, const std::shared_ptr<OneUser>& user,
          const std::string& name, std::span<const std::byte> argument, Rank own) {
    const auto kind = of.classes.find(name);
    if (kind == of.classes.end()) {
        throw Error(Errc::unknown_name,
                    "rank " + std::to_string(own) + " offers no class '" + name + "'", {own});
    }
    Made made{&kind->second};
    run_handler(
        request, user, name.c_str(), argument,
        [](corymb_remote_request* given, void* to) {
            auto& into = *static_cast<Made*>(to);
            return into.kind->make(given, &into.object);
        },
        &made);
    const corymb_remote_object answer{own, of.next++};
    of.objects.emplace(answer.number, RemoteObjects::Object{kind->second, made.object});
    request.answer(std::as_bytes(std::span(&answer, 1)));
}

void serve(RemoteObjects& of, NamedRequest& request, const std::shared_ptr<OneUser>& user,
           Rank own) {
    const auto all = request.argument();
    std::uint64_t number = 0;
    if (all.size() < header_bytes) {
        throw Error(Errc::mismatch, "the call of an object is too short");
    }
    std::memcpy(&number, all.data(), sizeof number);
    const auto length = static_cast<std::size_t>(all[sizeof number]);
    const auto behind = all.subspan(header_bytes);
    if (behind.size() < length) {
        throw Error(Errc::mismatch, "the call of an object is too short");
    }
    const std::string name(reinterpret_cast<const char*>(behind.data()), length);
    const auto argument = behind.subspan(length);
    if (number == 0) {
        make(of, request, user, name, argument, own);
        return;
    }
    RemoteObjects::Object one = found(of, number, own);
    if (length == 0) {
        of.objects.erase(number);
        one.kind.end(one.object);
        return;
    }
    run_handler(
        request, user, name.c_str(), argument,
        [](corymb_remote_request* given, void* to) {
            const auto& called = *static_cast<RemoteObjects::Object*>(to);
            return called.kind.call(called.object, given);
        },
        &one);
}

/// Begins the call, or posts it if `is_wanted` is false.
NamedCall begin_object(RemotePlace& of, Rank to, std::uint64_t number, std::string_view name,
                       std::span<const std::byte> argument, bool is_wanted) {
    const auto header = packed(number, name);
    const std::span<const std::byte> parts[] = {header, argument};
    if (is_wanted) {
        return begin_named(of.rank, to, object_function, ByteParts(parts));
    }
    post_named(of.rank, to, object_function, ByteParts(parts));
    return {};
}

} // namespace

} // namespace corymb::c

using namespace corymb;

corymb_status corymb_remote_offer_class(corymb_remote* own, const char* name,
                                        const corymb_remote_class* kind) noexcept {
    return c::guarded([&] {
        auto& of = c::held(own);
        const auto call = of.user->enter();
        c::require(name, "corymb_remote_offer_class: name");
        c::require(kind, "corymb_remote_offer_class: kind");
        if (kind->make == nullptr || kind->call == nullptr || kind->end == nullptr) {
            c::refuse("corymb_remote_offer_class: a function of the class is NULL");
        }
        static_cast<void>(c::packed(0, name)); // Refuses what is too long.
        c::RemoteObjects& objects = *of.object.objects;
        if (objects.next == 0) {
            // Numbers of another rank or group are none of this one's.
            Random numbers(static_cast<std::uint64_t>(now_ns()));
            objects.next = (numbers.next() << 20U) | 1U;
            const auto run = [&objects, user = of.user, served = of.object.served.get(),
                              rank = of.object.rank.rank()](NamedRequest& request) {
                ++*served;
                c::serve(objects, request, user, rank);
            };
            offer_function(of.object.rank, c::object_function, run);
        }
        if (!objects.classes.emplace(name, *kind).second) {
            c::refuse("a class is offered as '" + std::string(name) + "' already");
        }
    });
}

corymb_status corymb_remote_create(corymb_remote* own, int to, const char* kind,
                                   const void* argument, size_t bytes,
                                   corymb_remote_call** call) noexcept {
    return c::guarded([&] { c::require(call, "corymb_remote_create: call"); }) != CORYMB_OK
               ? CORYMB_INVALID_ARGUMENT
               : c::begin_of(own, call, "corymb_remote_create: call", [&](c::RemotePlace& of) {
                     c::require(kind, "corymb_remote_create: kind");
                     const auto sent =
                         c::bytes_at(argument, bytes, "corymb_remote_create: argument");
                     return c::begin_object(of, to, 0, kind, sent, true);
                 });
}

corymb_status corymb_remote_call_objects(corymb_remote* own, const corymb_remote_object* objects,
                                         size_t count, const char* method, const void* argument,
                                         size_t bytes, corymb_remote_call** calls) noexcept {
    return c::guarded([&] {
        std::fill_n(calls, calls == nullptr ? 0 : count, nullptr);
        auto& of = c::held(own);
        const auto mark = of.user->enter();
        if (count != 0) {
            c::require(objects, "corymb_remote_call_objects: objects");
        }
        c::require(method, "corymb_remote_call_objects: method");
        if (*method == '\0') {
            c::refuse("corymb_remote_call_objects: the name of the method is empty");
        }
        const auto sent = c::bytes_at(argument, bytes, "corymb_remote_call_objects: argument");
        static_cast<void>(c::packed(0, method)); // All that can be refused, before a call begins.
        for (std::size_t i = 0; i < count; ++i) {
            if (objects[i].number == 0) {
                c::refuse("corymb_remote_call_objects: an object is none");
            }
            detail::require_callable(of.object.rank, objects[i].rank);
        }
        std::vector<NamedCall> begun;
        for (std::size_t i = 0; i < count; ++i) {
            begun.push_back(c::begin_object(of.object, objects[i].rank, objects[i].number, method,
                                            sent, calls != nullptr));
        }
        for (std::size_t i = 0; calls != nullptr && i < count; ++i) {
            auto& slot = c::AllSlots<corymb_remote_call>::take();
            slot.held.emplace(c::OfRank(std::move(begun[i]), of.user));
            calls[i] = &slot;
        }
    });
}

corymb_status corymb_remote_destroy(corymb_remote* own, corymb_remote_object object,
                                    corymb_remote_call** call) noexcept {
    const auto end = [&](c::RemotePlace& of) {
        if (object.number == 0) {
            c::refuse("corymb_remote_destroy: the object is none");
        }
        return c::begin_object(of, object.rank, object.number, "", {}, call != nullptr);
    };
    return call == nullptr ? c::use(own, [&](c::RemotePlace& of) { static_cast<void>(end(of)); })
                           : c::begin_of(own, call, "corymb_remote_destroy: call", end);
}
