import { type JsonObject, present } from '../../../schema/canonical-json.ts';
import { documents } from '../../../schema/documents.ts';
import { KEY_LAST_CALLS_SECONDS, KEY_OVERLAP_SECONDS } from '../../../schema/key-times.ts';
import { kidOf, type Snapshot, type Version } from './snapshot.ts';

/** The operator's statement about a key that others may hold. Its document names the document before it by hash, and never changes. */
export interface Revocation extends Version {
  readonly document: RevocationDocument;
  /** ES256 over {iss, iat, key_revocation, revoked_at}, by a key that was in force then. */
  readonly jws: string;
}

export interface RevocationDocument extends JsonObject {
  readonly schema: typeof documents.key_revocation;
  readonly version: number;
  /** Kid of the seed's ES256 key. The seed's other two keys are revoked with it. */
  readonly kid: string;
  /** Time from which others may have held the key (ISO 8601). */
  readonly since: string;
  readonly revoked_at: string;
  readonly reason: string;
  /** The log at `since`. What it contains stays valid; everything else that this key has signed is invalid. */
  readonly log: { readonly tree_size: number; readonly root_hash: string };
}

export type RevocationFacts = Pick<RevocationDocument, 'kid' | 'since' | 'reason' | 'log'>;

export function revocationDocument(before: readonly Revocation[], revoked: RevocationFacts, revoked_at: string) {
  const schema = documents.key_revocation;
  const previous_hash = before.at(-1)?.hash ?? null;
  return present({ schema, version: before.length + 1, ...revoked, revoked_at, previous_hash }) as RevocationDocument;
}

/** Claims that are signed for a revocation: its hash, and the time at which it was declared. */
export function revocationClaims({ hash, version, activated_at: revoked_at }: Version): JsonObject {
  return { iat: Math.floor(Date.parse(revoked_at) / 1000), key_revocation: { hash, version }, revoked_at };
}

export function findRevocation(revocations: readonly Revocation[], kid: string): RevocationDocument | null {
  return revocations.find(({ document }) => document.kid === kid)?.document ?? null;
}

/** State of a key. A key that was replaced stays `in_force` for as long as restarting all processes may take. */
export type KeyStanding = 'in_force' | 'retired' | 'revoked';

interface KnownKeys {
  readonly snapshots: readonly Snapshot[];
  readonly revocations: readonly Revocation[];
}

/**
 * Time in milliseconds until which the key with this kid may sign payments and receipts. Null if there is no end: for the newest key, and
 * for a key that the histories do not contain.
 */
export function signsUntilMs({ snapshots }: Pick<KnownKeys, 'snapshots'>, kid: string): number | null {
  const at = snapshots.findIndex(({ keys }) => kidOf(keys) === kid);
  const next = at === -1 ? undefined : snapshots[at + 1];
  if (next === undefined) return null;
  return Date.parse(next.activated_at) + (KEY_OVERLAP_SECONDS - KEY_LAST_CALLS_SECONDS) * 1000;
}

/** State of the key with this kid. A process whose key is not in force accepts no payment. */
export function keyStanding(known: KnownKeys, kid: string, now_ms: number): KeyStanding {
  if (findRevocation(known.revocations, kid) !== null) return 'revoked';
  const until_ms = signsUntilMs(known, kid);
  return until_ms !== null && now_ms > until_ms ? 'retired' : 'in_force';
}
