// SPDX-License-Identifier: Apache-2.0
// The machine model as data: the cores of one machine and the cost of a message between each two of
// them. Read docs/explain/model.md for the file format.
#pragma once

#include <corymb/export.hpp>
#include <corymb/kernel_copy.hpp>

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace corymb {

enum class TimeUnit : std::uint8_t { nanoseconds, cycles };

/// A processing unit (hardware thread). Group numbers are dense from 0 over the whole machine; -1
/// means unknown. `kind` is the efficiency rank of hybrid cores, 0 the least powerful.
struct Pu {
    int cpu = 0; ///< Number of the operating system; unique in the model.
    int core = -1, l2 = -1, l3 = -1, die = -1, package = -1, numa = -1;
    int kind = -1;

    bool operator==(const Pu&) const = default;
};

struct Topology {
    std::vector<Pu> pus; ///< Index in this vector is the PU index used everywhere.
    std::string source;  ///< "hwloc", "hwloc-xml", "synthetic", "measured", "none".
    std::vector<std::string>
        disagreements; ///< Where measurement contradicts the reported topology.
};

/// A measured quantity. `count` is the number of samples; 0 means "missing" and the values are NaN.
struct Statistic {
    double median = missing, q25 = missing, q75 = missing;
    std::int64_t count = 0;

    static constexpr double missing = __builtin_nan("");
    [[nodiscard]] bool present() const noexcept { return count > 0; }
};

/// A set of core pairs that cost about the same, e.g. "same-l3".
struct PairClass {
    std::string name;
    Statistic send;       ///< Time that the sender is busy for one message.
    Statistic receive;    ///< Time from the end of the send until the receiver may go on.
    Statistic round_trip; ///< Measured on its own, as a cross-check; about 2 (send + receive).
    /// Split-half correlation of the pair values within the class: near 0, only the median means
    /// something; near 1, the entries of the matrix do. NaN when it was not measured twice.
    double reliability = Statistic::missing;
    std::int64_t pairs_sampled = 0;
};

/// value[i] belongs to count[i] (a number of messages, receivers, readers or bytes), for one pair
/// class. Values are in the model's time unit and are totals (not per message).
struct Curve {
    int pair_class = 0;
    std::vector<int> count;
    std::vector<double> value;
};

/// Part of a machine: PUs with one number of it belong together.
enum class Scope : std::uint8_t { pu, l3, numa, package, machine };

/// How ranks use a part of a machine at the same time.
enum class SharedUse : std::uint8_t {
    copies_from,    ///< They copy out of buffers that lie in the part.
    copies_between, ///< They copy from one part into another; each direction is by itself.
    word,           ///< Each of them changes one word atomically; all of them are in the part.
};

/// Where a number of a model comes from.
enum class DataOrigin : std::uint8_t { measured, imported, assumed };

/// What ranks share: a memory controller, a cache, a buffer, a link or a word
/// (docs/explain/model.md). Value[i] belongs to count[i] ranks at once. Of copies it is the 10^9
/// bytes per second of all of them together, of words the time until all ranks have changed one, in
/// the model's unit. Between points it is a line. Behind the last point a rate stays, a time grows.
struct SharedResource {
    SharedUse use = SharedUse::copies_from;
    Scope scope = Scope::numa;
    DataOrigin origin = DataOrigin::assumed;
    /// Least payload that uses it, e.g. what caches do not hold. Invariant: 0 for words. If several
    /// entries of one use and scope are for a payload, the one with the largest number counts.
    std::int64_t from_bytes = 0;
    std::vector<int> count;
    std::vector<double> value;
};

/// Memory bandwidth of one core for a working set that fits this level.
struct MemoryLevel {
    std::string level; ///< "l1", "l2", "l3", "dram".
    std::int64_t working_set_bytes = 0;
    double read_gbs = 0, write_gbs = 0, copy_gbs = 0; ///< 10^9 bytes per second.
};

/// Cost of an access to memory that lies at a core: by itself, or by another core.
struct AccessCost {
    double write = 0; ///< w: time that the writer is busy.
    double gap = 0;   ///< g: from the end of a write until its core's next write can leave.
    double read = 0;  ///< r: time until a read has come back.
};

/// Words of a few bytes, and whole lines.
struct AccessCosts {
    AccessCost word, line;
};

/// Access costs of a machine without coherent caches, whose cores write into memory that lies at
/// others and poll their own: the w/g/r model of "In-Memory Communication Mechanisms for
/// Many-Cores" (Rotta, Prescher, Traue, Nolte, 2012). In `unit`.
struct AccessModel {
    int line_bytes = 64;
    /// A look of a polling loop at a line of its own memory, code included; 0: its read alone.
    double look = 0;
    AccessCosts own;                  ///< Access to memory that lies at the core itself.
    std::vector<AccessCosts> classes; ///< By pair class; empty: the machine has coherent caches.

    [[nodiscard]] bool present() const noexcept { return !classes.empty(); }
};

/// A partition of the PUs that plans by levels follow in place of the topology's.
struct GivenLevel {
    std::string name;
    std::vector<int> group; ///< By PU. Invariant: dense from 0.

    bool operator==(const GivenLevel&) const = default;
};

/// How far the numbers can be trusted.
struct Quality {
    bool noisy = false; ///< More than 5 % of the batches were dropped.
    bool unstable_topology =
        false;                  ///< Repeated sentinel pairs moved between classes (floating vCPUs).
    bool pinned = true;         ///< Threads could be bound to CPUs while measuring.
    double dropped_batches = 0; ///< Fraction of batches dropped for gaps.
    double steal = 0;           ///< Fraction of CPU time stolen by the hypervisor meanwhile.
    double split_half_r = Statistic::missing;
    double duration_s = 0, budget_s = 0;
    std::vector<std::string> remarks; ///< Remarks for people, one sentence each.
};

/// Says which machine a model belongs to.
struct Fingerprint {
    std::string cpu;             ///< Model name of the processor.
    std::string topology_sha256; ///< Hash of (cpu -> core, l2, l3, die, package, numa).
    std::string cpuset;          ///< Allowed CPUs when measured, as "0-3,8".
    std::string kernel;
    std::string virtualization; ///< "none", "kvm", ...
    bool smt = false;
};

/// The whole model. Costs are layered: an entry of the dense matrix if there is one and it is not
/// NaN, else the median of the pair's class.
class CORYMB_EXPORT Machine {
public:
    std::string name;       ///< Gallery or file name; free text.
    std::string source;     ///< Origin of the numbers, e.g. "measured", "imported CSV".
    std::string created;    ///< ISO 8601 UTC; empty when unknown.
    std::string assumption; ///< Assumptions of the model, e.g. "receive = L, send = 0.28 L".
    TimeUnit unit = TimeUnit::nanoseconds;
    double unit_ns = 1.0; ///< Nanoseconds per unit when known (cycles), else NaN.
    Fingerprint fingerprint;
    Topology topology;
    std::vector<PairClass> classes;
    std::vector<int> group;       ///< group[pu]: measured group of each PU, dense from 0.
    std::vector<int> group_class; ///< groups x groups, row-major: class of a pair of distinct PUs.
    std::vector<float> send;    ///< Optional, PUs x PUs row-major [from * n + to]; NaN is missing.
    std::vector<float> receive; ///< As `send`; the cost is paid by `to` for a message of `from`.
    std::vector<Curve> send_batch;    ///< k sends in a row to one receiver.
    std::vector<Curve> fan_out;       ///< k sends in a row to k receivers.
    std::vector<Curve> receive_batch; ///< k pending receives from k senders.
    std::vector<Curve> shared_line;   ///< A store read by k pollers: until the last reader has it.
    /// Two ranks hand each other a few bytes on one line (`Mechanism::exchange`): time of one
    /// meeting in a long sequence; count is 1.
    std::vector<Curve> exchange;
    /// Long messages that follow each other through a channel of cells, out of one buffer into one:
    /// time of one; count is its bytes. Empty: copies between cores are charged by `memory`.
    std::vector<Curve> transfer;
    /// Bytes that one PU has just written and the other copies into memory of its own: time of the
    /// copy; count is the bytes. Empty: such copies are charged by `transfer` or `memory`.
    std::vector<Curve> fresh;
    /// How much longer a PU takes to write bytes that the other has copied than to write bytes that
    /// nobody else has; count is the bytes. Empty: no longer.
    std::vector<Curve> rewrite;
    /// Messages to and fro between two mailboxes' rings: half a round trip; count is the bytes of a
    /// message. Empty: the lines of a message are charged one after the other.
    std::vector<Curve> message;
    std::vector<MemoryLevel> memory;
    std::vector<SharedResource> shared; ///< Empty: ranks that copy at once do not slow each other.
    /// From coarse to fine, each within the groups of the one before. Empty: what the topology
    /// says, or else the classes. See set_levels.
    std::vector<GivenLevel> levels;
    AccessModel access; ///< For machines without coherent caches only.
    /// When present, `pull` is charged as such copies: the ranks are processes. Teams of processes
    /// set it for their own planning; it is no part of the model file.
    KernelCopy kernel_copy;
    double step_overhead = 0; ///< Cost of one plan step in the engine beside the message itself.
    Quality quality;

    [[nodiscard]] int size() const noexcept { return static_cast<int>(topology.pus.size()); }
    /// Costs between PU indexes, in `unit`. Undefined for from == to. O(1), never allocates.
    [[nodiscard]] double send_cost(int from, int to) const noexcept;
    [[nodiscard]] double receive_cost(int from, int to) const noexcept;
    [[nodiscard]] int class_of(int from, int to) const noexcept {
        const auto groups = static_cast<std::size_t>(group_count());
        return group_class[static_cast<std::size_t>(group[static_cast<std::size_t>(from)]) *
                               groups +
                           static_cast<std::size_t>(group[static_cast<std::size_t>(to)])];
    }
    /// Largest entry of `group` + 1.
    [[nodiscard]] int group_count() const noexcept;
    /// PU index of an operating-system CPU number, or -1.
    [[nodiscard]] int index_of_cpu(int cpu) const noexcept;
    [[nodiscard]] bool has_matrix() const noexcept { return !send.empty(); }
    /// Verifies every invariant; throws Errc::invalid_model naming the field. O(size^2) with a
    /// matrix.
    void check() const;
};

/// Gives a machine the levels that plans by levels follow (trees by level, composed and hybrid
/// plans), in place of all that its topology has. Other plans are not restricted. `levels` is one
/// of
/// - names out of "package", "numa", "die", "l3", "l2" and "core", from coarse to fine, with commas
///   between them; what is not named is left out;
/// - "none": all PUs are one group;
/// - a file "corymb-levels/1" (docs/explain/model.md): a name with a slash in it or ending in
/// ".json". Throws Errc::unknown_name (no such level; says which there are), Errc::invalid_argument
/// (empty, a level twice or that the topology does not know, one that does not lie within the one
/// before, a CPU that no group or that two groups have), Errc::io with the path. The machine stays
/// as it was then. O(levels * size log size).
CORYMB_EXPORT void set_levels(Machine& machine, std::string_view levels);

/// JSON form ("corymb-machine/1"); numbers keep enough digits to round-trip.
CORYMB_EXPORT std::string to_json(const Machine& machine);
/// Throws Errc::invalid_model naming the field; never crashes on hostile text.
CORYMB_EXPORT Machine machine_from_json(std::string_view text);
/// Reads a model in JSON, a square CSV of latencies (`*.csv`; in cycles if the name ends in
/// `-cycles.csv`, else in ns) or a folder with Smelt's send.csv and receive.csv. Throws Errc::io
/// with the path, or Errc::invalid_model naming path and place.
CORYMB_EXPORT Machine load_machine(const std::filesystem::path& file);
/// Writes atomically (temporary file, then rename). Throws Errc::io with the path.
CORYMB_EXPORT void save_machine(const Machine& machine, const std::filesystem::path& file);
/// SHA-256 of the canonical JSON form, 64 hex digits: identifies the model in plans.
CORYMB_EXPORT std::string machine_sha256(const Machine& machine);

/// A square CSV of one-way latencies L ("cpu,0,1,..." then a row a CPU; 0 off the diagonal is
/// missing). Assumes receive = L and send = 0.28 L, and records that in `assumption`.
CORYMB_EXPORT Machine import_latency_csv(std::string_view text, const std::string& name,
                                         TimeUnit unit);
/// Smelt's send.csv and receive.csv (sender_core,receiver_core,mean_cycles,stddev_cycles).
CORYMB_EXPORT Machine import_smelt_csv(std::string_view send, std::string_view receive,
                                       const std::string& name);

/// Names of the machines that ship with the library, sorted.
CORYMB_EXPORT std::vector<std::string> gallery_names();
/// A machine of the gallery. Throws Errc::unknown_name and proposes the nearest name.
CORYMB_EXPORT Machine gallery_machine(std::string_view name);

/// Groups PUs by the gaps in a dense matrix and fills classes, group and group_class from it.
/// Used by the importers and after a full measurement. O(n^2 log n).
CORYMB_EXPORT void infer_classes(Machine& machine);

} // namespace corymb
