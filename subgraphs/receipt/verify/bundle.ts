import {
  bundledProof,
  bundledReceipt,
  bundledRefusal,
  bundleFiles,
  documentOfRow,
} from '../../../schema/audit/book-bundle.ts';
import { filesInZip } from '../../../schema/audit/zip.ts';
import { canonicalJson, isJsonObject, type Json, type JsonObject } from '../../../schema/canonical-json.ts';
import { documents } from '../../../schema/documents.ts';
import { verifyAuditPack } from './audit-pack.ts';
import {
  type BookOfReceipt,
  type BundledReceipt,
  bookOfReceipt,
  claimDifference,
  isSeenElsewhere,
  receiptDifference,
} from './bundle-rows.ts';
import { issuedCheckpoint } from './checkpoint-note.ts';
import { verifyIssuerHistory, verifyReceiptPolicyHistory, verifyRevocations } from './histories.ts';
import { splitProof } from './log-proof.ts';
import { leafHash, verifyInclusion } from './merkle-proof.ts';
import type { CheckpointHead } from './open-checkpoint.ts';
import { strictJson } from './read-document.ts';
import { verifyReceipt } from './receipt.ts';
import { verifyRefusal } from './refusal.ts';
import type { Report } from './result.ts';
import { type Jwks, parseJws, verifyEs256 } from './signature.ts';
import { type Check, type Invalid, judgeBy, malformedDocument, type Rule, unless } from './signed-document.ts';

/* Verifies the bundle of a book: an export, the receipt or refusal of each row, and proofs that one log contains all receipts. */

export type BundleVerification =
  | {
      readonly kind: 'valid';
      readonly claims: JsonObject;
      readonly checks: readonly Check[];
      readonly report: Report;
      /** Receipts in the bundle, each with its signed claims. */
      readonly receipts: readonly BundledReceipt[];
    }
  | Invalid;

/** The contents of a bundle. Each rule adds to `found` what later rules rely on. */
interface UnpackedBundle {
  readonly files: ReadonlyMap<string, Uint8Array>;
  readonly pack: JsonObject;
  readonly jwks: Jwks;
  readonly found: {
    iss: string;
    head: CheckpointHead | null;
    readonly receipts: Map<string, BundledReceipt>;
    readonly refusals: Map<string, JsonObject>;
    /** Number of rows for each relation of a receipt to this book. */
    readonly standing: Map<BookOfReceipt, number>;
  };
}

/** The key set in a bundle. Null if the bundle has none, or the bytes are not a bundle. */
export function keysInBundle(bytes: Uint8Array): Jwks | null {
  const files = filesInZip(bytes);
  return files && jsonOf(files, bundleFiles.jwks);
}

/** Verifies a bundle offline: its rows, receipts, refusals and proofs, each separately and against each other. */
export function verifyBundle(bytes: Uint8Array, jwks: Jwks): BundleVerification {
  const files = filesInZip(bytes);
  if (files === null)
    return malformedDocument(
      'This is not a zip archive of uncompressed files, or it contains bytes that belong to no file.',
    );
  const pack = jsonOf(files, bundleFiles.export);
  if (pack === null || pack.schema !== documents.book_audit)
    return malformedDocument(`This is not a bundle of a book: ${bundleFiles.export} does not contain an audit pack.`);
  const found = { iss: '', head: null, receipts: new Map(), refusals: new Map(), standing: new Map() };
  const opened: UnpackedBundle = { files, pack, jwks, found };
  try {
    const judged = judgeBy(rules, opened);
    if (judged.kind === 'invalid') return judged;
    return { kind: 'valid', checks: judged.checks, ...bundleResult(opened) };
  } catch (fault) {
    // A rule throws only for a text without a canonical form (RFC 8785).
    return malformedDocument(`The bundle cannot be read: ${String(fault)}`);
  }
}

