import * as z from 'zod';
import { canonicalJson, isJsonObject, type JsonObject, jsonObjectIn } from '../../../schema/canonical-json.ts';
import { sha256Hex } from '../../../schema/digest.ts';
import { documents } from '../../../schema/documents.ts';
import { type SignedTransfer, settlementBasis, signedTransfer } from '../../../schema/receipt-payload.ts';
import { verifyIssuerDocument } from './issuer-document.ts';
import { isTransferName, paymentKey, paymentValue, totalKey, totalValue, verifyMapProof } from './map-proof.ts';
import { leafHash, verifyInclusion } from './merkle-proof.ts';
import type { DocumentVerification } from './report.ts';
import type { Report } from './result.ts';
import { misshapen } from './shape.ts';
import type { Jwks } from './signature.ts';
import { judgeBy, malformedDocument, type Rule, unless } from './signed-document.ts';
import { EMPTY_SUM, rootOfRow, shownNode, sumLeaf } from './sum-proof.ts';

/* Verifies the signed statement of all books' totals and all payments, and proofs of one book, one row or one payment under it. */

const text = z.string();
const Hash = text.regex(/^[0-9a-f]{64}$/);
const count = z.int().min(0);
const Atomic = text.regex(/^(0|[1-9]\d{0,77})$/);
const MapProof = {
  siblings: z.array(Hash.nullable()).max(256),
  instead: z.object({ key: Hash, value: Hash }).optional(),
};

const Statement = z.looseObject({
  schema: z.literal(documents.log_totals),
  log_id: z.literal(1),
  tree_size: count,
  root_hash: Hash,
  payments_root: Hash,
  books_root: Hash,
  computed_at: z.iso.datetime(),
});

/** The leaf of the log that a proof is about: its text, and its inclusion proof (RFC 9162 §2.1.3). */
const Leaf = { preimage: text, leaf_index: count, leaf_hash: Hash, inclusion: z.array(Hash).max(64) };

const BookTotal = z.looseObject({
  agent_id: z.int(),
  rails: z
    .array(z.object({ rail: text, rows: count, total: Atomic, root: Hash, ...MapProof }))
    .min(1)
    .max(16),
  row: z
    .object({ task_id: text, rail: text, row: count, amount: text, ...Leaf })
    .extend({ path: z.array(z.object({ sum: text, hash: text })).max(64) })
    .optional(),
});
const PaymentProof = z.looseObject({
  task_id: text,
  payment: z.object({ network: text, payment_ref: text, transfer_index: count }),
  ...Leaf,
  ...MapProof,
});

type StatementDocument = z.infer<typeof Statement>;
interface OpenedTotal {
  readonly document: z.infer<typeof BookTotal>;
  readonly statement: StatementDocument;
}
interface OpenedPayment {
  readonly document: z.infer<typeof PaymentProof>;
  readonly statement: StatementDocument;
}

const statedWhole: Rule<{ readonly claims: JsonObject }> = {
  code: 'not_a_totals_statement',
  says: 'The signed claims are totals of books and payments, for a stated size of the log.',
  fault: ({ claims }) =>
    unless(misshapen(Statement, claims) === null, 'The signed claims are not a statement of totals.'),
};

const NOTHING = EMPTY_SUM.hash.toString('hex');

