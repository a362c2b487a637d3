import { Refusal } from '../../../schema/errors.ts';
import { openClaimsOf } from '../../../subgraphs/receipt/claim/funds.ts';
import { rejected } from '../../charge/authorized.ts';
import type { Presented } from '../../charge/claim-request.ts';
import { chainUnreachable } from '../../charge/spent-elsewhere.ts';
import type { Till } from '../../charge/till.ts';
import { unsent } from '../../charge/unsent.ts';
import type { Decision } from '../outcome.ts';
import type { BasePayment } from '../payment.ts';
import type { Rail, Ready } from '../rail.ts';
import { map } from '../reached.ts';
import type { Hex } from './abi.ts';
import { decidePayment } from './decide.ts';
import { searchFrom } from './first-block.ts';
import type { Signature } from './signature.ts';
import { signerOf } from './signer.ts';
import { requireProof, walletTakes } from './wallet-taken.ts';

/**
 * Asks the chain, before anything is claimed or worked for, whether the signature is the payer's and whether he can pay.
 * @throws chain_unavailable, payment_rejected; fee_too_high or unavailable while nothing is sent for anybody.
 */
export async function readyToPay(till: Till, presented: Presented<BasePayment>): Promise<Ready<BasePayment>> {
  const { paid, payment } = presented;
  const { authorization } = payment;
  const ready = await till.chain.readiness(authorization);
  if (ready.kind === 'unreachable') throw chainUnreachable(ready.cause);
  const { used, balance_atomic, has_code, blacklisted } = ready.value;
  const signer = signerOf(payment.signature, has_code, till.wallet_factories);
  if (signer.kind === 'refused') throw rejected(till, paid, signer.reason);
  const { signature } = signer;
  if (used) return spentAlready(till, presented, signature);
  const pause = till.rails.base?.settler.pause;
  if (pause) throw unsent(pause);
  if (balance_atomic < authorization.amount_atomic) throw rejected(till, paid, 'insufficient_funds');
  if (blacklisted) throw rejected(till, paid, 'payer_blacklisted');
  if (signer.kind === 'code' && (await walletTakes(till, presented, signer.signature)) === 'spent')
    return spentAlready(till, presented, signature);
  return { spent: false, payment: { authorization, signature }, means: { balance_atomic, moved: [] } };
}

/**
 * The same of a payment that is out of time and that nobody has claimed here: null where it is not used. One that is was
 * submitted in time by somebody else, and the money may be here. @throws settlement_pending where the chain cannot say.
 */
export async function usedInTime(till: Till, presented: Presented<BasePayment>): Promise<Ready<BasePayment> | null> {
  const { authorization, signature } = presented.payment;
  const ready = await till.chain.readiness(authorization);
  if (ready.kind === 'unreachable') throw new Refusal('settlement_pending', { cause: ready.cause });
  const { used, has_code } = ready.value;
  const signer = signerOf(signature, has_code, till.wallet_factories);
  return used && signer.kind !== 'refused' ? spentAlready(till, presented, signer.signature) : null;
}

async function spentAlready(
  till: Till,
  presented: Presented<BasePayment>,
  signature: Signature,
): Promise<Ready<BasePayment>> {
  const { payment } = presented;
  if (payment.signature.kind === 'contract') await requireProof(till, presented);
  return { spent: true, payment: { authorization: payment.authorization, signature }, means: null };
}

/** Whoever holds an authorization may submit it: what became of one that is spent stands in the logs since `validAfter`. */
export async function searchElsewhere(till: Till, { authorization }: BasePayment): Promise<Decision> {
  const since_seconds = authorization.valid_after_seconds;
  const from_block = await searchFrom(till.chain, since_seconds);
  if (from_block === null) return { kind: 'unknown', reason: 'chain_unavailable' };
  return decidePayment(till.chain, { authorization, attempts: [], from_block, since_seconds });
}

/** Open claims first, then the chain: one that moves between the two is seen as moved, and one after them in the balance. */
export const meansOf: Rail['means'] = async (till, payer) => {
  const open = await openClaimsOf(till.database, payer);
  const nonces = open.map(({ payment_id }) => payment_id as Hex);
  const holdings = await till.chain.holdings(payer as Hex, nonces);
  return map(holdings, ({ balance_atomic, used }) => ({
    balance_atomic,
    moved: open.filter((_, index) => used[index]).map(({ claim_key }) => claim_key),
  }));
};
