import type { AgentId } from '../../schema/ids.ts';
import { sumsOfRows } from '../../subgraphs/book/ledger/sums.ts';
import type { Database } from '../../subgraphs/database.ts';
import { type NodeAddress, peaksOf } from '../../subgraphs/receipt/log/merkle-tree.ts';
import { rootOf } from '../../subgraphs/receipt/verify/merkle-proof.ts';

/**
 * Values for filters: two that only some of the oldest rows have, and a pair that a quarter of the book has each, but few rows have both.
 */
export const rareRows = {
  evidence: 'UNVERIFIED',
  intent: 'once',
  bulk_evidence: 'foreign_ingest',
  bulk_intent: 'bulk',
} as const;
const RARE_ROWS = 60;

/**
 * Fills a book with that many rows and the log with that many leaves by SQL. Hashes, keys and the tree are complete. Receipts have no
 * signatures and none of their longer texts, because nothing that is measured reads them.
 */
export async function fill(database: Database, agent_id: AgentId, rows: number): Promise<void> {
  const client = await database.connect();
  const run = (text: string, values: unknown[] = []) => client.query<{ hash: Buffer }>(text, values);
  try {
    await run('set synchronous_commit = off');
    await run(ROWS, [agent_id, rows]);
    await run(sumsOfRows('(select * from book_row where agent_id = $1)'), [agent_id]);
    await run(INTENTS, [agent_id]);
    await run(EVENTS, [agent_id, rows]);
    await run(HEAD, [agent_id, rows]);
    await run(RECEIPTS, [agent_id, rows]);
    await run(
      `insert into log_node select 0, leaf_index, sha256('\\x00'::bytea || convert_to(payload, 'UTF8')) from receipt`,
    );
    for (let level = 0; 2 ** (level + 1) <= rows; level++) {
      // Without statistics of the new level, Postgres would plan the join for its parents as if it had one row.
      await run('analyze log_node');
      await run(PARENTS, [level]);
    }
    const peaks: Buffer[] = [];
    for (const { level, index } of peaksOf(0, rows)) peaks.push(await nodeAt({ level, index }, run));
    await run('update log_head set tree_size = $1, root_hash = $2, frontier = $3', [
      rows,
      rootOf(peaks),
      Buffer.concat(peaks),
    ]);
    await run('vacuum (analyze) book_row, book_event, book_sum, receipt, log_node');
    await run('checkpoint');
  } finally {
    await client.end();
  }
}

type Run = (text: string, values: unknown[]) => Promise<{ rows: { hash: Buffer }[] }>;

async function nodeAt({ level, index }: NodeAddress, run: Run): Promise<Buffer> {
  const { rows } = await run('select hash from log_node where level = $1 and index = $2', [level, index]);
  const [node] = rows;
  if (!node) throw new Error(`no node ${index} on level ${level}`);
  return node.hash;
}

/** Task id of a row that `fill` made. Rows that are appended later have other ids. */
export function filledTask(leaf: number): string {
  return `filled_${String(leaf).padStart(9, '0')}`;
}

const TASK = `'filled_' || lpad((n - 1)::text, 9, '0')`;
const HASH = `encode(sha256(convert_to(n::text, 'UTF8')), 'hex')`;
const NEXT_HASH = `encode(sha256(convert_to((n - 1)::text, 'UTF8')), 'hex')`;

/** A quarter of the book has the one value, another quarter the other, and only RARE_ROWS of the oldest rows have both. */
const EVIDENCE = `case when n <= ${RARE_ROWS} then '${rareRows.bulk_evidence}'
    when n <= ${2 * RARE_ROWS} then '${rareRows.evidence}'
    when n <= $2::integer / 2 and n % 2 = 1 then '${rareRows.bulk_evidence}' else 'collected' end`;
const INTENT = `case when n <= ${RARE_ROWS} then '${rareRows.bulk_intent}'
    when n <= ${2 * RARE_ROWS} then '${rareRows.intent}'
    when n <= $2::integer / 2 and n % 2 = 0 then '${rareRows.bulk_intent}' end`;

const INTENTS = `insert into book_intent (agent_id, intent_id, collected_count, blocked_count)
  select agent_id, intent_id, count(*), 0 from book_row where agent_id = $1 and intent_id is not null group by 1, 2`;

const ROWS = `insert into book_row (agent_id, seq, task_id, evidence, collected, payment_ref, transfer_index, rail, amount,
    collected_at, model, hub, intent_id, payer_wallet, settled_by, fulfillment, arrival_status, prev_row_hash, row_hash)
  select $1::integer, n, ${TASK}, ${EVIDENCE}, true, 'base:0x' || ${HASH}, 0, 'usdc', 2000,
    now() - ($2::integer - n) * interval '1 minute', 'small-1', 'north', ${INTENT},
    '0x70997970C51812dc3A010C7d01b50e0d17dc79C8', 'observed_transfer', '{"job_kind":"completions","resource":null}',
    'confirmed', ${NEXT_HASH}, ${HASH}
  from generate_series(1, $2::integer) n`;

const EVENTS = `insert into book_event (agent_id, position, kind, seq, task_id, body, at, prev_hash, hash)
  select $1::integer, n, 'born', n, ${TASK}, '{"amount":"2000"}', now(), ${NEXT_HASH}, ${HASH} from generate_series(1, $2::integer) n`;

const HEAD = `update book set seq = $2::integer, position = $2::integer, spent_atomic = 2000 * $2::integer::numeric,
    by_rail = jsonb_build_object('usdc', jsonb_build_object('count', $2::integer, 'amount', (2000 * $2::integer::numeric)::text))
  where agent_id = $1`;

const RECEIPTS = `insert into receipt (task_id, leaf_index, tree_size, root_hash, tree_head_hash, payload, payload_hash,
    payload_version, jws, kid, value, signature, co_signature, payment_ref, agent_id, book_seq, hub, model, amount,
    proof_outcome, issued_at, collected_at)
  select ${TASK}, n - 1, n, '', '', '{"leaf":' || n || '}', ${HASH}, 1, '', '', '', '{}', '{}', 'base:0x' || ${HASH}, $1::integer, n,
    'north', 'small-1', 2000, 'settled', now(), now()
  from generate_series(1, $2::integer) n`;

const PARENTS = `insert into log_node
  select a.level + 1, a.index / 2, sha256('\\x01'::bytea || a.hash || b.hash)
  from log_node a join log_node b on b.level = a.level and b.index = a.index + 1
  where a.level = $1 and a.index % 2 = 0`;
