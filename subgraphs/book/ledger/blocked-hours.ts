import { emptyWindow, windowAt } from '../../../schema/clock-window.ts';
import type { AgentId, RefusalId } from '../../../schema/ids.ts';
import { limits } from '../../../schema/limits.ts';
import type { PolicyCode } from '../../../schema/policy-kinds.ts';
import { iso } from '../../clock.ts';
import type { Tx } from '../../database.ts';
import type { Blocked } from '../policy/evaluate.ts';
import type { Head } from './append.ts';
import type { ReservationRequest } from './reservation.ts';

/**
 * Used instead of a policy code where all refused calls of a book are counted together, so that changing the intent does not give
 * unlimited rows.
 */
const EVERY = 'every';

/** Used instead of a policy code where all acts of a book are counted together. */
const ACTS = 'acts';

/** Calls that are counted together: same book, policy version, code, intent and hour (UTC). */
export interface BlockedKind {
  readonly agent_id: AgentId;
  readonly policy_version: number;
  readonly policy_code: PolicyCode | typeof EVERY | typeof ACTS;
  /** Empty for calls without an intent, and for the counts of a whole book. */
  readonly intent_id: string;
  readonly hour: string;
}

/** Number of rows for such calls, and the last of these rows. */
export interface BlockedHour extends BlockedKind {
  readonly rows: number;
  readonly seq: number;
  readonly task_id: string;
  readonly refusal_id: RefusalId;
}

const HOUR_MS = 3_600_000;

function blockedKind(head: Head, { policy_code }: Blocked, intent_id: string | null): BlockedKind {
  const { start_ms } = windowAt(emptyWindow, 'hour', head.now_ms);
  const { agent_id, policy_version } = head;
  return {
    agent_id: agent_id as AgentId,
    policy_version,
    policy_code,
    intent_id: intent_id ?? '',
    hour: iso(start_ms),
  };
}

/** The kind of all refused calls, or of all acts, of a book in an hour. */
function wholeKind(head: Head, policy_code: typeof EVERY | typeof ACTS): BlockedKind {
  const { start_ms } = windowAt(emptyWindow, 'hour', head.now_ms);
  return {
    agent_id: head.agent_id as AgentId,
    policy_version: 0,
    policy_code,
    intent_id: '',
    hour: iso(start_ms),
  };
}

/**
 * Kinds under which a refused call is counted: its own, and that of its whole book. Acts are free and are counted separately, so
 * that signing many acts does not prevent rows and approval requests of calls.
 */
export function kindsOf(
  head: Head,
  blocked: Blocked,
  { intent_id, act = false }: Pick<ReservationRequest, 'intent_id' | 'act'>,
): readonly { readonly kind: BlockedKind; readonly rows_max: number }[] {
  if (act) return [{ kind: wholeKind(head, ACTS), rows_max: limits.blocked_rows_per_hour_max }];
  return [
    { kind: blockedKind(head, blocked, intent_id), rows_max: limits.blocked_rows_per_hour_max },
    { kind: wholeKind(head, EVERY), rows_max: limits.blocked_rows_per_book_hour_max },
  ];
}

/** Seconds until another row of this kind may be written, at least 1. */
export function secondsLeft({ hour }: BlockedKind, now_ms: number): number {
  return Math.max(1, Math.ceil((Date.parse(hour) + HOUR_MS - now_ms) / 1_000));
}

/** Counts by the name of their kind (`nameOfKind`). */
export type BlockedHours = Map<string, BlockedHour>;

export function nameOfKind({ agent_id, policy_version, policy_code, intent_id, hour }: BlockedKind): string {
  return JSON.stringify([agent_id, policy_version, policy_code, intent_id, hour]);
}

/** Returns the counts of these kinds. They are exact if the heads of their books are locked, otherwise possibly a moment old. */
export async function readBlockedHours(tx: Tx, kinds: readonly BlockedKind[]): Promise<BlockedHours> {
  if (kinds.length === 0) return new Map();
  const { rows } = await tx.query<Omit<BlockedHour, 'hour'> & { hour: Date }>({
    name: 'blocked hours',
    text: `select b.* from book_blocked_hour b
      where (agent_id, policy_version, policy_code, intent_id, hour) in (
        select k.agent_id, k.policy_version, k.policy_code, k.intent_id, k.hour
        from jsonb_populate_recordset(null::book_blocked_hour, $1::jsonb) k)`,
    values: [JSON.stringify(kinds)],
  });
  const hours = rows.map((row): BlockedHour => ({ ...row, hour: iso(row.hour.getTime()) }));
  return new Map(hours.map(hour => [nameOfKind(hour), hour]));
}

/** Stores counts. The caller must have locked the heads of their books. */
export function storeBlockedHours(tx: Tx, hours: readonly BlockedHour[]): void {
  if (hours.length === 0) return;
  tx.write({
    name: 'store blocked hours',
    text: `insert into book_blocked_hour select * from jsonb_populate_recordset(null::book_blocked_hour, $1::jsonb)
      on conflict (agent_id, policy_version, policy_code, intent_id, hour) do update set
        rows = excluded.rows, seq = excluded.seq, task_id = excluded.task_id, refusal_id = excluded.refusal_id`,
    values: [JSON.stringify(hours)],
  });
}
