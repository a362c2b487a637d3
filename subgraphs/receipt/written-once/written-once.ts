import type pg from 'pg';
import { Refusal } from '../../../schema/errors.ts';
import { limits } from '../../../schema/limits.ts';
import type { NamedWrite } from '../../context.ts';
import type { Database, Tx } from '../../database.ts';
import { shareHalt } from '../log/halt-guard.ts';

/*
 * An unpaid write under its caller's Idempotency-Key. The key is taken in the first transaction that writes, so that it
 * exists exactly if something was written. The answer is stored afterwards.
 */

/** State of a key for a request. `gone`: it was carried out, and its answer is not known here. */
export type WriteStanding =
  | { readonly kind: 'free' }
  | { readonly kind: 'answered'; readonly answer_box: Buffer }
  | { readonly kind: 'foreign' }
  | { readonly kind: 'in_flight' }
  | { readonly kind: 'gone' };

const KEPT = `interval '${limits.answer_kept_hours} hours'`;
/** No request takes longer: one that has no answer after this time has lost it. */
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

/** Limits what is kept; concurrent requests may exceed the limit. @throws rate_limited if this credential has reached it */
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
 * For a write whose transaction does not begin with the request, because several requests share it to be recorded in the log. Taken again
 * by the same request it stays taken. @throws idempotency_key_in_flight if another request has the key
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
 * The database for counters before the write itself: a crash in between has written nothing of the request, which can
 * be repeated under its key.
 */
export function databaseBeforeKey(database: Pick<Database, 'query'>): Pick<Database, 'query'> {
  return beneath.get(database) ?? database;
}

/** Keys of what is written together, always taken in the same order. @throws idempotency_key_in_flight */
export async function takeKeys(tx: Tx, named: readonly (NamedWrite | null)[]): Promise<void> {
  const sorted = named.filter(it => it !== null).toSorted((one, other) => (one.mark < other.mark ? -1 : 1));
  for (const one of sorted) await takeKey(tx, one);
}

/** After the write; also for a request that had nothing to write, which gets the same answer from then on. */
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

/** After a refusal, which has written nothing, the key is free for a corrected request. */
export async function releaseKey(
  database: Pick<Database, 'query'>,
  { mark, attempt }: Pick<NamedWrite, 'mark' | 'attempt'>,
): Promise<void> {
  const text = 'delete from written_once where mark = $1 and attempt = $2';
  await database.query({ name: 'let go of write', text, values: [mark, attempt] });
}

/** Those that were kept for long enough. */
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
