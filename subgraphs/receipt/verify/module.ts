import { canonicalJson, isJsonObject, type JsonObject } from '../../../schema/canonical-json.ts';
import { keysBrought } from './audit.ts';
import { documentIn, keySetUri, kindOf, needsKeys, verifyDocument } from './document.ts';
import { verifyLogProof } from './log-proof.ts';
import { leafHash } from './merkle-proof.ts';
import { undecidedFaults, verificationJson } from './report.ts';
import type { HeldCheck, VerifiedDocument, VerifiedFault } from './result.ts';
import { type VerifierKey, verifierKey } from './verifier-key.ts';

/*
 * `spend-receipt-gateway/verify`: the verifier as a separate module, for Node and browsers. It needs no part of the service and makes no
 * requests. Its types refer only to this file, result.ts and JSON.
 */

export type { HeldCheck, VerifiedDocument, VerifiedFault } from './result.ts';

/**
 * Whether a fault leaves a document neither valid nor invalid, because something that decides it is missing. Do not rely on such a document
 * either; `sentence` says what is missing.
 */
export function undecided(fault: VerifiedFault | null): boolean {
  return fault !== null && undecidedFaults.has(fault.code);
}

/** Whether a log contains the receipt, under a checkpoint that the log signed and each of the witnesses cosigned. */
export interface VerifiedPlace {
  readonly valid: boolean;
  readonly checks: readonly HeldCheck[];
  readonly fault: VerifiedFault | null;
  /** Index of the receipt in the log. Null, as is `tree_size`, if the proof is not valid. */
  readonly leaf_index: number | null;
  readonly tree_size: number | null;
}

/**
 * Verifies offline any JSON document that the service signs, or that its users sign for it (`VerifiedDocument.kind`), or an answer that
 * contains one.
 * @param keys the issuer's key set (RFC 7517). If it is null, the keys in an audit document are used, which can only prove that the
 *   document agrees with itself
 * @param options `base_url`: base URL at which the document was read; its links may lead there as well as to the signed issuer.
 *   `histories`: available issuer histories and lists of revocations; with them, statements by a key that was revoked later can count
 * @throws TypeError if the document is not a JSON object, or if it needs keys and none are given
 */
export function verify(
  document: JsonObject,
  keys: JsonObject | null,
  options: { readonly base_url?: string; readonly histories?: readonly JsonObject[] } = {},
): VerifiedDocument {
  if (!isJsonObject(document)) throw new TypeError('a document is a JSON object');
  const own = documentIn(document);
  const jwks = keys ?? keysBrought(own) ?? (needsKeys(own) ? null : NO_KEYS);
  if (jwks === null) throw new TypeError('the document contains no keys: give the key set of its issuer');
  return { kind: kindOf(own), ...verificationJson(verifyDocument(own, jwks, options)) };
}

/** The key set for documents that no key of an issuer signs. */
const NO_KEYS: JsonObject = { keys: [] };

/** URL that a document names for the key set of its issuer. Null if it names none, for example because it contains the keys. */
export function keysNamed(document: JsonObject): string | null {
  return keySetUri(documentIn(document));
}

/**
 * Verifies a proof (C2SP tlog-proof) that a receipt is in a log. It does not verify the receipt's signatures: `verify` does.
 * @param keys verifier keys as C2SP writes them (`<name>+<id>+<key>`). One of `log_keys` and all of `witnesses` must have signed
 * @throws TypeError if the document is not a receipt, or a key is invalid
 */
export function verifyPlace(
  receipt: JsonObject,
  proof: string,
  keys: { readonly log_keys: readonly string[]; readonly witnesses?: readonly string[] },
): VerifiedPlace {
  const { payload } = documentIn(receipt);
  if (!isJsonObject(payload)) throw new TypeError('only a receipt can be in the log');
  const log_keys = keys.log_keys.map(text => keyIn(text, 'signature'));
  const witnesses = (keys.witnesses ?? []).map(text => keyIn(text, 'cosignature'));
  const said = verifyLogProof(proof, { leaf: leafHash(canonicalJson(payload)), log_keys, witnesses });
  if (said.kind === 'valid')
    return { valid: true, checks: heldIn(said), fault: null, leaf_index: said.index, tree_size: said.size };
  const { code, sentence } = said;
  return { valid: false, checks: heldIn(said), fault: { code, sentence }, leaf_index: null, tree_size: null };
}

/** The checks without their codes: see `verificationJson`. */
const heldIn = ({ checks }: { readonly checks: readonly VerifiedFault[] }): HeldCheck[] =>
  checks.map(({ sentence }) => ({ sentence }));

function keyIn(text: string, kind: VerifierKey['kind']): VerifierKey {
  const key = verifierKey(text);
  if (key?.kind !== kind) throw new TypeError(`${text} is not a verifier key for a ${kind}`);
  return key;
}
