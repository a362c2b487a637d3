import {
  isNamedByOthers,
  type ReceiptSummary,
  receiptSummary,
  spendLanes,
} from '../../../schema/audit/receipt-summary.ts';
import { escapeControls } from '../../../schema/bidi.js';
import { isJsonObject, type Json, type JsonObject } from '../../../schema/canonical-json.ts';
import { moneyText, timeText, usdcText } from './texts.js';

/*
 * The facts of the page of a receipt or refusal: what was signed, and what the issuer has stated about the payment since. The page is made
 * with them, and the visitor's browser compares the page with them again.
 */

/** Facts by name, in the order in which they are shown. */
export type PageFacts = Readonly<Record<string, string>>;

export function factsOfReceipt(claims: JsonObject, receipt: JsonObject): PageFacts {
  const { fulfillment, reported, caller_binding, intent_id, attempt_index, observed_transfer } = claims;
  const summary = receiptSummary(claims, receipt);
  const bound = memberOf(caller_binding);
  const said = isJsonObject(reported) ? reported : null;
  // A fact that this service has not seen itself is marked as reported.
  const named = (name: string) => (isNamedByOthers(summary.lane) ? `${name}, as reported` : name);
  return presentFacts({
    Profile: claims.profile ?? 'production',
    Payment: headlineOf(summary),
    'What that means': spendLanes[summary.lane].means,
    Reported: said && reportedText(said),
    'Checked with': said && (said.verified_with ?? 'nothing, at the time of signing'),
    [named('Bought')]: claims.job_kind,
    // A payment to another service may have neither.
    [named('Model')]: claims.model || null,
    [named('Answered by')]: claims.hub || null,
    'Model named by the hub': claims.answered_model,
    [named('Bought at')]: memberOf(memberOf(fulfillment).intent).resource,
    When: timeText(claims.collected_at ?? claims.issued_at),
    'Paid by': summary.payer,
    'Paid to': summary.payee,
    Payer: observed_transfer === undefined ? null : payerText(claims.payer_proven),
    Transaction: summary.payment_ref,
    Token: memberOf(claims.payment).asset ?? memberOf(observed_transfer).asset,
    'Atomic amount': summary.amount,
    Book:
      claims.book_seq === undefined ? null : `row ${String(claims.book_seq)} of the book of agent ${bookOf(claims)}`,
    'API key (hash)': bound.api_key_hash,
    'Agent key': bound.agent_pubkey,
    Session: claims.delegation_hash,
    'Session ends': typeof claims.session_expiry === 'number' ? secondsText(claims.session_expiry) : null,
    Intent: intent_id === undefined ? null : `${String(intent_id)}, attempt ${String(attempt_index ?? 0)}`,
    'Handed on from': claims.parent_receipt_id,
    'Handed on to': claims.target_agent === undefined ? null : `agent ${String(claims.target_agent)}`,
    Issuer: claims.iss,
    Receipt: claims.jti,
  });
}

/** The payment of a receipt, in a line. */
export function headlineOf({ lane, total, rail }: ReceiptSummary): string {
  const { headline } = spendLanes[lane];
  return total === null ? headline : `${headline}: ${moneyText(total, rail)}`;
}

/** The facts of a refusal. */
export function factsOfRefusal(claims: JsonObject): PageFacts {
  const anchor = memberOf(claims.base_anchor);
  return presentFacts({
    Profile: claims.profile ?? 'production',
    Charged: claims.charged === false ? 'Nothing' : 'Not said',
    Refused: claims.refusal_code,
    'By the rule': claims.policy_code,
    'Requested amount': claims.requested_amount === undefined ? null : usdcText(claims.requested_amount),
    When: timeText(claims.timestamp),
    Book: `row ${String(claims.policy_blocked_seq)} of the book of agent ${String(claims.agent_id)}`,
    'Block of Base':
      anchor.status === 'AVAILABLE'
        ? `block ${String(anchor.block_number)}, ${String(anchor.block_hash)}`
        : 'no recent block',
    Call: claims.task_id,
    Issuer: claims.iss,
    Refusal: claims.jti,
  });
}

/** Null is left out. The page and its check escape control characters alike, or the comparison would fail. */
function presentFacts(facts: Readonly<Record<string, Json | undefined>>): PageFacts {
  return Object.fromEntries(
    Object.entries(facts).flatMap(([name, said]) =>
      said === null || said === undefined ? [] : [[name, escapeControls(said)]],
    ),
  );
}

const memberOf = (value: Json | undefined): JsonObject => (isJsonObject(value) ? value : {});
const bookOf = ({ claim_id, book_id }: JsonObject) => String(claim_id ?? book_id);
const secondsText = (seconds: number) => timeText(new Date(seconds * 1000).toISOString());

const payerText = (proven: Json | undefined) =>
  proven === true ? 'Shown to be the agent of the book' : 'Not shown to be the agent of the book';

function reportedText({ by, generation_id, rail, amount, payment_ref }: JsonObject): string {
  const ref = payment_ref === undefined ? '' : `, ${String(payment_ref)}`;
  return `${String(generation_id)}, ${usdcText(amount).replace('USDC', 'USD')} by ${String(rail)}${ref}, by the key of ${String(by)}`;
}
