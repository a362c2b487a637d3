import { canonicalHash, type JsonObject } from '../../schema/canonical-json.ts';
import type { Context } from '../../subgraphs/context.ts';
import type { Database } from '../../subgraphs/database.ts';
import { isFormerKeyCall } from '../../subgraphs/receipt/claim/former-request.ts';
import type { KeyCallHold } from '../../subgraphs/receipt/claim/key-call/hold.ts';
import {
  type NamedAnswer,
  type NamedCall,
  type NameStanding,
  type NameTaking,
  namedAnswerBox,
  namedCallMark,
  nameStanding,
} from '../../subgraphs/receipt/claim/key-call/idempotency-names.ts';
import { keyAnswerLabel } from '../../subgraphs/receipt/claim/rerun.ts';
import { receiptsByTask } from '../../subgraphs/receipt/receipt/find.ts';
import type { AnyPaid, Work } from '../../subgraphs/sale.ts';
import type { Vault } from '../../subgraphs/vault.ts';
import type { LogStanding } from '../log/open-log.ts';
import type { Hears } from './answer-by-outcome.ts';
import { type CallMarks, idempotencyKeyOf } from './call-names.ts';
import type { CallOutcome } from './call-outcome.ts';
import type { KeptCall } from './held.ts';
import { announceSalt } from './payment-response.ts';
import type { Landing } from './record/facts.ts';
import type { Queues } from './record/queues.ts';

/*
 * A call by API key has no payment that names it: its caller's Idempotency-Key tells it from the next one. With a key the work is
 * done once. Only an answer is stored; a failed call frees its name.
 */

export interface NamedCallParts {
  readonly database: Database;
  readonly vault: Vault;
  readonly replay: Queues['replay'];
  readonly log: Pick<LogStanding, 'halt'>;
  readonly hears: Hears;
}

interface Asking extends Pick<CallMarks, 'router_key_mark'> {
  readonly paid: AnyPaid;
  readonly args: JsonObject;
}

/** The name of a call, and the request that it belongs to. @throws invalid_request if the header is invalid */
export async function namedCallOf(
  { database, vault }: Pick<NamedCallParts, 'database' | 'vault'>,
  { paid, args, router_key_mark }: Asking,
  api_key_hash: string,
  context: Context,
): Promise<NamedCall | null> {
  const key = idempotencyKeyOf(context);
  if (key === null) return null;
  const { possession } = context.principal;
  // An answer belongs to its session and router key, as with a payment.
  const agent_id = possession.kind === 'proven' ? possession.agent_id : null;
  const hashOf = (said: JsonObject) => canonicalHash({ field: paid.field, args: said, agent_id, router_key_mark });
  const mark = namedCallMark(vault, api_key_hash, key);
  const named = { mark, api_key_hash, request_hash: hashOf(args) };
  // As for a payment (bound-request.ts): a name from the previous version is found by that version's hash.
  const former = paid.former_args?.(args) ?? null;
  if (former === null) return named;
  const before = { ...named, request_hash: hashOf(former) };
  return (await isFormerKeyCall(database, before)) ? before : named;
}

/** A call that was answered under its name before. */
export type AnsweredBefore = Extract<NameStanding, { kind: 'recorded' }>;

/** Checked before anything of the call is judged again. @throws idempotency_key_conflict, idempotency_key_in_flight */
export async function answeredBefore(
  { database, hears }: NamedCallParts,
  named: NamedCall | null,
): Promise<AnsweredBefore | null> {
  const standing = named && (await nameStanding(database, named));
  if (standing === null || standing.kind === 'free') return null;
  if (standing.kind === 'recorded') return standing;
  throw hears(nameLost[standing.kind]);
}

/** Why a name is unavailable; nothing was charged. */
export const nameLost: Record<Exclude<NameTaking, { kind: 'taken' | 'recorded' }>['kind'], CallOutcome> = {
  foreign: { kind: 'name_foreign', by: 'idempotency_key' },
  in_flight: { kind: 'key_name_in_flight' },
  full: { kind: 'key_names_full' },
};

interface KeptAnswer {
  readonly answer: JsonObject;
  readonly request_salt: string;
}

/** What is stored under the name: nothing if our own stop cut the answer off, as after a crash. */
export function namedAnswer(
  { vault }: Pick<NamedCallParts, 'vault'>,
  named: NamedCall | null,
  hold: KeyCallHold,
  { answer, omission_rule }: Work<JsonObject>,
  { request_salt }: Landing,
): NamedAnswer | null {
  if (named === null) return null;
  const { mark } = named;
  if (omission_rule === 'process_ended') return { ...hold, mark, answer_box: null };
  const kept: KeptAnswer = { answer, request_salt };
  return { ...hold, mark, answer_box: vault.seal(JSON.stringify(kept), keyAnswerLabel(hold.task_id)) };
}

/**
 * The same answer and signed receipt, with a replay event if it is on a book; nothing is written while the log is halted. @throws
 * idempotency_key_in_flight if the answer has just expired: the next call finds its name free
 */
export async function answerAgain(
  { database, vault, replay, log, hears }: NamedCallParts,
  before: AnsweredBefore,
  context: Context,
): Promise<KeptCall> {
  const { task_id } = before;
  const answer_box = await namedAnswerBox(database, before);
  if (answer_box === null) throw hears(nameLost.in_flight);
  const opened = vault.open(answer_box, keyAnswerLabel(task_id)).toString('utf8');
  const { answer, request_salt } = JSON.parse(opened) as KeptAnswer;
  if (!log.halt) await replay.submit(task_id);
  const [receipt] = await receiptsByTask(database, [task_id]);
  if (!receipt) throw new Error(`${task_id} is recorded and has no receipt`);
  announceSalt(context, { request_salt });
  return { charged: { answer, task_id, settlement_status: 'idempotent_replay', receipt }, payment_ref: null };
}
