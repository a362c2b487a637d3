import { openStore } from '../../../gateway/parts.ts';
import { agentId } from '../../../schema/ids.ts';
import { moveA2aEscrow } from '../../../subgraphs/book/escrow/a2a-step.ts';
import { systemClock, systemRandom } from '../../../subgraphs/clock.ts';
import type { Database } from '../../../subgraphs/database.ts';

/** Funds an escrow of agent 1, which writes rows on both books, in a process that is killed before it can commit. */
const [, , url = '', job_id = '', task_id = ''] = process.argv;
const store = await openStore(url);
const dying: Database = {
  ...store,
  transaction: work =>
    store.transaction(async tx => {
      await work(tx);
      await tx.query('select 1');
      process.kill(process.pid, 'SIGKILL');
      return new Promise(() => {});
    }),
};
const acting = { database: dying, clock: systemClock, random: systemRandom };
await moveA2aEscrow(acting, agentId(1), { job_id }, { action: 'fund', said: { task_id } });
