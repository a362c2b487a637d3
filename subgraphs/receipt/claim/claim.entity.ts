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
 * One payment, from its first use. The key names the money itself (network, asset, payer, nonce), so the table proves
 * that no payment is used twice. Boxes are sealed; nothing here is public.
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
   * The same task, if the hash is of the whole request. Otherwise the previous version has claimed, and the hash leaves out what it did not
   * know.
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
  /** Held on the book's ceiling; 0 if the charge does not count against it. */
  @Property({ type: AtomicAmountColumn })
  reservedAtomic!: AtomicAmount;
  /** Seconds since the epoch after which the chain itself refuses the payment: only then is a release final. */
  @Property({ type: 'bigint' })
  validBefore!: number;
  @Property({ type: 'json' })
  authorization!: JsonObject;
  /** What reconcile needs to finish alone: the landing (job kind, intent, attempt) and, once worked, the route. */
  @Property({ type: 'json' })
  landing!: JsonObject;
  @Property({ type: 'blob' })
  requestBox!: Buffer;
  @Property({ type: 'blob', nullable: true })
  answerBox!: Buffer | null;
  @Property({ type: 'text', nullable: true })
  settlementId!: string | null;
  /** Transfer of a held payment, as the chain shows it. */
  @Property({ type: 'json', columnType: 'jsonb', nullable: true })
  heldTransfer!: JsonObject | null;
  /** The block before which the payment cannot have moved. */
  @Property({ type: 'bigint', nullable: true })
  fromBlock!: number | null;
  @Property({ type: 'text', nullable: true })
  reason!: string | null;
  /** For a released claim: the refusal of its book, for this request. */
  @Property({ type: 'text', nullable: true })
  refusalId!: RefusalId | null;
  /** A released claim is final once the chain has said, after `validBefore`, that the payment was never used. */
  @Property({ type: 'boolean', default: false })
  final!: boolean;
  /** Calls with it that failed because of their own request or router key: after some it is no longer accepted. */
  @Property({ type: 'integer', default: 0 })
  failures!: number;
  /** Requests that were sent with it and that it was not made for; null if there were none. */
  @Property({ type: 'json', columnType: 'jsonb', nullable: true })
  mismatches!: Mismatches | null;
  /** Whether the money of a payment that a facilitator vouched for has been seen; null if it was seen before the record. */
  @Property({ type: 'text', nullable: true })
  arrival!: ArrivalStatus | null;
  /** The last look at a released claim that has expired, or for a pending arrival; null before the first. */
  @Property({ type: 'Date', columnType: 'timestamptz', nullable: true })
  lookedAt!: Date | null;
  /** The process that does the work of a recorded payment once more, because it has no answer; and since when. */
  @Property({ type: 'uuid', nullable: true })
  rerunOwner!: string | null;
  @Property({ type: 'Date', columnType: 'timestamptz', nullable: true })
  rerunAt!: Date | null;
  /** How often that was done and ended, for any reason but ours. */
  @Property({ type: 'integer', default: 0 })
  reruns!: number;
  @Property({ type: 'Date', columnType: 'timestamptz' })
  claimedAt!: Date;
  @Property({ type: 'Date', columnType: 'timestamptz' })
  movedAt!: Date;
}

/** A name that only one live claim may hold, such as the wallet that it registers. */
@Entity({ tableName: 'claim_slot' })
export class ClaimSlot {
  @PrimaryKey({ type: 'text' })
  slot!: string;
  @Property({ type: 'text', index: 'claim_slot_claim' })
  claimKey!: string;
}

/** A process that is alive: its claims are its own until this runs out. */
@Entity({ tableName: 'process_lease' })
export class ProcessLease {
  @PrimaryKey({ type: 'uuid' })
  owner!: string;
  @Property({ type: 'Date', columnType: 'timestamptz' })
  expiresAt!: Date;
  /** What it is known to do, see `PROCESS_GENERATION`; 0 of a process that does not say. */
  @Property({ type: 'integer', default: 0 })
  generation!: number;
}

/** A recorded or held payment whose settlement the chain did not have where it was seen: it is checked until its outcome is known. */
@Entity({ tableName: 'doubted_payment' })
@Index({ name: 'doubted_payment_looked_at', properties: ['lookedAt'] })
export class DoubtedPayment {
  @PrimaryKey({ type: 'text' })
  claimKey!: string;
  @Property({ type: 'text' })
  network!: string;
  @Property({ type: 'Date', columnType: 'timestamptz' })
  doubtedAt!: Date;
  /** The epoch before the first look: those come first, by the index. */
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