const jsonOf = (files: ReadonlyMap<string, Uint8Array>, name: string): JsonObject | null => {
  const bytes = files.get(name);
  return bytes === undefined ? null : strictJson(Buffer.from(bytes));
};
const textOf = ({ files }: UnpackedBundle, name: string) => Buffer.from(files.get(name) ?? new Uint8Array()).toString();
const rowsOf = ({ rows }: JsonObject): readonly JsonObject[] => (Array.isArray(rows) ? rows.filter(isJsonObject) : []);

/** Rules in the order in which they are checked: each may rely on all before it. */
const rules: readonly Rule<UnpackedBundle>[] = [
  {
    code: 'pack_contradicts_itself',
    says: 'The audit pack has as many rows as it states, one for each task.',
    fault: ({ pack }) => {
      const { code, sentence } = verifyAuditPack(pack);
      if (code !== 'not_signed') return sentence;
      const { truncated, matching_count = null } = pack;
      const cut = truncated === false && matching_count !== null && matching_count !== rowsOf(pack).length;
      return unless(!cut, 'truncated is false, but matching_count differs from the number of rows.');
    },
  },
  {
    code: 'histories_invalid',
    says: 'The issuer signed the histories of its keys and receipt policies, and each revocation.',
    fault: opened => historyFault(opened),
  },
  {
    code: 'checkpoint_invalid',
    says: 'The issuer signed the checkpoint and the tree head of the log, and they have the same size and root.',
    fault: opened => headFault(opened),
  },
  {
    code: 'receipt_invalid',
    says: 'Each receipt is valid.',
    fault: opened => receiptFault(opened),
  },
  {
    code: 'not_in_log',
    says: 'Each receipt is in the log under that checkpoint (inclusion proof).',
    fault: opened => placeFault(opened),
  },
  {
    code: 'refusal_invalid',
    says: 'Each refusal is valid.',
    fault: opened => refusalFault(opened),
  },
  {
    code: 'document_missing',
    says: 'The bundle has the receipt or refusal of each row that names one, and no other files.',
    fault: opened => fileFault(opened),
  },
  {
    code: 'row_differs',
    says: 'Each row has the values that its receipt, refusal or inflow claim signs.',
    fault: opened => rowsFault(opened),
  },
];

function historyFault({ files, jwks, found }: UnpackedBundle): string | null {
  const [history, revoked] = [bundleFiles.issuer_history, bundleFiles.revocations].map(name => jsonOf(files, name));
  const at_hand = { histories: [history, revoked].filter(each => each != null) };
  const verified = [
    history ? verifyIssuerHistory(history, jwks, at_hand) : null,
    verifiedBy(jsonOf(files, bundleFiles.receipt_policy_history), document =>
      verifyReceiptPolicyHistory(document, jwks),
    ),
    verifiedBy(revoked ?? null, document => verifyRevocations(document, jwks, at_hand)),
  ];
  const wrong = verified.find(each => each === null || each.kind === 'invalid');
  if (wrong !== undefined)
    return wrong === null
      ? 'A history of keys or receipt policies, or the list of revocations, is missing.'
      : String((wrong as Invalid).sentence);
  // Each process signs the history of receipt policies itself, so its iss is the current name of the issuer.
  const policies = verified[1];
  found.iss = String(policies?.kind === 'valid' ? policies.claims.iss : '');
  return null;
}

const verifiedBy = <T>(document: JsonObject | null, verify: (document: JsonObject) => T): T | null =>
  document && verify(document);

function headFault(opened: UnpackedBundle): string | null {
  const { files, jwks, found } = opened;
  const head = issuedCheckpoint(textOf(opened, bundleFiles.checkpoint), jwks);
  const signed = jsonOf(files, bundleFiles.head) ?? {};
  const jws = parseJws(signed.jws);
  if (head === null || jws === null) return 'No key of the key set signed the checkpoint, or the tree head is missing.';
  if (!verifyEs256(jwks, jws.header.kid, jws.input, jws.signature))
    return 'No key of the key set signed the tree head.';
  found.head = head;
  const { tree_size, root_hash } = jws.claims;
  const same = tree_size === head.size && root_hash === head.root.toString('hex');
  return unless(same, 'The tree head and the checkpoint have different sizes or roots.');
}

