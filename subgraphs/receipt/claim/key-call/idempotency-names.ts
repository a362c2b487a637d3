import type { TaskId } from '../../../../schema/ids.ts';
import { limits } from '../../../../schema/limits.ts';
import type { Database, Tx } from '../../../database.ts';
import type { Vault } from '../../../vault.ts';
import { alive, living } from '../lease.ts';
import { type KeyCallHold, LostKeyCall } from './hold.ts';

/** A call with an API key, under the name that its caller gave it. */
export interface NamedCall {
  /** Hash of API key and Idempotency-Key together. */
  readonly mark: string;
  readonly api_key_hash: string;
  /** Hash of everything that identifies the request. Another request under the same name is refused. */
  readonly request_hash: string;
}

/** A named call that a process is about to work on. */
type NamedHold = NamedCall & KeyCallHold;

/** A task, and the name under which its answer is stored. */
interface NamedTask {
  readonly mark: string;
  readonly task_id: TaskId;
}

/** State of a name for a request. */
export type NameStanding =
  /** The name may be taken: no call has it, or the call that has it has expired or its process is dead. */
  | { readonly kind: 'free' }
  /** The answer may be megabytes, so it is read separately (`namedAnswerBox`). */
  | ({ readonly kind: 'recorded' } & NamedTask)
  | { readonly kind: 'foreign' }
  | { readonly kind: 'in_flight' };

/** `full`: this API key already has the maximum number of names, or of bytes of stored answers. */
export type NameTaking =
  | { readonly kind: 'taken' }
  | Exclude<NameStanding, { kind: 'free' }>
  | { readonly kind: 'full' };

interface StandingRow extends NamedCall, Pick<KeyCallHold, 'task_id'> {
  readonly answered: boolean;
  readonly leased: boolean;
  readonly over: boolean;
}

/** Whether the call has expired, or its process died before it answered. */
const isFree = ({ answered, leased, over }: StandingRow): boolean => over || !(answered || leased);

const standingOf = (row: StandingRow | undefined, request_hash: string): NameStanding => {
  if (!row || isFree(row)) return { kind: 'free' };
  if (row.request_hash !== request_hash) return { kind: 'foreign' };
  const { mark, task_id, answered } = row;
  return answered ? { kind: 'recorded', mark, task_id } : { kind: 'in_flight' };
};

const KEPT = `interval '${limits.answer_kept_hours} hours'`;

const standing = (marks: readonly string[]) => ({
  name: 'idempotent calls',
  text: `select mark, request_hash, task_id, answer_box is not null as answered, ${living('c.lease_owner', 'c.begun_at')} as leased,
      coalesce(recorded_at < now() - ${KEPT}, false) as over
    from idempotent_call c where mark = any($1)`,
  values: [marks],
});

/** Reads the state of a name without taking it. */
export async function nameStanding(
  database: Pick<Database, 'query'>,
  { mark, request_hash }: NamedCall,
): Promise<NameStanding> {
  const [row] = await database.query<StandingRow>(standing([mark]));
  return standingOf(row, request_hash);
}

/** The stored answer of a task under its name, sealed; null if it is no longer kept. Read outside of any transaction. */
export async function namedAnswerBox(
  database: Pick<Database, 'query'>,
  { mark, task_id }: NamedTask,
): Promise<Buffer | null> {
  const [kept] = await database.query<{ readonly answer_box: Buffer | null }>({
    name: 'named answer',
    text: 'select answer_box from idempotent_call where mark = $1 and task_id = $2',
    values: [mark, task_id],
  });
  return kept?.answer_box ?? null;
}

/** Limits for one API key, whose calls are not paid: number of names, and bytes of the answers kept under them. */
interface NameBounds {
  readonly names_max: number;
  readonly answers_bytes_max: number;
}
const usualBounds: NameBounds = {
  names_max: limits.idempotency_keys_max,
  answers_bytes_max: limits.idempotent_answers_bytes_max,
};

