import { once } from 'node:events';
import pg from 'pg';
import { to as copyTo } from 'pg-copy-streams';
import { openStore } from '../../../gateway/parts.ts';
import { spanOf } from '../../../subgraphs/book/export/pages.ts';
import { bookStreams } from '../../../subgraphs/book/export/stream.ts';
import { serveTasks } from '../child/answer.ts';
import type { OpenedBook } from './ledger.ts';

/* Reads a whole book from its database and discards it, by the export's code or by COPY. */

const MB = 1024 * 1024;

/** Memory of the process after its database was opened, which is subtracted from its peak. */
let rest_mb: number | null = null;
function peak_mb(): number {
  return process.resourceUsage().maxRSS / 1024 - (rest_mb ?? 0);
}
function rested(): void {
  rest_mb ??= process.memoryUsage().rss / MB;
}

async function stream({ database_url, agent_id }: OpenedBook): Promise<number> {
  const database = await openStore(database_url);
  rested();
  try {
    const span = await spanOf(database, agent_id, 0);
    const source = { database, span, base_url: 'http://127.0.0.1:4000' };
    let rows = 0;
    for await (const piece of bookStreams.csv(source)) rows = piece.rows_done;
    if (rows !== span.last_seq) throw new Error('rows are missing');
    return peak_mb();
  } finally {
    await database.close();
  }
}

async function copy({ database_url }: OpenedBook): Promise<number> {
  const client = new pg.Client(database_url);
  await client.connect();
  rested();
  try {
    const copied = client.query(copyTo('copy book_row to stdout'));
    copied.on('data', () => {});
    await once(copied, 'end');
    return peak_mb();
  } finally {
    await client.end();
  }
}

serveTasks({}, { stream, copy }, async () => {});
