import { type JsonObject, present } from '../../../schema/canonical-json.ts';
import { canonicalHash } from '../../../schema/digest.ts';
import { documents } from '../../../schema/documents.ts';
import type { IssuerHistoryRef } from '../../../schema/receipt-payload.ts';
import type { SeedKeys } from './derive.ts';

/**
 * The append-only history of the issuer's keys: snapshot N knows the first N seeds, and names snapshot N-1 by its hash.
 * Nothing in it depends on time or place, so processes with the same seeds publish and sign the same hashes.
 */
function snapshot(seeds: readonly SeedKeys[], version: number): JsonObject {
  const entries = seeds.slice(0, version).map((seed, index) => ({
    seq: index + 1,
    kid: seed.es256.kid,
    status: index + 1 === version ? 'current' : 'retired',
    thumbprints: { ES256: seed.es256.kid, Ed25519: seed.ed25519.kid, ES256K: seed.secp256k1.kid },
    addresses: [seed.secp256k1.address],
  }));
  const previous_hash = version > 1 ? canonicalHash(snapshot(seeds, version - 1)) : null;
  return present({ schema: documents.issuer_history, version, seq: version, entries, previous_hash });
}

/** `hash` is SHA-256 over the canonical form of `snapshot`; receipts sign {hash, version, seq}. */
export function historyDocument(
  seeds: readonly SeedKeys[],
  wanted: { readonly version?: number; readonly hash?: string },
): JsonObject | null {
  const published = seeds.map((_, index) => {
    const content = snapshot(seeds, index + 1);
    return { version: index + 1, hash: canonicalHash(content), content };
  });
  const found = published
    .filter(({ version }) => wanted.version === undefined || version === wanted.version)
    .filter(({ hash }) => wanted.hash === undefined || hash === wanted.hash)
    .at(-1);
  if (found === undefined) return null;
  const { version, hash, content } = found;
  return {
    schema: documents.issuer_history,
    version,
    hash,
    snapshot: content,
    snapshots: published.map(each => ({ version: each.version, hash: each.hash })),
  };
}

export function historyRef(seeds: readonly SeedKeys[]): IssuerHistoryRef {
  const version = seeds.length;
  return { hash: canonicalHash(snapshot(seeds, version)), version, seq: version };
}
