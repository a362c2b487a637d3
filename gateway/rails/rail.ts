import type { NetworkName } from '../../schema/network.ts';
import type { Tx } from '../../subgraphs/database.ts';
import type { PaymentClaim } from '../../subgraphs/receipt/claim/claim.entity.ts';
import type { Funds } from '../../subgraphs/receipt/claim/funds.ts';
import type { Rechecked } from './finality.ts';
import type { Busy, Decision, NotSent, Proof, Rejected, Undecided, Vouched } from './outcome.ts';
import type { Payment } from './payment.ts';
import type { ChainAnswer, Unreachable } from './rpc.ts';
import type { ClaimItem, Settler } from './settler.ts';
import type { SettlingStanding } from './settling-standing.ts';
import type { PaymentJudge } from './verify.ts';

/** What the chain says of a payment before anything is claimed for it; `payment`: as it will be settled. */
export type PaymentReadiness<P extends Payment = Payment> =
  | { readonly kind: 'ready'; readonly payment: P; readonly funds: Funds }
  | Spent<P>
  | Rejected
  /** Nothing would be sent just now, whoever pays. */
  | NotSent
  | Unreachable
  | Undecided;

/** Used already, by whomever: the money may be here and the work owed. The balance has lost it already. */
export interface Spent<P extends Payment = Payment> {
  readonly kind: 'spent';
  readonly payment: P;
}

/** What the chain says of a payment that is out of time and was never claimed here. */
export type UsedInTime<P extends Payment = Payment> = Spent<P> | { readonly kind: 'unused' } | Rejected | Undecided;

/** What a claim remembers of how its payment was sent. */
export interface SentPayment {
  /** Null where it was never sent by us. */
  readonly settlement_id: string | null;
  /** The block before which it cannot have moved; null where none was noted. */
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
  /** As it came. */
  readonly signature: string;
  /** The address that it came from: in its line a contract wallet is asked. */
  readonly asker: string;
}

/**
 * A network on which payments are taken. The story of a paid call is the same on each, and this is all that it leaves to
 * the chain. A rail says what it has found out, as a union; what a caller hears of it is the story's to say.
 */
export interface Rail<P extends Payment = Payment> extends PaymentJudge<P> {
  readonly network: NetworkName;
  /** Which chain of this database's life it is; 0 for ever on the real ones. */
  readonly chain_epoch: number;
  readonly settler: Settler<ClaimItem<P>>;
  /** Whether it sends what it is handed. */
  readonly settling: Pick<SettlingStanding, 'trouble'>;
  /** Whether it is its payer's, asking code on the chain where the signature does not say; `address`: who asks. @throws DatabaseAway */
  prove(payment: P, address: string): Promise<Proof>;
  /** The same of one that may be used already: the money may be here, so what cannot be asked now is undecided. */
  proveUsed(payment: P): Promise<Exclude<Proof, { kind: 'no_turn' | 'unreachable' }> | Undecided>;
  /** Whether it can be settled and its payer has the funds. @throws DatabaseAway */
  ready(payment: P): Promise<PaymentReadiness<P>>;
  /** The same of one that is out of time and was never claimed here. */
  usedInTime(payment: P): Promise<UsedInTime<P>>;
  /** What became of one that the chain has as used, of which nothing stands here; `asker`: in whose line it is searched for. */
  find(payment: P, asker: string): Promise<Decision | Busy>;
  /** What a payer has, and which of the payer's open claims have left that balance. */
  funds(payer: string): Promise<ChainAnswer<Funds>>;
  /** What became of a payment, from the chain alone, however often it is asked. */
  decide(payment: P, sent: SentPayment): Promise<Decision>;
  /** Whether no block that may yet be replaced could still take it. */
  isOver(payment: Pick<P, 'authorization'>): Promise<boolean>;
  /** A facilitator's word for one that was left open, unless the chain belies it by now. */
  vouch(payment: P, sent: SentPayment): Promise<Vouched | null>;
  signedBy(shown: SignedMessage): Promise<boolean>;
  /** Looks at the chain's head, and keeps for a later start what it will compare. @throws where it cannot be reached. */
  look(): Promise<void>;
  /** How long ago `look` has seen it last; null where it never has. */
  age_ms(): number | null;
  /** Whether the chain answers now. */
  reachable(): Promise<boolean>;
  /** Looks again at what was seen settled, once it is final. */
  recheck(correct: (tx: Tx, rechecked: Rechecked) => Promise<void>): Promise<unknown>;
  close(): Promise<void>;
}

/** By network; null where payments on it are not taken. */
export type Rails = Readonly<Record<NetworkName, Rail | null>>;

interface WithRails {
  readonly rails: Rails;
}

/** @throws where the network has none: a claim that was made while it had one cannot be finished without it. */
export function railOf({ rails }: WithRails, network: NetworkName): Rail {
  const rail = rails[network];
  if (!rail) throw new Error(`payments on ${network} are not accepted by this service`);
  return rail;
}

/** Those that are open. */
export function openRails({ rails }: WithRails): Rail[] {
  return Object.values(rails).filter(rail => rail !== null);
}

/** Each lets go of what it waits for. */
export async function closeRails(opened: WithRails): Promise<void> {
  await Promise.all(openRails(opened).map(rail => rail.close()));
}

/** A chain that is away keeps no other waiting. */
export async function onEachRail(rails: Rails, round: (rail: Rail) => Promise<unknown>): Promise<void> {
  const done = await Promise.allSettled(openRails({ rails }).map(round));
  const faults = done.flatMap(one => (one.status === 'rejected' ? [one.reason] : []));
  if (faults.length > 0) throw faults.length === 1 ? faults[0] : new AggregateError(faults);
}
