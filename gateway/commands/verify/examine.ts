import { type ExportCover, exportCover } from '../../../schema/audit/export-cover.ts';
import { type ReceiptSummary, receiptSummary } from '../../../schema/audit/receipt-summary.ts';
import { openTally, type ReceiptTally } from '../../../schema/audit/receipt-tally.ts';
import { isZip } from '../../../schema/audit/zip.ts';
import { canonicalJson, isJsonObject, type JsonObject } from '../../../schema/canonical-json.ts';
import { jwksUri, logPrefix } from '../../../schema/links.ts';
import { keysBrought } from '../../../subgraphs/receipt/verify/audit.ts';
import { keysInBundle, verifyBundle } from '../../../subgraphs/receipt/verify/bundle.ts';
import {
  type DocumentKind,
  documentIn,
  keySetUri,
  kindOf,
  needsKeys,
} from '../../../subgraphs/receipt/verify/document.ts';
import { type EnvelopeKind, envelopeIn } from '../../../subgraphs/receipt/verify/envelope.ts';
import { type ProofVerification, verifyLogProof } from '../../../subgraphs/receipt/verify/log-proof.ts';
import { leafHash } from '../../../subgraphs/receipt/verify/merkle-proof.ts';
import { undecided, type VerifiedDocument, verify } from '../../../subgraphs/receipt/verify/module.ts';
import { documentFrom } from '../../../subgraphs/receipt/verify/read-document.ts';
import { type NoteKeyKind, type VerifierKey, verifierKey } from '../../../subgraphs/receipt/verify/verifier-key.ts';
import { OperatorFault, UsageFault } from '../../config/fault.ts';
import { type ChainLook, lookAtChain } from './chain-look.ts';
import { isUrl, jsonAt, noDocument, readBytes, readText } from './source.ts';

/** Options on the command line that apply to each document. */
export interface VerifyCommandOptions extends ProofOptions {
  /** File or URL of the key set to trust. */
  readonly jwks?: string | undefined;
  /** Current address of a service that has moved since it signed. */
  readonly 'base-url'?: string | undefined;
  /** Histories and revocation lists that the directory contains. */
  readonly histories?: readonly JsonObject[] | undefined;
  /** URL of a node of Base. */
  readonly rpc?: string | undefined;
}

/**
 * Origin of the keys: `given` on the command line, contained in the `document`, or `fetched` from the URL that the document names.
 */
type KeysFrom = 'given' | 'document' | 'fetched';

/** Result of verifying a document, as plain data for other threads and for JSON. */
export interface ExaminedDocument {
  readonly source: string;
  readonly kind: DocumentKind | EnvelopeKind | 'bundle';
  readonly keys: { readonly from: KeysFrom; readonly source: string };
  readonly verified: Omit<VerifiedDocument, 'kind'>;
  readonly place: ProvenPlace | null;
  readonly chain: ChainLook | null;
  /** Payment of a valid receipt. */
  readonly spend: ReceiptSummary | null;
  /** Rows that a valid export contains. */
  readonly covers: ExportCover | null;
  /** Sums of a valid bundle's receipts. */
  readonly tally: ReceiptTally | null;
}

/** Key sets by URL or file, so that an issuer's key set is read once for a directory. */
export type IssuerKeySets = Map<string, Promise<JsonObject>>;

const NO_KEYS: JsonObject = { keys: [] };

/** Limits the memory for a directory with documents of many issuers. */
const KEY_SETS_MAX = 64;

/**
 * Verifies one document. @throws OperatorFault if the document, its keys or its proof cannot be read; UsageFault if the options do
 * not fit it
 */
export async function examine(
  source: string,
  options: VerifyCommandOptions,
  key_sets: IssuerKeySets,
): Promise<ExaminedDocument> {
  const base_url = options['base-url']?.replace(/\/+$/, '') ?? (isUrl(source) ? new URL(source).origin : undefined);
  const bytes = await readBytes(source, 'application/json');
  if (isZip(bytes)) return examineBundle(source, bytes, options);
  const { kind, document, keys, verified } =
    (await examineEnvelope(bytes, base_url, options, key_sets)) ??
    (await examineJson(documentFrom(bytes) ?? noDocument(source), base_url, options, key_sets));
  const { claims } = verified;
  const receipt = receiptIn(kind, document);
  const is_note = kind === 'checkpoint' || kind === 'log_proof';
  const place = verified.valid && !is_note ? await provePlace(receipt, options, readText, base_url) : null;
  const looks = options.rpc !== undefined && claims !== null && receipt !== null;
  const chain = looks ? await lookAtChain(String(options.rpc), claims, receipt.ingress_receipt) : null;
  const spend = claims !== null && receipt !== null ? receiptSummary(claims, receipt) : null;
  const covers = claims !== null && kind === 'export' ? exportCover(document) : null;
  return { source, kind, keys, verified, place, chain, spend, covers, tally: null };
}

