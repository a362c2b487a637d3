import type { Transferred } from '../rails/outcome.ts';
import { railOf } from '../rails/rail.ts';
import type { Presented } from './claim-request.ts';
import { hearsOf } from './hears.ts';
import type { Till } from './till.ts';

/**
 * The Transfer that somebody else's submission made. @throws where it went elsewhere, or the chain cannot say yet. Who has
 * used a nonce elsewhere can ask for as many searches as they like: they wait in their own line.
 */
export async function transferElsewhere(till: Till, { paid, payment }: Presented): Promise<Transferred> {
  const { network, payer } = payment.authorization;
  const found = await railOf(till, network).find(payment, payer);
  if (found.kind !== 'transferred') throw hearsOf(till, paid, found);
  return found;
}
