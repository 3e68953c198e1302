// SPDX-License-Identifier: Apache-2.0
#include "cluster/shared_word.hpp"

#include "cluster/patient_carrier.hpp"

#include <cstdint>

namespace corymb::cluster {

Word shared_word(Carrier& carrier, Rank size, Rank rank, Rank from, const Word& word,
                 std::chrono::nanoseconds deadline) {
    PatientCarrier patient(carrier, deadline);
    if (rank != from) {
        Word told;
        std::uint64_t length = 0;
        told.is_known = patient.receive(&length, sizeof length, from).mark != 0;
        told.text.resize(length);
        patient.receive(told.text.data(), length, from);
        return told;
    }
    const std::uint64_t length = word.text.size();
    for (Rank other = 0; other < size; ++other) {
        if (other != from) {
            patient.send(&length, sizeof length, other, word.is_known ? 1 : 0);
            patient.send(word.text.data(), length, other);
        }
    }
    return word;
}

} // namespace corymb::cluster
