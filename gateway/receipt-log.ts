import { join } from 'node:path';
import type { Database } from '../subgraphs/database.ts';
import { type LogIntegrity, proveLogIntact, type SavedHead, savedHead } from '../subgraphs/receipt/index.ts';

type Broken = Extract<LogIntegrity, { kind: 'shrunken' | 'rewritten' }>;

/** The database does not hold the log that this service has signed. Nothing may be appended to it. */
class BrokenLog extends Error {
  override name = 'BrokenLog';

  constructor({ kind, saved, found }: Broken) {
    super(
      `the log is ${kind}: saved outside the database is size ${saved.tree_size}, root ${saved.root_hash}; ` +
        `the database has size ${found.tree_size}, root ${found.root_hash}. Restore the database that belongs to it, ` +
        'or declare the break, signed and for all to see: npm run accept-log-break -- "REASON"',
    );
  }
}

/** Proves that the log continues the one whose head was saved, before anything is served. @throws BrokenLog */
export async function openLog(database: Database, { data_dir }: { data_dir: string }): Promise<SavedHead> {
  const saved_head = savedHead(join(data_dir, 'log-head.json'));
  const saved = await saved_head.read();
  const integrity = await proveLogIntact(database, saved);
  if (integrity.kind === 'shrunken' || integrity.kind === 'rewritten') throw new BrokenLog(integrity);
  return saved_head;
}
