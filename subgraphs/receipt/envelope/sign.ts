import { encode, rfc8949EncodeOptions, Tagged } from 'cborg';
import { LRUCache } from 'lru-cache';
import { canonicalJson, type JsonObject } from '../../../schema/canonical-json.ts';
import {
  COSE_ES256,
  COSE_SIGN1,
  coseHeader,
  cwtClaim,
  INCLUSION_PROOFS,
  RFC9162_SHA256,
  SIGNATURE1,
  STATEMENT_CONTENT,
} from '../../../schema/cose.ts';
import { VC_CTY, VC_TYP } from '../../../schema/credential.ts';
import type { Issuer, IssuerSigner } from '../issuer/signing-keys.ts';
import { type CheckpointParts, checkpoint } from '../log/checkpoint.ts';
import { type Inclusion, inclusionOf } from '../log/stored-proofs.ts';
import type { Receipt } from '../receipt/receipt.entity.ts';

/* Signs the content of a receipt in other forms, with the current key for tokens. Nothing that a caller supplies is signed. */

type Signing = Pick<IssuerSigner, 'base_url' | 'did_web' | 'kid' | 'signEnvelope'>;

/** Facts that a COSE signature covers besides its payload. The signer sets algorithm, key and issuer. */
export interface CoseFacts {
  /** Subject of the statement. */
  readonly sub: string;
  /** Unix seconds: the time of the signature, not of the facts that it covers. */
  readonly iat: number;
  /** Further parameters of the protected header. */
  readonly header: readonly (readonly [label: number | string, value: number | string])[];
}

/** The signed parts of a COSE_Sign1: the protected header as bytes, and the signature over it and the payload. */
export interface CoseSignature {
  readonly protected_header: Uint8Array;
  readonly signature: Uint8Array;
}

/** Signs a payload as a COSE_Sign1 (RFC 9052 §4.4, ES256). */
export function signCose(issuer: Signing, { sub, iat, header }: CoseFacts, payload: Uint8Array): CoseSignature {
  const claims = new Map<number, string | number>([
    [cwtClaim.iss, issuer.base_url],
    [cwtClaim.sub, sub],
    [cwtClaim.iat, iat],
  ]);
  const protected_header = cbor(
    new Map<number | string, unknown>([
      [coseHeader.alg, COSE_ES256],
      [coseHeader.kid, Buffer.from(issuer.kid)],
      [coseHeader.cwt_claims, claims],
      ...header,
    ]),
  );
  const signature = issuer.signEnvelope(cbor([SIGNATURE1, protected_header, new Uint8Array(), payload]));
  return { protected_header, signature };
}

/** Signs a credential as `vc+jwt` ("Securing Verifiable Credentials using JOSE and COSE"). @param iat Unix seconds */
export function signCredential(issuer: Signing, credential: JsonObject, iat: number): string {
  const { did_web, kid } = issuer;
  const header = { alg: 'ES256', kid: `${did_web}#${kid}`, typ: VC_TYP, cty: VC_CTY, iss: did_web, iat };
  const input = [JSON.stringify(header), canonicalJson(credential)]
    .map(part => Buffer.from(part).toString('base64url'))
    .join('.');
  return `${input}.${Buffer.from(issuer.signEnvelope(Buffer.from(input))).toString('base64url')}`;
}

/** The deterministic encoding (RFC 8949 §4.2.1), so that what is signed has only one encoding. */
const cbor = (value: unknown) => encode(value, rfc8949EncodeOptions);

/**
 * Caches signatures by what they cover, so that repeated requests return the same bytes and cost no signature. The key is part of the cache
 * key, so that the signatures of a retired key are not returned as those of the new one.
 */
export class KeptSignatures<T extends object> {
  readonly #max: number;
  readonly #kept = new WeakMap<object, LRUCache<string, T>>();

  /** @param max number of signatures kept; the least recently used is dropped first */
  constructor(max: number) {
    this.#max = max;
  }

  /** The cached signature, or else a new one, which is then cached. @param sign makes a signature at a time in Unix seconds */
  once(issuer: Pick<Issuer, 'kid' | 'now_ms'>, name: string, sign: (iat: number) => T): T {
    const kept = this.#kept.get(issuer) ?? new LRUCache<string, T>({ max: this.#max });
    this.#kept.set(issuer, kept);
    const key = `${issuer.kid} ${name}`;
    const known = kept.get(key);
    if (known) return known;
    const signed = sign(Math.floor(issuer.now_ms() / 1000));
    kept.set(key, signed);
    return signed;
  }
}

/** Signatures of statements, about 300 bytes each. */
const statements = new KeptSignatures<CoseSignature>(8_192);
const heads = new KeptSignatures<CoseSignature>(256);

/**
 * A receipt as a Transparent Statement (RFC 9943): a COSE_Sign1 over the canonical payload, which is the log's entry byte for byte. Its
 * unprotected header contains the log's COSE Receipt of that entry (RFC 9942). `halted`: the log is halted, so no statement about it is
 * made.
 */
export async function transparentStatement(
  parts: CheckpointParts,
  receipt: Receipt,
): Promise<{ readonly kind: 'stated'; readonly bytes: Uint8Array } | { readonly kind: 'unknown' | 'halted' }> {
  const { database, issuer } = parts;
  // The head is read after the receipt, so that it covers the receipt. `checkpoint` returns no head that differs from its JWS.
  const newest = await checkpoint(parts, { leaf_index: receipt.leafIndex });
  if (newest.kind !== 'known') return newest;
  const { tree_size, root_hash } = newest.head;
  const inclusion = await inclusionOf(database, receipt, tree_size, null);
  if (inclusion.root.toString('hex') !== root_hash)
    throw new Error(`the stored nodes are not of the signed head of ${tree_size} leaves`);
  const log_receipt = sign1(headSignature(issuer, inclusion), new Map([[coseHeader.vdp, proofsOf(inclusion)]]), null);
  const payload = Buffer.from(receipt.payload);
  const unprotected = new Map([[coseHeader.receipts, [log_receipt]]]);
  return { kind: 'stated', bytes: sign1(statementSignature(issuer, receipt, payload), unprotected, payload) };
}

function statementSignature(issuer: Issuer, { taskId, payloadHash }: Receipt, payload: Buffer): CoseSignature {
  const header = [[coseHeader.content_type, STATEMENT_CONTENT]] as const;
  return statements.once(issuer, payloadHash, iat => signCose(issuer, { sub: taskId, iat, header }, payload));
}

/** The signature over the root of a head. All receipts that are proven under this head share it. */
function headSignature(issuer: Issuer, { size, root }: Inclusion): CoseSignature {
  const sub = issuer.log_origin;
  const header = [
    [coseHeader.vds, RFC9162_SHA256],
    [coseHeader.tree_size, size],
  ] as const;
  return heads.once(issuer, root.toString('hex'), iat => signCose(issuer, { sub, iat, header }, root));
}

/** The inclusion proof (RFC 9942 §5.2): tree size, leaf index and the path from the leaf up. */
function proofsOf({ size, leaf_index, path }: Inclusion) {
  return new Map([[INCLUSION_PROOFS, [cbor([size, leaf_index, path])]]]);
}

/** Encodes a tagged COSE_Sign1 (RFC 9052 §4.2). If the payload is null, it is detached. */
function sign1(
  { protected_header, signature }: CoseSignature,
  unprotected: ReadonlyMap<number, unknown>,
  payload: Uint8Array | null,
): Uint8Array {
  return cbor(new Tagged(COSE_SIGN1, [protected_header, unprotected, payload, signature]));
}