/** Verifies a bundle with the keys that it contains, unless --jwks is given. */
async function examineBundle(source: string, bytes: Buffer, { jwks }: VerifyCommandOptions): Promise<ExaminedDocument> {
  const brought = jwks === undefined ? keysInBundle(bytes) : await jsonAt(jwks);
  const keys = { from: jwks === undefined ? 'document' : 'given', source: jwks ?? "the document's own" } as const;
  const said = verifyBundle(bytes, brought ?? NO_KEYS);
  const checks = said.checks.map(({ sentence }) => ({ sentence }));
  const nothing = { source, kind: 'bundle', keys, place: null, chain: null, spend: null, covers: null } as const;
  if (said.kind === 'invalid') {
    const fault = { code: said.code, sentence: said.sentence };
    return { ...nothing, verified: { valid: false, checks, fault, claims: null, report: null }, tally: null };
  }
  const receipts = openTally();
  for (const { claims, document } of said.receipts) receipts.add(claims, receiptSummary(claims, document));
  const { claims, report } = said;
  return { ...nothing, verified: { valid: true, checks, fault: null, claims, report }, tally: receipts.tally() };
}

async function examineJson(
  read: JsonObject,
  base_url: string | undefined,
  options: VerifyCommandOptions,
  key_sets: IssuerKeySets,
) {
  const document = documentIn(read);
  const brought = options.jwks === undefined ? (keysBrought(document) ?? (needsKeys(document) ? null : NO_KEYS)) : null;
  const own = { from: 'document', source: "the document's own" } as const;
  const { keys, jwks } =
    brought === null
      ? await keysAt(keySetUri(document) ?? keysThere(base_url), options, key_sets)
      : { keys: own, jwks: brought };
  const { histories } = options;
  const verified = verify(document, jwks, {
    ...(base_url !== undefined && { base_url }),
    ...(histories && { histories }),
  });
  return { kind: kindOf(document), document, keys, verified };
}

/** URL of the key set for a document that names none: that of the service from which the document was read. */
const keysThere = (base_url: string | undefined) => (base_url === undefined ? null : jwksUri(base_url));

/** Verifies an envelope; null if the bytes are not one. Its payload is returned too, for the checks by the log and the chain. */
async function examineEnvelope(
  bytes: Buffer,
  base_url: string | undefined,
  options: VerifyCommandOptions,
  key_sets: IssuerKeySets,
) {
  const envelope = envelopeIn(bytes);
  if (envelope === null) return null;
  const own = { keys: { from: 'document', source: "the document's own" } as const, jwks: NO_KEYS };
  const without = !envelope.needs_keys && options.jwks === undefined;
  const { keys, jwks } = without ? own : await keysAt(envelope.key_set_uri ?? keysThere(base_url), options, key_sets);
  const witnesses = verifierKeys(options.witness ?? [], 'cosignature');
  const { payload, ...verified } = envelope.verify(jwks, { witnesses, ...(base_url !== undefined && { base_url }) });
  const document: JsonObject = payload === null ? {} : { payload };
  return { kind: envelope.kind, document, keys, verified };
}

/**
 * The receipt in a document. Only receipts name a transfer and are in the log; the `payload` of any other document is untrusted.
 */
function receiptIn(kind: ExaminedDocument['kind'], document: JsonObject): JsonObject | null {
  if (kind === 'receipt' || kind === 'statement' || kind === 'credential') return document;
  return kind === 'receipt_audit' ? (document.receipt as JsonObject) : null;
}

