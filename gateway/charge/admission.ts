import { canonicalHash } from '../../schema/canonical-json.ts';
import { type ErrorCode, Refusal } from '../../schema/errors.ts';
import type { RefusalId } from '../../schema/ids.ts';
import type { Context } from '../../subgraphs/context.ts';
import type { Database } from '../../subgraphs/database.ts';
import { DatabaseAway } from '../../subgraphs/outage.ts';
import { type PaymentClaim } from '../../subgraphs/receipt/claim/claim.entity.ts';
import { isSameRequest } from '../../subgraphs/receipt/claim/claim.machine.ts';
import type { ClaimOutcome } from '../../subgraphs/receipt/claim/claim.ts';
import type { Funds } from '../../subgraphs/receipt/claim/funds.ts';
import { routerKeyMarkOf } from '../../subgraphs/receipt/claim/landing.ts';
import { RECORDED_ELSEWHERE } from '../../subgraphs/receipt/claim/slots.ts';
import { claimByKey } from '../../subgraphs/receipt/claim/transitions.ts';
import { isStored } from '../rails/base/signature.ts';
import type { NotTransferred } from '../rails/outcome.ts';
import { type Authorization, authorizationToJson, type Payment } from '../rails/payment.ts';
import type { ClaimedUnder } from '../record/under-sessions.ts';
import type { Hears } from './answer-by-outcome.ts';
import type { Guesses } from './guesses.ts';
import type { Presented } from './verify-payment.ts';

export type Replayed = Extract<ClaimOutcome, { kind: 'replayed' }>;

interface Admitted {
  readonly kind: 'admitted';
  /** With the payment as it will be settled. */
  readonly presented: Presented;
  /** Null where it is used already: whether it was for us is still to be found out. */
  readonly funds: Funds | null;
}

export type Admission =
  | Admitted
  | Replayed
  /** Its book refused this very call before. */
  | { readonly kind: 'blocked'; readonly refusal_id: RefusalId };

export interface AdmissionParts {
  readonly database: Database;
  readonly guesses: Pick<Guesses, 'requireNoGuess'>;
  /** @throws parent_not_on_book */
  requireParent(presented: Presented, context: Context): Promise<void>;
  /** Null where no grant came along. @throws delegation_invalid, grant_exceeded, session_not_active and the like */
  admitUnder(presented: Presented, context: Context): Promise<ClaimedUnder | null>;
  readonly hears: Hears;
}

export type Admit = (presented: Presented, context: Context) => Promise<Admission>;

/**
 * Whether there is time to settle the payment, the paid field would serve this payer, and they can pay. A refusal is
 * looked at twice: a payment may have expired, a wallet be "registered already" or a balance be gone by this very
 * payment, which is owed its answer, or the word that it is on its way: a 402 would make its payer pay again. That look-up
 * costs the refused alone.
 */
export function openAdmission(parts: AdmissionParts): Admit {
  return async (presented, context) => {
    const { paid, payment } = presented;
    try {
      if (payment.late !== null) throw parts.hears({ kind: 'rejected', paid, reason: payment.late.reason });
      const served = await requireServed(parts, presented, context);
      const ready = await readyToPay(parts, served);
      if (ready.funds === null) await requireUnsearched(parts, presented);
      return ready;
    } catch (refusal) {
      if (!(refusal instanceof Refusal)) throw refusal;
      return lookAgain(parts, presented, context, refusal);
    }
  };
}

/** What is sold would be served to this payer, follows from nothing that its book has not, and lies within its grant. */
async function requireServed(
  { requireParent, admitUnder }: Pick<AdmissionParts, 'requireParent' | 'admitUnder'>,
  presented: Presented,
  context: Context,
): Promise<Presented> {
  const { paid, args, payer } = presented;
  await paid.admit?.(args, payer, context);
  await requireParent(presented, context);
  const under = await admitUnder(presented, context);
  return under === null ? presented : { ...presented, under };
}

