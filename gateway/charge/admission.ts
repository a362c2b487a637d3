import { canonicalHash } from '../../schema/canonical-json.ts';
import { Refusal } from '../../schema/errors.ts';
import type { RefusalId } from '../../schema/ids.ts';
import type { Context } from '../../subgraphs/context.ts';
import { DatabaseAway } from '../../subgraphs/outage.ts';
import { type PaymentClaim } from '../../subgraphs/receipt/claim/claim.entity.ts';
import { isSameRequest } from '../../subgraphs/receipt/claim/claim.machine.ts';
import type { Funds } from '../../subgraphs/receipt/claim/funds.ts';
import { routerKeyMarkOf } from '../../subgraphs/receipt/claim/landing.ts';
import { claimByKey } from '../../subgraphs/receipt/claim/transitions.ts';
import { isStored } from '../rails/base/signature.ts';
import type { NotTransferred } from '../rails/outcome.ts';
import { type Authorization, authorizationToJson, claimKey, type Payment } from '../rails/payment.ts';
import { type PaymentReadiness, railOf } from '../rails/rail.ts';
import { rejected } from './authorized.ts';
import type { Bought } from './bought-whole.ts';
import { type Presented, payerOf, refusedClaim } from './claim-request.ts';
import { requireNoGuess } from './guesses.ts';
import { hearsOf } from './hears.ts';
import type { Till } from './till.ts';

export type Admission =
  /** `presented`: with the payment as it will be settled. `spent`: whether it was for us is still to be found out. */
  | ({ readonly kind: 'admitted'; readonly presented: Presented } & Funding)
  | ({ readonly kind: 'replayed' } & Bought)
  /** Its book refused this very call before. */
  | { readonly kind: 'blocked'; readonly refusal_id: RefusalId };

/** `means` is null where the payment is spent: the balance has lost it already. */
interface Funding {
  readonly spent: boolean;
  readonly means: Funds | null;
}

/**
 * Whether there is time to settle the payment, the paid field would serve this payer, and he can pay. A refusal is
 * looked at twice: a payment may have expired, a wallet be "registered already" or a balance be gone by this very
 * payment, which is owed its answer, or the word that it is on its way: a 402 would make it pay again. That look-up
 * costs the refused alone.
 */
export async function admission(till: Till, presented: Presented, context: Context): Promise<Admission> {
  const { paid, args, payment } = presented;
  try {
    if (payment.late !== null) throw rejected(till, paid, payment.late.reason);
    await paid.admit?.(args, payerOf(payment), context);
    const ready = await railOf(till, payment.authorization.network).ready(payment);
    if (ready.kind !== 'ready' && ready.kind !== 'spent') throw hearsOf(till, paid, ready);
    if (ready.kind === 'spent') await requireUnsearched(till, presented);
    return admitted(presented, ready);
  } catch (refusal) {
    if (!(refusal instanceof Refusal)) throw refusal;
    const claim = await claimByKey(till.database, claimKey(payment.authorization)).catch(away => {
      throw refusal.code === 'settlement_pending' ? refusal : away;
    });
    const elsewhere = payment.late?.code === 'wrong_payee';
    if (claim === null && payment.late !== null && !elsewhere) return admittedLate(till, presented, context, refusal);
    if (claim === null || !isPayers(presented, claim)) throw refusal;
    // Signed for another payee than the claim, it is another payment, which has its nonce and nothing else of it.
    if (elsewhere && !isVery(claim, payment)) throw refusal;
    if (claim.state === 'released' && claim.refusalId !== null) await requireNoGuess(till, claim, presented, context);
    return standing(claim, presented, refusal);
  }
}

function admitted(presented: Presented, ready: Extract<PaymentReadiness, { kind: 'ready' | 'spent' }>): Admission {
  const payment = { ...presented.payment, ...ready.payment };
  const funding = ready.kind === 'spent' ? { spent: true, means: null } : { spent: false, means: ready.funds };
  return { kind: 'admitted', presented: { ...presented, payment }, ...funding };
}

/** Out of time, and never claimed here: what somebody else has submitted in time has been paid all the same. */
async function admittedLate(till: Till, presented: Presented, context: Context, refusal: Refusal): Promise<Admission> {
  const { paid, args, payment } = presented;
  const used = await railOf(till, payment.authorization.network).usedInTime(payment);
  if (used.kind === 'unused') throw refusal;
  if (used.kind !== 'spent') throw hearsOf(till, paid, used);
  await paid.admit?.(args, payerOf(payment), context);
  return admitted(presented, used);
}

/** What the chain said once of a nonce that is spent is not searched for again: that is many pages of logs each time. */
async function requireUnsearched(till: Till, { paid, payment: { authorization } }: Presented): Promise<void> {
  const claim = await claimByKey(till.database, claimKey(authorization)).catch(error => {
    // It is spent, and the database alone knows whether on us.
    throw error instanceof DatabaseAway ? new Refusal('settlement_pending', { cause: error }) : error;
  });
  if (claim?.state !== 'released' || claim.reason === null || !spentForGood.has(claim.reason)) return;
  // Another authorization with the same nonce may be the very one that it was spent on.
  if (isStoredAs(claim, authorization)) throw rejected(till, paid, claim.reason);
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

function standing(claim: PaymentClaim, presented: Presented, refusal: Refusal): Admission {
  const { paid, payment, request_hash, router_key_mark } = presented;
  const task_id = claim.taskId;
  if (claim.state === 'released') {
    const { refusalId: refusal_id, requestHash } = claim;
    if (refusal_id !== null && requestHash === request_hash) return { kind: 'blocked', refusal_id };
    // Out of time and let go of, and the chain has not had its last word: somebody else may have used it for us.
    throw payment.late !== null && !claim.final ? refusedClaim({ kind: 'pending', task_id }, paid) : refusal;
  }
  const asked_before = { request_hash: claim.requestHash, router_key_mark: routerKeyMarkOf(claim.landing) };
  if (!isSameRequest(asked_before, { request_hash, router_key_mark }))
    throw refusedClaim({ kind: 'foreign', task_id }, paid);
  if (claim.state === 'claimed') throw refusedClaim({ kind: 'in_flight', task_id }, paid);
  if (claim.state === 'settling') throw refusedClaim({ kind: 'pending', task_id }, paid);
  return { kind: 'replayed', claim_key: claim.claimKey, task_id, answer_box: claim.answerBox, landing: claim.landing };
}
