import type { JsonObject } from '../../schema/canonical-json.ts';
import { Refusal } from '../../schema/errors.ts';
import type { TaskId } from '../../schema/ids.ts';
import { verifyUrl } from '../../schema/links.ts';
import { correct } from '../../subgraphs/book/ledger/correct.ts';
import { allowedModels } from '../../subgraphs/book/policy/allowed-models.ts';
import type { Clock } from '../../subgraphs/clock.ts';
import type { Context } from '../../subgraphs/context.ts';
import type { Database } from '../../subgraphs/database.ts';
import { answerLabel } from '../../subgraphs/receipt/claim/answer-label.ts';
import { dropRerun, keepRerun, type RerunHold, takeRerun } from '../../subgraphs/receipt/claim/rerun.ts';
import { receiptsByTask } from '../../subgraphs/receipt/receipt/find.ts';
import { type Receipt } from '../../subgraphs/receipt/receipt/receipt.entity.ts';
import type { AnyPaid, Work } from '../../subgraphs/sale.ts';
import type { Vault } from '../../subgraphs/vault.ts';
import type { LogStanding } from '../log/open-log.ts';
import { isFound, type Landing } from '../record/facts.ts';
import type { Queues } from '../record/queues.ts';
import type { Hears } from './answer-by-outcome.ts';
import type { BoughtBefore } from './buy-once.ts';
import { type Footing, type Held, workUntil } from './held.ts';
import type { Announce } from './payment-response.ts';
import type { ReleaseLater } from './release-later.ts';
import { sealAnswer } from './settle-claim.ts';

export interface BoughtParts {
  readonly database: Database;
  readonly replay: Queues['replay'];
  readonly vault: Vault;
  readonly log: Pick<LogStanding, 'halt'>;
  readonly announce: Announce;
  readonly base_url: string;
  readonly reruns: Reruns;
  readonly clock: Clock;
  readonly hears: Hears;
}

/**
 * The same payment for the same request: the same signed bytes, a replay event, no second charge. Where the money came
 * without an answer the work is done once more, for free and by this call alone. Once it is settled a payment is public
 * calldata: what was bought under a session goes to that agent alone.
 */
export async function redeliver(
  parts: BoughtParts,
  { presented, bought }: BoughtBefore,
  context: Context,
): Promise<Footing> {
  const { database, vault, log, announce, base_url, reruns, hears } = parts;
  const { task_id, landing, answer_box } = bought;
  context.response.stopwatch.begin('replay');
  requirePossessor(hears, landing as Landing, context);
  // This database has gone back: what it holds is handed out as it stands, and nothing is written into it.
  if (log.halt && answer_box === null) throw stillOwed(parts, task_id, new Refusal('unavailable'));
  const found =
    answer_box === null
      ? await beginRerun(reruns, presented.paid, bought.claim_key)
      : ({ kind: 'kept', answer_box } as const);
  if (found.kind === 'held') throw hears({ kind: 'in_flight', task_id });
  try {
    if (!log.halt) await parts.replay.submit(task_id);
    if (found.kind === 'gone') throw hears({ kind: 'answer_gone', verify_url: verifyUrl(base_url, task_id) });
    const [receipt] = await receiptsByTask(database, [task_id]);
    if (!receipt) throw new Error(`${task_id} is recorded and has no receipt`);
    const payment_ref = refOf(receipt);
    const { payment } = presented;
    await announce(context, { payment, task_id, transaction: payment_ref.split(':')[1] ?? '', landing });
    if (found.kind === 'begun') return { kind: 'held', held: await heldAgain(parts, found, task_id, receipt) };
    const answer = JSON.parse(vault.open(found.answer_box, answerLabel(task_id)).toString('utf8')) as JsonObject;
    const charged = { answer, task_id, settlement_status: 'idempotent_replay', receipt } as const;
    return { kind: 'kept', kept: { charged, payment_ref } };
  } catch (error) {
    if (found.kind === 'begun') await found.giveUp();
    throw error;
  }
}

