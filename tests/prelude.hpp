// SPDX-License-Identifier: Apache-2.0
// Precompiled for all tests (CMakeLists.txt). Each still includes what it uses.
#pragma once

#include <corymb/process.hpp>
#include <corymb/team.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <set>
#include <span>
#include <string>
#include <thread>
#include <vector>
