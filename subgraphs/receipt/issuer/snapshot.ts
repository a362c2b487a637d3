import { canonicalHash, type JsonObject, present } from '../../../schema/canonical-json.ts';
import { documents } from '../../../schema/documents.ts';
import type { IssuerHistoryRef } from '../../../schema/receipt-shapes.ts';
import { addressOfPoint } from '../../../schema/secp256k1.ts';

/** One version of a history that only grows. Its document names the document before it by hash, and never changes. */
export interface Version {
  readonly version: number;
  /** SHA-256 of the canonical document. */
  readonly hash: string;
  readonly document: JsonObject;
  /** Hash of the version before. Null for the first version. */
  readonly previous_hash: string | null;
  /** Time at which the version was appended (ISO 8601). It is retired when the next version is appended. */
  readonly activated_at: string;
}

/** The three public keys of one seed, as they are published. */
export interface PublicKeys {
  readonly es256: JsonObject;
  readonly ed25519: JsonObject;
  readonly secp256k1: JsonObject;
}

/**
 * One version of the issuer's keys. The document names them by thumbprint (RFC 7638) and address, which are hashes of `keys`. The new ES256
 * key itself signs the hash of the document and the time.
 */
export interface Snapshot extends Version {
  /** Keys of the seed that this version made the current one. */
  readonly keys: PublicKeys;
  /** ES256 over {iss, iat, issuer_history, activated_at}. */
  readonly jws: string;
}

/**
 * Document that lists every seed that ever signed, oldest first; the last one is current. It contains no time and no URL, so that the same
 * seeds always have the same hash.
 */
export function snapshotDocument(previous: JsonObject | null, keys: PublicKeys): JsonObject {
  const before = previous === null ? [] : (previous.entries as readonly JsonObject[]);
  const version = before.length + 1;
  const entries = [
    ...before.map(entry => ({ ...entry, status: 'retired' })),
    {
      seq: version,
      kid: kidOf(keys),
      status: 'current',
      thumbprints: { ES256: kidOf(keys), Ed25519: String(keys.ed25519.kid), ES256K: String(keys.secp256k1.kid) },
      addresses: [addressOf(keys)],
    },
  ];
  const previous_hash = previous && canonicalHash(previous);
  return present({ schema: documents.issuer_history, version, seq: version, entries, previous_hash });
}

/** Name of a seed: the thumbprint of its ES256 key, which is also the `kid` of every token that it signs. */
export function kidOf({ es256 }: PublicKeys): string {
  return String(es256.kid);
}

/** Address of the secp256k1 key, in EIP-55 spelling. */
export function addressOf({ secp256k1: { x, y } }: PublicKeys): string {
  const point = [x, y].map(part => Buffer.from(String(part), 'base64url'));
  return addressOfPoint(Buffer.concat([Uint8Array.of(4), ...point]));
}

/** Reference to a snapshot, as receipts sign it. The last entry of the snapshot is the key that signs. */
export function historyRef({ hash, version }: Version): IssuerHistoryRef {
  return { hash, version, seq: version };
}

export type Succession =
  /** `added`: configured seeds that the history lacks, oldest first. All of them come after the seeds that it has. */
  | { readonly kind: 'continues'; readonly added: readonly string[] }
  /** The key signed once and was replaced, so by the history it no longer signs. */
  | { readonly kind: 'retired_key'; readonly kid: string }
  /** The key is older than another one that the history contains, but is itself missing there. */
  | { readonly kind: 'unrecorded_key'; readonly kid: string };

/**
 * What the configured seeds add to a history. A history only grows at its end, so a seed can neither return nor be inserted before a known
 * one. Otherwise an older copy would show that this is another history.
 * @param known kids of the history, oldest first
 * @param configured kids of the configured seeds, oldest first; retired seeds may be left out
 */
export function succession(known: readonly string[], configured: readonly string[]): Succession {
  const first = configured.findIndex(kid => !known.includes(kid));
  const added = first === -1 ? [] : configured.slice(first);
  const current = configured.at(-1);
  if (current !== undefined && known.slice(0, -1).includes(current)) return { kind: 'retired_key', kid: current };
  if (added[0] !== undefined && added.some(kid => known.includes(kid)))
    return { kind: 'unrecorded_key', kid: added[0] };
  return { kind: 'continues', added };
}
