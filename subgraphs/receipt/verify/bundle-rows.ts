import { isJsonObject, type Json, type JsonObject } from '../../../schema/canonical-json.ts';
import { payloadVersionOf, settlementBasis, signedPayment } from '../../../schema/receipt-payload.ts';
import { verifyInflowClaim } from './inflow-claim.ts';
import { isSameJson } from './report.ts';
import type { Jwks } from './signature.ts';

/* Compares the rows of a bundle with what is signed about them. */

/** A valid receipt, with its signed claims. */
export interface BundledReceipt {
  readonly document: JsonObject;
  readonly claims: JsonObject;
}

/**
 * The relation of a receipt to a book. `own`: it signs that book. `winner`: it signs the book that paid for a job, and the winner's book
 * lists it without an amount. `handed_on`: it signs the book that it was handed on to. `opened`: it signs no book, because it opened this
 * one. `legacy`: its payload version signs no book.
 */
export type BookOfReceipt = 'own' | 'winner' | 'handed_on' | 'opened' | 'legacy';

/** The relation of a receipt to the book with its row; null if nothing shows why the book lists it. */
export function bookOfReceipt(claims: JsonObject, row: JsonObject, agent_id: Json): BookOfReceipt | null {
  const { claim_id, target_agent, legs, book_seq } = claims;
  if (target_agent !== undefined) return target_agent === agent_id ? 'handed_on' : null;
  if (claim_id !== undefined && claim_id === agent_id) return 'own';
  if (typeof claim_id === 'number') return Array.isArray(legs) && isNull(row.amount) ? 'winner' : null;
  if (payloadVersionOf(claims)?.legacy === true) return 'legacy';
  return book_seq === undefined && row.seq === 1 ? 'opened' : null;
}

const isNull = (value: Json | undefined) => value === undefined || value === null;

/** The first difference between a row and its receipt; null if they agree. @param standing result of `bookOfReceipt` */
export function receiptDifference(
  row: JsonObject,
  { document, claims }: BundledReceipt,
  standing: BookOfReceipt,
): string | null {
  if (row.task_id !== claims.jti) return 'the receipt belongs to another task';
  const { book_seq, hub = '', model = '' } = claims;
  if (standing === 'own' && book_seq !== undefined && book_seq !== row.seq) return of('seq');
  if (!isSameJson(row.hub ?? '', hub)) return of('hub');
  if (!isSameJson(row.model ?? '', model)) return of('model');
  const other = named.find(([name, signed]) => !agrees(row[name], claims[signed], claims));
  if (other !== undefined) return of(other[0]);
  const { parent_receipt_id: parent } = claims;
  if (parent !== undefined && !isNull(row.parent_ref) && !isSameJson(row.parent_ref, parent)) return of('parent_ref');
  return paymentDifference(row, claims, document);
}

const of = (name: string) => `${name} is not what the receipt signs`;

const named = [
  ['intent_id', 'intent_id'],
  ['attempt_index', 'attempt_index'],
  ['delegation_hash', 'delegation_hash'],
  ['answered_model', 'answered_model'],
] as const;

/** A row may leave out what is signed about another book. What it states must be signed, unless the payload version signs fewer claims. */
function agrees(said: Json | undefined, signed: Json | undefined, claims: JsonObject): boolean {
  if (isNull(said)) return true;
  return signed === undefined ? payloadVersionOf(claims)?.signs_less === true : isSameJson(said, signed);
}

/** The first member of a row that differs from the payments that its receipt signs; null if the row agrees with one of them. */
function paymentDifference(row: JsonObject, claims: JsonObject, { ingress_receipt }: JsonObject): string | null {
  const payments = paymentsOf(claims);
  const fits = (name: keyof SignedRowPayment) => (payment: SignedRowPayment) =>
    isNull(row[name]) || isSameJson(row[name], payment[name]);
  for (const name of ['amount', 'rail', 'payer_wallet'] as const) {
    if (name === 'payer_wallet' && claims.reported !== undefined) continue;
    if (!payments.some(fits(name))) return of(name);
  }
  const whole = payments.filter(each => fits('amount')(each) && fits('rail')(each));
  const referred = isNull(row.payment_ref) || whole.some(each => isSameJson(row.payment_ref, each.payment_ref));
  const seen = isVouched(claims) && isJsonObject(ingress_receipt) && isSameJson(row.payment_ref, ingress_receipt.ref);
  if (!referred && !seen) return of('payment_ref');
  const indexed = whole.some(
    each =>
      isNull(row.transfer_index) || each.transfer_index === null || isSameJson(row.transfer_index, each.transfer_index),
  );
  return indexed ? null : of('transfer_index');
}

interface SignedRowPayment {
  readonly payment_ref: Json;
  readonly amount: Json;
  readonly rail: Json;
  readonly payer_wallet: Json;
  readonly transfer_index: Json;
}

function paymentsOf(claims: JsonObject): readonly SignedRowPayment[] {
  const bound = isJsonObject(claims.caller_binding) ? (claims.caller_binding.payer_wallet ?? null) : null;
  const { ref = claims.payment_ref ?? null, gross_amount: amount = null, ...paid } = signedPayment(claims) ?? {};
  const { rail = null, payer = null, transfer_index = null } = paid;
  const legs = Array.isArray(claims.legs) ? claims.legs.filter(isJsonObject) : [];
  return [
    { payment_ref: ref, amount, rail, payer_wallet: bound ?? payer, transfer_index },
    ...legs.map(leg => ({
      payment_ref: leg.ref ?? null,
      amount: leg.amount ?? null,
      rail,
      payer_wallet: leg.payer ?? null,
      transfer_index: leg.transfer_index ?? null,
    })),
  ];
}

/** Whether the issuer had not seen the payment when it signed. Where it was seen later is unsigned. */
const isVouched = (claims: JsonObject) => settlementBasis(claims) === 'receipt';

/** Whether a row names another transaction than its receipt signs. Only the row of a vouched payment may do so. */
export function isSeenElsewhere({ payment_ref }: JsonObject, claims: JsonObject): boolean {
  return !isNull(payment_ref) && !paymentsOf(claims).some(each => isSameJson(each.payment_ref, payment_ref));
}

/**
 * The first difference between a row and its inflow claim; null if they agree, or if the row has no claim. The issuer signs the claim of
 * the row, and the claim of each correction that the row shows.
 */
export function claimDifference(row: JsonObject, agent_id: Json, jwks: Jwks): string | null {
  const { inflow_claim, inflow_corrections } = row;
  if (!isJsonObject(inflow_claim)) return null;
  const paid = ['amount', 'payment_ref', 'rail', 'payer_wallet'].find(name => !isNull(row[name]));
  if (paid !== undefined) return `${paid} is not what the claim signs: an inflow claim names no payment`;
  const corrections = Array.isArray(inflow_corrections) ? inflow_corrections.filter(isJsonObject) : [];
  for (const said of [row, ...corrections]) {
    const claim = isJsonObject(said.inflow_claim) ? said.inflow_claim : {};
    const verified = verifyInflowClaim(claim, jwks);
    if (verified.kind === 'invalid') return verified.sentence;
    if (claim.agent_id !== agent_id) return 'the claim belongs to another book';
    const members = ['task_id', 'bucket', 'allocation', 'corrects', 'hub', 'model'];
    const other = members.find(
      name => said[name] !== undefined && !isSameJson(said[name] ?? null, claim[name] ?? null),
    );
    if (other !== undefined) return `${other} is not what the claim signs`;
  }
  return null;
}
