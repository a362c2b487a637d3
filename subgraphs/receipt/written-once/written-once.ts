import type pg from 'pg';
import { Refusal } from '../../../schema/errors.ts';
import { limits } from '../../../schema/limits.ts';
import type { NamedWrite } from '../../context.ts';
import type { Database, Tx } from '../../database.ts';
import { shareHalt } from '../log/halt-guard.ts';

/*
 * An unpaid write under the Idempotency-Key of its caller. The key is taken in the first transaction that writes, so that it is stored
 * exactly if something was written. The answer is stored afterwards.
 */

/** State of a key for a request. `gone`: the request was carried out, but its answer is not known here. */
export type WriteStanding =
  | { readonly kind: 'free' }
  | { readonly kind: 'answered'; readonly answer_box: Buffer }
  | { readonly kind: 'foreign' }
  | { readonly kind: 'in_flight' }
  | { readonly kind: 'gone' };

const KEPT = `interval '${limits.answer_kept_hours} hours'`;
/** No request takes longer. A request without an answer after this time has lost its answer. */
const UNDERWAY = `interval '${limits.written_once_underway_seconds_max} seconds'`;

interface StandingRow {
  readonly request_hash: string;
  readonly answer_box: Buffer | null;
  readonly underway: boolean;
}

export async function writeStanding(
  database: Pick<Database, 'query'>,
  { mark, request_hash }: Pick<NamedWrite, 'mark' | 'request_hash'>,
): Promise<WriteStanding> {
  const [row] = await database.query<StandingRow & Record<string, unknown>>({
    name: 'written once',
    text: `select request_hash, answer_box, written_at > now() - ${UNDERWAY} as underway
      from written_once where mark = $1 and written_at > now() - ${KEPT}`,
    values: [mark],
  });
  if (!row) return { kind: 'free' };
  if (row.request_hash !== request_hash) return { kind: 'foreign' };
  const { answer_box, underway } = row;
  return answer_box === null ? { kind: underway ? 'in_flight' : 'gone' } : { kind: 'answered', answer_box };
}

/**
 * Limits the number of keys and the bytes of answers that are kept. Concurrent requests may exceed the limits. @throws rate_limited if this
 * credential has reached a limit
 */
export async function requireKeyRoom(
  database: Pick<Database, 'query'>,
  { credential_mark }: Pick<NamedWrite, 'credential_mark'>,
): Promise<void> {
  const [kept] = await database.query<{ writes: number; bytes: number }>({
    name: 'room of written once',
    text: `select count(*)::int as writes, coalesce(sum(octet_length(answer_box)), 0)::int8 as bytes
      from written_once where credential_mark = $1`,
    values: [credential_mark],
  });
  const { writes = 0, bytes = 0 } = kept ?? {};
  if (writes < limits.written_once_max && bytes < limits.written_once_bytes_max) return;
  throw new Refusal('rate_limited', {
    detail: 'This caller has reached the limit of Idempotency-Keys. Send no key, or try again later.',
    facts: { retry_after_seconds: 600 },
  });
}

const TAKE = `insert into written_once as w (mark, credential_mark, request_hash, attempt, written_at)
  values ($1, $2, $3, $4, now())
  on conflict (mark) do update set credential_mark = excluded.credential_mark, request_hash = excluded.request_hash,
      attempt = excluded.attempt, written_at = excluded.written_at, answer_box = null
    where w.written_at <= now() - ${KEPT} or w.attempt = excluded.attempt
  returning 1`;

/**
 * Takes the key of a request in an open transaction. A transaction that several requests share, to be recorded in the log, must call it for
 * each of them, because it is not begun by the database of one request (`takeKeyOnWrite`). A request that has its key may take it again.
 * @throws idempotency_key_in_flight if another request has the key
 */
export async function takeKey(tx: Tx, { mark, credential_mark, request_hash, attempt }: NamedWrite): Promise<void> {
  const { rowCount } = await tx.query({
    name: 'take write',
    text: TAKE,
    values: [mark, credential_mark, request_hash, attempt],
  });
  if (rowCount !== 1) throw new Refusal('idempotency_key_in_flight');
}

const WRITES = /^\s*(?:insert|update|delete|with)\b/i;

/** The database for a request with a key: its first write takes the key in the same transaction. */
export function takeKeyOnWrite(database: Database, named: NamedWrite): Database {
  let taken = false;
  const inOne = async <T>(work: (tx: Tx) => Promise<T>, bound?: Parameters<Database['transaction']>[1]) => {
    const result = await database.transaction(async tx => {
      await takeKey(tx, named);
      return work(tx);
    }, bound);
    taken = true;
    return result;
  };
  const taking: Database = {
    ...database,
    query<R extends pg.QueryResultRow>(statement: pg.QueryConfig) {
      if (taken || !WRITES.test(statement.text)) return database.query<R>(statement);
      return inOne(async tx => (await tx.query<R>(statement)).rows);
    },
    transaction(work, bound) {
      return taken || bound?.read_only ? database.transaction(work, bound) : inOne(work, bound);
    },
  };
  beneath.set(taking, database);
  return shareHalt(database, taking);
}

const beneath = new WeakMap<object, Database>();

/**
 * The database without the key, for counters that are written before the write itself. After a crash in between, nothing else of the
 * request is written, so the request can be repeated under its key.
 */
export function databaseBeforeKey(database: Pick<Database, 'query'>): Pick<Database, 'query'> {
  return beneath.get(database) ?? database;
}

/**
 * Takes the keys of all writes of a transaction. They are always taken in the same order, so that two transactions do not wait for each
 * other. @throws idempotency_key_in_flight
 */
export async function takeKeys(tx: Tx, named: readonly (NamedWrite | null)[]): Promise<void> {
  const sorted = named.filter(it => it !== null).toSorted((one, other) => (one.mark < other.mark ? -1 : 1));
  for (const one of sorted) await takeKey(tx, one);
}

/**
 * Stores the answer after the write. A request that had nothing to write calls it too, and then gets the same answer when it is repeated.
 */
export async function keepAnswer(
  database: Pick<Database, 'query'>,
  { mark, credential_mark, request_hash, attempt }: NamedWrite,
  answer_box: Buffer | null,
): Promise<void> {
  await database.query({
    name: 'keep answer of write',
    text: `insert into written_once as w (mark, credential_mark, request_hash, attempt, written_at, answer_box)
      values ($1, $2, $3, $4, now(), $5)
      on conflict (mark) do update set answer_box = excluded.answer_box where w.attempt = excluded.attempt`,
    values: [mark, credential_mark, request_hash, attempt, answer_box],
  });
}

/** Frees the key after a refusal, which wrote nothing, so that a corrected request can use the key. */
export async function releaseKey(
  database: Pick<Database, 'query'>,
  { mark, attempt }: Pick<NamedWrite, 'mark' | 'attempt'>,
): Promise<void> {
  const text = 'delete from written_once where mark = $1 and attempt = $2';
  await database.query({ name: 'let go of write', text, values: [mark, attempt] });
}

/** Periodic job: deletes writes that have been kept for the full time. */
export async function forgetWrites(database: Pick<Database, 'query'>): Promise<void> {
  const max = limits.claims_forgotten_per_transaction_max;
  const forgotten = await database.query({
    name: 'forget writes',
    text: `delete from written_once where mark in (
        select mark from written_once where written_at <= now() - ${KEPT} order by written_at limit $1 for update skip locked)
      returning 1`,
    values: [max],
  });
  if (forgotten.length === max) await forgetWrites(database);
}
