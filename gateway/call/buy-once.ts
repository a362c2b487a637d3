import { type ErrorCode, Refusal } from '../../schema/errors.ts';
import type { Context } from '../../subgraphs/context.ts';
import type { Database } from '../../subgraphs/database.ts';
import { type NamedPayment, namedPayment } from '../../subgraphs/receipt/claim/identifier.ts';
import { claimByKey } from '../../subgraphs/receipt/claim/transitions.ts';
import { provesItsPayer } from '../rails/payment.ts';
import type { Replayed } from './admission.ts';
import type { Hears } from './answer-by-outcome.ts';
import type { Guesses } from './guesses.ts';
import type { Presented } from './verify-payment.ts';

/** What was bought before, by the same payment or by the first one under the same name. */
export interface BoughtBefore {
  readonly kind: 'bought';
  readonly presented: Presented;
  readonly bought: Omit<Replayed, 'kind'>;
}

export interface BuyOnceParts {
  readonly database: Database;
  readonly guesses: Pick<Guesses, 'requireNoGuessOf'>;
  readonly hears: Hears;
}

/** If the first payment is released while the second looks at it, the name is free for the next call. */
const LOOKS_MAX = 3;

/**
 * A named purchase is made once: another payment of the same payer for the same request under that name gets what the first one
 * bought, and is neither claimed nor sent. The name is claimed with the first payment in one commit; the second call notices by
 * that or by the reduced balance, so both refusals are checked again.
 */
export async function boughtOnce<E>(
  parts: BuyOnceParts,
  presented: Presented,
  context: Context,
  enter: () => Promise<E>,
): Promise<E | BoughtBefore> {
  const { names } = presented;
  if (names.length === 0) return enter();
  for (let looks = 1; ; looks++) {
    const before = await boughtUnderAny(parts, names, presented, context);
    if (before) return before;
    try {
      return await enter();
    } catch (refusal) {
      if (!(refusal instanceof Refusal) || !byAnother.has(refusal.code)) throw refusal;
      const since = await boughtUnderAny(parts, names, presented, context);
      if (since) return since;
      if (refusal.code !== 'payment_in_flight' || looks >= LOOKS_MAX) throw refusal;
    }
  }
}

/** Refusals that another payment may have caused: it holds the name or the slot, or its amount is reserved from the balance. */
const byAnother: ReadonlySet<ErrorCode> = new Set([
  ...(['payment_in_flight', 'payment_rejected', 'wallet_registered', 'duplicate_ref'] as const),
]);

/** A purchase may have two names: what either has bought is not bought again. */
async function boughtUnderAny(
  parts: BuyOnceParts,
  names: readonly NamedPayment[],
  presented: Presented,
  context: Context,
): Promise<BoughtBefore | null> {
  for (const named of names) {
    const bought = await boughtUnder(parts, named, presented, context);
    if (bought) return bought;
  }
  return null;
}

/**
 * What another payment bought under that name; null if there is none. @throws payment_identifier_conflict,
 * idempotency_key_conflict, payment_in_flight, settlement_pending, payer_proof_required; payment_rejected for anyone but the
 * payer, who learns nothing of it
 */
async function boughtUnder(
  parts: BuyOnceParts,
  named: NamedPayment,
  presented: Presented,
  context: Context,
): Promise<BoughtBefore | null> {
  const { database, guesses, hears } = parts;
  const standing = await namedPayment(database, named, presented);
  if (standing === null || standing.claim_key === presented.claim_key) return null;
  // A used payment is public calldata, and names can be guessed: it counts only for the request that it was made for.
  const own = await claimByKey(database, presented.claim_key);
  if (own && own.state !== 'released') return null;
  await requirePayers(parts, presented);
  const { kind, claim_key, task_id } = standing;
  await guesses.requireNoGuessOf({ claim_key, is_asked: kind !== 'foreign' }, presented, context);
  const by = named.by ?? 'payment_identifier';
  switch (kind) {
    case 'replayed':
      return { kind: 'bought', presented, bought: standing };
    case 'foreign':
      throw hears({ kind: 'name_foreign', by });
    case 'in_flight':
      throw hears({ kind: 'name_in_flight', by, task_id });
    case 'pending':
      throw hears({ kind: 'pending', task_id });
  }
}

/** A key's signature proves the payer by itself, a wallet's only if its code confirms it. */
async function requirePayers({ hears }: BuyOnceParts, { paid, payment, rail }: Presented): Promise<void> {
  if (provesItsPayer(payment)) return;
  const proof = await rail.proveUsed(payment);
  if (proof.kind === 'rejected') throw hears({ kind: 'rejected', paid, reason: proof.reason });
  if (proof.kind === 'undecided') throw hears({ kind: 'unknown' }, proof.cause);
}
