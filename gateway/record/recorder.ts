import type { AtomicAmount } from '../../schema/amount.ts';
import type { JsonObject } from '../../schema/canonical-json.ts';
import type { AgentId, TaskId } from '../../schema/ids.ts';
import type { NetworkName } from '../../schema/network.ts';
import type { WaivedBy } from '../../schema/receipt-payload.ts';
import { collect } from '../../subgraphs/book/ledger/collect.ts';
import type { Services } from '../../subgraphs/context.ts';
import type { Tx } from '../../subgraphs/database.ts';
import { awaitArrivals } from '../../subgraphs/receipt/claim/arrival.ts';
import { type Lease } from '../../subgraphs/receipt/claim/claim.ts';
import { endKeyCalls, type KeyCallHold } from '../../subgraphs/receipt/claim/key-call/hold.ts';
import { keepNamed, type NamedAnswer } from '../../subgraphs/receipt/claim/key-call/idempotent.ts';
import { markRecorded, storeAnswers } from '../../subgraphs/receipt/claim/transitions.ts';
import { type Issuer } from '../../subgraphs/receipt/issuer/keys.ts';
import { lockLogHead } from '../../subgraphs/receipt/log/head.ts';
import { type KnownLog } from '../../subgraphs/receipt/log/known-log.ts';
import { type SignedTreeHead } from '../../subgraphs/receipt/log/tree-head.ts';
import type { PreparedReceipt } from '../../subgraphs/receipt/receipt/issue.ts';
import { type Receipt } from '../../subgraphs/receipt/receipt/receipt.entity.ts';
import type { OmissionRule, Paid, Stamp, Stamped, Stream, Whole } from '../../subgraphs/sale.ts';
import type { Moved } from '../rails/outcome.ts';
import { collectionOf, paymentRef } from './forms.ts';

/** Any paid field: the gateway's own tables do not care what is sold. */
export type AnyPaid = Paid<JsonObject, JsonObject>;
export type AnyWhole = Whole<JsonObject, JsonObject>;
export type AnyStream = Stream<JsonObject, JsonObject>;

/** Where a charge lands and what stands on it; kept on the claim, so that reconcile needs nobody's memory. */
export interface Landing extends JsonObject {
  readonly job_kind: string;
  readonly intent_id: string | null;
  readonly attempt_index: number | null;
  readonly api_key_hash: string | null;
  readonly model: string | null;
  readonly hub: string | null;
  readonly output_sha256: string | null;
  readonly omission_rule: OmissionRule | null;
  /** The agent whose session came with the call: its answer is delivered again to nobody else. */
  readonly possessed_by: number | null;
  /** Of the address from which it was paid. */
  readonly paid_from_mark: string;
  /** Of the router key under which it is answered; null where none is. */
  readonly router_key_mark: string | null;
  /** Of the Idempotency-Key under which it came; null where none did. */
  readonly idempotency_mark: string | null;
  /** Promised with the session: whoever answers learns nothing of who asks. */
  readonly vendor_blind: boolean;
  /** The payment is public once it is on the chain; without the salt a short prompt could be guessed from its hash. */
  readonly request_salt: string;
}

/** What is recorded of any call. */
interface Landed {
  readonly task_id: TaskId;
  readonly request_hash: string;
  readonly agent_id: AgentId | null;
  readonly landing: Landing;
}

/** The facts of a claim that its record is made from: the same, whether the caller waited or reconcile came later. */
export interface Settled extends Landed {
  readonly network: NetworkName;
  readonly payer: string;
  readonly pay_to: string;
  readonly payment_id: string;
  readonly amount_atomic: AtomicAmount;
  readonly reserved_atomic: AtomicAmount;
  readonly transfer: Moved;
}

/** The same of a call that a key stood in for: no money moved, and none ever will. */
export interface Waived extends Landed {
  readonly waived_by: WaivedBy;
  readonly transfer: null;
}

/** Where the answer comes from that is kept for redelivery. */
export type Answered =
  /** It was sealed with the claim before the payment was sent. */
  | { readonly kind: 'stored' }
  /** The work was done, or came to its end, after the payment had moved. */
  | { readonly kind: 'worked'; readonly answer: JsonObject }
  /** A stamp's effect, written with its row. */
  | { readonly kind: 'stamp'; readonly paid: Stamp<JsonObject, JsonObject>; readonly args: JsonObject };

/** By what this process may record the call, and nobody else: its payment's claim, or its hold on the task. */
type Held =
  | { readonly lease: Lease; readonly settled: Settled }
  | { readonly hold: KeyCallHold; readonly settled: Waived; readonly named: NamedAnswer | null };

export type Recording = Held & {
  /** Made outside the lock: all signatures but the JWS are in it. */
  readonly prepared: PreparedReceipt;
  readonly answer: Answered;
};

export interface Recorded {
  readonly receipt: Receipt;
  /** Null where it was sealed with the claim before. */
  readonly answer: JsonObject | null;
  readonly tree_head: SignedTreeHead;
}

export type Recorder = (tx: Tx, recordings: readonly Recording[]) => Promise<readonly Recorded[]>;
type Seal = Services['vault']['seal'];

export const answerLabel = (task_id: string): string => `answer:${task_id}`;

/** One transaction for a batch: claims, stamps' effects, rows, receipts, leaves, head, counters, events, wake-ups. */
export function openRecorder(issuer: Issuer, seal: Seal, known_log: KnownLog): Recorder {
  return async (tx, recordings) => {
    const paid = recordings.filter(recording => 'lease' in recording);
    const leases = paid.map(({ lease }) => lease);
    const vouched = paid.flatMap(({ lease, settled }) =>
      settled.transfer.kind === 'vouched' ? [lease.claim_key] : [],
    );
    const holds = recordings.flatMap(recording => ('hold' in recording ? [recording.hold] : []));
    await keepNamed(
      tx,
      recordings.flatMap(recording => ('hold' in recording && recording.named ? [recording.named] : [])),
    );
    // One behind the other, in this order, with one wait for all: a claim that is lost has held the log for a moment.
    const marked = markRecorded(tx, leases);
    awaitArrivals(tx, vouched);
    const ended = endKeyCalls(tx, holds);
    const [log] = await Promise.all([lockLogHead(tx, known_log), marked, ended]);
    const answers: (JsonObject | null)[] = [];
    for (const recording of recordings) answers.push(await answerOf(tx, recording));
    await storeAnswers(
      tx,
      recordings.flatMap((recording, index) => {
        const answer = answers[index];
        if (!answer || !('lease' in recording)) return [];
        const { lease, settled } = recording;
        return [{ claim_key: lease.claim_key, answer_box: seal(JSON.stringify(answer), answerLabel(settled.task_id)) }];
      }),
    );
    const { collected, tree_head } = await collect(tx, issuer, log, recordings.map(collectionOf));
    return collected.map(({ receipt }, index) => ({ receipt, answer: answers[index] ?? null, tree_head }));
  };
}

async function answerOf(tx: Tx, { answer, settled }: Recording): Promise<JsonObject | null> {
  if (answer.kind === 'stored') return null;
  if (answer.kind === 'worked') return answer.answer;
  if (settled.transfer === null) throw new Error(`${settled.task_id}: no key stands in for a stamp`);
  const stamped: Stamped = {
    task_id: settled.task_id,
    agent_id: settled.agent_id,
    payer: { network: settled.network, wallet: settled.payer },
    payment_ref: paymentRef(settled),
  };
  return answer.paid.commit(tx, answer.args, stamped);
}
