import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { genesisAccounts } from './accounts.ts';
import { LiteChain } from './chain.ts';
import { type JournalEntry, openJournal } from './journal.ts';
import { methodsOf } from './methods.ts';
import { serveRpc } from './serve-rpc.ts';

/*
 * The development Solana, a separate process: it listens on `--port` on loopback and has its journal in `--folder`. It outlives the
 * gateway that started it. However it ends, the journal contains all changes that it confirmed.
 */

const { port, folder } = parseArgs({ options: { port: { type: 'string' }, folder: { type: 'string' } } }).values;
if (!port || !folder) throw new Error('--port and --folder are required');

const journal = openJournal(join(folder, 'journal.jsonl'), Date.now());
const append = (deed: JournalEntry) => {
  try {
    journal.append(deed);
  } catch (fault) {
    // It is unknown which part of the entry is on disk. The next start reads the journal again.
    console.error('the journal cannot be written:', fault);
    process.exit(1);
  }
};
const chain = new LiteChain({ journal: { ...journal, append }, genesis: await genesisAccounts(), now_ms: Date.now });
await serveRpc(Number(port), methodsOf(chain));
