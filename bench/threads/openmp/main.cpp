// SPDX-License-Identifier: Apache-2.0
// The worker whose ranks are OpenMP threads. Built once by each compiler, so that each runtime is
// called the way its own compiler calls it; the driver sets the environment before it starts.
#include "../worker/make.hpp"
#include "../worker/serve.hpp"
#include "runtime.hpp"

#include <omp.h>

#include <exception>
#include <string>
#include <vector>

namespace {

using namespace corymb::bench;

std::unique_ptr<Workload> make_openmp(const Case& what) {
    if (what.op == Operation::barrier) {
        return make_barrier<OpenMpBarrier>(what, Waiting::spin);
    }
    return make_payload<OpenMpTeam>(what, what.bytes, Waiting::spin);
}

void run_all(int ranks, const Job& job) {
#pragma omp parallel num_threads(ranks)
    job(omp_get_thread_num());
}

int team_size(int ranks) {
    int size = 0;
#pragma omp parallel num_threads(ranks)
    {
#pragma omp master
        size = omp_get_num_threads();
    }
    return size;
}

} // namespace

int main(int argc, char** argv) {
    const std::vector<std::string> words(argv + 1, argv + argc);
    const auto what = case_from_words(words);
    if (!what) {
        return refuse("corymb-bench starts this program; it is not for people");
    }
    try {
        omp_set_dynamic(0);
        if (team_size(what->ranks) != what->ranks) {
            return refuse("the OpenMP runtime gives fewer threads than ranks");
        }
        const auto workload = make_openmp(*what);
        return serve(*what, *workload,
                     [ranks = what->ranks](const Job& job) { run_all(ranks, job); });
    } catch (const std::exception& error) {
        return refuse(error.what());
    }
}