const namesIn = ({ files }: UnpackedBundle, folder: string) =>
  [...files.keys()].filter(name => name.startsWith(`${folder}/`) && name.endsWith('.json'));

function receiptFault(opened: UnpackedBundle): string | null {
  const { files, jwks, found } = opened;
  for (const name of namesIn(opened, 'receipts')) {
    const document = jsonOf(files, name);
    const verified = document && verifyReceipt(document, jwks, { base_url: found.iss });
    if (!verified || verified.kind === 'invalid')
      return `${name}: ${verified?.sentence ?? 'It does not contain a JSON object.'}`;
    const { claims } = verified;
    if (name !== bundledReceipt(String(claims.jti))) return `${name} is the receipt of another task.`;
    found.receipts.set(String(claims.jti), { document, claims });
  }
  return null;
}

function placeFault(opened: UnpackedBundle): string | null {
  const { files, found } = opened;
  const { head } = found;
  if (head === null) return 'The tree head is missing.';
  for (const [task_id, { document, claims }] of found.receipts) {
    const name = bundledProof(task_id);
    const proof = files.has(name) ? splitProof(textOf(opened, name)) : null;
    if (proof === null || proof.checkpoint !== textOf(opened, bundleFiles.checkpoint))
      return `${name} is not an inclusion proof for the checkpoint of this bundle.`;
    const leaf = leafHash(canonicalJson(document.payload ?? null));
    const claim = { leaf, leaf_index: proof.index, size: head.size, root: head.root };
    const placed = claims.leaf_index === undefined || claims.leaf_index === proof.index;
    if (!placed || !verifyInclusion(claim, proof.path))
      return `The inclusion proof does not show that the log contains the receipt of ${task_id}.`;
  }
  return null;
}

function refusalFault(opened: UnpackedBundle): string | null {
  const { files, jwks, found } = opened;
  for (const name of namesIn(opened, 'refusals')) {
    const document = jsonOf(files, name);
    const verified = document && verifyRefusal(document, jwks, { base_url: found.iss });
    if (!verified || verified.kind === 'invalid')
      return `${name}: ${verified?.sentence ?? 'It does not contain a JSON object.'}`;
    const { claims } = verified;
    if (name !== bundledRefusal(String(claims.jti))) return `${name} contains another refusal than its name says.`;
    found.refusals.set(String(claims.jti), claims);
  }
  return null;
}

function fileFault({ files, pack, found }: UnpackedBundle): string | null {
  const named = rowsOf(pack).flatMap(({ verify_url }) => documentOfRow(verify_url) ?? []);
  const missing = named.find(({ kind, id }) => !(kind === 'receipt' ? found.receipts : found.refusals).has(id));
  if (missing) return `The ${missing.kind} ${missing.id}, which a row names, is missing.`;
  const expected = new Set<string>([
    ...Object.values(bundleFiles),
    ...named.flatMap(({ kind, id }) =>
      kind === 'receipt' ? [bundledReceipt(id), bundledProof(id)] : [bundledRefusal(id)],
    ),
  ]);
  const other = [...files.keys()].find(name => !expected.has(name));
  return other === undefined ? null : `${other} belongs to no row of this export.`;
}

function rowsFault(opened: UnpackedBundle): string | null {
  const { agent_id = null } = opened.pack;
  for (const row of rowsOf(opened.pack)) {
    const named = documentOfRow(row.verify_url);
    const other =
      named === null ? claimDifference(row, agent_id, opened.jwks) : documentDifference(row, named, agent_id, opened);
    if (other !== null) return `${String(row.task_id)}: ${other}.`;
  }
  return null;
}

function documentDifference(
  row: JsonObject,
  { kind, id }: NonNullable<ReturnType<typeof documentOfRow>>,
  agent_id: Json,
  { found }: UnpackedBundle,
): string | null {
  if (kind === 'receipt') {
    const receipt = found.receipts.get(id);
    const standing = receipt ? bookOfReceipt(receipt.claims, row, agent_id) : null;
    if (!receipt || standing === null) return 'its receipt is missing, or names another book';
    found.standing.set(standing, (found.standing.get(standing) ?? 0) + 1);
    return receiptDifference(row, receipt, standing);
  }
  const claims = found.refusals.get(id) ?? {};
  const same =
    claims.agent_id === agent_id &&
    claims.policy_blocked_seq === row.seq &&
    claims.policy_code === row.policy_code &&
    isBare(row);
  return same ? null : 'the refusal belongs to another row';
}

