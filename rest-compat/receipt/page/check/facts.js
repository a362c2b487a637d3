import { moneyText, timeText, usdcText } from './texts.js';

/*
 * What a page tells of a receipt or refusal, made of what was signed and of nothing else. The page is written by it, and in
 * the visitor's browser what stands there is compared with it again.
 */

const waivers = { live_key: 'a customer’s API key', demo_key: 'a demo key' };

/** By name, in the order in which they are shown; null is not shown. @param {any} claims @returns {Record<string, string | null>} */
export function receiptFacts(claims) {
  const { payment, fulfillment, waived_by, reported } = claims;
  const chained = claims.observed_transfer;
  const elsewhere = claims.payment_ref === undefined ? null : 'Not said';
  const stood_in = waivers[/** @type {keyof typeof waivers} */ (waived_by)] ?? waived_by;
  return {
    Profile: claims.profile ?? 'production',
    Amount: chained
      ? moneyText(chained.amount, chained.rail)
      : payment
        ? usdcText(payment.gross_amount)
        : (elsewhere ?? nothingPaid(stood_in, reported, claims.settlement_basis)),
    Reported: reported ? reportedText(reported) : null,
    'Checked with': reported ? (reported.verified_with ?? 'nobody, as this was signed') : null,
    Bought: claims.job_kind ?? null,
    // A payment to somebody else may say neither.
    Model: claims.model || null,
    'Answered by': claims.hub || null,
    'Bought at': fulfillment?.intent?.resource ?? null,
    When: timeText(claims.collected_at ?? claims.issued_at),
    'Paid by': payment?.payer ?? chained?.payer ?? claims.caller_binding?.payer_wallet ?? null,
    Payer: chained ? payerText(claims.payer_proven) : null,
    'Paid to': payment?.pay_to ?? chained?.pay_to ?? null,
    Transaction: payment?.ref ?? claims.payment_ref ?? null,
    Token: payment?.asset ?? chained?.asset ?? null,
    'Atomic amount': payment?.gross_amount ?? chained?.amount ?? null,
    Settlement: settlementText(claims),
    Book: claims.book_seq === undefined ? null : `row ${claims.book_seq} of the book of agent ${claims.claim_id}`,
    Issuer: claims.iss ?? null,
    Receipt: claims.jti ?? null,
  };
}

/** @param {unknown} proven */
const payerText = proven =>
  proven === true ? 'Shown to be the agent of the book' : 'Not shown to be the agent of the book';

/** @param {unknown} stood_in @param {unknown} reported @param {unknown} basis */
const nothingPaid = (stood_in, reported, basis) =>
  reported
    ? `Nothing was paid to this service${basis ? '' : ', and it has seen no payment'}: what follows was reported to it`
    : `Nothing was paid${stood_in ? `: ${stood_in} stood in` : ''}`;

/** @param {any} reported */
const reportedText = ({ by, generation_id, rail, amount, payment_ref }) =>
  `${generation_id}, ${usdcText(amount).replace('USDC', 'USD')} by ${rail}${payment_ref ? `, ${payment_ref}` : ''}, by the key of ${by}`;

/** @param {any} claims */
function settlementText({ payment, observed_transfer, settlement_basis, settled_by }) {
  if (!payment && !observed_transfer) return null;
  const seen = (settlement_basis ?? settled_by) === 'observed_transfer';
  return seen ? 'The issuer had seen the transfer' : 'The issuer vouched for it, and had not seen the transfer yet';
}

/** The same of a refusal. @param {any} claims @returns {Record<string, string | null>} */
export function refusalFacts(claims) {
  const { base_anchor: anchor } = claims;
  return {
    Profile: claims.profile ?? 'production',
    Charged: claims.charged === false ? 'Nothing' : 'Not said',
    Refused: claims.refusal_code ?? null,
    'By the rule': claims.policy_code ?? null,
    Asked: claims.requested_amount === undefined ? null : usdcText(claims.requested_amount),
    When: timeText(claims.timestamp),
    Book: `row ${claims.policy_blocked_seq} of the book of agent ${claims.agent_id}`,
    'Seen of Base':
      anchor?.status === 'AVAILABLE' ? `block ${anchor.block_number}, ${anchor.block_hash}` : 'nothing lately',
    Call: claims.task_id ?? null,
    Issuer: claims.iss ?? null,
    Refusal: claims.jti ?? null,
  };
}
