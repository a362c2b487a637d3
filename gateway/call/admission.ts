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

export type Replayed = Extract<ClaimOutcome, { kind: 'replayed' }>;

interface Admitted {
  readonly kind: 'admitted';
  /** With the payment as it will be settled. */
  readonly presented: Presented;
  /** Null if it is used already; whether for this service is found out later. */
  readonly funds: Funds | null;
}

export type Admission =
  | Admitted
  | Replayed
  /** Its book refused this very call before. */
  | { readonly kind: 'blocked'; readonly refusal_id: RefusalId };

type AdmissionParts = GuessParts & GrantParts & Pick<CallParts, 'database' | 'agentOfWallet' | 'respond'>;

/**
 * Checks that there is time to settle, that the sale serves this payer, and that they can pay. A refusal is checked twice,
 * because the payment may have expired, the wallet be registered, or the balance be used by this very payment. Its payer is then
 * owed an answer or "pending"; a 402 would make them pay again. Only refused calls cost this look-up.
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

/** The sale serves this payer, the parent is on the book, and the grant allows the call. */
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

/** Whether the chain would take it now, and its payer can pay. */
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
  // Signed for another payee than the claim it is another payment, which shares only the nonce.
  if (elsewhere && !isVery(claim, payment)) throw refusal;
  if (claim.state === 'released' && claim.refusalId !== null) await requireNoGuess(parts, claim, presented);
  return standing(parts.respond, claim, presented, refusal);
}

/** Expired and never claimed here; if someone else submitted it in time, it is paid all the same. */
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
 * The payee of a leg is paid by others too, and its calldata is public. A used payment therefore counts only if it was claimed
 * for this very request before and its book allowed it.
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

/** The chain's result for a used nonce is not searched for again, because a search takes many pages of logs. */
async function requireUnsearched(
  { database, respond }: AdmissionParts,
  { paid, claim_key, payment: { authorization } }: Presented,
): Promise<void> {
  const claim = await claimByKey(database, claim_key).catch(error => {
    // It is used, and only the database knows whether for this service.
    throw error instanceof DatabaseAway ? respond({ kind: 'unknown' }, error) : error;
  });
  if (claim?.state !== 'released' || claim.reason === null || !spentForGood.has(claim.reason)) return;
  // Another authorization with the same nonce may be the one that used it.
  if (isStoredAs(claim, authorization)) throw respond({ kind: 'rejected', paid, reason: claim.reason });
}

function isStoredAs({ authorization: { signature: _, ...stored } }: PaymentClaim, shown: Authorization): boolean {
  return canonicalHash(stored) === canonicalHash(authorizationToJson(shown));
}

/** On Solana the key covers everything that was signed. */
function isVery(claim: PaymentClaim, { authorization }: Payment): boolean {
  return authorization.network === 'solana' || isStoredAs(claim, authorization);
}

const spentForGood: ReadonlySet<string> = new Set<NotTransferred['reason']>(['cancelled', 'used_otherwise']);

/**
 * Whether the caller is the payer and may learn the payment's state: a key's signature proves that by itself. One that only code
 * can judge may not have been judged before the refusal; then it must equal the claimed one.
 */
function isPayers({ payment: { signature } }: Presented, { authorization }: PaymentClaim): boolean {
  return signature.kind !== 'contract' || isStored(authorization.signature, signature);
}

/**
 * The payment was signed for another payee and released; whether its payer may be asked for another one. Either its book refused
 * it, or we never sent it and it was claimed for something else. Nobody pays twice: `from_block` is set before anything is sent,
 * so only its payer and recipients have it; and wherever it may still move, it pays for what it was claimed for and never for
 * this, because payments to another payee are not accepted here. If it was claimed for this very thing, its payer may have used
 * it and gets "pending".
 */
function isNoPartOf({ refusalId, fromBlock, requestHash }: PaymentClaim, request_hash: string): boolean {
  return refusalId !== null || (fromBlock === null && requestHash !== request_hash);
}

/** Faults of a grant or its act are reported as such, because the signer of a required act must learn of them. */
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
    // Expired and released, and the chain's result is not final: someone else may have submitted it for us.
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
 * A call may only follow from a row that is already on its own book, so no row precedes its parent or follows from itself.
 * Checked before the claim and only if a parent is named; the payment stays usable. A row of another book and a missing row get
 * the same response, so that it reveals nothing of other books. @param landsOn the book of the call; null without one @throws
 * parent_not_on_book
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
