/* SPDX-License-Identifier: MIT */
/* Agents: the partitions of the packages, which HIP sees as devices. */
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "soc/machine.h"

static_assert(CHIP_MAX_PARTITIONS * NODE_MAX_PACKAGES <= EHP_AGENTS_MAX, "what HIP has room for");

unsigned ehp_agent_count(const ehp_machine *m)
{
    return m->agents;
}

int ehp_agent_info(ehp_machine *m, unsigned agent, struct ehp_agent_info *info)
{
    if (agent >= m->agents)
        return machine_error(m, EHP_ERR_INVALID, "no agent %u; the machine has %u", agent, m->agents);
    const struct chip *c = &m->chip;
    const unsigned each = machine_package_agents(m), package = agent / each;
    struct ehp_agent_info i = {
        .size = info->size < sizeof(i) ? info->size : sizeof(i),
        .xcds = m->xcds_per_agent,
        .cus = m->xcds_per_agent * chip_get(c, CHIP_xcd_cus),
        .cus_per_xcd = chip_get(c, CHIP_xcd_cus),
        .shader_engines_per_xcd = chip_get(c, CHIP_xcd_shader_engines),
        .simds_per_cu = chip_get(c, CHIP_cu_simds),
        .waves_per_simd = chip_get(c, CHIP_cu_waves_per_simd),
        .wave_size = chip_get(c, CHIP_cu_wave_size),
        .vgprs_per_simd = chip_get(c, CHIP_cu_vgprs),
        .sgprs_per_wave = chip_get(c, CHIP_cu_sgprs_per_wave),
        .workgroup_max = chip_get(c, CHIP_cu_workgroup_items),
        .grid_max = {2147483647, 65535, 65535},
        .lds_bytes = chip_get(c, CHIP_cu_lds),
        .memory_bytes = machine_memory_bytes(m) / m->nps,
        .l1_bytes = chip_get(c, CHIP_vl1_size),
        .l2_bytes = chip_get(c, CHIP_l2_size),
        .infinity_cache_bytes = (uint64_t)c->value[CHIP_infinity_cache_size],
        .clock_mhz = chip_get(c, CHIP_chip_clock),
        .memory_clock_mhz = chip_get(c, CHIP_hbm_clock),
        .timestamp_mhz = chip_get(c, CHIP_chip_timestamp_clock),
        .memory_bus_bits = chip_get(c, CHIP_hbm_bus),
        .pci_bus =
            1 + package, /* a package is the first device behind a root port; its partitions are functions */
        .pci_function = agent % each,
        .pci_id = chip_get(c, CHIP_chip_pci_id),
        .numa_nodes = m->nps,
        .package = package,
        .packages = m->node.packages,
        .partition_index = agent % each,
        .partition_count = each,
        .apu = chip_get(c, CHIP_ccd_count) > 0,
        .cpu_cores = chip_get(c, CHIP_ccd_count) * chip_get(c, CHIP_ccd_cores),
        .xnack = m->memory.xnack,
        .sgprs_per_simd = chip_get(c, CHIP_cu_sgprs),
        .vgpr_granule = chip_get(c, CHIP_cu_vgpr_granule),
        .sgpr_granule = chip_get(c, CHIP_cu_sgpr_granule),
    };
    snprintf(i.name, sizeof(i.name), "%s", c->text[CHIP_TEXT_chip_title]);
    snprintf(i.chip, sizeof(i.chip), "%s", c->name);
    snprintf(i.isa, sizeof(i.isa), "%s", m->isa);
    memcpy(info, &i, i.size);
    return EHP_OK;
}

unsigned ehp_package_of(const ehp_machine *m, unsigned agent)
{
    return agent < m->agents ? agent / machine_package_agents(m) : 0;
}
