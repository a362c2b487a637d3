import type { NetworkName } from '../../schema/network.ts';
import type { Tx } from '../../subgraphs/database.ts';
import type { PaymentClaim } from '../../subgraphs/receipt/claim/claim.entity.ts';
import type { Funds } from '../../subgraphs/receipt/claim/funds.ts';
import type { RecheckResult } from './finality.ts';
import type { Busy, Decision, NotSent, Proof, Rejected, Undecided, Vouched } from './outcome.ts';
import type { Payment } from './payment.ts';
import type { ChainAnswer, Unreachable } from './rpc.ts';
import type { ClaimItem, Settler } from './settler.ts';
import type { SettlingStanding } from './settling-standing.ts';
import type { PaymentJudge } from './verify.ts';

/** Whether a payment can be settled, by the chain, before it is claimed. `payment` is the form in which it will be settled. */
export type PaymentReadiness<P extends Payment = Payment> =
  | { readonly kind: 'ready'; readonly payment: P; readonly funds: Funds }
  | Spent<P>
  | Rejected
  /** No payer's payment would be sent now. */
  | NotSent
  | Unreachable
  | Undecided;

/**
 * The payment is already used, by anyone: the money may have arrived here and the answer be owed. The payer's balance no longer
 * includes it.
 */
export interface Spent<P extends Payment = Payment> {
  readonly kind: 'spent';
  readonly payment: P;
}

/** Whether an expired payment that was never claimed here was used in time. */
export type UsedInTime<P extends Payment = Payment> = Spent<P> | { readonly kind: 'unused' } | Rejected | Undecided;

/** Members of a claim that describe how its payment was sent. */
export interface SentPayment {
  /** Null if this service never sent it. */
  readonly settlement_id: string | null;
  /** First block in which the payment may have moved; null if none was stored. */
  readonly from_block: number | null;
  readonly claimed_at: Date;
}

export function sentOf({
  settlementId,
  fromBlock,
  claimedAt,
}: Pick<PaymentClaim, 'settlementId' | 'fromBlock' | 'claimedAt'>): SentPayment {
  return { settlement_id: settlementId, from_block: fromBlock, claimed_at: claimedAt };
}

/** A text and the signature that a wallet is claimed to have made of it. */
export interface SignedMessage {
  /** Address in the network's own spelling. */
  readonly payer: string;
  readonly text: string;
  /** Signature as it was received. */
  readonly signature: string;
  /** Network address of the client. Calls of a contract wallet wait in this client's queue. */
  readonly asker: string;
}

/**
 * A network on which payments are accepted. The steps of a paid call are the same on every network, and this interface contains all
 * differences. Results are unions; the caller decides about responses.
 */
export interface Rail<P extends Payment = Payment> extends PaymentJudge<P> {
  readonly network: NetworkName;
  /** Number of the chain, among those on which this database was paid; always 0 on real networks. */
  readonly chain_epoch: number;
  readonly settler: Settler<ClaimItem<P>>;
  /** Whether payments can be sent now. */
  readonly settling: Pick<SettlingStanding, 'trouble'>;
  /**
   * Whether the payer signed the payment. Calls code on the chain if the signature does not prove it. `address` is the client's
   * network address. @throws DatabaseAway
   */
  prove(payment: P, address: string): Promise<Proof>;
  /**
   * Like `prove`, for a payment that may already be used. The money may have arrived here, so a check without a result is
   * undecided.
   */
  proveUsed(payment: P): Promise<Exclude<Proof, { kind: 'no_turn' | 'unreachable' }> | Undecided>;
  /** Whether the payment can be settled and its payer has the funds. @throws DatabaseAway */
  ready(payment: P): Promise<PaymentReadiness<P>>;
  /** Whether an expired payment that was never claimed here was used in time. */
  usedInTime(payment: P): Promise<UsedInTime<P>>;
  /**
   * The outcome of a payment that the chain shows as used and that has no claim here. The search waits in the queue of `asker`.
   */
  find(payment: P, asker: string): Promise<Decision | Busy>;
  /** A payer's balance, and the open claims of this payer whose payments have left it. */
  funds(payer: string): Promise<ChainAnswer<Funds>>;
  /** The outcome of a payment, from the chain alone. It can be repeated. */
  decide(payment: P, sent: SentPayment): Promise<Decision>;
  /** Whether the payment has expired on the final chain, so that no block that replaces another can accept it. */
  isOver(payment: Pick<P, 'authorization'>): Promise<boolean>;
  /** A facilitator's report of an open payment; null if the facilitator reported none or the chain contradicts it. */
  vouch(payment: P, sent: SentPayment): Promise<Vouched | null>;
  isTextSignedBy(shown: SignedMessage): Promise<boolean>;
  /**
   * Reads the chain's head and stores the block with which a later start compares the chain. @throws if the chain is unreachable
   */
  look(): Promise<void>;
  /** Age of the last `look`; null before the first. */
  age_ms(): number | null;
  /** Whether the chain responds now. */
  reachable(): Promise<boolean>;
  /** Checks settlements again once they are final. */
  recheck(correct: (tx: Tx, rechecked: RecheckResult) => Promise<void>): Promise<unknown>;
  close(): Promise<void>;
}

/** Rails by network; null if payments on the network are not accepted. */
export type Rails = Readonly<Record<NetworkName, Rail | null>>;

interface WithRails {
  readonly rails: Rails;
}

/** @throws if the network has no rail. A claim that was made while it had one cannot be finished without it. */
export function railOf({ rails }: WithRails, network: NetworkName): Rail {
  const rail = rails[network];
  if (!rail) throw new Error(`payments on ${network} are not accepted by this service`);
  return rail;
}

export function openRails({ rails }: WithRails): Rail[] {
  return Object.values(rails).filter(rail => rail !== null);
}

/** Closes all rails. Callers that wait on them get a result. */
export async function closeRails(opened: WithRails): Promise<void> {
  await Promise.all(openRails(opened).map(rail => rail.close()));
}

/**
 * Runs `round` on all rails at once, so that an unreachable chain delays no other. @throws the failures, after all rounds have
 * ended
 */
export async function onEachRail(rails: Rails, round: (rail: Rail) => Promise<unknown>): Promise<void> {
  const done = await Promise.allSettled(openRails({ rails }).map(round));
  const faults = done.flatMap(one => (one.status === 'rejected' ? [one.reason] : []));
  if (faults.length > 0) throw faults.length === 1 ? faults[0] : new AggregateError(faults);
}
