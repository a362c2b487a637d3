import { canonicalHash } from '../../schema/canonical-json.ts';
import { type ErrorCode, Refusal } from '../../schema/errors.ts';
import { type AgentId, type RefusalId } from '../../schema/ids.ts';
import { isOnBook } from '../../subgraphs/book/lineage/parent.ts';
import { type Context } from '../../subgraphs/context.ts';
import { DatabaseAway } from '../../subgraphs/outage.ts';
import { type PaymentClaim } from '../../subgraphs/receipt/claim/claim.entity.ts';
import { isSameRequest } from '../../subgraphs/receipt/claim/claim.machine.ts';
import { type ClaimOutcome } from '../../subgraphs/receipt/claim/claim.ts';
import { type Funds } from '../../subgraphs/receipt/claim/funds.ts';
import { routerKeyMarkOf } from '../../subgraphs/receipt/claim/landing.ts';
import { RECORDED_ELSEWHERE } from '../../subgraphs/receipt/claim/slots.ts';
import { claimByKey } from '../../subgraphs/receipt/claim/transitions.ts';
import { type RequestedCall } from '../../subgraphs/requested-call.ts';
import { isStored } from '../rails/base/signature.ts';
import { type NotTransferred } from '../rails/outcome.ts';
import { type Authorization, authorizationToJson, type Payment } from '../rails/payment.ts';
import { bookOf } from './claim/take.ts';
import { admitUnder, type GrantParts } from './grants.ts';
import { type GuessParts, requireNoGuess } from './guesses.ts';
import { type CallParts } from './parts.ts';
import { type Respond } from './respond.ts';
import { type Presented } from './states.ts';

type Replayed = Extract<ClaimOutcome, { kind: 'replayed' }>;

interface Admitted {
  readonly kind: 'admitted';
  /** The call with its payment in the form in which it will be settled. */
  readonly presented: Presented;
  /** Funds of the payer. Null if the payment is used already; whether it was used to pay this service is checked later. */
  readonly funds: Funds | null;
}

type Admission =
  | Admitted
  | Replayed
  /** The book refused the same call before. */
  | { readonly kind: 'blocked'; readonly refusal_id: RefusalId };

type AdmissionParts = GuessParts & GrantParts & Pick<CallParts, 'database' | 'agentOfWallet' | 'respond'>;

/**
 * Checks that there is time to settle, that the sale serves this payer, and that the payer can pay. After a refusal the payment's claim is
 * looked up, because the payment itself may have caused the refusal: it may have expired, registered the wallet or used the balance. Its
 * payer is then owed an answer or `pending`, because a 402 would make them pay again. Only refused calls cost this look-up.
 */
export async function admitPayment(parts: AdmissionParts, presented: Presented, context: Context): Promise<Admission> {
  const { paid, payment } = presented;
  try {
    if (payment.late !== null) throw parts.respond({ kind: 'rejected', paid, reason: payment.late.reason });
    const served = await requireServed(parts, presented, context);
    const ready = await readyToPay(parts, served);
    if (ready.funds === null) await requireUnsearched(parts, presented);
    return ready;
  } catch (refusal) {
    if (!(refusal instanceof Refusal)) throw refusal;
    return lookAgain(parts, presented, context, refusal);
  }
}

/** Checks that the sale serves this payer, that the parent is on the book, and that the grant allows the call. */
async function requireServed(parts: AdmissionParts, presented: Presented, context: Context): Promise<Presented> {
  const { paid, args, payer } = presented;
  await paid.admit?.(args, payer, context);
  await requireParent(parts, presented.call, async () => {
    const book = await bookOf(presented, context);
    return book === 'payers' ? parts.agentOfWallet(payer.wallet) : book;
  });
  const under = await admitUnder(parts, presented, context);
  return under === null ? presented : { ...presented, under };
}

