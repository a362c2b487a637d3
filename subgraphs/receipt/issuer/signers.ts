import { type KeyObject, sign } from 'node:crypto';
import { canonicalJson, type JsonObject } from '../../../schema/canonical-json.ts';
import { sha256 } from '../../../schema/digest.ts';
import { didWeb, jwksUri } from '../../../schema/links.ts';
import type { SeedKeys } from './derive.ts';

/* Signs in other forms than tokens and raw values: envelopes of receipts, and notes of the log. */

/**
 * Signs in other forms than tokens and raw values, with the key that signs tokens. What is signed is made by this service and never
 * supplied from outside.
 */
export interface EnvelopeSigner {
  /**
   * Signs bytes with ES256 and returns r and s side by side. The bytes must show what they are, so that they cannot be taken for a token or
   * a raw value: a COSE Sig_structure, which begins with a byte that no text has, or a token whose header names another `typ`.
   */
  signEnvelope(bytes: Uint8Array): Uint8Array;
  /**
   * Signs this service's description of itself. Returns a JWS without its payload, which is the canonical JSON of the card (RFC 7515
   * Appendix F, RFC 8785).
   */
  signCard(card: JsonObject): { readonly protected: string; readonly signature: string };
  /** DID of this service in credentials. */
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

const SCALAR_BYTES = 32;
const INTEGER = 0x02;

/**
 * Converts a P-256 signature from the form that OpenSSL writes, `SEQUENCE {INTEGER r, INTEGER s}` in DER, to r and s side by side in 32
 * bytes each (IEEE P1363). @throws if it is anything else.
 */
export function p1363(der: Uint8Array): Buffer {
  const out = Buffer.alloc(2 * SCALAR_BYTES);
  // r, s and the sequence are each shorter than 128 bytes, so each length is one byte.
  const s_at = place(der, 2, out, SCALAR_BYTES);
  const end = place(der, s_at, out, 2 * SCALAR_BYTES);
  if (der[0] !== 0x30 || der[1] !== der.length - 2 || end !== der.length) throw new RangeError('not a P-256 signature');
  return out;
}

/** Writes the integer at `at` so that it ends at `end`, and returns where the next begins. */
function place(der: Uint8Array, at: number, out: Buffer, end: number): number {
  const length = der[at + 1] ?? 0;
  const from = at + 2;
  // DER integers are signed. If the first bit of the number is set, a zero byte comes before it; otherwise leading zeros are left out.
  const padding = length === SCALAR_BYTES + 1 && der[from] === 0 ? 1 : 0;
  if (der[at] !== INTEGER || length === 0 || length - padding > SCALAR_BYTES)
    throw new RangeError('not a P-256 signature');
  out.set(der.subarray(from + padding, from + length), end - (length - padding));
  return from + length;
}

/** Signs texts as C2SP signed notes (https://c2sp.org/signed-note), with each of the Ed25519 keys, the current one first. */
export interface NoteSigner {
  /** Returns the whole note. @param text must end with a line feed. */
  signNote(name: string, text: string): string;
  /** Verifier keys for notes of that name: `<name>+<key id>+<key>` each. */
  verifierKeys(name: string): readonly string[];
}

/** Algorithm byte of Ed25519 in key ids and verifier keys. */
const ED25519 = Buffer.of(1);

/**
 * Signs with the older keys too, while they are configured. Followers of the log that know only an older key can then continue, and find
 * the newer key beside it.
 */
export function noteSigner(seeds: readonly Pick<SeedKeys, 'ed25519'>[]): NoteSigner {
  const keys = seeds.map(({ ed25519: { key, jwk } }) => ({ key, raw: Buffer.from(String(jwk.x), 'base64url') }));
  return {
    signNote: (name, text) => `${text}\n${keys.map(({ key, raw }) => signatureLine(name, text, key, raw)).join('')}`,
    verifierKeys: name =>
      keys.map(({ raw }) => {
        const key = Buffer.concat([ED25519, raw]).toString('base64');
        return `${name}+${keyId(name, raw).toString('hex')}+${key}`;
      }),
  };
}

function signatureLine(name: string, text: string, key: KeyObject, raw: Buffer): string {
  const signed = Buffer.concat([keyId(name, raw), sign(null, Buffer.from(text), key)]);
  return `\u2014 ${name} ${signed.toString('base64')}\n`;
}

/** The first four bytes of SHA-256 over name, line feed, algorithm and key. They identify the key, and prove nothing. */
function keyId(name: string, raw: Buffer): Buffer {
  return sha256(Buffer.concat([Buffer.from(`${name}\n`), ED25519, raw])).subarray(0, 4);
}