/** Whether the chain would take it now, and its payer can pay. */
async function readyToPay(parts: AdmissionParts, presented: Presented): Promise<Admitted> {
  const { hears } = parts;
  const { paid, payment } = presented;
  const ready = await presented.rail.ready(payment);
  switch (ready.kind) {
    case 'ready':
      return admitted(presented, ready.payment, ready.funds);
    case 'spent':
      await requireBound(parts, presented);
      return admitted(presented, ready.payment, null);
    case 'rejected':
      throw hears({ kind: 'rejected', paid, reason: ready.reason });
    case 'not_sent':
      throw hears({ kind: 'not_sent', reason: ready.reason }, ready.cause);
    case 'unreachable':
      throw hears({ kind: 'chain_unreachable' }, ready.cause);
    case 'undecided':
      throw hears({ kind: 'unknown' }, ready.cause);
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
  // Signed for another payee than the claim, it is another payment, which has its nonce and nothing else of it.
  if (elsewhere && !isVery(claim, payment)) throw refusal;
  if (claim.state === 'released' && claim.refusalId !== null) await parts.guesses.requireNoGuess(claim, presented);
  return standing(parts.hears, claim, presented, refusal);
}

/** Out of time, and never claimed here: what somebody else has submitted in time has been paid all the same. */
async function admittedLate(
  parts: AdmissionParts,
  presented: Presented,
  context: Context,
  refusal: Refusal,
): Promise<Admission> {
  const { hears } = parts;
  const { paid, payment } = presented;
  const used = await presented.rail.usedInTime(payment);
  switch (used.kind) {
    case 'unused':
      throw refusal;
    case 'rejected':
      throw hears({ kind: 'rejected', paid, reason: used.reason });
    case 'undecided':
      throw hears({ kind: 'unknown' }, used.cause);
    case 'spent':
      await requireBound(parts, presented);
      return admitted(await requireServed(parts, presented, context), used.payment, null);
  }
}

/**
 * Whom a leg pays is paid elsewhere, too, and anybody may show what is calldata by now. So what is used already is its payment
 * only where it was claimed for this very request before, and its book let it pass.
 */
async function requireBound(
  { database, hears }: AdmissionParts,
  { paid, claim_key, request_hash }: Presented,
): Promise<void> {
  if (paid.order !== 'leg') return;
  const claim = await claimByKey(database, claim_key);
  if (claim === null || claim.requestHash !== request_hash || claim.refusalId !== null)
    throw hears({ kind: 'foreign', settled: false });
  if (claim.reason === RECORDED_ELSEWHERE) throw hears({ kind: 'foreign', settled: true });
}

/** What the chain said once of a nonce that is spent is not searched for again: that is many pages of logs each time. */
async function requireUnsearched(
  { database, hears }: AdmissionParts,
  { paid, claim_key, payment: { authorization } }: Presented,
): Promise<void> {
  const claim = await claimByKey(database, claim_key).catch(error => {
    // It is spent, and the database alone knows whether on us.
    throw error instanceof DatabaseAway ? hears({ kind: 'unknown' }, error) : error;
  });
  if (claim?.state !== 'released' || claim.reason === null || !spentForGood.has(claim.reason)) return;
  // Another authorization with the same nonce may be the very one that it was spent on.
  if (isStoredAs(claim, authorization)) throw hears({ kind: 'rejected', paid, reason: claim.reason });
}

function isStoredAs({ authorization: { signature: _, ...stored } }: PaymentClaim, shown: Authorization): boolean {
  return canonicalHash(stored) === canonicalHash(authorizationToJson(shown));
}

/** On Solana the key names all that was signed. */
function isVery(claim: PaymentClaim, { authorization }: Payment): boolean {
  return authorization.network === 'solana' || isStoredAs(claim, authorization);
}

const spentForGood: ReadonlySet<string> = new Set<NotTransferred['reason']>(['cancelled', 'used_otherwise']);

/**
 * Whether whoever shows the payment is its payer, and may hear how it stands: a key's signature proves that by itself.
 * One that only code can judge was perhaps not judged when the refusal came; then it must be the one that was claimed.
 */
function isPayers({ payment: { signature } }: Presented, { authorization }: PaymentClaim): boolean {
  return signature.kind !== 'contract' || isStored(authorization.signature, signature);
}

/**
 * Signed for another payee than is asked for here, and let go of: whether its payer may be asked for another one. Its book
 * did not let it pay; or it was never sent by us, and was claimed for something else. This is why that asks nobody to pay
 * for one thing twice: `from_block` stands before anything is sent, so that besides us and whoever its payer gave it to
 * nobody has it; and wherever it might still move it pays for what it was claimed for, and never for this, since no
 * payment to another payee is taken here. For the very thing that it was claimed for its payer may have used it, and
 * hears that it is open.
 */
function isNoPartOf({ refusalId, fromBlock, requestHash }: PaymentClaim, request_hash: string): boolean {
  return refusalId !== null || (fromBlock === null && requestHash !== request_hash);
}

/** What is wrong with a grant or the act beside it is told as that: whoever signs the act that a book asks for has to learn of it. */
const ofGrants: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  ...(['delegation_invalid', 'grant_exceeded', 'session_not_active'] as const),
  ...(['act_expired', 'act_signature_invalid'] as const),
]);

function standing(hears: Hears, claim: PaymentClaim, presented: Presented, refusal: Refusal): Admission {
  const { payment, request_hash, router_key_mark } = presented;
  const task_id = claim.taskId;
  if (claim.state === 'released') {
    const { refusalId: refusal_id, requestHash } = claim;
    if (refusal_id !== null && requestHash === request_hash) {
      if (ofGrants.has(refusal.code)) throw refusal;
      return { kind: 'blocked', refusal_id };
    }
    if (payment.late?.code === 'wrong_payee' && isNoPartOf(claim, request_hash)) throw refusal;
    // Out of time and let go of, and the chain has not had its last word: somebody else may have used it for us.
    throw payment.late !== null && !claim.final ? hears({ kind: 'pending', task_id }) : refusal;
  }
  const asked_before = { request_hash: claim.requestHash, router_key_mark: routerKeyMarkOf(claim.landing) };
  if (!isSameRequest(asked_before, { request_hash, router_key_mark }))
    throw hears({ kind: 'foreign', settled: claim.state === 'recorded' });
  if (claim.state === 'claimed') throw hears({ kind: 'in_flight', task_id });
  if (claim.state === 'settling') throw hears({ kind: 'pending', task_id });
  return {
    kind: 'replayed',
    claim_key: claim.claimKey,
    task_id,
    answered: claim.answerBox !== null,
    landing: claim.landing,
  };
}
