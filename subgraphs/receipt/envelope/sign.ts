import { encode, rfc8949EncodeOptions } from 'cborg';
import { LRUCache } from 'lru-cache';
import { canonicalJson, type JsonObject } from '../../../schema/canonical-json.ts';
import { COSE_ES256, coseHeader, cwtClaim, SIGNATURE1 } from '../../../schema/cose.ts';
import { VC_CTY, VC_TYP } from '../../../schema/credential.ts';
import type { Issuer, IssuerSigner } from '../issuer/signing-keys.ts';

/* Signs what a receipt already says in other forms, by the current key of tokens: nothing comes in from outside. */

type Signing = Pick<IssuerSigner, 'base_url' | 'did_web' | 'kid' | 'signEnvelope'>;

/** What a COSE signature covers beside its payload: algorithm, key and issuer are the signer's to say. */
export interface CoseFacts {
  /** Whom or what it is about. */
  readonly sub: string;
  /** Unix seconds: when it was signed, which is not when what it says came to be. */
  readonly iat: number;
  /** Further parameters of the protected header. */
  readonly header: readonly (readonly [label: number | string, value: number | string])[];
}

/** What was signed of a COSE_Sign1: the protected header as bytes, and the signature over it and the payload. */
export interface CoseSignature {
  readonly protected_header: Uint8Array;
  readonly signature: Uint8Array;
}

/** As a COSE_Sign1 (RFC 9052 §4.4, ES256). */
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

/** As `vc+jwt` ("Securing Verifiable Credentials using JOSE and COSE"). @param iat unix seconds */
export function signCredential(issuer: Signing, credential: JsonObject, iat: number): string {
  const { did_web, kid } = issuer;
  const header = { alg: 'ES256', kid: `${did_web}#${kid}`, typ: VC_TYP, cty: VC_CTY, iss: did_web, iat };
  const input = [JSON.stringify(header), canonicalJson(credential)]
    .map(part => Buffer.from(part).toString('base64url'))
    .join('.');
  return `${input}.${Buffer.from(issuer.signEnvelope(Buffer.from(input))).toString('base64url')}`;
}

/** RFC 8949 §4.2.1: what is signed has one encoding. */
const cbor = (value: unknown) => encode(value, rfc8949EncodeOptions);

/**
 * What was signed once, by the name of what it is over: whoever asks again is given the same bytes, and costs
 * no signature. A key that gave way to another signs no more, so what it signed is not asked for under the new one's name.
 */
export class KeptSignatures<T extends object> {
  readonly #max: number;
  readonly #kept = new WeakMap<object, LRUCache<string, T>>();

  /** @param max of them at a time, the least asked for going first */
  constructor(max: number) {
    this.#max = max;
  }

  /** @param sign is given the time, in unix seconds */
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
