import { type AtomicAmount, atomicAmount } from '../../schema/amount.ts';
import type { JsonObject } from '../../schema/canonical-json.ts';
import { canonicalHash } from '../../schema/digest.ts';
import type { AgentId, TaskId } from '../../schema/ids.ts';
import { type NetworkName, networks } from '../../schema/network.ts';
import { type Collection, collect, type RowBirth } from '../../subgraphs/book/index.ts';
import { iso } from '../../subgraphs/clock.ts';
import type { Services } from '../../subgraphs/context.ts';
import type { Tx } from '../../subgraphs/database.ts';
import type { OmissionRule, Paid, Stamp, Stamped, Stream, Whole } from '../../subgraphs/paid.ts';
import {
  awaitArrivals,
  type Issuer,
  type Lease,
  lockLogHead,
  markRecorded,
  type PreparedReceipt,
  prepareReceipt,
  type Receipt,
  type SignedTreeHead,
  storeAnswers,
} from '../../subgraphs/receipt/index.ts';
import type { Moved } from './base/outcome.ts';
import type { Till } from './till.ts';

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
  /** The payment is public once it is on the chain; without the salt a short prompt could be guessed from its hash. */
  readonly request_salt: string;
}

/** The facts of a claim that its record is made from: the same, whether the caller waited or reconcile came later. */
export interface Settled {
  readonly task_id: TaskId;
  readonly request_hash: string;
  readonly agent_id: AgentId | null;
  readonly network: NetworkName;
  readonly payer: string;
  readonly pay_to: string;
  readonly payment_id: string;
  readonly amount_atomic: AtomicAmount;
  readonly reserved_atomic: AtomicAmount;
  readonly landing: Landing;
  readonly transfer: Moved;
}

/** What a row and a receipt say of the money. */
const rests = {
  transferred: {
    evidence: 'collected',
    collected: true,
    settled_by: 'observed_transfer',
    recorded_by: null,
    arrival_status: 'confirmed',
  },
  vouched: {
    evidence: 'RECORDED_BY_SETTLE',
    collected: false,
    settled_by: 'receipt',
    recorded_by: 'settle',
    arrival_status: 'pending',
  },
} as const satisfies Record<Moved['kind'], Partial<RowBirth>>;

/** Where the answer comes from that is kept for redelivery. */
export type Answered =
  /** It was sealed with the claim before the payment was sent. */
  | { readonly kind: 'stored' }
  /** The work was done, or came to its end, after the payment had moved. */
  | { readonly kind: 'worked'; readonly answer: JsonObject }
  /** A stamp's effect, written with its row. */
  | { readonly kind: 'stamp'; readonly paid: Stamp<JsonObject, JsonObject>; readonly args: JsonObject };

export interface Recording {
  readonly lease: Lease;
  readonly settled: Settled;
  /** Made outside the lock: all signatures but the JWS are in it. */
  readonly prepared: PreparedReceipt;
  readonly answer: Answered;
}

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
export function openRecorder(issuer: Issuer, seal: Seal): Recorder {
  return async (tx, recordings) => {
    await markRecorded(
      tx,
      recordings.map(({ lease }) => lease),
    );
    await awaitArrivals(
      tx,
      recordings.flatMap(({ lease, settled }) => (settled.transfer.kind === 'vouched' ? [lease.claim_key] : [])),
    );
    const log = await lockLogHead(tx);
    const answers: (JsonObject | null)[] = [];
    for (const recording of recordings) answers.push(await answerOf(tx, recording));
    await storeAnswers(
      tx,
      recordings.flatMap(({ lease, settled }, index) => {
        const answer = answers[index];
        return answer
          ? [{ claim_key: lease.claim_key, answer_box: seal(JSON.stringify(answer), answerLabel(settled.task_id)) }]
          : [];
      }),
    );
    const { collected, tree_head } = await collect(tx, issuer, log, recordings.map(collectionOf));
    return collected.map(({ receipt }, index) => ({ receipt, answer: answers[index] ?? null, tree_head }));
  };
}

