import type { NetworkName } from '../../schema/network.ts';
import type { Tx } from '../../subgraphs/database.ts';
import { type Means } from '../../subgraphs/receipt/claim/funds.ts';
import type { Presented } from '../charge/claim-request.ts';
import type { Proof } from '../charge/proof.ts';
import type { ClaimItem } from '../charge/settle-claim.ts';
import type { Till } from '../charge/till.ts';
import type { ExactPayload, Terms } from '../x402/envelope.ts';
import type { Rechecked } from './finality.ts';
import type { Decision, Vouched } from './outcome.ts';
import type { Payment } from './payment.ts';
import type { Reached } from './rpc.ts';
import type { Settler } from './settler.ts';
import type { Offered, TermsCode, Verified } from './verify.ts';

/** What the chain says of a payment before anything is claimed for it. */
export interface Ready<P extends Payment = Payment> {
  /** Used already, by whomever: then the money may be here and the work owed. */
  readonly spent: boolean;
  /** As it will be settled. */
  readonly payment: P;
  /** Null where it is used: the balance has lost it already. */
  readonly means: Means | null;
}

/** What a claim remembers of how its payment was sent. */
export interface Sent {
  /** Null where it was never sent by us. */
  readonly settlement_id: string | null;
  /** The block before which it cannot have moved; null where none was noted. */
  readonly from_block: number | null;
  readonly claimed_at: Date;
}

/** A text that a wallet is said to have signed. */
export interface SignedText {
  /** In the network's own spelling. */
  readonly payer: string;
  readonly text: string;
  /** As it came. */
  readonly signature: string;
  /** The address that it came from: in its line a contract wallet is asked. */
  readonly asker: string;
}

/**
 * A network on which payments are taken: one row of the till's table. The story of a paid call is the same on each
 * (charge.ts, stream.ts, reconcile.ts), and this is all that it leaves to the chain.
 */
export interface Rail<P extends Payment = Payment> {
  readonly network: NetworkName;
  /** Which chain of this database's life it is; 0 for ever on the real ones. */
  readonly chain_epoch: number;
  readonly settler: Settler<ClaimItem<P>>;
  /** Why an offer that the payer says he accepts is none of ours; null where it is one. */
  compare(accepted: Terms, offered: Offered): TermsCode | null;
  /** Judges a payment by itself: nothing is asked of anybody. */
  verify(payload: ExactPayload, offered: Offered): Promise<Verified<P>>;
  /** Whether it is its payer's, asking code on the chain where the signature does not say; `address`: who asks. @throws DatabaseAway */
  prove(payment: P, address: string): Promise<Proof>;
  /** Whether it can be settled and its payer has the means. @throws chain_unavailable, payment_rejected. */
  ready(till: Till, presented: Presented<P>): Promise<Ready<P>>;
  /** The same of one that is out of time and was never claimed here: null where it is not used. @throws settlement_pending. */
  usedInTime(till: Till, presented: Presented<P>): Promise<Ready<P> | null>;
  /** What became of one that the chain has as used, of which nothing stands here. */
  find(till: Till, payment: P): Promise<Decision>;
  /** What a payer has, and which of his open claims have left that balance. */
  means(till: Till, payer: string): Promise<Reached<Means>>;
  /** What became of a payment, from the chain alone, however often it is asked. */
  decide(till: Till, payment: P, sent: Sent): Promise<Decision>;
  /** Whether no block that may yet be replaced could still take it. */
  isOver(payment: Pick<P, 'authorization'>): Promise<boolean>;
  /** A facilitator's word for one that was left open, unless the chain belies it by now. */
  vouch(till: Till, payment: P, sent: Sent): Promise<Vouched | null>;
  signedBy(till: Pick<Till, 'searches' | 'wallets'>, shown: SignedText): Promise<boolean>;
  /** Looks at the chain's head, and keeps for a later start what it will compare. @throws where it cannot be reached. */
  look(): Promise<void>;
  /** How long ago `look` has seen it last; null where it never has. */
  age_ms(): number | null;
  /** Whether the chain answers now. */
  reachable(): Promise<boolean>;
  /** Looks again at what was seen settled, once it is final. */
  recheck(till: Till, correct: (tx: Tx, rechecked: Rechecked) => Promise<void>): Promise<unknown>;
  close(): Promise<void>;
}

/** By network; null where payments on it are not taken. */
export type Rails = Readonly<Record<NetworkName, Rail | null>>;

/** @throws where the network has none: a claim that was made while it had one cannot be finished without it. */
export function railOf({ rails }: Pick<Till, 'rails'>, network: NetworkName): Rail {
  const rail = rails[network];
  if (!rail) throw new Error(`payments on ${network} are not taken here`);
  return rail;
}

/** Those that are open. */
export function openRails({ rails }: Pick<Till, 'rails'>): Rail[] {
  return Object.values(rails).filter(rail => rail !== null);
}

/** Each lets go of what it waits for. */
export async function closeRails(till: Pick<Till, 'rails'>): Promise<void> {
  await Promise.all(openRails(till).map(rail => rail.close()));
}