/** Checks that the chain would accept the payment now, and that its payer can pay. */
async function readyToPay(parts: AdmissionParts, presented: Presented): Promise<Admitted> {
  const { respond } = parts;
  const { paid, payment } = presented;
  const ready = await presented.rail.ready(payment);
  switch (ready.kind) {
    case 'ready':
      return admitted(presented, ready.payment, ready.funds);
    case 'spent':
      await requireBound(parts, presented);
      return admitted(presented, ready.payment, null);
    case 'rejected':
      throw respond({ kind: 'rejected', paid, reason: ready.reason });
    case 'not_sent':
      throw respond({ kind: 'not_sent', reason: ready.reason }, ready.cause);
    case 'unreachable':
      throw respond({ kind: 'chain_unreachable' }, ready.cause);
    case 'undecided':
      throw respond({ kind: 'unknown' }, ready.cause);
  }
}

function admitted(presented: Presented, payment: Payment, funds: Funds | null): Admitted {
  return { kind: 'admitted', presented: { ...presented, payment: { ...presented.payment, ...payment } }, funds };
}

async function lookAgain(
  parts: AdmissionParts,
  presented: Presented,
  context: Context,
  refusal: Refusal,
): Promise<Admission> {
  const { payment } = presented;
  const claim = await claimByKey(parts.database, presented.claim_key).catch(away => {
    throw refusal.code === 'settlement_pending' ? refusal : away;
  });
  const elsewhere = payment.late?.code === 'wrong_payee';
  if (claim === null && payment.late !== null && !elsewhere) return admittedLate(parts, presented, context, refusal);
  if (claim === null || !isPayers(presented, claim)) throw refusal;
  // A payment for another payee than the claim's is a different payment, which only has the same nonce.
  if (elsewhere && !isVery(claim, payment)) throw refusal;
  if (claim.state === 'released' && claim.refusalId !== null) await requireNoGuess(parts, claim, presented);
  return standing(parts.respond, claim, presented, refusal);
}

/** Admits an expired payment that was never claimed here, if somebody else submitted it in time: then it has paid. */
async function admittedLate(
  parts: AdmissionParts,
  presented: Presented,
  context: Context,
  refusal: Refusal,
): Promise<Admission> {
  const { respond } = parts;
  const { paid, payment } = presented;
  const used = await presented.rail.usedInTime(payment);
  switch (used.kind) {
    case 'unused':
      throw refusal;
    case 'rejected':
      throw respond({ kind: 'rejected', paid, reason: used.reason });
    case 'undecided':
      throw respond({ kind: 'unknown' }, used.cause);
    case 'spent':
      await requireBound(parts, presented);
      return admitted(await requireServed(parts, presented, context), used.payment, null);
  }
}

/**
 * The payee of a leg is paid by others too, and the calldata of these payments is public. A used payment therefore counts only if it was
 * claimed for the same request before and its book allowed it.
 */
async function requireBound(
  { database, respond }: AdmissionParts,
  { paid, claim_key, request_hash }: Presented,
): Promise<void> {
  if (paid.order !== 'leg') return;
  const claim = await claimByKey(database, claim_key);
  if (claim === null || claim.requestHash !== request_hash || claim.refusalId !== null)
    throw respond({ kind: 'foreign', settled: false });
  if (claim.reason === RECORDED_ELSEWHERE) throw respond({ kind: 'foreign', settled: true });
}

/** Refuses a payment whose nonce is known to have been used otherwise, without another search. A search reads many pages of logs. */
async function requireUnsearched(
  { database, respond }: AdmissionParts,
  { paid, claim_key, payment: { authorization } }: Presented,
): Promise<void> {
  const claim = await claimByKey(database, claim_key).catch(error => {
    // The nonce is used, and only the database can show whether it was used to pay this service.
    throw error instanceof DatabaseAway ? respond({ kind: 'unknown' }, error) : error;
  });
  if (claim?.state !== 'released' || claim.reason === null || !spentForGood.has(claim.reason)) return;
  // Another authorization with the same nonce may be the one that used it.
  if (isStoredAs(claim, authorization)) throw respond({ kind: 'rejected', paid, reason: claim.reason });
}

