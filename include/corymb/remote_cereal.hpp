// SPDX-License-Identifier: Apache-2.0
// Types that cereal can serialize travel in calls. For programs that have cereal
// (https://uscilab.github.io/cereal/, Debian's libcereal-dev); the library itself needs none.
#pragma once

#include <corymb/detail/remote_codec.hpp>

#include <cereal/archives/binary.hpp>
#include <cereal/cereal.hpp>

#include <cstddef>
#include <cstring>
#include <ios>
#include <istream>
#include <ostream>
#include <streambuf>
#include <type_traits>

namespace corymb {

namespace detail {

template <class T>
concept CerealType =
    !std::is_trivially_copyable_v<T> && std::is_default_constructible_v<T> &&
    cereal::traits::is_output_serializable<T, cereal::BinaryOutputArchive>::value &&
    cereal::traits::is_input_serializable<T, cereal::BinaryInputArchive>::value;

/// Takes bytes of an archive as they come.
template <class Take>
class ArchiveOutput final : public std::streambuf {
public:
    explicit ArchiveOutput(Take take) : take_(take) {}

private:
    std::streamsize xsputn(const char* from, std::streamsize count) override {
        take_(from, static_cast<std::size_t>(count));
        return count;
    }
    int_type overflow(int_type letter) override {
        const char one = traits_type::to_char_type(letter);
        take_(&one, 1);
        return letter;
    }
    Take take_;
};
/// Gives an archive the bytes of a message.
class ArchiveInput final : public std::streambuf {
public:
    explicit ArchiveInput(RemoteReader& from) noexcept : from_(&from) {}

private:
    std::streamsize xsgetn(char* to, std::streamsize count) override {
        const auto bytes = from_->take(static_cast<std::size_t>(count));
        if (!bytes.empty()) {
            std::memcpy(to, bytes.data(), bytes.size());
        }
        return count;
    }
    RemoteReader* from_;
};

template <class T, class Take>
void archive(const T& value, Take take) {
    ArchiveOutput<Take> output(take);
    std::ostream stream(&output);
    cereal::BinaryOutputArchive output_archive(stream);
    output_archive(value);
}

} // namespace detail

/// For types with `serialize`, or what else cereal knows. They are serialized twice: first to count
/// the bytes.
template <class T>
    requires detail::CerealType<T>
struct RemoteCodec<T> {
    static std::size_t size(const T& value) {
        std::size_t bytes = 0;
        detail::archive(value,
                        [&bytes](const char* /*from*/, std::size_t count) { bytes += count; });
        return bytes;
    }
    static void write(RemoteWriter& to, const T& value) {
        detail::archive(value, [&to](const char* from, std::size_t count) { to.put(from, count); });
    }
    static T read(RemoteReader& from) {
        T value;
        detail::ArchiveInput input(from);
        std::istream stream(&input);
        cereal::BinaryInputArchive archive(stream);
        archive(value);
        return value;
    }
};

} // namespace corymb
