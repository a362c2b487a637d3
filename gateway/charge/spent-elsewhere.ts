import { Refusal } from '../../schema/errors.ts';
import { limits } from '../../schema/limits.ts';
import { walletRevertedLately } from '../../subgraphs/receipt/claim/reverted-payments.ts';
import type { Transferred } from '../rails/outcome.ts';
import type { Authorization } from '../rails/payment.ts';
import { railOf } from '../rails/rail.ts';
import { rejected } from './authorized.ts';
import type { Presented } from './claim-request.ts';
import type { Till } from './till.ts';

/**
 * The Transfer that somebody else's submission made. @throws where it went elsewhere, or the chain cannot say yet. Who has
 * used his nonce himself can ask for as many searches as he likes: they wait in his own line.
 */
export async function transferElsewhere(till: Till, { paid, payment }: Presented): Promise<Transferred> {
  const rail = railOf(till, payment.authorization.network);
  const found = await till.searches.take(payment.authorization.payer, () => rail.find(till, payment));
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

export function chainUnreachable(cause: unknown): Refusal {
  return new Refusal('chain_unavailable', { facts: { charged: false }, cause });
}

/** Of a payer whose payment passed its simulation and was reverted by the chain, or ran out on us: what it cost was ours. */
export const REVERTED_LATELY = 'payer_reverted_lately';

/** Whether that is so short a time ago that no more of it is simulated, let alone sent. */
export function revertedLately({ database }: Pick<Till, 'database'>, { payer }: Authorization): Promise<boolean> {
  return walletRevertedLately(database, payer, limits.wallet_reverted_rest_seconds);
}