/** Reads the key set to verify with. `named` is the URL in the document. */
async function keysAt(named: string | null, { jwks }: VerifyCommandOptions, key_sets: IssuerKeySets) {
  const source = jwks ?? named;
  if (source === null || (jwks === undefined && !isUrl(source)))
    throw new OperatorFault(
      'the document does not name an http(s) URL of the key set of its issuer; give a key set with --jwks',
    );
  if (key_sets.size >= KEY_SETS_MAX) key_sets.clear();
  const read = key_sets.get(source) ?? jsonAt(source);
  key_sets.set(source, read);
  return { keys: { from: jwks === undefined ? 'fetched' : 'given', source } as const, jwks: await read };
}

/** Result of verifying a document. `unknown`: no check failed, but a requested check was not possible. */
export type DocumentOutcome = 'valid' | 'invalid' | 'unknown';

export function documentOutcome({ verified, place, chain }: ExaminedDocument): DocumentOutcome {
  if (undecided(verified.fault)) return 'unknown';
  if (!verified.valid || place?.verification.kind === 'invalid' || chain?.outcome === 'contradicted') return 'invalid';
  return chain?.outcome === 'unknown' ? 'unknown' : 'valid';
}

/** Exit codes. For several documents the worst result decides: invalid, then unknown. */
export const exitCodes: Readonly<Record<DocumentOutcome, number>> = { valid: 0, invalid: 1, unknown: 3 };

/** Options about a receipt's place in the log. */
interface ProofOptions {
  /** File or URL of the proof. */
  readonly proof?: string | undefined;
  readonly 'log-key'?: readonly string[] | undefined;
  readonly witness?: readonly string[] | undefined;
}

/** Result of verifying a receipt's place in the log. */
interface ProvenPlace {
  readonly source: string;
  /** Whether the log's keys were given on the command line, not fetched from the service. */
  readonly keys_given: boolean;
  readonly verification: ProofVerification;
}

/** Reads a file or a URL. @throws OperatorFault if it cannot be read */
type ReadText = (source: string) => Promise<string>;

/**
 * Checks whether a receipt is in a log whose checkpoint all given witnesses have cosigned. The C2SP proof is given or fetched from
 * the service. Null if no option requires the check.
 */
async function provePlace(
  receipt: JsonObject | null,
  options: ProofOptions,
  read: ReadText,
  base_url: string | undefined,
): Promise<ProvenPlace | null> {
  const { proof, 'log-key': log_keys = [], witness = [] } = options;
  if (proof === undefined && log_keys.length === 0 && witness.length === 0) return null;
  if (receipt === null) throw new UsageFault('--proof, --log-key and --witness are for receipts only');
  const log = base_url === undefined ? null : logPrefix(base_url);
  const source = proof ?? (log && `${log}/proof/${taskOf(receipt)}`);
  if (source === null)
    throw new UsageFault('--witness and --log-key need a proof: give one with --proof, or give the URL of a receipt');
  const keys_given = log_keys.length > 0;
  if (!keys_given && log === null) throw new UsageFault('--proof needs the key of its log: give it with --log-key');
  const texts = keys_given ? log_keys : (await read(`${log}/verifier-keys`)).split('\n').filter(Boolean);
  const wanted = { log_keys: verifierKeys(texts, 'signature'), witnesses: verifierKeys(witness, 'cosignature') };
  const verification = verifyLogProof(await read(source), { ...wanted, leaf: leafOf(receipt) });
  return { source, keys_given, verification };
}

function taskOf({ task_id, payload }: JsonObject): string {
  const id = task_id ?? (isJsonObject(payload) ? payload.task_id : null);
  return encodeURIComponent(String(id));
}

/** Leaf hash of a receipt, over its signed payload in canonical JSON. */
function leafOf({ payload }: JsonObject): Buffer {
  if (!isJsonObject(payload))
    throw new OperatorFault(
      'the receipt has no payload, so its leaf in the log cannot be computed; omit --proof, --log-key and --witness',
    );
  return leafHash(canonicalJson(payload));
}

/** Reads verifier keys. @throws UsageFault if a text is not a key of that kind */
function verifierKeys(texts: readonly string[], kind: NoteKeyKind): VerifierKey[] {
  return texts.map(text => {
    const key = verifierKey(text);
    if (key?.kind === kind) return key;
    const whose = kind === 'signature' ? 'a log' : 'a witness';
    throw new UsageFault(`${text} is not the verifier key of ${whose} (<name>+<id>+<key>)`);
  });
}
