import type { AtomicAmount } from '../../../schema/amount.ts';
import type { JsonObject } from '../../../schema/canonical-json.ts';
import type { ArrivalStatus } from '../../../schema/evidence.ts';
import type { RefusalId, TaskId } from '../../../schema/ids.ts';
import type { NetworkName } from '../../../schema/network.ts';
import { AtomicAmountColumn, Entity, Index, PrimaryKey, Property } from '../../table.ts';
import type { ClaimState } from './claim.machine.ts';
import type { Mismatches } from './mismatch.ts';

const OPEN = "state in ('claimed', 'settling')";

/**
 * One payment, from its first use on. The key names the money itself (network, asset, payer, nonce), so the table ensures that no payment
 * is used twice. Boxes are sealed. Nothing here is public.
 */
@Entity({ tableName: 'payment_claim' })
@Index({ name: 'payment_claim_settlement', properties: ['settlementId'] })
@Index({ name: 'payment_claim_payment_id', properties: ['paymentId'] })
@Index({ name: 'payment_claim_identifier', properties: ['identifier'], where: 'identifier is not null' })
@Index({ name: 'payment_claim_open', properties: ['movedAt'], where: OPEN })
@Index({ name: 'payment_claim_held', properties: ['agentId'], where: "state = 'held'" })
@Index({
  name: 'payment_claim_agent',
  properties: ['agentId', 'movedAt'],
  where: "agent_id is not null and state in ('claimed', 'settling', 'released')",
})
@Index({ name: 'payment_claim_payer_released', properties: ['payer', 'movedAt'], where: "state = 'released'" })
@Index({ name: 'payment_claim_payer_open', properties: ['payer'], where: OPEN })
@Index({ name: 'payment_claim_released', properties: ['validBefore'], where: "state = 'released' and not final" })
@Index({ name: 'payment_claim_lapsed', properties: ['validBefore'], where: "state = 'released' and final" })
@Index({ name: 'payment_claim_answers', properties: ['movedAt'], where: "state = 'recorded' and request_box <> '\\x'" })
@Index({ name: 'payment_claim_arrival', properties: ['lookedAt'], where: "arrival = 'pending'" })
@Index({
  name: 'payment_claim_under',
  expression: `create index payment_claim_under on payment_claim using gin ((landing->'delegation'->'path'))
    where state in ('claimed', 'settling', 'held') and landing ? 'delegation'`,
})
@Index({ name: 'payment_claim_payer_reverted', properties: ['payer', 'movedAt'], where: "reason = 'reverted'" })
@Index({
  name: 'payment_claim_payer_expired',
  properties: ['payer', 'movedAt'],
  where: "network = 'solana' and reason = 'expired' and settlement_id is null",
})
@Index({
  name: 'payment_claim_contract_payer',
  properties: ['payer', 'movedAt'],
  where: `state in ('settling', 'recorded') and "authorization"->'signature'->>'kind' = 'contract'`,
})
export class PaymentClaim {
  @PrimaryKey({ type: 'text' })
  claimKey!: string;
  @Property({ type: 'text' })
  state!: ClaimState;
  @Property({ type: 'text' })
  field!: string;
  @Property({ type: 'text' })
  requestHash!: string;
  @Property({ type: 'text', unique: 'payment_claim_task_id' })
  taskId!: TaskId;
  /**
   * Equal to `taskId` if `requestHash` covers the whole request. Otherwise the previous version made the claim, and the hash leaves out the
   * members that this version did not support.
   */
  @Property({ type: 'text', nullable: true })
  wholeTaskId!: TaskId | null;
  @Property({ type: 'integer', nullable: true })
  agentId!: number | null;
  @Property({ type: 'uuid', nullable: true })
  leaseOwner!: string | null;
  @Property({ type: 'integer', default: 0 })
  leaseEpoch!: number;
  @Property({ type: 'text' })
  network!: NetworkName;
  @Property({ type: 'text' })
  payer!: string;
  @Property({ type: 'text' })
  paymentId!: string;
  /** Name that the client gave to this purchase (x402's payment-identifier), if any. */
  @Property({ type: 'text', nullable: true })
  identifier!: string | null;
  @Property({ type: AtomicAmountColumn })
  amountAtomic!: AtomicAmount;
  /** Amount reserved on the book, which counts it against budget and caps. 0 if they do not count the charge. */
  @Property({ type: AtomicAmountColumn })
  reservedAtomic!: AtomicAmount;
  /** Time after which the chain itself refuses the payment, in seconds since the epoch. Usually a release is final only after that time. */
  @Property({ type: 'bigint' })
  validBefore!: number;
  @Property({ type: 'json' })
  authorization!: JsonObject;
  /**
   * Facts that reconcile needs to record the payment by itself: job kind, intent and attempt of the call and, once the work is done, the
   * route.
   */
  @Property({ type: 'json' })
  landing!: JsonObject;
  @Property({ type: 'blob' })
  requestBox!: Buffer;
  @Property({ type: 'blob', nullable: true })
  answerBox!: Buffer | null;
  @Property({ type: 'text', nullable: true })
  settlementId!: string | null;
  /** Transfer that moved the money of a held payment, as read from the chain. */
  @Property({ type: 'json', columnType: 'jsonb', nullable: true })
  heldTransfer!: JsonObject | null;
  /** Number of the block before which the payment cannot have moved. Null if the payment was neither sent nor seen on the chain. */
  @Property({ type: 'bigint', nullable: true })
  fromBlock!: number | null;
  @Property({ type: 'text', nullable: true })
  reason!: string | null;
  /** Id of the signed refusal of this request by its book. Null unless the book refused it. */
  @Property({ type: 'text', nullable: true })
  refusalId!: RefusalId | null;
  /**
   * Whether a released claim can never settle: usually because the chain has shown, after `validBefore`, that the payment was never used.
   */
  @Property({ type: 'boolean', default: false })
  final!: boolean;
  /**
   * Number of calls with this payment that failed because of their own request or router key, or that were canceled. At
   * `payment_failures_max` the payment is no longer accepted.
   */
  @Property({ type: 'integer', default: 0 })
  failures!: number;
  /** Counts of requests that were sent with this payment although it was made for another request. Null if there were none. */
  @Property({ type: 'json', columnType: 'jsonb', nullable: true })
  mismatches!: Mismatches | null;
  /**
   * Whether the transfer of a payment that was recorded on a facilitator's statement has been seen. Null if it was seen before the record.
   */
  @Property({ type: 'text', nullable: true })
  arrival!: ArrivalStatus | null;
  /** Time of the last check of an expired released claim or of a pending arrival. Null before the first check. */
  @Property({ type: 'Date', columnType: 'timestamptz', nullable: true })
  lookedAt!: Date | null;
  /**
   * Process that does the work of a recorded payment again because it has no answer; `rerunAt` is the time since when. Null if no process
   * does.
   */
  @Property({ type: 'uuid', nullable: true })
  rerunOwner!: string | null;
  @Property({ type: 'Date', columnType: 'timestamptz', nullable: true })
  rerunAt!: Date | null;
  /** Number of reruns that have ended, without those that this service itself ended early. */
  @Property({ type: 'integer', default: 0 })
  reruns!: number;
  @Property({ type: 'Date', columnType: 'timestamptz' })
  claimedAt!: Date;
  @Property({ type: 'Date', columnType: 'timestamptz' })
  movedAt!: Date;
}

