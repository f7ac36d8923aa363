#include "emulator/parameters.hpp"

#include <dwarf.h>

#include <algorithm>
#include <array>

namespace cornerturn::emulator {
namespace {

Dwarf_Word attribute_value(Dwarf_Die& die, unsigned name, Dwarf_Word otherwise) {
    Dwarf_Attribute attribute;
    Dwarf_Word value = 0;
    return dwarf_formudata(dwarf_attr_integrate(&die, name, &attribute), &value) == 0 ? value : otherwise;
}

// The type without typedefs and qualifiers.
Dwarf_Die without_qualifiers(Dwarf_Die type) {
    Dwarf_Die found = type;
    dwarf_peel_type(&type, &found);
    return found;
}

// Sets the kinds of the eightbytes that a type at this offset occupies. Returns false if it is passed in memory.
bool classify(Dwarf_Die declared, std::size_t offset, std::array<int, 2>& kinds) {
    Dwarf_Die type = without_qualifiers(declared), inner;
    Dwarf_Word bytes = 0;
    dwarf_aggregate_size(&type, &bytes);
    const int tag = dwarf_tag(&type);
    if (tag == DW_TAG_array_type) {
        Dwarf_Attribute attribute;
        Dwarf_Die element;
        if (dwarf_formref_die(dwarf_attr_integrate(&type, DW_AT_type, &attribute), &element) == nullptr) return false;
        Dwarf_Word each = 0;
        if (dwarf_aggregate_size(&element, &each) != 0 || each == 0) return true;
        for (std::size_t at = 0; at < bytes; at += each)
            if (!classify(element, offset + at, kinds)) return false;
        return true;
    }
    if (tag == DW_TAG_structure_type || tag == DW_TAG_class_type || tag == DW_TAG_union_type) {
        if (dwarf_child(&type, &inner) != 0) return true;
        do {
            if (dwarf_tag(&inner) != DW_TAG_member && dwarf_tag(&inner) != DW_TAG_inheritance) continue;
            Dwarf_Attribute attribute;
            Dwarf_Die member;
            if (dwarf_hasattr(&inner, DW_AT_external) != 0 ||
                dwarf_formref_die(dwarf_attr_integrate(&inner, DW_AT_type, &attribute), &member) == nullptr)
                continue;
            const Dwarf_Word bit = attribute_value(inner, DW_AT_data_bit_offset, 0);
            const Dwarf_Word at = attribute_value(inner, DW_AT_data_member_location, bit / 8);
            if (!classify(member, offset + at, kinds)) return false;
        } while (dwarf_siblingof(&inner, &inner) == 0);
        return true;
    }
    if (bytes == 0 || offset + bytes > 16) return bytes == 0;
    if (offset % std::min<std::size_t>(bytes, 8) != 0 && dwarf_tag(&type) != DW_TAG_base_type) return false;
    const bool is_float = tag == DW_TAG_base_type && attribute_value(type, DW_AT_encoding, 0) == DW_ATE_float;
    for (std::size_t at = offset / 8; at <= (offset + bytes - 1) / 8; ++at) {
        if (kinds[at] != parameter::integer) kinds[at] = is_float ? parameter::vector : parameter::integer;
    }
    return true;
}

parameter parameter_of(Dwarf_Die declared) {
    constexpr std::size_t kMostInRegisters = 16;
    Dwarf_Die type = without_qualifiers(declared);
    parameter found;
    Dwarf_Word bytes = 0;
    if (dwarf_aggregate_size(&type, &bytes) == 0) found.bytes = bytes;
    if (attribute_value(type, DW_AT_calling_convention, 0) == DW_CC_pass_by_reference) {
        found.by_reference = true;
        found.eightbytes = {parameter::integer};
        return found;
    }
    found.alignment = std::max<std::size_t>(attribute_value(type, DW_AT_alignment, 8), 8);
    const int tag = dwarf_tag(&type);
    if (tag != DW_TAG_structure_type && tag != DW_TAG_class_type && tag != DW_TAG_union_type) {
        const bool is_float = tag == DW_TAG_base_type && attribute_value(type, DW_AT_encoding, 0) == DW_ATE_float;
        if (is_float && found.bytes > 8) return found;  // long double
        found.eightbytes.assign((std::max<std::size_t>(found.bytes, 1) + 7) / 8,
                                is_float ? parameter::vector : parameter::integer);
        return found;
    }
    if (found.bytes > kMostInRegisters) return found;
    std::array<int, 2> kinds{-1, -1};  // of the eightbytes: -1 (empty), integer or vector
    if (!classify(type, 0, kinds)) return found;
    if (kinds[0] < 0 && kinds[1] < 0) {
        found.is_empty_struct = true;
        return found;
    }
    for (std::size_t i = 0; i < (found.bytes + 7) / 8; ++i)
        found.eightbytes.push_back(kinds[i] == parameter::integer ? parameter::integer : parameter::vector);
    return found;
}

}  // namespace

void add_parameters(Dwarf_Die& scope, std::vector<parameter>& all) {
    Dwarf_Die inner;
    if (dwarf_child(&scope, &inner) != 0) return;
    do {
        if (dwarf_tag(&inner) == DW_TAG_GNU_formal_parameter_pack) add_parameters(inner, all);
        Dwarf_Attribute attribute;
        Dwarf_Die type;
        if (dwarf_tag(&inner) != DW_TAG_formal_parameter ||
            dwarf_formref_die(dwarf_attr_integrate(&inner, DW_AT_type, &attribute), &type) == nullptr)
            continue;
        all.push_back(parameter_of(type));
    } while (dwarf_siblingof(&inner, &inner) == 0);
}

}  // namespace cornerturn::emulator
