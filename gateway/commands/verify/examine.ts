import type { JsonObject } from '../../../schema/canonical-json.ts';
import { keysBrought } from '../../../subgraphs/receipt/verify/audit.ts';
import { type DocumentKind, documentIn, keySetUri, kindOf } from '../../../subgraphs/receipt/verify/document.ts';
import { type VerifiedDocument, verify } from '../../../subgraphs/receipt/verify/module.ts';
import { OperatorFault } from '../../config/fault.ts';
import { type ChainLook, lookAtChain } from './chain-look.ts';
import { type EnvelopeKind, envelopeIn } from './envelopes.ts';
import { type ProofAsked, type ProvenPlace, provePlace } from './log-proof.ts';
import { isUrl, jsonAt, jsonIn, readBytes, readText } from './source.ts';

/** What the command line asks of each document. */
export interface VerifyAsked extends ProofAsked {
  /** A file or URL that holds the key set to go by. */
  readonly jwks?: string | undefined;
  /** Who answers for Base. */
  readonly rpc?: string | undefined;
}

/** `given` on the command line, what the `document` brings, or `fetched` from whom the document names. */
export type KeysFrom = 'given' | 'document' | 'fetched';

/** A document that was read and judged; data alone, which goes between threads and into JSON. */
export interface Examined {
  readonly source: string;
  readonly kind: DocumentKind | EnvelopeKind;
  readonly keys: { readonly from: KeysFrom; readonly source: string };
  readonly verified: Omit<VerifiedDocument, 'kind'>;
  readonly place: ProvenPlace | null;
  readonly chain: ChainLook | null;
}

/** By their places: of a directory with many documents of one issuer its key set is read once. */
export type IssuerKeySets = Map<string, Promise<JsonObject>>;

/** Of a directory with documents of strangers, no more key sets than this are kept. */
const KEY_SETS_MAX = 64;

/** @throws OperatorFault where the document, its keys or its proof cannot be read: nothing is known of it then */
export async function examine(source: string, asked: VerifyAsked, key_sets: IssuerKeySets): Promise<Examined> {
  const base_url = isUrl(source) ? new URL(source).origin : undefined;
  const bytes = await readBytes(source, 'application/json');
  const { kind, document, keys, verified } =
    (await examineEnvelope(bytes, asked, key_sets)) ??
    (await examineJson(jsonIn(source, bytes), base_url, asked, key_sets));
  const { claims } = verified;
  const receipt = receiptIn(kind, document);
  const place = verified.valid ? await provePlace(receipt, asked, readText, base_url) : null;
  const looks = asked.rpc !== undefined && claims !== null && receipt !== null;
  const chain = looks ? await lookAtChain(String(asked.rpc), claims, receipt.ingress_receipt) : null;
  return { source, kind, keys, verified, place, chain };
}

async function examineJson(
  read: JsonObject,
  base_url: string | undefined,
  asked: VerifyAsked,
  key_sets: IssuerKeySets,
) {
  const document = documentIn(read);
  const brought = asked.jwks === undefined ? keysBrought(document) : null;
  const own = { from: 'document', source: "the document's own" } as const;
  const { keys, jwks } =
    brought === null ? await keysAt(keySetUri(document), asked, key_sets) : { keys: own, jwks: brought };
  const verified = verify(document, jwks, base_url === undefined ? {} : { base_url });
  return { kind: kindOf(document), document, keys, verified };
}

/** Null where the bytes are no envelope. What stands in the log, and on the chain, is its payload. */
async function examineEnvelope(bytes: Buffer, asked: VerifyAsked, key_sets: IssuerKeySets) {
  const envelope = envelopeIn(bytes);
  if (envelope === null) return null;
  const { keys, jwks } = await keysAt(envelope.key_set_uri, asked, key_sets);
  const { payload, ...verified } = envelope.verify(jwks);
  const document: JsonObject = payload === null ? {} : { payload };
  return { kind: envelope.kind, document, keys, verified };
}

/** A receipt alone names a transfer, and stands in the log: of any other document a `payload` is a stranger's. */
function receiptIn(kind: Examined['kind'], document: JsonObject): JsonObject | null {
  if (kind === 'receipt' || kind === 'statement' || kind === 'credential') return document;
  return kind === 'receipt_audit' ? (document.receipt as JsonObject) : null;
}

/** @param named by the document itself */
async function keysAt(named: string | null, { jwks: given }: VerifyAsked, key_sets: IssuerKeySets) {
  const source = given ?? named;
  if (source === null || (given === undefined && !isUrl(source)))
    throw new OperatorFault('the document names no key set: give one with --jwks');
  if (key_sets.size >= KEY_SETS_MAX) key_sets.clear();
  const read = key_sets.get(source) ?? jsonAt(source);
  key_sets.set(source, read);
  return { keys: { from: given === undefined ? 'fetched' : 'given', source } as const, jwks: await read };
}

/** `unknown`: it is valid as far as it could be checked, and something that was asked for could not be. */
export type DocumentOutcome = 'valid' | 'invalid' | 'unknown';

export function documentOutcome({ verified, place, chain }: Examined): DocumentOutcome {
  if (!verified.valid || place?.verification.kind === 'invalid' || chain?.outcome === 'contradicted') return 'invalid';
  return chain?.outcome === 'unknown' ? 'unknown' : 'valid';
}

/** Of several: one that is invalid outweighs one of which nothing is known. */
export const exitCodes: Readonly<Record<DocumentOutcome, number>> = { valid: 0, invalid: 1, unknown: 3 };
