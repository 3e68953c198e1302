// SPDX-License-Identifier: Apache-2.0
// A shared array as Python has it: bytes, which views of numpy show as rows of numbers.
#pragma once

#include <corymb/shared_array.hpp>

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

namespace corymb::python {

using ByteArray = SharedArray<std::byte>;

/// Arrays whose last view has gone, on whatever thread. Their rank ends them when it polls. Touched
/// with the interpreter lock.
struct EndedArrays {
    bool is_open = true; ///< The rank is in its group.
    std::vector<std::unique_ptr<ByteArray>> arrays;
};

/// Views hold it.
class PythonSharedArray {
public:
    PythonSharedArray(std::unique_ptr<ByteArray> array, std::shared_ptr<EndedArrays> ended)
        : array_(std::move(array)), ended_(std::move(ended)) {}
    PythonSharedArray(PythonSharedArray&&) = delete;
    PythonSharedArray& operator=(PythonSharedArray&&) = delete;
    ~PythonSharedArray() {
        if (ended_->is_open) {
            ended_->arrays.push_back(std::move(array_));
        }
    }
    [[nodiscard]] ByteArray& array() const noexcept { return *array_; }

private:
    std::unique_ptr<ByteArray> array_;
    std::shared_ptr<EndedArrays> ended_;
};

} // namespace corymb::python
