import { openStore } from '../../../gateway/parts.ts';
import { appendRepeats } from '../../../subgraphs/book/ledger/repeated-events.ts';

/** Writes the stored replay counts as events, in a process that is killed before it can commit. */
const store = await openStore(String(process.argv[2]));
await store.transaction(async tx => {
  await appendRepeats(tx, 0);
  process.kill(process.pid, 'SIGKILL');
  await new Promise(() => {});
});
