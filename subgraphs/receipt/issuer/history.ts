import { type JsonObject, present } from '../../../schema/canonical-json.ts';
import { documents } from '../../../schema/documents.ts';
import { kidOf, type Snapshot } from './snapshot.ts';
import type { Version } from './version.ts';

export interface WantedSnapshot {
  readonly version?: number;
  readonly hash?: string;
}

/**
 * A snapshot as it is published: the document whose hash receipts sign, and beside it the keys that it names by their
 * hashes, with their times. The newest one where neither version nor hash is wanted; null where there is none such.
 */
export function historyDocument(snapshots: readonly Snapshot[], wanted: WantedSnapshot): JsonObject | null {
  const at = snapshots.findLastIndex(
    ({ version, hash }) =>
      (wanted.version === undefined || version === wanted.version) &&
      (wanted.hash === undefined || hash === wanted.hash),
  );
  const found = snapshots[at];
  if (found === undefined) return null;
  return present({
    schema: documents.issuer_history,
    version: found.version,
    hash: found.hash,
    ...timesOf(snapshots, at),
    snapshot: found.document,
    keys: snapshots.slice(0, at + 1).map((snapshot, index) =>
      present({
        seq: snapshot.version,
        kid: kidOf(snapshot.keys),
        ...timesOf(snapshots, index),
        jwks: { keys: jwksOf(snapshot) },
      }),
    ),
    issuer_signature: { alg: 'ES256', kid: kidOf(found.keys), jws: found.jws },
    snapshots: snapshots.map((each, index) =>
      present({ version: each.version, hash: each.hash, ...timesOf(snapshots, index) }),
    ),
  });
}

/** A version is retired when the next one is appended. */
function timesOf(versions: readonly Version[], index: number) {
  return {
    activated_at: versions[index]?.activated_at ?? null,
    retired_at: versions[index + 1]?.activated_at ?? null,
  };
}

/** Every public key that ever signed, the newest first: old receipts go on verifying without their seeds. */
export function keySet(snapshots: readonly Snapshot[]): JsonObject {
  return { keys: snapshots.toReversed().flatMap(jwksOf) };
}

function jwksOf({ keys: { es256, ed25519, secp256k1 } }: Pick<Snapshot, 'keys'>): JsonObject[] {
  return [es256, ed25519, secp256k1];
}

/** The public append-only document; the signature covers the newest version's number and hash. */
export function policyHistory(versions: readonly Version[], sign: (claims: JsonObject) => string): JsonObject {
  const newest = versions.at(-1);
  if (newest === undefined) throw new RangeError('no receipt policy is published');
  const { version, hash } = newest;
  return {
    schema: documents.receipt_policy_history,
    version,
    hash,
    policies: versions.map((each, index) =>
      present({ version: each.version, hash: each.hash, ...timesOf(versions, index), policy: each.document }),
    ),
    issuer_signature: { alg: 'ES256', jws: sign({ receipt_policy: { hash, version } }) },
  };
}
