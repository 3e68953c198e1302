// SPDX-License-Identifier: Apache-2.0
#include "below/bypass.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <dlfcn.h>
#include <link.h>
#include <string_view>

namespace corymb::mpi {

namespace {

/// The functions of MPI that do something with a request.
constexpr std::string_view completions[] = {
    "MPI_Wait",         "MPI_Test",     "MPI_Waitall",
    "MPI_Testall",      "MPI_Waitany",  "MPI_Testany",
    "MPI_Waitsome",     "MPI_Testsome", "MPI_Request_get_status",
    "MPI_Request_free", "MPI_Start",    "MPI_Startall",
};

/// The object in which an address lies; null: in none.
const void* object_of(const void* address) noexcept {
    Dl_info found{};
    return address != nullptr && ::dladdr(address, &found) != 0 ? found.dli_fbase : nullptr;
}

/// A program at a fixed place may have the address of a stub of its own, by which it calls the
/// function of another object.
bool is_stub(const void* function) noexcept {
    Dl_info found{};
    void* symbol = nullptr;
    return function != nullptr && ::dladdr1(function, &found, &symbol, RTLD_DL_SYMENT) != 0 &&
           symbol != nullptr && static_cast<const ElfW(Sym)*>(symbol)->st_shndx == SHN_UNDEF;
}

/// Some object that the program asks before this one has one of the functions.
bool is_replaced() noexcept {
    const void* const own = object_of(reinterpret_cast<const void*>(&object_of));
    return std::ranges::any_of(completions, [own](std::string_view name) {
        const void* const first = ::dlsym(RTLD_DEFAULT, name.data());
        return object_of(first) != own && !is_stub(first);
    });
}

bool is_of_mpi_f08(std::string_view name) noexcept {
    return name.starts_with("mpi_") && name.find("_f08") != std::string_view::npos;
}

/// The names in the dynamic linker's tables of an object.
class Names {
public:
    explicit Names(const dl_phdr_info& object) noexcept : base_(object.dlpi_addr) {
        for (int i = 0; i < object.dlpi_phnum; ++i) {
            if (object.dlpi_phdr[i].p_type == PT_DYNAMIC) {
                read(reinterpret_cast<const ElfW(Dyn)*>(base_ + object.dlpi_phdr[i].p_vaddr));
            }
        }
    }

    /// Whether the object asks another object for such a name.
    template <class Wanted>
    [[nodiscard]] bool asks_for(const Wanted& wanted) const noexcept {
        if (symbols_ == nullptr || texts_ == nullptr) {
            return false;
        }
        const std::size_t end = count();
        for (std::size_t i = 1; i < end; ++i) {
            const ElfW(Sym)& symbol = symbols_[i];
            if (symbol.st_shndx == SHN_UNDEF && symbol.st_name < text_bytes_ &&
                wanted(std::string_view(texts_ + symbol.st_name))) {
                return true;
            }
        }
        return false;
    }

private:
    void read(const ElfW(Dyn) * entry) noexcept {
        for (; entry->d_tag != DT_NULL; ++entry) {
            switch (entry->d_tag) {
            case DT_SYMTAB: symbols_ = at<ElfW(Sym)>(entry->d_un.d_ptr); break;
            case DT_STRTAB: texts_ = at<char>(entry->d_un.d_ptr); break;
            case DT_STRSZ: text_bytes_ = entry->d_un.d_val; break;
            case DT_GNU_HASH: gnu_hash_ = at<std::uint32_t>(entry->d_un.d_ptr); break;
            case DT_HASH: hash_ = at<std::uint32_t>(entry->d_un.d_ptr); break;
            default: break;
            }
        }
    }

    /// The linker has made these addresses absolute, on most machines.
    template <class T>
    [[nodiscard]] const T* at(ElfW(Addr) address) const noexcept {
        return reinterpret_cast<const T*>(address < base_ ? base_ + address : address);
    }

    /// The number of symbols, which no table states. Names that the object asks for come before the
    /// names that the newer kind of table finds. If that table has none, the texts mostly follow
    /// the symbols.
    [[nodiscard]] std::size_t count() const noexcept {
        if (hash_ != nullptr) {
            return hash_[1];
        }
        constexpr std::uint32_t first_of_none = 1;
        if (gnu_hash_ != nullptr && gnu_hash_[1] > first_of_none) {
            return gnu_hash_[1];
        }
        const auto begin = reinterpret_cast<std::uintptr_t>(symbols_);
        const auto end = reinterpret_cast<std::uintptr_t>(texts_);
        return end > begin ? (end - begin) / sizeof(ElfW(Sym)) : 0;
    }

    ElfW(Addr) base_;
    const ElfW(Sym) * symbols_ = nullptr;
    const char* texts_ = nullptr;
    std::size_t text_bytes_ = 0;
    const std::uint32_t* gnu_hash_ = nullptr;
    const std::uint32_t* hash_ = nullptr;
};

/// The MPI's own libraries, those of its Fortran among them.
bool is_of_the_mpi(std::string_view path) noexcept {
    const std::string_view name = path.substr(path.find_last_of('/') + 1);
    return name.starts_with("libmpi") || name.starts_with("libpmpi");
}

int look_at(dl_phdr_info* object, std::size_t /*bytes*/, void* passes) noexcept {
    const char* const path = object->dlpi_name != nullptr ? object->dlpi_name : "";
    if (is_of_the_mpi(path)) {
        return 0;
    }
    if (Names(*object).asks_for(is_of_mpi_f08)) {
        *static_cast<bool*>(passes) = true;
        return 1;
    }
    return 0;
}

bool find_out() noexcept {
    bool passes = is_replaced();
    if (!passes) {
        ::dl_iterate_phdr(&look_at, &passes);
    }
    return passes;
}

} // namespace

bool completions_pass_by() noexcept {
    static const bool passes = find_out();
    return passes;
}

} // namespace corymb::mpi
