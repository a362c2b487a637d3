import { openStore } from '../../../gateway/parts.ts';
import { appendRepeats } from '../../../subgraphs/book/ledger/repeated-events.ts';

/** Does all that makes counts events, and is killed before it can commit. */
const store = await openStore(String(process.argv[2]));
await store.transaction(async tx => {
  await appendRepeats(tx, 0);
  process.kill(process.pid, 'SIGKILL');
  await new Promise(() => {});
});
