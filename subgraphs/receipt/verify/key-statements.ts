import { canonicalHash, isJsonObject, type Json, type JsonObject, present } from '../../../schema/canonical-json.ts';
import { documents } from '../../../schema/documents.ts';
import { revocationOf } from './key-times.ts';
import { type Jwks, parseJws, verifyEs256 } from './signature.ts';
import type { Check } from './signed.ts';

/*
 * Statements of an issuer about its own keys. Whoever holds a key that was revoked can sign one and name any time in it, so that a
 * statement of such a key counts by what stands behind it alone: each revocation names the hash of the one before it, and each
 * version of the keys that of the version before it.
 */

/** That a key was revoked, as it is shown: the members that were hashed, and the token over the hash. */
export interface KeyStatement {
  /** Of the ES256 key of the seed. */
  readonly kid: Json;
  readonly entry: JsonObject;
  readonly statement: Json | undefined;
  /** Whether the hash of the revocation before it is shown: a history leaves it out, and it is that of another one. */
  readonly linked: boolean;
}

interface Statement {
  readonly kid: Json;
  readonly version: number;
  readonly hash: string;
  readonly previous_hash: Json | undefined;
  readonly signed_by: Json;
  readonly revoked_at: string;
}

const ms = (time: Json | undefined) => Date.parse(String(time));

/** The first revocation that is not what a key in force said; null where each is. */
export function revocationsFault(shown: readonly KeyStatement[], jwks: Jwks): string | Check | null {
  const statements: Statement[] = [];
  for (const each of shown) {
    const statement = statementIn(each, shown, jwks);
    if (statement === null) return `No key of the set has signed this revocation of ${String(each.kid)}.`;
    statements.push(statement);
  }
  for (const statement of statements) {
    const fault = signerFault(statement, statements, jwks);
    if (fault !== null) return fault;
  }
  return null;
}

/** The statement signs the hash of a document, which is made again of what is shown. */
function statementIn(each: KeyStatement, shown: readonly KeyStatement[], jwks: Jwks): Statement | null {
  const { kid, entry, statement, linked } = each;
  const claims = signedClaims(jwks, statement);
  const { key_revocation, revoked_at: signed_at } = claims ?? {};
  if (kid === null || typeof signed_at !== 'string' || !isJsonObject(key_revocation)) return null;
  const { version = null, hash = null } = key_revocation;
  const { since, reason, log, revoked_at } = entry;
  const schema = documents.key_revocation;
  const before = linked ? [entry.previous_hash] : [undefined, ...shown.map(other => hashIn(other.statement))];
  const links = (previous_hash: Json | undefined) =>
    canonicalHash(present({ schema, version, kid, since, reason, log, revoked_at, previous_hash })) === hash;
  const found = before.findIndex(links);
  if (found < 0 || revoked_at !== signed_at || typeof version !== 'number' || typeof hash !== 'string') return null;
  const signed_by = parseJws(statement)?.header.kid ?? null;
  return { kid, version, hash, previous_hash: before[found], signed_by, revoked_at: signed_at };
}

function hashIn(statement: Json | undefined): Json | undefined {
  const said = parseJws(statement)?.claims.key_revocation;
  return isJsonObject(said) ? said.hash : undefined;
}

/**
 * By a key that was itself revoked, it counts if the revocation of that key came behind it in the chain; where that is not shown, by
 * the time in the key set it is false, or cannot be told.
 */
function signerFault(statement: Statement, all: readonly Statement[], jwks: Jwks): string | Check | null {
  const { kid, signed_by, revoked_at } = statement;
  const own = all.find(other => other.kid === signed_by);
  const later = `The revocation of ${String(kid)} was signed by ${String(signed_by)}, which had been revoked itself.`;
  if (own !== undefined) return standsOn(own, statement, all) && ms(own.revoked_at) >= ms(revoked_at) ? null : later;
  const revoked = revocationOf(jwks, signed_by);
  if (revoked === null) return null;
  if (!(Math.floor(ms(revoked_at) / 1000) * 1000 <= ms(revoked.at))) return later;
  return {
    code: 'needs_history',
    sentence: `The revocation of ${String(kid)} was signed by ${String(signed_by)}, which was revoked at ${revoked.at}. Whether it was said before that, the newest /.well-known/revocations shows: give it, too.`,
  };
}

/** Whether the chain leads from a revocation back to an earlier one. */
function standsOn(from: Statement, earlier: Statement, all: readonly Statement[]): boolean {
  let at: Statement | undefined = from;
  while (at !== undefined && at.version > earlier.version) {
    const { previous_hash, version }: Statement = at;
    at = all.find(other => other.hash === previous_hash && other.version < version);
  }
  return from.version > earlier.version && at?.hash === earlier.hash;
}

function signedClaims(jwks: Jwks, token: Json | undefined): JsonObject | null {
  const jws = parseJws(token);
  const signed = jws?.header.alg === 'ES256' && verifyEs256(jwks, jws.header.kid, jws.input, jws.signature);
  return signed ? jws.claims : null;
}

/**
 * Whether a snapshot of the keys is one that a later snapshot stands on: each names the hash of the one before it, and those that come
 * before a snapshot can be made again of it alone, since it names all of their keys.
 */
export function isBefore(hash: Json | undefined, later: Json | undefined): boolean {
  const entries = isJsonObject(later) && Array.isArray(later.entries) ? later.entries.filter(isJsonObject) : [];
  let previous_hash: string | null = null;
  for (const [at] of entries.entries()) {
    const known = entries
      .slice(0, at + 1)
      .map((entry, place) => ({ ...entry, status: place === at ? 'current' : 'retired' }));
    const [version, schema] = [at + 1, documents.issuer_history];
    const made: string = canonicalHash(present({ schema, version, seq: version, entries: known, previous_hash }));
    if (made === hash) return at + 1 < entries.length;
    previous_hash = made;
  }
  return false;
}