/** Rules in the order in which they are checked: each may rely on all before it. */
const totalRules: readonly Rule<OpenedTotal>[] = [
  {
    code: 'total_not_stated',
    says: 'The signed statement commits to these totals of this book.',
    fault: ({ document: { agent_id, rails }, statement }) => {
      const other = rails.find(({ siblings, instead, ...total }, at) => {
        const value = total.rows === 0 ? null : totalValue(agent_id, total);
        const proof = instead ? { siblings, instead } : { siblings };
        const stated = verifyMapProof(statement.books_root, { key: totalKey(agent_id, total.rail), value }, proof);
        const empty = total.rows > 0 || (total.total === '0' && total.root === NOTHING);
        return !stated || !empty || rails.findIndex(({ rail }) => rail === total.rail) !== at;
      });
      return other ? `The signed statement commits to another ${other.rail} total of this book, or to none.` : null;
    },
  },
  {
    code: 'row_differs',
    says: 'The row belongs to the receipt whose preimage is given.',
    fault: ({ document: { row } }) =>
      unless(!row || isOf(row), 'The row belongs to another receipt than the one whose preimage is given.'),
  },
  {
    code: 'row_of_another_book',
    says: 'The receipt of the row signs this book.',
    fault: ({ document: { row, agent_id } }) =>
      unless(!row || shownPayload(row).claim_id === agent_id, 'The receipt signs another book, or none.'),
  },
  {
    code: 'row_amount_differs',
    says: 'The row counts the amount and rail that its receipt signs.',
    fault: ({ document: { row } }) => {
      const payment = row && shownPayload(row).payment;
      const paid = isJsonObject(payment) ? payment : {};
      return unless(
        !row || (paid.settled_amount === row.amount && paid.rail === row.rail),
        'The row counts another amount or rail than its receipt signs.',
      );
    },
  },
  {
    code: 'sum_out_of_range',
    says: 'No sum in the proof is negative or overflows.',
    fault: ({ document: { row } }) =>
      unless(
        !row || [{ sum: row.amount, hash: row.leaf_hash }, ...row.path].every(node => shownNode(node) !== null),
        'A sum in the proof is negative, overflows or is not a number.',
      ),
  },
  {
    code: 'row_not_in_total',
    says: 'The total includes the row, at its place and with its amount.',
    fault: ({ document }) => unless(!document.row || isInTotal(document), 'The total does not include the row.'),
  },
  {
    code: 'row_not_in_log',
    says: 'The log that the statement covers contains the receipt of the row.',
    fault: ({ document: { row }, statement }) =>
      unless(
        !row || isInLog(row, statement),
        'The log that the statement covers does not contain the receipt of the row.',
      ),
  },
];

const paymentRules: readonly Rule<OpenedPayment>[] = [
  {
    code: 'receipt_differs',
    says: 'The proof belongs to the receipt whose preimage is given.',
    fault: ({ document }) =>
      unless(isOf(document), 'The proof belongs to another receipt than the one whose preimage is given.'),
  },
  {
    code: 'payment_differs',
    says: 'The payment is the one that the receipt signs.',
    fault: ({ document }) => unless(namesPayment(document), 'The receipt signs another payment, or none.'),
  },
  {
    code: 'payment_misspelt',
    says: 'The payment is written in the canonical form of its network, so that it has only one key in the map of payments.',
    fault: ({ document: { payment } }) =>
      unless(
        isTransferName(payment),
        'The payment is not written in the canonical form of its network, so it could have a second key in the map of payments.',
      ),
  },
  {
    code: 'payment_backs_another',
    says: 'The signed statement assigns this payment to this receipt, and therefore to no other.',
    fault: ({ document: { payment, siblings, instead, ...leaf }, statement }) => {
      const entry = {
        key: paymentKey(payment),
        value: paymentValue({ leaf_index: leaf.leaf_index, payload_hash: sha256Hex(leaf.preimage) }),
      };
      const proof = instead ? { siblings, instead } : { siblings };
      return unless(
        verifyMapProof(statement.payments_root, entry, proof),
        'The signed statement assigns this payment to another receipt, or to none.',
      );
    },
  },
  {
    code: 'receipt_not_in_log',
    says: 'The log that the statement covers contains the receipt.',
    fault: ({ document, statement }) =>
      unless(isInLog(document, statement), 'The log that the statement covers does not contain the receipt.'),
  },
];

type ShownLeaf = Pick<OpenedPayment['document'], 'task_id' | 'preimage' | 'leaf_index' | 'leaf_hash' | 'inclusion'>;

function shownPayload({ preimage }: Pick<ShownLeaf, 'preimage'>): JsonObject {
  return jsonObjectIn(preimage) ?? {};
}

function paymentOf(leaf: Pick<ShownLeaf, 'preimage'>): SignedTransfer | null {
  return signedTransfer(shownPayload(leaf));
}

/** Whether the preimage is the text of that leaf and task. It must be canonical, as signed receipts are, so that it has one reading. */
function isOf(leaf: ShownLeaf): boolean {
  const payload = shownPayload(leaf);
  if (leafHash(leaf.preimage).toString('hex') !== leaf.leaf_hash || payload.task_id !== leaf.task_id) return false;
  return canonicalJson(payload) === leaf.preimage;
}

/** Whether the receipt signs the payment. Of a vouched one only the network is compared: where it was seen is stated later, unsigned. */
function namesPayment({ payment, ...leaf }: OpenedPayment['document']): boolean {
  const signed = paymentOf(leaf);
  if (signed?.network !== payment.network) return false;
  if (settlementBasis(shownPayload(leaf)) === 'receipt') return true;
  return signed.ref === payment.payment_ref && signed.transfer_index === payment.transfer_index;
}

