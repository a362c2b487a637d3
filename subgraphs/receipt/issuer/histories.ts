import { createHash } from 'node:crypto';
import { canonicalHash, canonicalJson, type Json, type JsonObject } from '../../../schema/canonical-json.ts';
import { iso } from '../../clock.ts';
import { parseJws, verifyEs256 } from '../verify/signature.ts';
import { policies } from './policy.ts';
import {
  findRevocation,
  type Revocation,
  type RevocationFacts,
  revocationClaims,
  revocationDocument,
} from './revocation.ts';
import {
  historyRef,
  kidOf,
  type PublicKeys,
  type Snapshot,
  snapshotDocument,
  succession,
  type Version,
} from './snapshot.ts';

/** The issuer's keys, the revocations of keys, and the policies of its receipts, each oldest first. They only grow. */
export interface Histories {
  readonly snapshots: readonly Snapshot[];
  readonly policies: readonly Version[];
  /** Revocations of keys that others may hold, in the order in which they were declared. */
  readonly revocations: readonly Revocation[];
}

export const noHistories: Histories = { snapshots: [], policies: [], revocations: [] };

/** Thrown if a history is not the one that was published, or cannot become the one that is configured. */
export class BrokenHistory extends Error {
  override name = 'BrokenHistory';
}

/** A configured seed, with only what a history needs of it. */
export interface HistorySeed {
  readonly keys: PublicKeys;
  /** Signs with the ES256 key of this seed. */
  sign(claims: JsonObject): string;
}

/**
 * Adds to the histories the configured seeds and the policies of this code that they lack. Returns the same object if they lack nothing.
 * @param seeds oldest first. @throws BrokenHistory if the seeds do not continue the history.
 */
export function historiesAfter(known: Histories, seeds: readonly HistorySeed[], now_ms: number): Histories {
  const added = addedSeeds(known, seeds);
  const unpublished = unpublishedPolicies(known.policies);
  if (added.length === 0 && unpublished.length === 0) return known;
  const snapshots = [...known.snapshots];
  for (const seed of added) snapshots.push(nextSnapshot(snapshots, seed, now_ms));
  const published = [...known.policies];
  for (const document of unpublished) published.push(nextVersion(published, document, now_ms));
  return { ...known, snapshots, policies: published };
}

/**
 * Requires that the seed of the current key is configured. A new seed replaces the current one by being configured before it. A process
 * without the current seed belongs to another service, or has lost the seed. It must not end that key without a statement of the operator.
 * @throws BrokenHistory
 */
export function requireSuccession({ snapshots }: Histories, kids: readonly string[]): void {
  const newest = snapshots.at(-1);
  if (newest === undefined || kids.includes(kidOf(newest.keys))) return;
  throw new BrokenHistory(
    `ISSUER_KEYS lacks the seed of the current signing key, ${kidOf(newest.keys)}: a new seed replaces a key only if the old seed follows it. ` +
      'Put its seed after the new one; if it is lost: npm run accept-changed -- ISSUER_KEYS',
  );
}

/**
 * Policies of this code that are not published yet. None if a newer process has published more policies than this code knows; this process
 * then continues with the newest that it knows.
 */
function unpublishedPolicies(published: readonly Version[]): readonly JsonObject[] {
  const other = published.find(({ hash }, index) => policies[index] && canonicalHash(policies[index]) !== hash);
  if (other !== undefined)
    throw new BrokenHistory(
      `version ${other.version} of the receipt policy was published with hash ${other.hash}, but differs in this code: ` +
        'a published policy never changes',
    );
  return policies.slice(published.length);
}

function addedSeeds({ snapshots, revocations }: Histories, seeds: readonly HistorySeed[]): readonly HistorySeed[] {
  const known = snapshots.map(({ keys }) => kidOf(keys));
  const configured = seeds.map(({ keys }) => kidOf(keys));
  const revoked = findRevocation(revocations, configured.at(-1) ?? '');
  if (revoked !== null)
    throw new BrokenHistory(
      `the current key of ISSUER_KEYS, ${revoked.kid}, was revoked at ${revoked.revoked_at} (${revoked.reason}): a revoked ` +
        `key never signs again. Put the seed of ${known.at(-1)} first, or a new one`,
    );
  const next = succession(known, configured);
  switch (next.kind) {
    case 'retired_key':
      throw new BrokenHistory(
        `the current key of ISSUER_KEYS, ${next.kid}, is version ${known.indexOf(next.kid) + 1} of the issuer history ` +
          `and was retired by version ${known.indexOf(next.kid) + 2}: a retired key signs no more. Put the seed of ` +
          `${known.at(-1)} first, or a new one`,
      );
    case 'unrecorded_key':
      throw new BrokenHistory(
        `ISSUER_KEYS holds an older seed, of the key ${next.kid}, that the issuer history does not contain: a history only ` +
          'grows at its end. Leave that seed out, or put it first to sign with it from now on',
      );
    case 'continues':
      return seeds.filter(({ keys }) => next.added.includes(kidOf(keys)));
  }
}

function nextSnapshot(known: readonly Snapshot[], { keys, sign }: HistorySeed, now_ms: number): Snapshot {
  const version = nextVersion(known, snapshotDocument(known.at(-1)?.document ?? null, keys), now_ms);
  return { ...version, keys, jws: sign(activation(version)) };
}