async function answerOf(tx: Tx, { answer, settled }: Recording): Promise<JsonObject | null> {
  if (answer.kind === 'stored') return null;
  if (answer.kind === 'worked') return answer.answer;
  const stamped: Stamped = {
    task_id: settled.task_id,
    agent_id: settled.agent_id,
    payer: { network: settled.network, wallet: settled.payer },
    payment_ref: paymentRef(settled),
  };
  return answer.paid.commit(tx, answer.args, stamped);
}

function paymentRef({ network, transfer }: Settled): string {
  return `${network}:${transfer.tx_hash}`;
}

/** Where in its block it stands is known only of what was seen. */
function transferIndex({ transfer }: Settled): number | null {
  return transfer.kind === 'transferred' ? transfer.transfer_index : null;
}

/** The row's form: flat. */
function fulfillmentOf({ landing }: Settled): JsonObject {
  return { ...intentOf(landing), output_commitment: commitmentOf(landing) };
}

/** The receipt's form: the paid-job envelope, which names who authorised what. */
function envelopeOf(settled: Settled): JsonObject {
  const authorization = { payer_wallet: settled.payer, delegation_hash: null, payment_ref: paymentRef(settled) };
  return { intent: intentOf(settled.landing), authorization, output_commitment: commitmentOf(settled.landing) };
}

function intentOf({ job_kind, intent_id, attempt_index }: Landing): JsonObject {
  return { job_kind, resource: null, intent_id, attempt_index };
}

function commitmentOf({ output_sha256, omission_rule }: Landing): JsonObject {
  return output_sha256 === null
    ? { status: 'UNVERIFIED', hash: null, kind: null, omission_rule: omission_rule ?? 'no_output' }
    : { status: 'committed', hash: output_sha256, kind: 'sha256', omission_rule: null };
}

/** Everything about the receipt that does not depend on its place in log and book. */
export function prepareRecord(
  { issuer, clock, profile, chain_epoch }: Pick<Till, 'issuer' | 'clock' | 'profile' | 'chain_epoch'>,
  settled: Settled,
): PreparedReceipt {
  const { landing } = settled;
  return prepareReceipt(issuer, {
    task_id: settled.task_id,
    issued_at: iso(clock.now_ms()),
    hub: landing.hub ?? '',
    model: landing.model ?? '',
    job_kind: landing.job_kind,
    request_hash: canonicalHash({ request_hash: settled.request_hash, salt: landing.request_salt }),
    agent_id: settled.agent_id,
    caller_binding: {
      payer_wallet: settled.payer,
      ...(landing.api_key_hash ? { api_key_hash: landing.api_key_hash } : {}),
    },
    intent_id: landing.intent_id,
    attempt_index: landing.attempt_index,
    fulfillment: envelopeOf(settled),
    settled_by: rests[settled.transfer.kind].settled_by,
    payment: {
      ref: paymentRef(settled),
      transfer_index: transferIndex(settled),
      network: settled.network,
      rail: 'usdc',
      asset: networks[settled.network].usdc,
      gross_amount: settled.amount_atomic.toString(),
      settled_amount: settled.amount_atomic.toString(),
      payer: settled.payer,
      pay_to: settled.pay_to,
      payment_id: settled.payment_id,
    },
    profile,
    chain_epoch,
  });
}

function collectionOf({ prepared, settled }: Recording): Collection {
  const { agent_id, landing, reserved_atomic } = settled;
  if (agent_id === null) return { prepared, landing: null };
  const birth: RowBirth = {
    task_id: settled.task_id,
    ...rests[settled.transfer.kind],
    payment_ref: paymentRef(settled),
    transfer_index: transferIndex(settled),
    rail: 'usdc',
    amount: settled.amount_atomic,
    model: landing.model,
    hub: landing.hub,
    intent_id: landing.intent_id,
    attempt_index: landing.attempt_index,
    payer_wallet: settled.payer,
    parent_ref: null,
    fulfillment: fulfillmentOf(settled),
    facts: {},
  };
  return { prepared, landing: { agent_id, birth, reserved: atomicAmount(reserved_atomic) } };
}
