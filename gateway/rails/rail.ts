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

/** What the chain says of a payment before it is claimed; `payment`: as it will be settled. */
export type PaymentReadiness<P extends Payment = Payment> =
  | { readonly kind: 'ready'; readonly payment: P; readonly funds: Funds }
  | Spent<P>
  | Rejected
  /** Nothing would be sent now for any payer. */
  | NotSent
  | Unreachable
  | Undecided;

/** Already used, by anyone: the money may be here and the work owed. The balance no longer includes it. */
export interface Spent<P extends Payment = Payment> {
  readonly kind: 'spent';
  readonly payment: P;
}

/** What the chain says of an expired payment that was never claimed here. */
export type UsedInTime<P extends Payment = Payment> = Spent<P> | { readonly kind: 'unused' } | Rejected | Undecided;

/** What a claim stores of how its payment was sent. */
export interface SentPayment {
  /** Null if we never sent it. */
  readonly settlement_id: string | null;
  /** The first block in which it may have moved; null if none was stored. */
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

/** A text that a wallet is said to have signed. */
export interface SignedMessage {
  /** In the network's own spelling. */
  readonly payer: string;
  readonly text: string;
  /** As received. */
  readonly signature: string;
  /** Address of the client, in whose queue a contract wallet is asked. */
  readonly asker: string;
}

/**
 * A network on which payments are accepted. The steps of a paid call are the same on each, and this interface is all that
 * differs. Results are unions; the caller decides about responses.
 */
export interface Rail<P extends Payment = Payment> extends PaymentJudge<P> {
  readonly network: NetworkName;
  /** Which of this database's chains it is; always 0 on real networks. */
  readonly chain_epoch: number;
  readonly settler: Settler<ClaimItem<P>>;
  /** Whether payments are sent. */
  readonly settling: Pick<SettlingStanding, 'trouble'>;
  /**
   * Whether it is its payer's, asking code on the chain if the signature does not prove it; `address`: the client's. @throws
   * DatabaseAway
   */
  prove(payment: P, address: string): Promise<Proof>;
  /** The same for a payment that may be used already: the money may be here, so an unanswered question is undecided. */
  proveUsed(payment: P): Promise<Exclude<Proof, { kind: 'no_turn' | 'unreachable' }> | Undecided>;
  /** Whether it can be settled and its payer has the funds. @throws DatabaseAway */
  ready(payment: P): Promise<PaymentReadiness<P>>;
  /** The same for an expired payment that was never claimed here. */
  usedInTime(payment: P): Promise<UsedInTime<P>>;
  /** The outcome of a payment that the chain shows as used and that has no claim here; `asker`: in whose queue it is searched. */
  find(payment: P, asker: string): Promise<Decision | Busy>;
  /** A payer's balance, and which of the payer's open claims have left it. */
  funds(payer: string): Promise<ChainAnswer<Funds>>;
  /** The outcome of a payment, from the chain alone; repeatable. */
  decide(payment: P, sent: SentPayment): Promise<Decision>;
  /** Whether no block that may still be replaced could take it. */
  isOver(payment: Pick<P, 'authorization'>): Promise<boolean>;
  /** A facilitator's report of an open payment, unless the chain contradicts it. */
  vouch(payment: P, sent: SentPayment): Promise<Vouched | null>;
  isTextSignedBy(shown: SignedMessage): Promise<boolean>;
  /** Reads the chain's head and stores what a later start compares. @throws if the chain is unreachable */
  look(): Promise<void>;
  /** Age of the last `look`; null if there was none. */
  age_ms(): number | null;
  /** Whether the chain responds now. */
  reachable(): Promise<boolean>;
  /** Checks settlements again once they are final. */
  recheck(correct: (tx: Tx, rechecked: RecheckResult) => Promise<void>): Promise<unknown>;
  close(): Promise<void>;
}

/** By network; null if payments on it are not accepted. */
export type Rails = Readonly<Record<NetworkName, Rail | null>>;

interface WithRails {
  readonly rails: Rails;
}

/** @throws if the network has no rail: a claim made while it had one cannot be finished without it */
export function railOf({ rails }: WithRails, network: NetworkName): Rail {
  const rail = rails[network];
  if (!rail) throw new Error(`payments on ${network} are not accepted by this service`);
  return rail;
}

/** The rails that are open. */
export function openRails({ rails }: WithRails): Rail[] {
  return Object.values(rails).filter(rail => rail !== null);
}

/** Closes all rails, which stop waiting. */
export async function closeRails(opened: WithRails): Promise<void> {
  await Promise.all(openRails(opened).map(rail => rail.close()));
}

/** Runs on each rail, so that an unreachable chain delays no other. */
export async function onEachRail(rails: Rails, round: (rail: Rail) => Promise<unknown>): Promise<void> {
  const done = await Promise.allSettled(openRails({ rails }).map(round));
  const faults = done.flatMap(one => (one.status === 'rejected' ? [one.reason] : []));
  if (faults.length > 0) throw faults.length === 1 ? faults[0] : new AggregateError(faults);
}
