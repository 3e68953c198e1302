// SPDX-License-Identifier: Apache-2.0
#include "machine/discover/hwloc_handle.hpp"

#include <corymb/error.hpp>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstddef>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <system_error>

namespace corymb::discover {
namespace {

HwlocHandle empty_handle() {
    hwloc_topology_t topology = nullptr;
    if (hwloc_topology_init(&topology) != 0) {
        throw Error(Errc::unsupported, "hwloc could not be started; check the installed libhwloc");
    }
    return HwlocHandle(topology);
}

/// hwloc builds every object it is asked for; a slip such as "pack:99999 pu:99999" would take all
/// of the memory. Counts of a level multiply, and the product is bounded here.
void refuse_huge(const std::string& description) {
    constexpr double pus_max = 65536;
    double product = 1;
    for (std::size_t at = 0; at < description.size();) {
        const std::size_t end =
            std::min(description.find_first_of(" \t\n", at), description.size());
        const std::size_t colon = description.rfind(':', end);
        const bool has_colon = colon != std::string::npos && colon >= at && colon < end;
        const char* const number = description.c_str() + (has_colon ? colon + 1 : at);
        const double count = std::isdigit(static_cast<unsigned char>(*number)) != 0
                                 ? std::strtod(number, nullptr)
                                 : 1;
        product *= count > 1 ? count : 1;
        at = end + 1;
    }
    if (product > pus_max) {
        throw Error(Errc::invalid_argument, "the synthetic topology '" + description +
                                                "' has more than 65536 PUs; use smaller counts");
    }
}

/// The description with levels of many objects split by groups, which tell nothing of a machine.
/// hwloc looks at all siblings for each object that it inserts: 4,000 of them take half a minute.
/// What is not a plain list of "type:count" stays as it is.
std::string in_groups(const std::string& description) {
    constexpr int siblings_max = 64;
    std::istringstream words(description);
    std::string result;
    for (std::string word; words >> word;) {
        const std::size_t colon = word.find(':');
        int count = 0;
        const char* const end = word.data() + word.size();
        const char* const digits = word.data() + std::min(colon, word.size() - 1) + 1;
        const auto [rest, failed] = std::from_chars(digits, end, count);
        if (colon == std::string::npos || failed != std::errc{} || rest != end) {
            return description;
        }
        int groups = 1;
        for (int number = 2; number <= count / number && count > siblings_max; ++number) {
            groups = count % number == 0 ? number : groups;
        }
        if (groups > 1) {
            result += "group:" + std::to_string(groups) + ' ';
        }
        result += word.substr(0, colon + 1) + std::to_string(count / groups) + ' ';
    }
    return result;
}

} // namespace

HwlocHandle hwloc_of_this_machine() {
    HwlocHandle handle = empty_handle();
    if (hwloc_topology_load(handle.get()) != 0) {
        throw Error(Errc::unsupported, "hwloc could not read the topology of this machine; if "
                                       "HWLOC_XMLFILE or HWLOC_SYNTHETIC is set, unset it");
    }
    return handle;
}

HwlocHandle hwloc_of_xml(const std::filesystem::path& file) {
    std::error_code failed;
    if (std::filesystem::is_directory(file, failed) || !std::ifstream(file)) {
        throw Error(Errc::io, "cannot read the hwloc XML file '" + file.string() + "'");
    }
    HwlocHandle handle = empty_handle();
    if (hwloc_topology_set_xml(handle.get(), file.c_str()) != 0 ||
        hwloc_topology_load(handle.get()) != 0) {
        throw Error(Errc::invalid_model,
                    "'" + file.string() +
                        "' is not a topology that hwloc 2 can read; write one with "
                        "'lstopo --of xml file.xml' (with hwloc 3, add '--export-xml-flags v2')");
    }
    return handle;
}

HwlocHandle hwloc_of_synthetic(const std::string& description) {
    refuse_huge(description);
    HwlocHandle handle = empty_handle();
    if (hwloc_topology_set_synthetic(handle.get(), in_groups(description).c_str()) != 0 ||
        hwloc_topology_load(handle.get()) != 0) {
        throw Error(Errc::invalid_argument,
                    "hwloc does not understand the synthetic topology '" + description +
                        "'; the last level must be pu, as in \"pack:2 l3:4 core:8 pu:2\"");
    }
    return handle;
}

} // namespace corymb::discover