/** A name that only one claim may hold at a time, such as the wallet that its call registers. */
@Entity({ tableName: 'claim_slot' })
export class ClaimSlot {
  @PrimaryKey({ type: 'text' })
  slot!: string;
  @Property({ type: 'text', index: 'claim_slot_claim' })
  claimKey!: string;
}

/** Lease of a living process. No other process takes its claims until the lease expires. */
@Entity({ tableName: 'process_lease' })
export class ProcessLease {
  @PrimaryKey({ type: 'uuid' })
  owner!: string;
  @Property({ type: 'Date', columnType: 'timestamptz' })
  expiresAt!: Date;
  /** Generation of the process, see `PROCESS_GENERATION`. 0 for a process that does not state one. */
  @Property({ type: 'integer', default: 0 })
  generation!: number;
}

/**
 * A recorded or held payment whose settlement was not found on the chain where it had been seen. It is checked until its outcome is known.
 */
@Entity({ tableName: 'doubted_payment' })
@Index({ name: 'doubted_payment_looked_at', properties: ['lookedAt'] })
export class DoubtedPayment {
  @PrimaryKey({ type: 'text' })
  claimKey!: string;
  @Property({ type: 'text' })
  network!: string;
  @Property({ type: 'Date', columnType: 'timestamptz' })
  doubtedAt!: Date;
  /** Time of the last check. Before the first check it is 1970-01-01, so that unchecked payments come first in the index. */
  @Property({ type: 'Date', columnType: 'timestamptz' })
  lookedAt!: Date;
}

/** A worker of jobs, and the process that it belongs to. */
@Entity({ tableName: 'job_worker' })
export class JobWorker {
  @PrimaryKey({ type: 'text' })
  workerId!: string;
  @Property({ type: 'uuid' })
  owner!: string;
}
