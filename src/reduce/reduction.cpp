// SPDX-License-Identifier: Apache-2.0
// Names of types and operators, and the reduction of a pair of them.
#include "base/nearest_name.hpp"
#include "reduce/kernel_table.hpp"
#include "reduce/standard_reductions.hpp"

#include <corymb/error.hpp>

#include <algorithm>
#include <string>
#include <vector>

namespace corymb {
namespace {

struct TypeRow {
    const char* name;
    std::size_t bytes;
};
constexpr std::array<TypeRow, element_type_count> types{{
    {"int8", 1},
    {"uint8", 1},
    {"int16", 2},
    {"uint16", 2},
    {"int32", 4},
    {"uint32", 4},
    {"int64", 8},
    {"uint64", 8},
    {"float16", sizeof(Float16)},
    {"bfloat16", sizeof(BFloat16)},
    {"float32", sizeof(float)},
    {"float64", sizeof(double)},
    {"complex64", sizeof(std::complex<float>)},
    {"complex128", sizeof(std::complex<double>)},
    {"boolean", sizeof(bool)},
    {"int16_index32", sizeof(ValueIndex<std::int16_t, std::int32_t>)},
    {"int32_index32", sizeof(ValueIndex<std::int32_t, std::int32_t>)},
    {"int64_index32", sizeof(ValueIndex<std::int64_t, std::int32_t>)},
    {"float32_index32", sizeof(ValueIndex<float, std::int32_t>)},
    {"float64_index32", sizeof(ValueIndex<double, std::int32_t>)},
    {"int32_index64", sizeof(ValueIndex<std::int32_t, std::int64_t>)},
    {"int64_index64", sizeof(ValueIndex<std::int64_t, std::int64_t>)},
    {"float32_index64", sizeof(ValueIndex<float, std::int64_t>)},
    {"float64_index64", sizeof(ValueIndex<double, std::int64_t>)},
}};
constexpr std::array<const char*, operator_count> operators{
    "sum",         "prod",        "min",        "max",         "logical_and", "logical_or",
    "logical_xor", "bitwise_and", "bitwise_or", "bitwise_xor", "min_loc",     "max_loc"};

/// Index of the name, or Errc::unknown_name.
std::size_t index_of_name(const char* what, std::string_view name,
                          const std::vector<std::string>& names) {
    const auto found = std::find(names.begin(), names.end(), name);
    if (found != names.end()) {
        return static_cast<std::size_t>(found - names.begin());
    }
    const std::string nearest = nearest_name(name, names);
    std::string text = std::string(what) + " '" + std::string(name) + "' is unknown; ";
    if (nearest.empty()) {
        text += "there are";
        for (const std::string& known : names) {
            text += " " + known;
        }
    } else {
        text += "did you mean " + nearest + "?";
    }
    throw Error(Errc::unknown_name, text);
}

std::string defined_operators(ElementType type) {
    std::string text;
    for (std::size_t op = 0; op < operator_count; ++op) {
        if (is_defined(type, static_cast<Operator>(op))) {
            text += (text.empty() ? "" : ", ") + std::string(operators[op]);
        }
    }
    return text;
}

} // namespace

std::size_t element_bytes(ElementType type) noexcept {
    const auto index = static_cast<std::size_t>(type);
    return index < types.size() ? types[index].bytes : 0;
}

const char* to_string(ElementType type) noexcept {
    const auto index = static_cast<std::size_t>(type);
    return index < types.size() ? types[index].name : "unknown";
}

ElementType element_type_from_string(std::string_view name) {
    std::vector<std::string> names;
    for (const TypeRow& row : types) {
        names.emplace_back(row.name);
    }
    return static_cast<ElementType>(index_of_name("element type", name, names));
}

const char* to_string(Operator op) noexcept {
    const auto index = static_cast<std::size_t>(op);
    return index < operators.size() ? operators[index] : "unknown";
}

Operator operator_from_string(std::string_view name) {
    const std::vector<std::string> names(operators.begin(), operators.end());
    return static_cast<Operator>(index_of_name("operator", name, names));
}

Reduction reduction_of(ElementType type, Operator op) {
    if (!is_defined(type, op)) {
        const bool known = element_bytes(type) != 0;
        throw Error(Errc::invalid_argument,
                    std::string("operator ") + to_string(op) + " is not defined for elements of " +
                        to_string(type) +
                        (known ? "; " + defined_operators(type) + " are"
                               : " type " + std::to_string(static_cast<int>(type))));
    }
    return reduce::standard_reductions().at(type, op);
}

namespace detail {

void combine_standard(ElementType type, Operator op, const void* left, const void* right, void* out,
                      std::size_t count) noexcept {
    reduce::kernel_table().at(type, op)(left, right, out, count, nullptr);
}

} // namespace detail
} // namespace corymb
