import { isJsonObject, type JsonObject } from '../../../schema/canonical-json.ts';
import { documents } from '../../../schema/documents.ts';
import { settlementBasis } from '../../../schema/receipt-payload.ts';
import { verifyIssuerDocument } from './issuer-document.ts';
import type { DocumentVerification, Report } from './report.ts';
import { misshapen } from './shape.ts';
import type { Jwks } from './signature.ts';
import { judgeBy, malformedDocument } from './signed.ts';
import {
  BookTotal,
  type OpenedPayment,
  type OpenedTotal,
  PaymentProof,
  paymentRules,
  type Stated,
  shownPayload,
  statedWhole,
  totalRules,
} from './totals-rules.ts';

/* What is signed behind the log of all books' totals and all payments, and what follows from it of one book, one row, one payment. */

/** What is known of each kind beside its statement: members that are none of these nobody signed. */
const known = {
  [documents.book_total]: ['schema', 'verify_jwks', 'statement', 'agent_id', 'rails', 'row'],
  [documents.payment_proof]: ['schema', 'verify_jwks', 'statement', ...Object.keys(PaymentProof.shape)],
} as const satisfies Record<string, readonly string[]>;

/** Whether a document says that it is a statement of totals, a book's total with its proof, or the proof of a payment. */
export function isTotals({ schema }: JsonObject): boolean {
  return schema === documents.log_totals || schema === documents.book_total || schema === documents.payment_proof;
}

/** Verifies one against a published key set, offline. */
export function verifyTotals(
  document: JsonObject,
  jwks: Jwks,
  options: { readonly base_url?: string } = {},
): DocumentVerification {
  const stated = document.schema === documents.log_totals ? document : document.statement;
  if (!isJsonObject(stated)) return malformedDocument('This is no proof of a total: statement is missing.');
  const signed = verifyIssuerDocument(stated, jwks, options, {
    name: 'statement of totals',
    rules: [statedWhole],
    reportOn,
  });
  if (signed.kind === 'invalid' || stated === document) return signed;
  try {
    const judged = judge(document, signed.claims as Stated);
    if (judged.kind === 'invalid') return { ...judged, checks: [...signed.checks, ...judged.checks] };
    const members: readonly string[] = known[document.schema as keyof typeof known];
    const unknown = Object.keys(document).filter(name => !members.includes(name));
    // It stands beside the statement so that keys are found, and is what the statement signs, or nobody's word.
    if (document.verify_jwks !== undefined && document.verify_jwks !== stated.verify_jwks) unknown.push('verify_jwks');
    const report = { ...signed.report, unsigned: { lane: [], unknown }, unchecked: leftOpen(document) };
    return { ...signed, checks: [...signed.checks, ...judged.checks], report };
  } catch (fault) {
    // A sum beyond its bytes, or text without a canonical form.
    return malformedDocument(`The proof cannot be computed: ${String(fault)}`);
  }
}

function judge(document: JsonObject, statement: Stated) {
  const total = document.schema === documents.book_total;
  const wrong = misshapen(total ? BookTotal : PaymentProof, document);
  if (wrong !== null) return malformedDocument(`This is no proof of its kind: ${wrong} is of another type.`);
  return total
    ? judgeBy(totalRules, { document: document as OpenedTotal['document'], statement })
    : judgeBy(paymentRules, { document: document as OpenedPayment['document'], statement });
}

function reportOn(): Report {
  const unchecked = [
    'What one book came to: whoever possesses it is told, with a proof.',
    'Whether the trees hold all leaves: each holder of a receipt asks for the proof of it.',
  ];
  return { unsigned: { lane: [], unknown: [] }, broken: [], unchecked };
}

function leftOpen(document: JsonObject): string[] {
  if (document.schema === documents.payment_proof) {
    const vouched = settlementBasis(shownPayload({ preimage: String(document.preimage) })) === 'receipt';
    return [
      'Whether the payment moved: look it up on its network.',
      ...(vouched
        ? ['Whether it is the transfer that was vouched for: which one it was is told since, and not signed.']
        : []),
    ];
  }
  return [
    'Whether every row of the book is in the total: each holder of one asks for the proof of it.',
    'Whether each row of the total is of a receipt, and of one that stands there once: whoever has them all compares.',
    'Rows that are corrected by a statement since: they count as they were collected.',
  ];
}
