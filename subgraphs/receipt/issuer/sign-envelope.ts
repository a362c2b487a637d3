import { sign } from 'node:crypto';
import { encode, rfc8949EncodeOptions } from 'cborg';
import { canonicalJson, type JsonObject } from '../../../schema/canonical-json.ts';
import { COSE_ES256, coseHeader, cwtClaim, SIGNATURE1 } from '../../../schema/cose.ts';
import { didWeb, VC_CTY, VC_TYP } from '../../../schema/credential.ts';
import { jwksUri } from '../../../schema/links.ts';
import type { SeedKeys } from './derive.ts';
import { p1363 } from './p1363.ts';

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

/** Signs what a receipt already says in other forms, by the current key of tokens: nothing comes in from outside. */
export interface EnvelopeSigner {
  /** As a COSE_Sign1 (RFC 9052 §4.4, ES256). */
  signCose(facts: CoseFacts, payload: Uint8Array): CoseSignature;
  /** As `vc+jwt` ("Securing Verifiable Credentials using JOSE and COSE"). @param iat unix seconds */
  signCredential(credential: JsonObject, iat: number): string;
  /** The JWS of what is said of this service itself, without the payload: that is its canonical JSON (RFC 7515 §A.5, RFC 8785). */
  signCard(card: JsonObject): { readonly protected: string; readonly signature: string };
  /** By which credentials name this service. */
  readonly did_web: string;
}

/**
 * Tokens, raw values and these cannot be taken for one another, though one key signs them all: a Sig_structure begins with
 * a byte that no text has, and a token with its own header.
 */
export function envelopeSigner({ es256: { key, kid } }: Pick<SeedKeys, 'es256'>, base_url: string): EnvelopeSigner {
  const es256 = (bytes: Uint8Array) => p1363(sign('sha256', bytes, key));
  const did_web = didWeb(base_url);
  return {
    did_web,
    signCose({ sub, iat, header }, payload) {
      const claims = new Map<number, string | number>([
        [cwtClaim.iss, base_url],
        [cwtClaim.sub, sub],
        [cwtClaim.iat, iat],
      ]);
      const protected_header = cbor(
        new Map<number | string, unknown>([
          [coseHeader.alg, COSE_ES256],
          [coseHeader.kid, Buffer.from(kid)],
          [coseHeader.cwt_claims, claims],
          ...header,
        ]),
      );
      const signature = es256(cbor([SIGNATURE1, protected_header, new Uint8Array(), payload]));
      return { protected_header, signature };
    },
    signCard(card) {
      const header = { alg: 'ES256', kid, typ: 'JOSE', jku: jwksUri(base_url) };
      const [encoded, payload] = [JSON.stringify(header), canonicalJson(card)].map(part =>
        Buffer.from(part).toString('base64url'),
      );
      const signature = es256(Buffer.from(`${encoded}.${payload}`)).toString('base64url');
      return { protected: String(encoded), signature };
    },
    signCredential(credential, iat) {
      const header = { alg: 'ES256', kid: `${did_web}#${kid}`, typ: VC_TYP, cty: VC_CTY, iss: did_web, iat };
      const input = [JSON.stringify(header), canonicalJson(credential)]
        .map(part => Buffer.from(part).toString('base64url'))
        .join('.');
      return `${input}.${es256(Buffer.from(input)).toString('base64url')}`;
    },
  };
}

/** RFC 8949 §4.2.1: what is signed has one encoding. */
const cbor = (value: unknown) => encode(value, rfc8949EncodeOptions);
