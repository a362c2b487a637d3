import { sign } from 'node:crypto';
import { canonicalJson, type JsonObject } from '../../../schema/canonical-json.ts';
import { didWeb, jwksUri } from '../../../schema/links.ts';
import type { SeedKeys } from './derive.ts';
import { p1363 } from './p1363.ts';

/** Signs in other forms than tokens and raw values, by the current key of tokens: nothing comes in from outside. */
export interface EnvelopeSigner {
  /**
   * ES256 (r and s side by side) over bytes that say by themselves what they are, so that they cannot be taken for a token or a raw value: a
   * COSE Sig_structure, which begins with a byte that no text has, or a token whose header names another `typ`.
   */
  signEnvelope(bytes: Uint8Array): Uint8Array;
  /** The JWS of what is said of this service itself, without the payload: that is its canonical JSON (RFC 7515 §A.5, RFC 8785). */
  signCard(card: JsonObject): { readonly protected: string; readonly signature: string };
  /** By which credentials name this service. */
  readonly did_web: string;
}

export function envelopeSigner({ es256: { key, kid } }: Pick<SeedKeys, 'es256'>, base_url: string): EnvelopeSigner {
  const signEnvelope = (bytes: Uint8Array) => p1363(sign('sha256', bytes, key));
  return {
    did_web: didWeb(base_url),
    signEnvelope,
    signCard(card) {
      const header = { alg: 'ES256', kid, typ: 'JOSE', jku: jwksUri(base_url) };
      const [encoded, payload] = [JSON.stringify(header), canonicalJson(card)].map(part =>
        Buffer.from(part).toString('base64url'),
      );
      const signature = signEnvelope(Buffer.from(`${encoded}.${payload}`)).toString('base64url');
      return { protected: String(encoded), signature };
    },
  };
}
