// SPDX-License-Identifier: Apache-2.0
#include "base/memory_view.hpp"

#include "base/shared_memory.hpp"

#include <corymb/error.hpp>

#include <sys/mman.h>

namespace corymb {

std::unique_ptr<MemoryView> MemoryView::open(int descriptor) {
    const SharedMemory::Form form = SharedMemory::form_of(descriptor);
    // Maps as much as the file may grow to, so that later additions of its users can be seen, too.
    void* const base =
        ::mmap(nullptr, form.capacity, PROT_READ, MAP_SHARED | MAP_NORESERVE, descriptor, 0);
    if (base == MAP_FAILED) {
        throw Error(Errc::unsupported, "addresses to see the group's memory are refused; raise the "
                                       "limit (ulimit -v)");
    }
    ::madvise(base, form.capacity, MADV_DONTDUMP);
    return std::unique_ptr<MemoryView>(
        new MemoryView(static_cast<std::byte*>(base), form.capacity, form.root));
}

MemoryView::~MemoryView() {
    ::munmap(base_, bytes_);
}

Offset MemoryView::take(std::size_t /*bytes*/) {
    throw Error(Errc::unsupported, "memory that is only looked at cannot be taken");
}

} // namespace corymb
