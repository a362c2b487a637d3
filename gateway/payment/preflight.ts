import { Refusal } from '../../schema/errors.ts';
import type { Means } from '../../subgraphs/receipt/index.ts';
import { rejected } from './authorized.ts';
import { decidePayment } from './base/decide.ts';
import type { Decision, Transferred } from './base/outcome.ts';
import { searchFrom } from './base/search-from.ts';
import type { Signature } from './base/signature.ts';
import type { Presented } from './claimed.ts';
import { signerOf } from './signer.ts';
import type { Till } from './till.ts';
import { chainUnreachable, requireProof, walletTakes } from './wallet-taken.ts';

/** What the chain says of a payment before anything is claimed for it. */
export interface Ready {
  /** Used already, by whomever: anybody may submit it, and then the money may be here and the work owed. */
  readonly spent: boolean;
  /** As it will be settled: by a key's signature, or by one that the code at the payer's address takes. */
  readonly signature: Signature;
  /** Null where it is used: the balance has lost it already. */
  readonly means: Means | null;
}

/**
 * Asks the chain, before anything is claimed or worked for, whether the signature is the payer's and whether he can pay.
 * @throws chain_unavailable, payment_rejected.
 */
export async function readyToPay(till: Till, presented: Presented): Promise<Ready> {
  const { paid, payment } = presented;
  const { authorization } = payment;
  const ready = await till.chain.readiness(authorization);
  if (ready.kind === 'unreachable') throw chainUnreachable(ready.cause);
  const { used, balance_atomic, has_code, blacklisted } = ready.value;
  const signer = signerOf(payment.signature, has_code, till.wallet_factories);
  if (signer.kind === 'refused') throw rejected(till, paid, signer.reason);
  const { signature } = signer;
  if (used) return spentAlready(till, presented, signature);
  if (balance_atomic < authorization.amount_atomic) throw rejected(till, paid, 'insufficient_funds');
  if (blacklisted) throw rejected(till, paid, 'payer_blacklisted');
  if (signer.kind === 'code' && (await walletTakes(till, presented, signer.signature)) === 'spent')
    return spentAlready(till, presented, signature);
  return { spent: false, signature, means: { balance_atomic, moved: [] } };
}

/**
 * The same of a payment that is out of time and that nobody has claimed here: null where it is not used. One that is was
 * submitted in time by somebody else, and the money may be here. @throws settlement_pending where the chain cannot say.
 */
export async function usedInTime(till: Till, presented: Presented): Promise<Ready | null> {
  const { authorization, signature } = presented.payment;
  const ready = await till.chain.readiness(authorization);
  if (ready.kind === 'unreachable') throw new Refusal('settlement_pending', { cause: ready.cause });
  const { used, has_code } = ready.value;
  const signer = signerOf(signature, has_code, till.wallet_factories);
  return used && signer.kind !== 'refused' ? spentAlready(till, presented, signer.signature) : null;
}

async function spentAlready(till: Till, presented: Presented, signature: Signature): Promise<Ready> {
  if (presented.payment.signature.kind === 'contract') await requireProof(till, presented);
  return { spent: true, signature, means: null };
}

/**
 * The Transfer that somebody else's submission made. @throws where it went elsewhere, or the chain cannot say yet. Who has
 * used his nonce himself can ask for as many searches as he likes: they wait for each other, and nobody else for them.
 */
export async function transferElsewhere(till: Till, { paid, payment }: Presented): Promise<Transferred> {
  const found = await till.searches.take(() => searchElsewhere(till, payment));
  // No turn in time is no word of the payment.
  if (found === null) throw new Refusal('settlement_pending');
  switch (found.kind) {
    case 'transferred':
      return found;
    case 'not_transferred':
      throw rejected(till, paid, found.reason);
    case 'unknown':
      // The nonce is spent and the log is not there yet: the money may be ours, so never "pay again".
      throw new Refusal('settlement_pending');
  }
}

async function searchElsewhere(till: Till, { authorization }: Presented['payment']): Promise<Decision> {
  const since_seconds = authorization.valid_after_seconds;
  const from_block = await searchFrom(till.chain, since_seconds);
  if (from_block === null) return { kind: 'unknown', reason: 'chain_unavailable' };
  return decidePayment(till.chain, { authorization, attempts: [], from_block, since_seconds });
}
