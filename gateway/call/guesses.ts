import { type JsonObject } from '../../schema/canonical-json.ts';
import { type ErrorCode, Refusal } from '../../schema/errors.ts';
import { limits } from '../../schema/limits.ts';
import { REDELIVERY_HEADER, readRedelivery, redeliveryText } from '../../schema/redeliver-header.ts';
import { type Context } from '../../subgraphs/context.ts';
import { type Database } from '../../subgraphs/database.ts';
import { type PaymentClaim } from '../../subgraphs/receipt/claim/claim.entity.ts';
import { isGuessing, takeShown } from '../../subgraphs/receipt/claim/mismatch.ts';
import { claimByKey } from '../../subgraphs/receipt/claim/transitions.ts';
import { Semaphore } from '../../subgraphs/semaphore.ts';
import { verifyTextForService } from '../../subgraphs/verify-for-service.ts';
import { type Rail } from '../rails/rail.ts';
import { type HaltedLog } from './ground.ts';
import { type CallParts } from './parts.ts';
import { type Landing } from './record/facts.ts';
import { type Presented } from './states.ts';

/** Codes that reveal whether a payment was made for the request that it came with. */
const telling: ReadonlySet<ErrorCode> = new Set([
  ...(['claim_already_settled', 'payment_already_used', 'payment_in_flight', 'settlement_pending'] as const),
  ...(['idempotency_key_conflict', 'payment_identifier_conflict'] as const),
]);

/** Codes that reveal that a payment, or its name, was used for another request. */
const mismatching: ReadonlySet<ErrorCode> = new Set([
  ...(['claim_already_settled', 'payment_already_used'] as const),
  ...(['idempotency_key_conflict', 'payment_identifier_conflict'] as const),
]);

export type GuessParts = HaltedLog &
  Pick<CallParts, 'database' | 'clock' | 'base_url' | 'base_urls' | 'agentOfWallet' | 'respond'>;

/*
 * A settled payment is public calldata: anyone who rebuilds it could guess the request of its payer, and would get the answer. After some
 * wrong requests only the payer is served, who proves it with their session, the buyer's payment-identifier, or their signature. A caller
 * is never asked to pay again. The address that paid first is never asked for proof, because official clients cannot give one.
 */

/**
 * Begins a call with `enter`, unless its caller may be guessing the request of the payment. The argument of `enter` is whether the caller
 * has proven to be the payer.
 * @throws payer_proof_required
 */
export async function unlessGuessed<E extends { readonly kind: 'claimed' | 'bought' }>(
  parts: GuessParts,
  presented: Presented,
  context: Context,
  enter: (is_payers: boolean) => Promise<E>,
): Promise<E> {
  let entered: E;
  try {
    entered = await enter(false);
  } catch (refusal) {
    if (!(refusal instanceof Refusal)) throw refusal;
    if (refusal.code === 'payer_proof_required') {
      await requireUndoubted(parts, presented, context);
      // The claim was released and is unchanged. Only its payer may take it again.
      return enter(true);
    }
    if (telling.has(refusal.code)) await requireCounted(parts, presented, context, refusal);
    throw refusal;
  }
  // The state of a payment that could be claimed was not in doubt before.
  if (entered.kind !== 'claimed') await requireUndoubted(parts, presented, context);
  return entered;
}

/**
 * Checks the caller of a payment that its book refused, because the refusal also reveals whether the request was the refused one.
 * @throws payer_proof_required
 */
export async function requireNoGuess(
  parts: GuessParts,
  claim: PaymentClaim,
  { request_hash, address_mark: mark, is_payers = false }: Presented,
): Promise<void> {
  if (is_payers || isFirstPayers(claim, mark)) return;
  const is_wrong = claim.requestHash !== request_hash;
  if (await isGuessOf(parts, claim, mark, is_wrong)) throw parts.respond({ kind: 'doubtful' });
}

/**
 * Checks the caller of a purchase that another payment of that payer made under a name: payments are public, and a name may be a simple
 * number. The request is counted for the payment that made the purchase.
 * @throws payer_proof_required
 */
export async function requireNoGuessOf(
  parts: GuessParts,
  { claim_key, is_asked }: { readonly claim_key: string; readonly is_asked: boolean },
  presented: Presented,
  context: Context,
): Promise<void> {
  const doubt = await doubted(parts, { ...presented, claim_key }, context, !is_asked);
  if (doubt) throw doubt;
}

/**
 * Counts the request before the refusal reveals that the payment was made for another one. If it cannot be counted, other refusals are
 * still returned, so that a payer learns the state of their money.
 */
async function requireCounted(
  parts: GuessParts,
  presented: Presented,
  context: Context,
  refusal: Refusal,
): Promise<void> {
  const is_wrong = mismatching.has(refusal.code);
  const doubt = await doubted(parts, presented, context, is_wrong).catch(away => (is_wrong ? away : refusal));
  if (doubt) throw doubt;
}

async function requireUndoubted(parts: GuessParts, presented: Presented, context: Context): Promise<void> {
  const doubt = await doubted(parts, presented, context, false);
  if (doubt) throw doubt;
}