/**
 * Takes names, so that each belongs to one call over all processes. If several calls of a batch have the same name, the first one takes it.
 */
export async function takeNames(
  tx: Tx,
  wanted: readonly NamedHold[],
  bounds: NameBounds = usualBounds,
): Promise<ReadonlyMap<TaskId, NameTaking>> {
  if (wanted.length === 0) return new Map();
  const first = new Map<string, NamedHold>();
  for (const hold of wanted) if (!first.has(hold.mark)) first.set(hold.mark, hold);
  // The names are sorted by mark, because two batches could otherwise wait for each other.
  const holds = [...first.values()].sort((a, b) => (a.mark < b.mark ? -1 : 1));
  const full = await fullKeys(tx, holds, bounds);
  const inserted = await insertNames(
    tx,
    holds.filter(({ api_key_hash }) => !full.has(api_key_hash)),
  );
  const met = await meetNames(
    tx,
    holds.filter(({ mark }) => !inserted.has(mark)),
  );
  const retaken = await retakeNames(
    tx,
    [...met].flatMap(([hold, row]) => (isFree(row) ? [{ ...hold, was: row.task_id }] : [])),
  );
  const rows = new Map([...met].map(([{ mark }, row]) => [mark, row]));
  const takings = wanted.map((hold): [TaskId, NameTaking] => {
    const { mark, api_key_hash, request_hash, task_id } = hold;
    const taker = inserted.has(mark) || retaken.has(mark) ? first.get(mark) : undefined;
    if (taker === hold) return [task_id, { kind: 'taken' }];
    if (taker) return [task_id, { kind: taker.request_hash === request_hash ? 'in_flight' : 'foreign' }];
    const row = rows.get(mark);
    if (!row && full.has(api_key_hash)) return [task_id, { kind: 'full' }];
    return [task_id, takingOf(standingOf(row, request_hash))];
  });
  return new Map(takings);
}

async function meetNames(tx: Tx, holds: readonly NamedHold[]): Promise<ReadonlyMap<NamedHold, StandingRow>> {
  if (holds.length === 0) return new Map();
  const { rows } = await tx.query<StandingRow>(standing(holds.map(({ mark }) => mark)));
  const found = new Map(rows.map(row => [row.mark, row]));
  return new Map(
    holds.flatMap(hold => {
      const row = found.get(hold.mark);
      return row ? [[hold, row] as const] : [];
    }),
  );
}

/**
 * A name that was free a moment ago was just taken or released by another process. It counts as in flight; the next request shows which of
 * the two it was.
 */
function takingOf(found: NameStanding): Exclude<NameTaking, { kind: 'taken' }> {
  return found.kind === 'free' ? { kind: 'in_flight' } : found;
}

/**
 * API keys with the maximum number of names, or of bytes of stored answers. Names that are taken at the same moment may exceed the limits.
 */
async function fullKeys(
  tx: Tx,
  holds: readonly NamedHold[],
  { names_max, answers_bytes_max }: NameBounds,
): Promise<ReadonlySet<string>> {
  const { rows } = await tx.query<{ api_key_hash: string }>({
    name: 'full keys',
    text: `select api_key_hash from idempotent_call where api_key_hash = any($1) group by 1
      having count(*) >= $2 or coalesce(sum(octet_length(answer_box)), 0) >= $3`,
    values: [[...new Set(holds.map(({ api_key_hash }) => api_key_hash))], names_max, answers_bytes_max],
  });
  return new Set(rows.map(row => row.api_key_hash));
}

async function insertNames(tx: Tx, holds: readonly NamedHold[]): Promise<ReadonlySet<string>> {
  if (holds.length === 0) return new Set();
  const { rows } = await tx.query<{ mark: string }>({
    name: 'take idempotency keys',
    text: `insert into idempotent_call (mark, api_key_hash, request_hash, task_id, whole_task_id, lease_owner, begun_at)
      select mark, api_key_hash, request_hash, task_id, task_id, lease_owner, now()
      from jsonb_populate_recordset(null::idempotent_call, $1::jsonb) order by mark
      on conflict (mark) do nothing returning mark`,
    values: [JSON.stringify(holds)],
  });
  return new Set(rows.map(({ mark }) => mark));
}

