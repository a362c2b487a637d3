import pino from 'pino';
import { LogWatch } from '../../../gateway/log/watch-log.ts';
import type { Database } from '../../../subgraphs/database.ts';
import { openLive } from '../../../subgraphs/live.ts';
import { KnownLog } from '../../../subgraphs/receipt/log/known-log.ts';
import { type SavedHead } from '../../../subgraphs/receipt/log/saved-head.ts';
import { atEnd } from '../release.ts';

/** SQL that rolls the log back to its first two leaves, without a notification. */
export const ROLL_LOG_BACK = `update log_head set tree_size = 2,
  root_hash = (select hash from log_node where level = 1 and index = 0),
  frontier = (select hash from log_node where level = 1 and index = 0);
  delete from log_node where (index + 1) * (2 ^ level) > 2; delete from receipt where leaf_index >= 2;
  delete from tree_head where tree_size > 2`;

const AN_HOUR_MS = 3_600_000;

/** The log watch of one process, whose periodic checks are an hour apart, so that only notifications trigger one. */
export async function openLogWatch(database: Database, connected: Pick<Database, 'connect'> = database) {
  const known = new KnownLog();
  const saved_head = { tree_size: Number.POSITIVE_INFINITY } as SavedHead;
  const books = { look: async () => {} };
  const logger = pino({ level: 'silent' });
  const watch = new LogWatch({ database, known, books, saved_head, breaks_before: 0, logger, beat_ms: AN_HOUR_MS });
  const live = openLive(connected);
  atEnd(async () => {
    await watch.stop();
    await live.close();
  });
  await watch.listen(live);
  return { known, watch };
}
