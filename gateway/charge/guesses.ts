import type { JsonObject } from '../../schema/canonical-json.ts';
import { type ErrorCode, Refusal } from '../../schema/errors.ts';
import { REDELIVERY_HEADER, redeliveryText } from '../../schema/redelivery.ts';
import type { Context } from '../../subgraphs/context.ts';
import { type PaymentClaim } from '../../subgraphs/receipt/claim/claim.entity.ts';
import { countMismatch, isGuessing } from '../../subgraphs/receipt/claim/mismatch.ts';
import { claimByKey } from '../../subgraphs/receipt/claim/transitions.ts';
import { claimKey } from '../rails/payment.ts';
import type { Landing } from '../record/recorder.ts';
import { addressMark, type Presented } from './claim-request.ts';
import type { Entered } from './paid-whole.ts';
import { isItsPayer } from './payer-proof.ts';
import type { Till } from './till.ts';

/** Each tells whoever shows a payment whether it was made for the request that he shows with it. */
const telling: ReadonlySet<ErrorCode> = new Set([
  ...(['payment_already_used', 'payment_in_flight', 'settlement_pending'] as const),
  ...(['idempotency_key_conflict', 'payment_identifier_conflict'] as const),
]);

/** Of these, what says that it, or what its payer has named so, was made for another request. */
const mismatching: ReadonlySet<ErrorCode> = new Set([
  ...(['payment_already_used', 'idempotency_key_conflict', 'payment_identifier_conflict'] as const),
]);

/**
 * Once it is settled a payment is public calldata: whoever rebuilds it could try out what its payer has asked, and would
 * be given the answer. After some requests that it was not made for it speaks to its payer alone: to his session, under the
 * buyer's payment-identifier, or for a signature of his. Never is he told to pay again; and the address from which it was
 * paid first is never asked for any, since official clients know of none.
 * @throws payer_proof_required
 */
export async function unlessGuessed(
  till: Till,
  presented: Presented,
  context: Context,
  enter: (is_payers: boolean) => Promise<Entered>,
): Promise<Entered> {
  let entered: Entered;
  try {
    entered = await enter(false);
  } catch (refusal) {
    if (refusal instanceof Refusal && refusal.code === 'payer_proof_required')
      return enterAsPayer(till, presented, context, enter);
    if (refusal instanceof Refusal && telling.has(refusal.code)) await refused(till, presented, context, refusal);
    throw refusal;
  }
  // Whoever could claim it was not in doubt, as it stood before.
  const doubt = entered.kind === 'claimed' ? null : await doubted(till, presented, context);
  if (doubt) throw doubt;
  return entered;
}

/** The claim was let go of and is as it was: it is taken anew by its payer alone. */
async function enterAsPayer(
  till: Till,
  presented: Presented,
  context: Context,
  enter: (is_payers: boolean) => Promise<Entered>,
): Promise<Entered> {
  const doubt = await doubted(till, presented, context);
  if (doubt) throw doubt;
  return enter(true);
}

/** Where the database is away nothing is counted, and nobody learns more than that. */
async function refused(till: Till, presented: Presented, context: Context, refusal: Refusal): Promise<void> {
  const doubt = await doubted(till, presented, context).catch(() => refusal);
  if (doubt) throw doubt;
  if (!mismatching.has(refusal.code)) return;
  const mark = addressMark(till, context);
  const claim_key = claimKey(presented.payment.authorization);
  const claim = await claimByKey(till.database, claim_key).catch(() => null);
  if (claim && !isFirstPayers(claim, mark)) await countMismatch(till.database, claim_key, mark).catch(() => {});
}

/**
 * Of a payment that its book refused, the word of that tells as well whether it was shown with the very request that was
 * refused. @throws payer_proof_required
 */
export async function requireNoGuess(
  till: Till,
  claim: PaymentClaim,
  { request_hash, is_payers = false }: Presented,
  context: Context,
): Promise<void> {
  const mark = addressMark(till, context);
  if (is_payers || isFirstPayers(claim, mark)) return;
  if (claim.mismatches && isGuessing(claim.mismatches, mark)) throw new Refusal('payer_proof_required');
  if (claim.requestHash !== request_hash) await countMismatch(till.database, claim.claimKey, mark);
}

/**
 * Of what another payment of that payer has bought under a name: his payments are public, and the name may be a number
 * that anybody counts up to. So it is told, and counted, as if the payment that bought it had been shown.
 * @throws payer_proof_required
 */
export async function requireNoGuessOf(
  till: Till,
  { claim_key, is_asked }: { readonly claim_key: string; readonly is_asked: boolean },
  presented: Presented,
  context: Context,
): Promise<void> {
  const claim = await claimByKey(till.database, claim_key);
  if (claim === null) return;
  const doubt = await doubtOf(till, claim, presented, context);
  if (doubt) throw doubt;
  const mark = addressMark(till, context);
  if (!is_asked && !isFirstPayers(claim, mark)) await countMismatch(till.database, claim_key, mark);
}

async function doubted(till: Till, presented: Presented, context: Context): Promise<Refusal | null> {
  const claim = await claimByKey(till.database, claimKey(presented.payment.authorization));
  return claim && doubtOf(till, claim, presented, context);
}

/** What the caller hears in place of his answer; null where nothing speaks against him, or he has proven who he is. */
async function doubtOf(
  till: Till,
  claim: PaymentClaim,
  presented: Presented,
  context: Context,
): Promise<Refusal | null> {
  if (!claim.mismatches) return null;
  const mark = addressMark(till, context);
  if (isFirstPayers(claim, mark) || !isGuessing(claim.mismatches, mark)) return null;
  if (await isItsPayer(till, claim, presented, context)) return null;
  return new Refusal('payer_proof_required', { facts: { payer_proof: wanted(till, claim) } });
}

/** Ready to be signed: the text, and how the signature is sent. */
function wanted({ clock }: Till, { network, paymentId: payment_id }: PaymentClaim): JsonObject {
  const at_seconds = Math.floor(clock.now_ms() / 1_000);
  const text = redeliveryText({ network, payment_id, at_seconds });
  return { header: REDELIVERY_HEADER, text, value: `${at_seconds}:<signature>` };
}

function isFirstPayers({ landing }: PaymentClaim, mark: string): boolean {
  return (landing as Landing).paid_from_mark === mark;
}
