import { measured } from '../child/child.ts';
import { atLeast, atMost, type Contest, type Side } from '../contest.ts';
import type { SettledTotals, SettlersGiven } from '../servers/settlers.ts';

/** Real USDC on a chain with a block every two seconds, and three keys. Waiting payments are settled together, or one by one. */
export const settlements: Contest = {
  name: 'settlements',
  beside: 'one transaction per settlement, the same settler and keys',
  waits: true,
  lines: [
    {
      name: 'settlements on a chain with 2 s blocks, batches of 25 from 10 payers, 3 keys',
      unit: 'per block',
      goal: atLeast(5),
      of: ({ operations, counts }) => operations / (counts.blocks ?? Number.NaN),
    },
    {
      name: 'the same: gas of one settlement',
      unit: 'gas',
      goal: atMost(0.6),
      of: ({ operations, counts }) => (counts.gas ?? Number.NaN) / operations,
    },
  ],
  async open({ stage, closing }) {
    const { rpc_url } = await stage.chain();
    const given: SettlersGiven = { database_url: await stage.database(), rpc_url };
    const settlers = await stage.start({ file: 'settlers', given }, closing);
    const settling = (way: 'together' | 'alone'): Side => ({
      async round() {
        await settlers.ask('young');
        const counts: Record<string, number> = {};
        const taken = await measured([settlers], async () => {
          const { settlements, blocks, gas } = await settlers.ask<SettledTotals>(way);
          Object.assign(counts, { blocks, gas });
          return settlements;
        });
        return { ...taken, counts };
      },
    });
    return { ours: settling('together'), beside: settling('alone') };
  },
};
