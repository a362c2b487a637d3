import { Refusal } from '../../schema/errors.ts';
import { rejected } from './authorized.ts';
import { decidePayment } from './base/decide.ts';
import type { Transferred } from './base/outcome.ts';
import { searchFrom } from './base/search-from.ts';
import type { Presented } from './claimed.ts';
import type { Till } from './till.ts';

/**
 * Asks the chain, before anything is claimed or worked for, whether the payer can pay. True where the authorisation is
 * used already: anybody may submit it, and then the money may be here and the work owed.
 * @throws chain_unavailable, payment_rejected.
 */
export async function spentAlready(till: Till, { paid, payment }: Presented): Promise<boolean> {
  const { authorization } = payment;
  const ready = await till.chain.readiness(authorization);
  if (ready.kind === 'unreachable')
    throw new Refusal('chain_unavailable', { facts: { charged: false }, cause: ready.cause });
  const { used, balance_atomic, has_code, blacklisted } = ready.value;
  if (used) return true;
  if (balance_atomic < authorization.amount_atomic) throw rejected(till, paid, 'insufficient_funds');
  // USDC asks the code at the payer's address (ERC-1271), whatever the signature recovers to: one that burns its gas
  // would take a whole batch of settlements down with it.
  if (has_code) throw rejected(till, paid, 'invalid_exact_evm_payload_signature');
  if (blacklisted) throw rejected(till, paid, 'payer_blacklisted');
  return false;
}

/** The Transfer that somebody else's submission made. @throws where it went elsewhere, or the chain cannot say yet. */
export async function transferElsewhere(till: Till, { paid, payment }: Presented): Promise<Transferred> {
  const { authorization } = payment;
  const from_block = await searchFrom(till.chain, authorization.valid_after_seconds);
  if (from_block === null) throw new Refusal('settlement_pending');
  const found = await decidePayment(till.chain, { authorization, attempts: [], from_block });
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