function isStoredAs({ authorization: { signature: _, ...stored } }: PaymentClaim, shown: Authorization): boolean {
  return canonicalHash(stored) === canonicalHash(authorizationToJson(shown));
}

/** Whether the claim is of the same payment. On Solana the claim's key covers everything that was signed. */
function isVery(claim: PaymentClaim, { authorization }: Payment): boolean {
  return authorization.network === 'solana' || isStoredAs(claim, authorization);
}

const spentForGood: ReadonlySet<string> = new Set<NotTransferred['reason']>(['cancelled', 'used_otherwise']);

/**
 * Whether the caller is the payer, and may therefore learn the payment's state. A key's signature proves that by itself. A signature that
 * only code can judge may not have been judged before the refusal, so it must equal the claimed one.
 */
function isPayers({ payment: { signature } }: Presented, { authorization }: PaymentClaim): boolean {
  return signature.kind !== 'contract' || isStored(authorization.signature, signature);
}

/**
 * Whether the payer of a released payment to another payee may be asked for a new payment. True if its book refused the old payment, or if
 * this service never sent it (`from_block`, which is set before anything is sent, is null) and it was claimed for another request. The
 * payer cannot pay twice for this request, because a payment to another payee is never accepted for it. False if it was claimed for this
 * request: its payer may have used it, and gets `pending`.
 */
function isNoPartOf({ refusalId, fromBlock, requestHash }: PaymentClaim, request_hash: string): boolean {
  return refusalId !== null || (fromBlock === null && requestHash !== request_hash);
}

/**
 * Faults of a grant or its act. They are reported in place of the book's refusal, because the signer of a required act must learn of them.
 */
const ofGrants: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  ...(['delegation_invalid', 'grant_exceeded', 'session_not_active'] as const),
  ...(['act_expired', 'act_signature_invalid'] as const),
]);

function standing(respond: Respond, claim: PaymentClaim, presented: Presented, refusal: Refusal): Admission {
  const { payment, request_hash, router_key_mark } = presented;
  const task_id = claim.taskId;
  if (claim.state === 'released') {
    const { refusalId: refusal_id, requestHash } = claim;
    if (refusal_id !== null && requestHash === request_hash) {
      if (ofGrants.has(refusal.code)) throw refusal;
      return { kind: 'blocked', refusal_id };
    }
    if (payment.late?.code === 'wrong_payee' && isNoPartOf(claim, request_hash)) throw refusal;
    // The claim was released, but the chain's result is not final: somebody else may still have submitted the payment.
    throw payment.late !== null && !claim.final ? respond({ kind: 'pending', task_id }) : refusal;
  }
  const asked_before = { request_hash: claim.requestHash, router_key_mark: routerKeyMarkOf(claim.landing) };
  if (!isSameRequest(asked_before, { request_hash, router_key_mark }))
    throw respond({ kind: 'foreign', settled: claim.state === 'recorded' });
  if (claim.state === 'claimed') throw respond({ kind: 'in_flight', task_id });
  if (claim.state === 'settling') throw respond({ kind: 'pending', task_id });
  return {
    kind: 'replayed',
    claim_key: claim.claimKey,
    task_id,
    answered: claim.answerBox !== null,
    landing: claim.landing,
  };
}

/**
 * Requires that the parent of a call is a row that is already on the call's own book, so that no row precedes its parent or follows from
 * itself. This is checked before the claim, so the payment stays usable. A row of another book and a missing row get the same response,
 * which reveals nothing of other books.
 * @param landsOn returns the book of the call. Null without one
 * @throws parent_not_on_book
 */
export async function requireParent(
  { database }: Pick<CallParts, 'database'>,
  { parent_ref }: Pick<RequestedCall, 'parent_ref'>,
  landsOn: () => Promise<AgentId | null>,
): Promise<void> {
  if (parent_ref === null) return;
  const agent_id = await landsOn();
  if (agent_id !== null && (await isOnBook(database, agent_id, parent_ref))) return;
  throw new Refusal('parent_not_on_book', { param: 'parent_ref', facts: { charged: false } });
}