/** Takes over the names of expired calls and of calls of dead processes. Each is identified by the task that had the name. */
async function retakeNames(tx: Tx, stale: readonly (NamedHold & { was: string })[]): Promise<ReadonlySet<string>> {
  if (stale.length === 0) return new Set();
  const { rows } = await tx.query<{ mark: string }>({
    name: 'retake idempotency keys',
    text: `with n as (select * from jsonb_to_recordset($1::jsonb)
          as n(mark text, request_hash text, task_id text, lease_owner uuid, was text)),
        stale as (select c.mark from idempotent_call c join n on c.mark = n.mark and c.task_id = n.was
          order by c.mark for update of c)
      update idempotent_call c set request_hash = n.request_hash, task_id = n.task_id, whole_task_id = n.task_id,
          lease_owner = n.lease_owner, begun_at = now(), answer_box = null, recorded_at = null
        from n join stale using (mark) where c.mark = n.mark and c.task_id = n.was returning c.mark`,
    values: [JSON.stringify(stale)],
  });
  return new Set(rows.map(({ mark }) => mark));
}

/** A named call that is being recorded. `answer_box` is null if no answer is kept; its name is then released. */
export interface NamedAnswer extends KeyCallHold {
  readonly mark: string;
  readonly answer_box: Buffer | null;
}

/**
 * Stores answers in the transaction that records their calls.
 * @throws LostKeyCall if a name was taken over, because its process had not been seen for too long.
 */
export async function keepNamed(tx: Tx, answers: readonly NamedAnswer[]): Promise<void> {
  const sorted = [...answers].sort((a, b) => (a.mark < b.mark ? -1 : 1));
  for (const { mark, task_id, lease_owner, answer_box } of sorted) {
    const { rowCount } = await tx.query({
      name: answer_box === null ? 'let go of idempotency key' : 'keep idempotent answer',
      text:
        answer_box === null
          ? 'delete from idempotent_call where mark = $1 and task_id = $2 and lease_owner = $3'
          : `update idempotent_call set answer_box = $4, recorded_at = now()
             where mark = $1 and task_id = $2 and lease_owner = $3`,
      values: [mark, task_id, lease_owner, ...(answer_box === null ? [] : [answer_box])],
    });
    if (rowCount !== 1) throw new LostKeyCall();
  }
}

/** Releases the names of failed calls, so that the next request under such a name is worked on. */
export function dropNames(tx: Tx, holds: readonly (KeyCallHold & Pick<NamedCall, 'mark'>)[]): void {
  if (holds.length === 0) return;
  tx.write({
    name: 'drop idempotency keys',
    text: `delete from idempotent_call c using jsonb_to_recordset($1::jsonb) as n(mark text, task_id text, lease_owner uuid)
      where c.mark = n.mark and c.task_id = n.task_id and c.lease_owner = n.lease_owner and c.recorded_at is null`,
    values: [JSON.stringify(holds)],
  });
}

/** Deletes answers that were kept for long enough, and names of unanswered calls whose process is dead. */
export async function forgetNames(database: Pick<Database, 'query'>): Promise<void> {
  const max = limits.claims_forgotten_per_transaction_max;
  const forgotten = await database.query({
    name: 'forget idempotency keys',
    text: `delete from idempotent_call where mark in (
        select mark from idempotent_call c
        where recorded_at < now() - ${KEPT} or (recorded_at is null and not ${alive('c.lease_owner')})
        limit $1 for update skip locked) returning 1`,
    values: [max],
  });
  if (forgotten.length === max) await forgetNames(database);
}

/** Keyed hash of API key and Idempotency-Key together, so that neither is stored. */
export const namedCallMark = ({ mark }: Pick<Vault, 'mark'>, api_key_hash: string, key: string): string =>
  mark(`${api_key_hash} ${key}`, 'idempotent_call');
