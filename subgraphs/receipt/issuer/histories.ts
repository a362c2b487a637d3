import { createHash } from 'node:crypto';
import { canonicalHash, canonicalJson, type Json, type JsonObject } from '../../../schema/canonical-json.ts';
import { iso } from '../../clock.ts';
import { parseJws, verifyEs256 } from '../verify/signature.ts';
import { policies } from './policy.ts';
import {
  historyRef,
  kidOf,
  type PublicKeys,
  type Snapshot,
  snapshotDocument,
  succession,
  type Version,
} from './snapshot.ts';

/** The issuer's keys and the policies of its receipts, oldest first. Both only grow. */
export interface Histories {
  readonly snapshots: readonly Snapshot[];
  readonly policies: readonly Version[];
}

export const noHistories: Histories = { snapshots: [], policies: [] };

/** A history is not the one that was published, or cannot become the one that is configured. */
export class BrokenHistory extends Error {
  override name = 'BrokenHistory';
}

/** A configured seed, as far as a history has to do with it. */
export interface HistorySeed {
  readonly keys: PublicKeys;
  /** By its own ES256 key. */
  sign(claims: JsonObject): string;
}

/**
 * The histories with what is new: the configured seeds and the policies of this code that they lack. The same object where
 * nothing is. @param seeds oldest first. @throws BrokenHistory where the seeds do not continue the history.
 */
export function historiesAfter(known: Histories, seeds: readonly HistorySeed[], now_ms: number): Histories {
  const added = addedSeeds(known.snapshots, seeds);
  const unpublished = unpublishedPolicies(known.policies);
  if (added.length === 0 && unpublished.length === 0) return known;
  const snapshots = [...known.snapshots];
  for (const seed of added) snapshots.push(nextSnapshot(snapshots, seed, now_ms));
  const published = [...known.policies];
  for (const document of unpublished) published.push(nextVersion(published, document, now_ms));
  return { snapshots, policies: published };
}

/** None where a newer process has published more than this code knows: it goes on by the newest that it does know. */
function unpublishedPolicies(published: readonly Version[]): readonly JsonObject[] {
  const other = published.find(({ hash }, index) => policies[index] && canonicalHash(policies[index]) !== hash);
  if (other !== undefined)
    throw new BrokenHistory(
      `version ${other.version} of the receipt policy was published with hash ${other.hash}, and is another in this code: ` +
        'a published policy never changes',
    );
  return policies.slice(published.length);
}

function addedSeeds(snapshots: readonly Snapshot[], seeds: readonly HistorySeed[]): readonly HistorySeed[] {
  const known = snapshots.map(({ keys }) => kidOf(keys));
  const next = succession(
    known,
    seeds.map(({ keys }) => kidOf(keys)),
  );
  switch (next.kind) {
    case 'retired_key':
      throw new BrokenHistory(
        `the current key of ISSUER_KEYS, ${next.kid}, is version ${known.indexOf(next.kid) + 1} of the issuer history ` +
          `and was retired by version ${known.indexOf(next.kid) + 2}: a retired key signs no more. Put the seed of ` +
          `${known.at(-1)} first, or a new one`,
      );
    case 'unrecorded_key':
      throw new BrokenHistory(
        `ISSUER_KEYS holds an older seed, of the key ${next.kid}, that the issuer history does not know: a history grows ` +
          'at its end alone. Leave that seed out, or put it first to sign by it from now on',
      );
    case 'continues':
      return seeds.filter(({ keys }) => next.added.includes(kidOf(keys)));
  }
}

function nextSnapshot(known: readonly Snapshot[], { keys, sign }: HistorySeed, now_ms: number): Snapshot {
  const version = nextVersion(known, snapshotDocument(known.at(-1)?.document ?? null, keys), now_ms);
  return { ...version, keys, jws: sign(activation(version)) };
}

/** What is signed of a snapshot: its hash, and since when it holds. */
function activation(version: Version): JsonObject {
  const { activated_at } = version;
  return { iat: Math.floor(Date.parse(activated_at) / 1000), issuer_history: historyRef(version), activated_at };
}

function nextVersion(known: readonly Version[], document: JsonObject, now_ms: number): Version {
  const last = known.at(-1);
  return {
    version: known.length + 1,
    hash: canonicalHash(document),
    document,
    previous_hash: last?.hash ?? null,
    // A clock that was set back does not make a version older than the one before it.
    activated_at: iso(Math.max(now_ms, last === undefined ? 0 : Date.parse(last.activated_at))),
  };
}

/** Nothing that was kept is believed: hashes, links, thumbprints and signatures are computed again. @throws BrokenHistory */
export function requireSound({ snapshots, policies }: Histories, where: string): void {
  const unlinked =
    named('issuer history', snapshots, faultInSnapshot) ?? named('receipt policy history', policies, () => null);
  if (unlinked !== null) throw new BrokenHistory(`${unlinked}, in ${where}`);
}

type Fault<V> = (version: V, before: V | undefined) => string | null;

function named<V extends Version>(what: string, versions: readonly V[], faultIn: Fault<V>): string | null {
  for (const [index, version] of versions.entries()) {
    const before = versions[index - 1];
    const fault = faultInLink(version, before) ?? faultIn(version, before);
    if (fault !== null) return `version ${index + 1} of the ${what} ${fault}`;
  }
  return null;
}

function faultInLink({ version, hash, document, previous_hash }: Version, before: Version | undefined): string | null {
  const { version: said, previous_hash: signed = null } = document;
  if (version !== (before?.version ?? 0) + 1 || said !== version) return 'has another number';
  if (canonicalHash(document) !== hash) return 'is not the document of its hash';
  const linked = previous_hash === (before?.hash ?? null) && signed === previous_hash;
  return linked ? null : 'does not name the version before it';
}

function faultInSnapshot(snapshot: Snapshot, before: Snapshot | undefined): string | null {
  const { keys, hash, jws } = snapshot;
  const { es256, ed25519, secp256k1 } = keys;
  if (![es256, ed25519, secp256k1].every(jwk => jwk.kid === thumbprint(jwk)))
    return 'holds a key of another thumbprint';
  const rebuilt = snapshotDocument(before?.document ?? null, keys);
  if (canonicalHash(rebuilt) !== hash) return 'does not name the keys that stand beside it';
  const parsed = parseJws(jws);
  if (parsed === null || !verifyEs256({ keys: [es256] }, kidOf(keys), parsed.input, parsed.signature))
    return 'is not signed by its own key';
  const { iss: _, ...claims } = parsed.claims;
  return canonicalJson(claims) === canonicalJson(activation(snapshot)) ? null : 'is not what its key has signed';
}

/** RFC 7638 §3.2: of the required members alone. */
function thumbprint({ kty, crv, x, y }: JsonObject): string {
  const required: Record<string, Json> = { crv: crv ?? null, kty: kty ?? null, x: x ?? null };
  if (y !== undefined) required.y = y;
  return createHash('sha256').update(canonicalJson(required)).digest('base64url');
}
