// SPDX-License-Identifier: Apache-2.0
#include "sim/charges.hpp"

#include "machine/model/assumed.hpp"
#include "machine/model/curve.hpp"

#include <corymb/error.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

namespace corymb::sim {

namespace {

// Bytes copied at a time to be combined.
constexpr std::uint64_t fold_bytes = std::uint64_t{128} << 10;
constexpr double assumed_cycle_ns = 0.4; // 2.5 GHz, for imported models that count in cycles.

/// Copies between cores meet at the last-level cache or in memory: the first such level that holds
/// the payload.
double copy_gbs(const Machine& machine, std::uint64_t bytes) {
    const MemoryLevel* best = nullptr;
    for (const MemoryLevel& level : machine.memory) {
        if (level.level == "l1" || level.level == "l2" || !(level.copy_gbs > 0)) {
            continue;
        }
        best = &level;
        if (static_cast<double>(level.working_set_bytes) >= static_cast<double>(bytes)) {
            break;
        }
    }
    return best != nullptr ? best->copy_gbs : assumed_copy_gbs;
}

/// Copies within a core stay in the first level that holds both ends; 0 where none was measured.
double own_copy_gbs(const Machine& machine, std::uint64_t bytes) {
    for (const MemoryLevel& level : machine.memory) {
        if (level.copy_gbs > 0 &&
            static_cast<double>(level.working_set_bytes) >= 2 * static_cast<double>(bytes)) {
            return level.copy_gbs;
        }
    }
    return 0;
}

} // namespace

double unit_ns(const Machine& machine) {
    if (std::isfinite(machine.unit_ns) && machine.unit_ns > 0) {
        return machine.unit_ns;
    }
    return machine.unit == TimeUnit::cycles ? assumed_cycle_ns : 1;
}

Charges::Charges(const Machine& machine, std::span<const int> placement, std::uint64_t bytes)
    : machine_(machine), placement_(placement),
      per_byte_(1 / (copy_gbs(machine, bytes) * unit_ns(machine))) {
    std::vector<bool> taken(static_cast<std::size_t>(machine.size()), false);
    bool is_shared = false;
    for (const int pu : placement) {
        if (pu < 0 || pu >= machine.size()) {
            throw Error(Errc::invalid_argument, "placement names PU " + std::to_string(pu) +
                                                    ", but the machine has " +
                                                    std::to_string(machine.size()) + " PUs");
        }
        is_shared = is_shared || taken[static_cast<std::size_t>(pu)];
        taken[static_cast<std::size_t>(pu)] = true;
    }
    if (is_shared) {
        find_shared_costs();
    }
    if (const auto measured = slowest_transfer(machine, taken, bytes)) {
        per_byte_ = *measured;
    }
    if (!machine.kernel_copy.present()) {
        fresh_ = slowest_fresh_bytes(machine, taken, bytes);
    }
    const double own = own_copy_gbs(machine, bytes);
    per_own_byte_ = own > 0 ? std::min(1 / (own * unit_ns(machine)), per_byte_) : per_byte_;
}

void Charges::find_shared_costs() {
    double send = std::numeric_limits<double>::infinity();
    double receive = send;
    for (const PairClass& pair : machine_.classes) {
        send = pair.send.present() ? std::min(send, pair.send.median) : send;
        receive = pair.receive.present() ? std::min(receive, pair.receive.median) : receive;
    }
    shared_send_ = std::isfinite(send) ? send : 0;
    shared_receive_ = std::isfinite(receive) ? receive : 0;
}

int Charges::pair_class(Rank from, Rank to) const noexcept {
    return pu(from) == pu(to) || machine_.group.empty() ? -1 : machine_.class_of(pu(from), pu(to));
}

double Charges::storing(std::uint64_t bytes) const noexcept {
    const double streaming = copying(bytes);
    return fresh_ ? std::max(streaming, copying_own(bytes) + rewriting(bytes)) : streaming;
}

double Charges::fetching(std::uint64_t bytes) const noexcept {
    const double streaming = copying(bytes);
    return fresh_ && bytes > line_payload_bytes ? std::max(streaming, fresh_->copying(bytes))
                                                : streaming;
}

double Charges::pulling(std::uint64_t bytes, bool folds, bool is_fresh) const noexcept {
    if (fresh_) {
        return bytes <= line_payload_bytes ? 0 : fresh_->copying(bytes);
    }
    const KernelCopy& copy = machine_.kernel_copy;
    const double fetching = is_fresh && !machine_.memory.empty() ? copying(bytes) : 0;
    if (!copy.present()) {
        return copying(bytes) + fetching;
    }
    const double calls = folds ? std::ceil(static_cast<double>(bytes) / fold_bytes) : 1;
    const double kernel = calls * copy.start_ns + static_cast<double>(bytes) / copy.gbs;
    return kernel / unit_ns(machine_) + (folds ? copying_own(bytes) : 0) + fetching;
}

double Charges::pushing(std::uint64_t bytes, bool folds, bool is_fresh) const noexcept {
    const KernelCopy& copy = machine_.kernel_copy;
    if (!copy.present()) { // Writes touch as many lines as a pull, at the other end.
        return pulling(bytes, folds, folds && is_fresh) + rewriting(bytes);
    }
    const double there = pulling(bytes, false, false); // The kernel's copy, each way.
    return folds ? pulling(bytes, true, is_fresh) + there : there;
}

double Charges::send_factor(Rank from, Rank to, int count, bool same) const noexcept {
    const auto& curves = same ? machine_.send_batch : machine_.fan_out;
    return curves.empty() || count <= 1
               ? 1
               : batch_factor(curve_of(curves, pair_class(from, to)), count);
}

double Charges::receive_factor(Rank from, Rank to, int count) const noexcept {
    return machine_.receive_batch.empty() || count <= 1
               ? 1
               : batch_factor(curve_of(machine_.receive_batch, pair_class(from, to)), count);
}

double Charges::meeting(Rank from, Rank to) const noexcept {
    const Curve* curve = curve_of(machine_.exchange, pair_class(from, to));
    return curve != nullptr ? total_at(*curve, 1) : send(from, to) + receive(from, to);
}

double Charges::publication_delay(Rank from, Rank reader, int place, double ahead) const noexcept {
    const double alone = receive(from, reader);
    const Curve* curve = machine_.shared_line.empty()
                             ? nullptr
                             : curve_of(machine_.shared_line, pair_class(from, reader));
    return curve != nullptr ? std::max(alone, total_at(*curve, place)) : ahead + alone;
}

} // namespace corymb::sim