/** A refused call has no payment. */
const isBare = ({ amount, payment_ref }: JsonObject) => (amount ?? null) === null && (payment_ref ?? null) === null;

function bundleResult({
  pack,
  found,
}: UnpackedBundle): Pick<Extract<BundleVerification, { kind: 'valid' }>, 'claims' | 'report' | 'receipts'> {
  const rows = rowsOf(pack);
  const bare = rows.filter(row => documentOfRow(row.verify_url) === null && !isJsonObject(row.inflow_claim));
  const elsewhere = rows.filter(row => {
    const receipt = found.receipts.get(documentOfRow(row.verify_url)?.id ?? '');
    return receipt !== undefined && isSeenElsewhere(row, receipt.claims);
  });
  const inflows = rows.filter(row => documentOfRow(row.verify_url) === null && isJsonObject(row.inflow_claim));
  const of_book = (found.standing.get('own') ?? 0) + (found.standing.get('handed_on') ?? 0);
  // Refusals, claims and receipts sign the book. Without any of them, only the unsigned pack names it.
  const named = of_book + found.refusals.size + inflows.length > 0;
  return {
    claims: {
      iss: found.iss,
      agent_id: named ? (pack.agent_id ?? null) : null,
      rows: rows.length,
      receipts: found.receipts.size,
      receipts_signed_for_it: of_book,
      refusals: found.refusals.size,
      inflow_claims: inflows.length,
      rows_without_document: bare.length,
      tree_size: found.head?.size ?? null,
    },
    receipts: [...found.receipts.values()],
    report: {
      unsigned: { lane: unsignedIn(pack, named), unknown: [] },
      broken: [],
      unchecked: [
        ofItself(pack),
        `Unsigned members of each row: ${ISSUERS_WORD}, and every member that its receipt, refusal or claim does not sign. The issuer states them without a signature.`,
        'Whether USDC moved: look each payment_ref up on its network.',
        'Whether the book has more rows: row_hash chains each row to the one before it, which can be checked only with the complete book.',
        ...counted(
          found.standing.get('winner'),
          'rows are payments to this book: their receipts sign the book that paid.',
        ),
        ...counted(
          found.standing.get('opened'),
          'rows have a receipt that signs no book, because it is stated to have opened this book.',
        ),
        ...counted(
          found.standing.get('legacy'),
          'rows have receipts that sign no book, because their payload version did not include it.',
        ),
        ...counted(
          elsewhere.length,
          'rows name another transaction than their receipts sign: the one in which the payment was seen later.',
        ),
        ...counted(bare.length, 'rows have no receipt, refusal or claim.'),
      ],
    },
  };
}

const counted = (count = 0, rows: string) => (count > 0 ? [`${count} ${rows}`] : []);

const ISSUERS_WORD = 'evidence, collected_at, replays, arrival_status, reason, links and row_hash';

/** Paths of the unsigned members of the pack. Rows are left out, because their receipts, refusals and claims sign parts of them. */
function unsignedIn(pack: JsonObject, named: boolean): string[] {
  const signed = ['schema', 'rows', 'row_count', ...(named ? ['agent_id'] : [])];
  const names = Object.keys(pack).filter(name => !signed.includes(name));
  return names.map(name => `${bundleFiles.export}: ${name}`);
}

/** A sentence about the completeness that the pack states: each row may be signed, but no signature says that there is no other row. */
function ofItself({
  agent_id = null,
  exported_at = null,
  truncated = null,
  matching_count = null,
}: JsonObject): string {
  const matching = truncated === false ? 'no matching row is missing' : `${matching_count ?? 'more'} rows match`;
  return `Whether the pack is complete: it states that it covers book ${agent_id} at ${exported_at}, and that ${matching}, but no signature covers that.`;
}