/**
 * The money moved long ago: nothing holds the answer back, and the whole of it counts as one step, the replay. It is
 * answered by a model that its book allows now, where there is one: what is owed is not refused.
 */
async function heldAgain(parts: BoughtParts, rerun: Rerun, task_id: TaskId, receipt: Receipt): Promise<Held> {
  const allowed_models = await allowedModels(parts.database, receipt.agentId);
  return {
    task_id,
    payer: null,
    status: 'idempotent_replay',
    bounds: { until_ms: workUntil(parts.clock.now_ms(), null), allowed_models },
    steps: { begin: () => {} },
    settle: async () => ({ payment_ref: refOf(receipt), announce: async () => {} }),
    async record(work) {
      if (work === null || isFound(work)) throw new Error(`${task_id}: a stamp is never worked for again`);
      await rerun.keep(work);
      return { answer: work.answer, task_id, settlement_status: 'idempotent_replay', receipt };
    },
    async abandon(error) {
      await rerun.giveUp();
      return stillOwed(parts, task_id, error);
    },
  };
}

/** What broke off this time had been paid for before: no sentence that says "nothing was charged" is true of it. */
function stillOwed({ hears, base_url }: Pick<BoughtParts, 'hears' | 'base_url'>, task_id: TaskId, error: unknown) {
  const refusal = error instanceof Refusal ? error : new Refusal('internal', { cause: error });
  return hears({ kind: 'still_owed', refusal, task_id, verify_url: verifyUrl(base_url, task_id) }, error);
}

/** Where the money was seen to come; until then, and where it was seen before the record, what was recorded. */
function refOf({ ingressReceipt, paymentRef }: Receipt): string {
  return String(ingressReceipt?.ref ?? paymentRef ?? '');
}

function requirePossessor(hears: Hears, { possessed_by }: Landing, { principal: { possession } }: Context): void {
  if (possessed_by === null) return;
  if (possession.kind === 'proven' && possession.agent_id === possessed_by) return;
  throw hears({ kind: 'not_possessor' });
}

export interface Reruns {
  readonly database: Database;
  readonly vault: Pick<Vault, 'seal'>;
  readonly owner: string;
  readonly later: ReleaseLater;
}

/**
 * Work that is done once more for money that came without an answer: its process died in a stream, or somebody else
 * submitted the payment after we had let go of it. Free, and by one process at a time.
 */
interface Rerun {
  readonly kind: 'begun';
  /** Keeps the answer for redelivery, and corrects the row. One that broke off is not kept: the next may be whole. */
  keep(work: Work<JsonObject>): Promise<void>;
  /** Lets the next resend try. Never throws: a hold that cannot be dropped now is dropped once the database is back. */
  giveUp(): Promise<void>;
}

type Begun =
  | Rerun
  /** Somebody was faster. */
  | { readonly kind: 'kept'; readonly answer_box: Buffer }
  | { readonly kind: 'held' }
  | { readonly kind: 'gone' };

async function beginRerun(reruns: Reruns, { order }: AnyPaid, claim_key: string): Promise<Begun> {
  // A stamp's effect stands or does not; it is never made twice.
  if (order === 'stamp') return { kind: 'gone' };
  const hold = { claim_key, owner: reruns.owner };
  const taken = await reruns.database.transaction(tx => takeRerun(tx, hold));
  return taken.kind === 'taken' ? rerunOf(reruns, hold, taken.task_id) : taken;
}

function rerunOf({ database, vault, later }: Reruns, hold: RerunHold, task_id: TaskId): Rerun {
  const drop = () => database.transaction(tx => dropRerun(tx, hold));
  const giveUp = () => drop().catch(() => later.add(drop));
  return {
    kind: 'begun',
    giveUp,
    async keep({ answer, output_sha256, omission_rule }) {
      if (output_sha256 === null && omission_rule !== 'no_input') return giveUp();
      await database.transaction(async tx => {
        const kept = await keepRerun(tx, hold, sealAnswer(vault, task_id, answer));
        const body = { reason: 'answered_on_resend', output_sha256 };
        if (kept && output_sha256 !== null) await correct(tx, [{ task_id, body }]);
      });
    },
  };
}