/**
 * Returns the refusal of a caller who may be guessing. Null if nothing counts against them, or they have proven to be the payer. Right and
 * wrong requests are judged at the same point, so that simultaneous ones cannot exceed the limit.
 */
async function doubted(
  parts: GuessParts,
  presented: Presented,
  context: Context,
  is_wrong: boolean,
): Promise<Refusal | null> {
  const { clock, database, respond, base_url } = parts;
  const { claim_key, address_mark: mark } = presented;
  const claim = await claimByKey(database, claim_key);
  if (claim === null || isFirstPayers(claim, mark)) return null;
  if (!(await isGuessOf(parts, claim, mark, is_wrong))) return null;
  if (await isItsPayer(parts, claim, presented, context)) return null;
  return respond({ kind: 'doubtful', proof: wanted(base_url, clock.now_ms(), claim) });
}

/**
 * Whether the request may be a guess. Counts a wrong request. While the log is halted nothing is counted, so each request may be a guess
 * and only the payer is served.
 */
async function isGuessOf(parts: GuessParts, claim: PaymentClaim, mark: string, is_wrong: boolean): Promise<boolean> {
  const { database, log } = parts;
  return log.halt !== null || isGuess(database, claim, { mark, is_wrong });
}

/** Whether the caller has proven to be the payer, by a fact that is in no calldata. The cheapest check comes first. */
async function isItsPayer(
  parts: GuessParts,
  claim: PaymentClaim,
  { identifier, rail }: Presented,
  context: Context,
): Promise<boolean> {
  if (identifier !== null && identifier === claim.identifier) return true;
  return (await isPayersSession(parts, claim, context)) || hasSigned(parts, claim, rail, context);
}

/** Whether the caller's session is the one of the purchase, or that of the agent registered for the paying wallet. */
async function isPayersSession(
  parts: GuessParts,
  { landing, payer }: PaymentClaim,
  { principal: { possession } }: Context,
): Promise<boolean> {
  if (possession.kind !== 'proven') return false;
  const { agent_id } = possession;
  return (landing as Landing).possessed_by === agent_id || (await parts.agentOfWallet(payer)) === agent_id;
}

async function hasSigned(
  parts: GuessParts,
  claim: PaymentClaim,
  rail: Rail,
  { principal, redelivery }: Context,
): Promise<boolean> {
  const proof = redelivery === null ? null : readRedelivery(redelivery);
  if (proof === null || !isFresh(proof.at_seconds, parts.clock.now_ms())) return false;
  const { network, paymentId: payment_id, payer } = claim;
  const { at_seconds, signature } = proof;
  const texts = parts.base_urls.map(base_url => redeliveryText({ base_url, network, payment_id, at_seconds }));
  const verdict = await verifyTextForService(texts, { network, payer, signature }, async text => {
    const signed = await rail.isTextSignedBy({ payer, text, signature, asker: principal.address });
    return signed ? 'valid' : 'invalid';
  });
  return verdict === 'valid';
}

/** Only few counts run at a time in one process, because each waits for a lock and keeps a connection meanwhile. */
const turns = new Semaphore({ at_once_max: 2, wait_ms_max: 2_000, waiting_per_asker_max: 64 });

/**
 * Whether this request counts as a guess because of the requests before it. A wrong request is counted. Counts only grow, so beyond a limit
 * no lock is needed.
 * @throws rate_limited
 */
async function isGuess(
  database: Database,
  { claimKey: claim_key, mismatches }: PaymentClaim,
  { mark: address_mark, is_wrong }: { readonly mark: string; readonly is_wrong: boolean },
): Promise<boolean> {
  if (mismatches && isGuessing(mismatches, address_mark)) return true;
  const judged = await turns.take(claim_key, async () => {
    const now = (await claimByKey(database, claim_key))?.mismatches;
    if (now && isGuessing(now, address_mark)) return { is_guess: true };
    const before = await takeShown(database, { claim_key, address_mark, is_wrong });
    return { is_guess: before !== null && isGuessing(before, address_mark) };
  });
  if (judged === null) throw new Refusal('rate_limited');
  return judged.is_guess;
}

/** Whether a signature is as recent as any wallet signature must be. A time slightly in the future is accepted, because clocks differ. */
function isFresh(at_seconds: number, now_ms: number): boolean {
  const age_seconds = Math.floor(now_ms / 1_000) - at_seconds;
  return (
    age_seconds <= limits.wallet_signature_age_seconds_max && age_seconds >= -limits.wallet_signature_ahead_seconds_max
  );
}

/** The proof that the caller must send: the text to sign, and how to send the signature. */
function wanted(base_url: string, now_ms: number, { network, paymentId: payment_id }: PaymentClaim): JsonObject {
  const at_seconds = Math.floor(now_ms / 1_000);
  const text = redeliveryText({ base_url, network, payment_id, at_seconds });
  return { header: REDELIVERY_HEADER, text, value: `${at_seconds}:<signature>` };
}

function isFirstPayers({ landing }: PaymentClaim, mark: string): boolean {
  return (landing as Landing).paid_from_mark === mark;
}