export type RevocationOutcome =
  | { readonly kind: 'revoked'; readonly histories: Histories; readonly revocation: Revocation }
  /** The history contains no key with this kid. */
  | { readonly kind: 'unknown_key' }
  /** The key still signs. Another key must replace it first. */
  | { readonly kind: 'current_key' }
  | { readonly kind: 'already_revoked'; readonly revoked_at: string };

/**
 * Adds the revocation of one more key to the histories. From then on, only signatures of the key that the log contained before are valid.
 * @param sign signs with a key in force
 */
export function revokeInHistories(
  known: Histories,
  revoked: RevocationFacts,
  { sign, now_ms }: { sign(claims: JsonObject): string; readonly now_ms: number },
): RevocationOutcome {
  const { snapshots, revocations } = known;
  const at = snapshots.findIndex(({ keys }) => kidOf(keys) === revoked.kid);
  const already = findRevocation(revocations, revoked.kid);
  if (at === -1) return { kind: 'unknown_key' };
  if (already !== null) return { kind: 'already_revoked', revoked_at: already.revoked_at };
  if (at === snapshots.length - 1) return { kind: 'current_key' };
  const revoked_at = iso(Math.max(now_ms, Date.parse(revocations.at(-1)?.activated_at ?? iso(0))));
  const document = revocationDocument(revocations, revoked, revoked_at);
  const version = { ...nextVersion(revocations, document, Date.parse(revoked_at)), document };
  const revocation = { ...version, jws: sign(revocationClaims(version)) };
  return { kind: 'revoked', histories: { ...known, revocations: [...revocations, revocation] }, revocation };
}

/** Claims that are signed for a snapshot: its hash, and the time from which it is current. */
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
    // Even if the clock was set back, a version is not older than the one before it.
    activated_at: iso(Math.max(now_ms, last === undefined ? 0 : Date.parse(last.activated_at))),
  };
}

/**
 * Checks stored histories without trusting them: hashes, links and thumbprints are computed again, and signatures are verified. @throws
 * BrokenHistory
 */
export function requireSound({ snapshots, policies, revocations }: Histories, where: string): void {
  const unlinked =
    namedFault('issuer history', snapshots, faultInSnapshot) ??
    namedFault('receipt policy history', policies, () => null) ??
    namedFault('list of revoked keys', revocations, each => faultInRevocation(each, snapshots, revocations));
  if (unlinked !== null) throw new BrokenHistory(`${unlinked}, in ${where}`);
}

type Fault<V> = (version: V, before: V | undefined) => string | null;

function namedFault<V extends Version>(what: string, versions: readonly V[], faultIn: Fault<V>): string | null {
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
  if (canonicalHash(document) !== hash) return 'does not match its hash';
  const linked = previous_hash === (before?.hash ?? null) && signed === previous_hash;
  return linked ? null : 'does not name the version before it';
}

function faultInSnapshot(snapshot: Snapshot, before: Snapshot | undefined): string | null {
  const { keys, hash, jws } = snapshot;
  const { es256, ed25519, secp256k1 } = keys;
  if (![es256, ed25519, secp256k1].every(jwk => jwk.kid === thumbprint(jwk)))
    return 'contains a key with another thumbprint';
  const rebuilt = snapshotDocument(before?.document ?? null, keys);
  if (canonicalHash(rebuilt) !== hash) return 'does not name the keys that are published with it';
  const parsed = parseJws(jws);
  if (parsed === null || !verifyEs256({ keys: [es256] }, kidOf(keys), parsed.input, parsed.signature))
    return 'is not signed by its own key';
  const { iss: _, ...claims } = parsed.claims;
  return canonicalJson(claims) === canonicalJson(activation(snapshot)) ? null : 'differs from what its key has signed';
}

/**
 * What is wrong with a revocation, or null. It must be signed by a key of the history that neither it nor an earlier revocation revokes.
 */
function faultInRevocation(
  revocation: Revocation,
  snapshots: readonly Snapshot[],
  revocations: readonly Revocation[],
): string | null {
  const { document, jws, activated_at, version } = revocation;
  const kids = snapshots.map(({ keys }) => kidOf(keys));
  if (document.revoked_at !== activated_at || !kids.includes(document.kid)) return 'names another time or key';
  const parsed = parseJws(jws);
  const keys = snapshots
    .map(snapshot => snapshot.keys.es256)
    .filter(({ kid }) => findRevocation(revocations.slice(0, version), String(kid)) === null);
  if (parsed === null || !verifyEs256({ keys }, parsed.header.kid, parsed.input, parsed.signature))
    return 'is not signed by a key in force';
  const { iss: _, ...claims } = parsed.claims;
  return canonicalJson(claims) === canonicalJson(revocationClaims(revocation)) ? null : 'differs from what was signed';
}

/** Thumbprint of a JWK over its required members alone (RFC 7638 §3.2). */
function thumbprint({ kty, crv, x, y }: JsonObject): string {
  const required: Record<string, Json> = { crv: crv ?? null, kty: kty ?? null, x: x ?? null };
  if (y !== undefined) required.y = y;
  return createHash('sha256').update(canonicalJson(required)).digest('base64url');
}
