import { openStore } from '../../../gateway/parts.ts';
import { agentId } from '../../../schema/ids.ts';
import { revealJob } from '../../../subgraphs/board/job/reveal.ts';
import type { Database } from '../../../subgraphs/database.ts';
import { openVault } from '../../../subgraphs/vault.ts';
import { OUTPUT, SEALED_BY } from './job-table.ts';

/** Reveals the output of a job in a process that is killed before it can commit. */
const [, , url = '', job_id = '', winner = ''] = process.argv;
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
const acting = { database: dying, vault: openVault(SEALED_BY) };
await revealJob(acting, agentId(Number(winner)), { job_id, output: OUTPUT, encoding: 'utf8' });
