// SPDX-License-Identifier: Apache-2.0
#include "options.hpp"

#include <corymb/usable_cpus.hpp>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <functional>
#include <map>
#include <string_view>
#include <system_error>
#include <unistd.h>

namespace corymb::launcher {

namespace {

constexpr int most = 1 << 20;

int number(std::string_view text, const std::string& what, int least) {
    int value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size() || value < least || value > most) {
        throw UsageError(what + " is '" + std::string(text) + "'; give a number from " +
                         std::to_string(least) + " on");
    }
    return value;
}

double seconds(const std::string& text, const std::string& what) {
    std::size_t used = 0;
    double value = 0;
    try {
        value = std::stod(text, &used);
    } catch (const std::exception&) {
        used = 0;
    }
    if (used == 0 || used != text.size() || !(value > 0) || value > 1e9) {
        throw UsageError(what + " is '" + text + "'; give seconds above 0");
    }
    return value;
}

/// "0-3,8" in the order written.
std::vector<int> cpu_list(const std::string& text) {
    std::vector<int> cpus;
    std::size_t begin = 0;
    while (begin <= text.size()) {
        const std::size_t comma = std::min(text.find(',', begin), text.size());
        const std::string item = text.substr(begin, comma - begin);
        const std::size_t dash = item.find('-');
        const int first = number(item.substr(0, dash), "--bind", 0);
        const int last =
            dash == std::string::npos ? first : number(item.substr(dash + 1), "--bind", first);
        for (int cpu = first; cpu <= last; ++cpu) {
            cpus.push_back(cpu);
        }
        begin = comma + 1;
    }
    return cpus;
}

/// "0-3,8"; `cpus` are in their order.
std::string ranges_of(const std::vector<int>& cpus) {
    std::string text;
    for (std::size_t begin = 0; begin < cpus.size();) {
        std::size_t end = begin + 1;
        while (end < cpus.size() && cpus[end] == cpus[end - 1] + 1) {
            ++end;
        }
        text += (text.empty() ? "" : ",") + std::to_string(cpus[begin]);
        if (end - begin > 1) {
            text += "-" + std::to_string(cpus[end - 1]);
        }
        begin = end;
    }
    return text;
}

bool is_there(int cpu) {
    return ::access(("/sys/devices/system/cpu/cpu" + std::to_string(cpu)).c_str(), F_OK) == 0;
}

std::vector<int> binding(const std::string& text) {
    if (text == "none") {
        return {};
    }
    std::vector<int> allowed = usable_cpus().allowed;
    if (text == "core") {
        return allowed;
    }
    std::sort(allowed.begin(), allowed.end());
    std::vector<int> cpus = cpu_list(text);
    for (const int cpu : cpus) {
        if (!std::binary_search(allowed.begin(), allowed.end(), cpu)) {
            const std::string number = std::to_string(cpu);
            throw UsageError("--bind " + text + ": " +
                             (is_there(cpu) ? "CPU " + number + " is not allowed"
                                            : "there is no CPU " + number) +
                             "; this process may use " + ranges_of(allowed));
        }
    }
    return cpus;
}

} // namespace

Options parse(const std::vector<std::string>& words) {
    Options options;
    if (const char* const patience = std::getenv("CORYMB_PATIENCE");
        patience != nullptr && *patience != '\0') {
        options.attach_deadline_s = seconds(patience, "CORYMB_PATIENCE");
    }
    const std::map<std::string_view, std::function<void(const std::string&)>> with_value{
        {"-n",
         [&](const std::string& text) {
             options.processes = number(text, "-n", 1);
         }},
        {"--bind",
         [&](const std::string& text) {
             options.cpus = binding(text);
         }},
        {"--threads-per-process",
         [&](const std::string& text) {
             options.threads = number(text, "--threads-per-process", 1);
         }},
        {"--attach-deadline",
         [&](const std::string& text) {
             options.attach_deadline_s = seconds(text, "--attach-deadline");
             options.patience = text;
         }},
        {"--deadline",
         [&](const std::string& text) {
             static_cast<void>(seconds(text, "--deadline"));
             options.deadline = text;
         }},
    };
    std::size_t at = 0;
    for (; at < words.size() && words[at].starts_with('-') && words[at] != "--"; ++at) {
        const std::string& word = words[at];
        if (word == "-h" || word == "--help") {
            options.help = true;
            return options;
        }
        if (word == "--prefix") {
            options.prefix = true;
        } else if (word == "--keep-going") {
            options.keep_going = true;
        } else if (const auto found = with_value.find(word); found == with_value.end()) {
            throw UsageError("there is no option '" + word + "'");
        } else if (++at == words.size()) {
            throw UsageError(word + " needs a value");
        } else {
            found->second(words[at]);
        }
    }
    if (at < words.size() && words[at] == "--") {
        ++at;
    }
    options.program.assign(words.begin() + static_cast<std::ptrdiff_t>(at), words.end());
    if (options.processes == 0) {
        throw UsageError("say how many processes to start: -n 4");
    }
    if (options.processes > most / options.threads) {
        throw UsageError("these are more ranks than any machine can run");
    }
    if (options.program.empty()) {
        throw UsageError("say which program to start: corymb run -n 4 -- program");
    }
    return options;
}

const char* usage() noexcept {
    return "usage: corymb run -n N [options] [--] program [arguments]\n"
           "\n"
           "Starts N processes that form one team; each attaches to it (Team::attach in C++,\n"
           "corymb_attach in C, corymb.attach in Python).\n"
           "\n"
           "  -n N                     processes to start\n"
           "  --threads-per-process T  ranks of each process (default 1)\n"
           "  --bind none|core|LIST    none (default), the allowed CPUs in turn, or CPUs such as\n"
           "                           0-3,8; rank i gets the i-th, starting over at the end\n"
           "  --prefix                 begin each line of output with its rank\n"
           "  --keep-going             a process that fails does not end the others\n"
           "  --attach-deadline S      seconds in which all ranks must attach (default 60, or\n"
           "                           CORYMB_PATIENCE)\n"
           "  --deadline S             longest wait of an operation in seconds (default 300, or\n"
           "                           CORYMB_DEADLINE)\n"
           "  -h, --help               this text\n"
           "\n"
           "Exit status: that of the first process that fails (128 + signal if killed), 1 if a\n"
           "rank never attaches, 2 usage, 127 if the program cannot be started.\n"
           "\n"
           "Examples: corymb run -n 4 ./program | corymb run -n 2 --bind core -- python solve.py\n"
           "          corymb run -n 2 --threads-per-process 4 --prefix -- ./program --steps 10\n";
}

} // namespace corymb::launcher
