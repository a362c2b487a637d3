import { canonicalJson } from '../../../schema/canonical-json.ts';
import type { BroadcastRequest } from '../../../schema/requests/router.ts';
import { asEntity, asRecord, selectList } from '../../columns.ts';
import type { Database, Tx } from '../../database.ts';
import { RouterGeneration } from './router-book.entity.ts';

/* Stores the generations that were reported to router books, each once, with the facts of the first report. */

type GenerationName = Pick<RouterGeneration, 'bookId' | 'generationId'>;

export async function readGenerations(
  reads: Pick<Database, 'query'>,
  names: readonly GenerationName[],
): Promise<RouterGeneration[]> {
  const found = await reads.query({
    name: 'router generations',
    text: `select ${selectList(RouterGeneration)} from router_generation
      where (book_id, generation_id) in (select * from unnest($1::text[], $2::text[]))`,
    values: [names.map(({ bookId }) => bookId), names.map(({ generationId }) => generationId)],
  });
  return found.map(row => asEntity(RouterGeneration, row));
}

/** Whether a report has the same facts as the stored generation. */
export function saysTheSame(standing: RouterGeneration, said: BroadcastRequest): boolean {
  const { model, amount, rail, payment_ref = null } = said;
  const before = [standing.model, String(standing.amount), standing.rail, standing.paymentRef];
  return canonicalJson(before) === canonicalJson([model, amount, rail, payment_ref]);
}

/**
 * Inserts the generations that are not stored yet, in a fixed order, so that no two processes wait for each other. Returns the task
 * ids of the inserted ones.
 */
export async function takeGenerations(tx: Tx, generations: readonly RouterGeneration[]): Promise<ReadonlySet<string>> {
  const { rows } = await tx.query<{ task_id: string }>({
    name: 'take router generations',
    text: `insert into router_generation
        (book_id, generation_id, task_id, model, amount, rail, payment_ref, verified_with, reported_at)
      select book_id, generation_id, task_id, model, amount, rail, payment_ref, verified_with, reported_at
      from jsonb_populate_recordset(null::router_generation, $1::jsonb) order by book_id, generation_id
      on conflict (book_id, generation_id) do nothing returning task_id`,
    values: [JSON.stringify(generations.map(asRecord))],
  });
  return new Set(rows.map(({ task_id }) => task_id));
}

/** Deletes generations that this transaction has inserted but does not record. */
export function dropGenerations(tx: Tx, generations: readonly GenerationName[]): void {
  if (generations.length === 0) return;
  tx.write({
    name: 'drop router generations',
    text: `delete from router_generation
      where (book_id, generation_id) in (select * from unnest($1::text[], $2::text[]))`,
    values: [generations.map(({ bookId }) => bookId), generations.map(({ generationId }) => generationId)],
  });
}

/** Adds verified generations to the sums of their books and rails, in a fixed order, so that no two processes wait for each other. */
export function countVerified(tx: Tx, generations: readonly RouterGeneration[]): void {
  const verified = generations.filter(({ verifiedWith }) => verifiedWith !== null);
  if (verified.length === 0) return;
  tx.write({
    name: 'count verified generations',
    text: `insert into router_sum as s (book_id, rail, count, amount)
      select book_id, rail, count(*), sum(amount) from jsonb_populate_recordset(null::router_generation, $1::jsonb)
      group by book_id, rail order by book_id, rail
      on conflict (book_id, rail) do update set count = s.count + excluded.count, amount = s.amount + excluded.amount`,
    values: [JSON.stringify(verified.map(asRecord))],
  });
}

/** Stores that a later lookup confirmed a generation, and counts it once. Returns the generation. */
export function verifyGeneration(
  database: Database,
  standing: RouterGeneration,
  verified_with: string,
): Promise<RouterGeneration> {
  return database.transaction(async tx => {
    const { rows } = await tx.query<Record<string, unknown>>({
      name: 'verify router generation',
      text: `update router_generation set verified_with = $3
        where book_id = $1 and generation_id = $2 and verified_with is null
        returning ${selectList(RouterGeneration)}`,
      values: [standing.bookId, standing.generationId, verified_with],
    });
    const [row] = rows;
    if (!row) return asEntity(RouterGeneration, { ...standing, verifiedWith: verified_with });
    const verified = asEntity(RouterGeneration, row);
    countVerified(tx, [verified]);
    return verified;
  });
}
