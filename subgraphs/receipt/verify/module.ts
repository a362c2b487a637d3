import { canonicalJson, isJsonObject, type JsonObject } from '../../../schema/canonical-json.ts';
import { keysBrought } from './audit.ts';
import { documentIn, keySetUri, kindOf, verifyDocument } from './document.ts';
import { verifyLogProof } from './log-proof.ts';
import { leafHash } from './merkle-proof.ts';
import { type VerifierKey, verifierKey } from './verifier-key.ts';

/*
 * `spend-receipt-gateway/verify`: the verifier as a module of its own, for Node and browsers. It needs nothing of the service
 * and asks nobody. Its types name nothing but what stands in this file and JSON.
 */

/** A check that held, or the one that did not: `code` stays the same for programs, `sentence` is for people. */
export interface VerifiedCheck {
  readonly code: string;
  readonly sentence: string;
}

/** What became of a document; serialisable as JSON. */
export interface VerifiedDocument {
  readonly kind:
    | 'receipt'
    | 'refusal'
    | 'export'
    | 'receipt_audit'
    | 'refusal_audit'
    | 'inflow'
    | 'verdict'
    | 'reconciliation'
    | 'totals';
  readonly valid: boolean;
  /** Those that held, in order. */
  readonly checks: readonly VerifiedCheck[];
  /** The first that did not; null where the document is valid. */
  readonly fault: VerifiedCheck | null;
  /** What was signed; null where it is not valid: then nothing in it is to be believed. */
  readonly claims: JsonObject | null;
  /** What a valid document leaves open; null where it is not valid. */
  readonly report: {
    /** Members that no signature covers, by their paths: known ones, and what is no part of such a document. */
    readonly unsigned: { readonly lane: readonly string[]; readonly unknown: readonly string[] };
    /** Signatures that do not verify, beside one that does. */
    readonly broken: readonly string[];
    /** What was not checked here, and how it could be: a sentence each. */
    readonly unchecked: readonly string[];
  } | null;
}

/** That a receipt stands in a log, under a checkpoint that the log signed and each of the witnesses cosigned. */
export interface VerifiedPlace {
  readonly valid: boolean;
  readonly checks: readonly VerifiedCheck[];
  readonly fault: VerifiedCheck | null;
  /** Null where it is not valid. */
  readonly leaf_index: number | null;
  readonly tree_size: number | null;
}

/**
 * Verifies a receipt, a refusal, an audit document, a published export, an inflow's claim, a verdict, a book's total or a
 * payment's proof, or an answer that carries one. Offline.
 * @param keys the issuer's key set (RFC 7517). Null: the keys that an audit document brings, by which it can only prove that
 *   it agrees with itself
 * @param options `base_url`: where it was read; its links may lead there as well as to the signed issuer
 * @throws TypeError where it is no JSON object, or without keys
 */
export function verify(
  document: JsonObject,
  keys: JsonObject | null,
  options: { readonly base_url?: string } = {},
): VerifiedDocument {
  if (!isJsonObject(document)) throw new TypeError('a document is a JSON object');
  const own = documentIn(document);
  const jwks = keys ?? keysBrought(own);
  if (jwks === null) throw new TypeError('the document brings no keys: give the key set of its issuer');
  const kind = kindOf(own);
  const verification = verifyDocument(own, jwks, options);
  if (verification.kind === 'valid') {
    const { checks, claims, report } = verification;
    return { kind, valid: true, checks, fault: null, claims, report };
  }
  const { checks, code, sentence } = verification;
  return { kind, valid: false, checks, fault: { code, sentence }, claims: null, report: null };
}

/** Where a document says that its issuer publishes its keys; null where it does not, or brings them. */
export function keysNamed(document: JsonObject): string | null {
  return keySetUri(documentIn(document));
}

/**
 * Verifies a proof (C2SP tlog-proof) that a receipt stands in a log. It says nothing of the receipt's signatures: `verify` does.
 * @param keys verifier keys as C2SP writes them (`<name>+<id>+<key>`): any one of the log's, and each one of the witnesses'
 * @throws TypeError where it is no receipt, or a key is none
 */
export function verifyPlace(
  receipt: JsonObject,
  proof: string,
  keys: { readonly log_keys: readonly string[]; readonly witnesses?: readonly string[] },
): VerifiedPlace {
  const { payload } = documentIn(receipt);
  if (!isJsonObject(payload)) throw new TypeError('only a receipt stands in the log');
  const log_keys = keys.log_keys.map(text => keyIn(text, 'signature'));
  const witnesses = (keys.witnesses ?? []).map(text => keyIn(text, 'cosignature'));
  const said = verifyLogProof(proof, { leaf: leafHash(canonicalJson(payload)), log_keys, witnesses });
  if (said.kind === 'valid')
    return { valid: true, checks: said.checks, fault: null, leaf_index: said.index, tree_size: said.size };
  const { checks, code, sentence } = said;
  return { valid: false, checks, fault: { code, sentence }, leaf_index: null, tree_size: null };
}

function keyIn(text: string, kind: VerifierKey['kind']): VerifierKey {
  const key = verifierKey(text);
  if (key?.kind !== kind) throw new TypeError(`${text} is no verifier key for a ${kind}`);
  return key;
}
