import { openStore } from '../../../gateway/parts.ts';
import { integrate } from '../../../subgraphs/receipt/totals/integrate.ts';
import { issuer } from '../ledger/fixture.ts';

/** Adds a batch of leaves to the totals in a process that is killed after everything is written and before anything is committed. */
const store = await openStore(String(process.argv[2]));
await integrate({
  issuer,
  profile: 'production',
  now_ms: () => 0,
  database: {
    query: statement => store.query(statement),
    transaction: (work, bound) =>
      store.transaction(async tx => {
        await work(tx);
        await tx.query('select');
        process.kill(process.pid, 'SIGKILL');
        return new Promise(() => {});
      }, bound),
  },
});
