import { Refusal } from '../../schema/errors.ts';
import type { Context } from '../../subgraphs/context.ts';
import { claimByKey } from '../../subgraphs/receipt/claim/transitions.ts';
import { claimKey, type Payment } from '../rails/payment.ts';
import { railOf } from '../rails/rail.ts';
import { addressMark, type Presented } from './claim-request.ts';
import type { Till } from './till.ts';

/**
 * Whoever is to rest is told for how long, before any work and any claim; the payment stays usable. What it has bought
 * already, or may have, is his all the same.
 * @throws rate_limited
 */
export async function requireRested(till: Till, presented: Presented, context: Context): Promise<void> {
  const { authorization } = presented.payment;
  const tries = presented.router_key_mark !== null;
  const rest = till.failures.rest(authorization.payer, addressMark(till, context), tries);
  if (rest === null) return;
  const claim = await claimByKey(till.database, claimKey(authorization));
  if (claim !== null && claim.state !== 'released') return;
  Object.assign(context.response.headers, rest.headers);
  throw new Refusal('rate_limited', { facts: { charged: false, retry_after_seconds: rest.seconds } });
}

/**
 * A key's payment that we sent. Code that is asked for a payer rests by what stands on its claims, a transaction of Solana
 * likewise; and a facilitator, which alone tells whether it is there, pays with gas of its own.
 */
export function hasCostUs(till: Till, { signature, authorization }: Payment): boolean {
  return signature.kind === 'ecdsa' && !railOf(till, authorization.network).settler.reachable;
}