function isInLog(
  { leaf_hash, leaf_index, inclusion }: ShownLeaf,
  { tree_size, root_hash }: StatementDocument,
): boolean {
  const claim = { leaf: bytes(leaf_hash), leaf_index, size: tree_size, root: bytes(root_hash) };
  return verifyInclusion(claim, inclusion.map(bytes));
}

function isInTotal({ agent_id, rails, row }: OpenedTotal['document']): boolean {
  const total = rails.find(({ rail }) => rail === row?.rail);
  const amount = row && shownNode({ sum: row.amount, hash: row.leaf_hash })?.sum;
  if (!row || !total || amount === undefined) return false;
  const { rail, leaf_index, preimage } = row;
  const leaf = sumLeaf({ agent_id, rail, row: row.row, leaf_index, payload_hash: sha256Hex(preimage), amount });
  const path = row.path.flatMap(node => shownNode(node) ?? []);
  const root = rootOfRow(leaf, row.row, total.rows, path);
  return root !== null && root.sum.toString() === total.total && root.hash.toString('hex') === total.root;
}

const bytes = (hex: string) => Buffer.from(hex, 'hex');

/** Known members of each kind of proof. All other members are unsigned. */
const known = {
  [documents.book_total]: ['schema', 'verify_jwks', 'statement', 'agent_id', 'rails', 'row'],
  [documents.payment_proof]: ['schema', 'verify_jwks', 'statement', ...Object.keys(PaymentProof.shape)],
} as const satisfies Record<string, readonly string[]>;

/** Verifies a statement of totals, or a proof under one, against a published key set, offline. */
export function verifyTotals(
  document: JsonObject,
  jwks: Jwks,
  options: { readonly base_url?: string } = {},
): DocumentVerification {
  const stated = document.schema === documents.log_totals ? document : document.statement;
  if (!isJsonObject(stated)) return malformedDocument('This is not a proof of a total: statement is missing.');
  const signed = verifyIssuerDocument(stated, jwks, options, {
    name: 'statement of totals',
    rules: [statedWhole],
    reportOn,
  });
  if (signed.kind === 'invalid' || stated === document) return signed;
  try {
    const judged = judge(document, signed.claims as StatementDocument);
    if (judged.kind === 'invalid') return { ...judged, checks: [...signed.checks, ...judged.checks] };
    const members: readonly string[] = known[document.schema as keyof typeof known];
    const unknown = Object.keys(document).filter(name => !members.includes(name));
    // A proof repeats this member of its statement, so that readers find the keys. If it differs, it is unsigned.
    if (document.verify_jwks !== undefined && document.verify_jwks !== stated.verify_jwks) unknown.push('verify_jwks');
    const report = { ...signed.report, unsigned: { lane: [], unknown }, unchecked: leftOpen(document) };
    return { ...signed, checks: [...signed.checks, ...judged.checks], report };
  } catch (fault) {
    // A rule throws only for a sum of more than 32 bytes, or for a text without a canonical form.
    return malformedDocument(`The proof cannot be computed: ${String(fault)}`);
  }
}

function judge(document: JsonObject, statement: StatementDocument) {
  const total = document.schema === documents.book_total;
  const wrong = misshapen(total ? BookTotal : PaymentProof, document);
  if (wrong !== null) return malformedDocument(`The proof is malformed: ${wrong} has the wrong type.`);
  return total
    ? judgeBy(totalRules, { document: document as OpenedTotal['document'], statement })
    : judgeBy(paymentRules, { document: document as OpenedPayment['document'], statement });
}

function reportOn(): Report {
  const unchecked = [
    'The total of a single book: its owner can request it, with a proof.',
    'Whether the totals include every leaf: each owner of a receipt can request the proof for it.',
  ];
  return { unsigned: { lane: [], unknown: [] }, broken: [], unchecked };
}

function leftOpen(document: JsonObject): string[] {
  if (document.schema === documents.payment_proof) {
    const vouched = settlementBasis(shownPayload({ preimage: String(document.preimage) })) === 'receipt';
    return [
      'Whether the payment moved: look it up on its network.',
      ...(vouched
        ? ['Whether this is the transfer that the issuer vouched for: the issuer named it later, without a signature.']
        : []),
    ];
  }
  return [
    'Whether the total includes every row of the book: request the proof for each row.',
    'Whether each row of the total belongs to a receipt, and each receipt is counted once: compare with all receipts of the book.',
    'Rows that were corrected later: the total counts them as they were collected.',
  ];
}
