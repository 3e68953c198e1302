// SPDX-License-Identifier: Apache-2.0
// Only so that the prelude is compiled, with the settings of the tests.
#include "prelude.hpp"
