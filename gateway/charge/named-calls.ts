import { canonicalHash, type JsonObject } from '../../schema/canonical-json.ts';
import { Refusal } from '../../schema/errors.ts';
import type { TaskId } from '../../schema/ids.ts';
import type { Context } from '../../subgraphs/context.ts';
import { type KeyCallHold } from '../../subgraphs/receipt/claim/key-call/hold.ts';
import {
  type NamedAnswer,
  type NamedCall,
  type NameStanding,
  type NameTaking,
  nameStanding,
} from '../../subgraphs/receipt/claim/key-call/idempotent.ts';
import { receiptsByTask } from '../../subgraphs/receipt/receipt/find.ts';
import type { Charged, ChargedStream, Work } from '../../subgraphs/sale.ts';
import { type AnyPaid, type AnyStream, answerLabel, type Landing } from '../record/recorder.ts';
import { once } from './bought-streamed.ts';
import { idempotencyKeyOf } from './call-names.ts';
import { routerKeyMark } from './claim-request.ts';
import { announceSalt } from './payment-response.ts';
import type { Till } from './till.ts';

/*
 * A call by key has no payment that names it: what tells it from the next one is the Idempotency-Key of its caller. Under
 * it a call is worked for once. Only an answer is kept: what came to nothing leaves its name to whoever asks again.
 */

/** The name of a call, and of which request it is. @throws invalid_request where the header is no key */
export function namedCallOf(
  till: Till,
  { paid, args, api_key_hash }: { readonly paid: AnyPaid; readonly args: JsonObject; readonly api_key_hash: string },
  context: Context,
): NamedCall | null {
  const key = idempotencyKeyOf(context);
  if (key === null) return null;
  const { possession } = context.principal;
  // An answer is its session's and its router key's, as one that was paid for is.
  const request = {
    field: paid.field,
    args,
    agent_id: possession.kind === 'proven' ? possession.agent_id : null,
    router_key_mark: routerKeyMark(till, paid, args, context),
  };
  const mark = till.vault.mark(`${api_key_hash} ${key}`, 'idempotent_call');
  return { mark, api_key_hash, request_hash: canonicalHash(request) };
}

/** A call that was answered under its name before. */
export type AnsweredBefore = Extract<NameStanding, { kind: 'recorded' }>;

/** Looked for before anything of the call is judged anew. @throws idempotency_key_conflict, idempotency_key_in_flight */
export async function answeredBefore(till: Till, named: NamedCall | null): Promise<AnsweredBefore | null> {
  const standing = named && (await nameStanding(till.database, named));
  if (standing === null || standing.kind === 'free') return null;
  if (standing.kind === 'recorded') return standing;
  throw refusedName(standing);
}

/** Why a name is not to be had: nothing was charged, and nothing is. */
export function refusedName({ kind }: Exclude<NameTaking, { kind: 'taken' | 'recorded' }>): Refusal {
  switch (kind) {
    case 'foreign':
      return new Refusal('idempotency_key_conflict', { facts: { charged: false } });
    case 'in_flight':
      return new Refusal('idempotency_key_in_flight', { facts: { charged: false, retry_after_seconds: 1 } });
    case 'full': {
      const detail = 'Too much is kept under the Idempotency-Keys of this API key: send none, or ask again later.';
      return new Refusal('rate_limited', { detail, facts: { charged: false, retry_after_seconds: 600 } });
    }
  }
}

interface Kept {
  readonly answer: JsonObject;
  readonly request_salt: string;
}

/** What is kept under the name: nothing where the answer was cut off by our own stop, as after a crash. */
export function namedAnswer(
  { vault }: Pick<Till, 'vault'>,
  named: NamedCall | null,
  hold: KeyCallHold,
  { answer, omission_rule }: Work<JsonObject>,
  { request_salt }: Landing,
): NamedAnswer | null {
  if (named === null) return null;
  const { mark } = named;
  if (omission_rule === 'process_ended') return { ...hold, mark, answer_box: null };
  const kept: Kept = { answer, request_salt };
  return { ...hold, mark, answer_box: vault.seal(JSON.stringify(kept), keptLabel(hold.task_id)) };
}

const keptLabel = (task_id: TaskId): string => `by-key:${answerLabel(task_id)}`;

/**
 * The same answer and the same signed receipt, with a replay event where it stands on a book; where this database has gone
 * back nothing is written into it.
 */
export async function answerAgain(
  till: Till,
  { task_id, answer_box }: AnsweredBefore,
  context: Context,
): Promise<Charged<JsonObject>> {
  const { answer, request_salt } = JSON.parse(till.vault.open(answer_box, keptLabel(task_id)).toString('utf8')) as Kept;
  if (!till.log.halt) await till.queues.replay.submit(task_id);
  const [receipt] = await receiptsByTask(till.database, [task_id]);
  if (!receipt) throw new Error(`${task_id} is recorded and has no receipt`);
  announceSalt(context, { request_salt });
  return { answer, task_id, settlement_status: 'idempotent_replay', receipt };
}

/** The same in a stream: what was said then, each part of it in one piece. */
export async function streamAgain(
  till: Till,
  paid: AnyStream,
  before: AnsweredBefore,
  context: Context,
): Promise<ChargedStream<JsonObject>> {
  const charged = await answerAgain(till, before, context);
  const { answer, task_id, settlement_status } = charged;
  return {
    ...{ task_id, settlement_status, payment_ref: null },
    begun: answer,
    pieces: once(paid.piecesOf(answer)),
    recorded: Promise.resolve(charged),
  };
}
