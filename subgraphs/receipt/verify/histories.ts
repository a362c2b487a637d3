import {
  canonicalHash,
  canonicalJson,
  isJsonObject,
  type Json,
  type JsonObject,
  present,
} from '../../../schema/canonical-json.ts';
import { sha256Hex } from '../../../schema/digest.ts';
import { documents } from '../../../schema/documents.ts';
import { tokenOf } from './issuer-document.ts';
import { revocationOf } from './key-times.ts';
import { always, type Coverage, type DocumentVerification, judgeDocument, unsignedIn } from './report.ts';
import { type Jwks, keysIn, parseJws, verifyEs256 } from './signature.ts';
import {
  type Check,
  issuerRules,
  issuerSigned,
  judgeBy,
  type Rule,
  type SignedDocument,
  tokenFault,
  undatedFault,
  unless,
} from './signed-document.ts';

/* Verifies the histories that an issuer publishes: of its keys, of its receipt policies, and of the keys that it revoked. */

export const isIssuerHistory = ({ schema }: JsonObject) => schema === documents.issuer_history;
export const isReceiptPolicyHistory = ({ schema }: JsonObject) => schema === documents.receipt_policy_history;
export const isRevocations = ({ schema }: JsonObject) => schema === documents.revocations;

interface History {
  readonly noun: string;
  /** Rules for the token, which are checked before `rules`. */
  readonly by: readonly Rule<SignedDocument>[];
  readonly rules: readonly Rule<SignedDocument>[];
  /** Paths of the members that the token signs, directly or by a hash. */
  readonly signed: readonly string[];
  readonly unchecked: readonly string[];
}

/** Other available histories and lists of revocations. A listed revocation that no key of the key set signed counts as a fault. */
interface KnownDocuments {
  readonly histories?: readonly JsonObject[];
}

/** Verifies a snapshot of an issuer's keys against a published key set. */
export function verifyIssuerHistory(
  document: JsonObject,
  jwks: Jwks,
  { histories = [] }: KnownDocuments = {},
): DocumentVerification {
  const before = ({ jws: { header, claims } }: SignedDocument) =>
    historySignerFault(document, header.kid, claims, jwks, histories);
  return verifyHistory(document, jwks, {
    by: [...issuerSigned.filter(({ code }) => code !== 'key_revoked'), keyRule(before)],
    noun: 'issuer history',
    rules: [
      hashRule('issuer_history', ({ document: { snapshot } }) => snapshot ?? null),
      {
        code: 'keys_differ',
        says: 'Every key in keys is named by the snapshot.',
        fault: ({ document: { keys, snapshot } }) =>
          unless(
            listIn(keys).length > 0 && listIn(keys).every(({ kid }) => kidsIn(snapshot).includes(String(kid))),
            'keys contains a key that the snapshot does not name.',
          ),
      },
      {
        code: 'revocation_unsigned',
        says: 'Each revocation in keys was signed by a key that was not revoked at that time.',
        fault: ({ document: { keys } }) => revocationsFault(besideKeys(keys, histories, jwks), jwks),
      },
      {
        code: 'thumbprint_differs',
        says: 'Each public key has the thumbprint (RFC 7638) that the snapshot states for it.',
        fault: ({ document: { keys, snapshot } }) =>
          unless(
            listIn(keys).every(entry => jwksFit(entry, snapshot)),
            'A public key in keys does not have the thumbprint that the snapshot states.',
          ),
      },
    ],
    signed: ['schema', 'version', 'hash', 'snapshot', 'issuer_signature.jws'],
    unchecked: [
      'Whether the history now has a newer version, and whether others were shown a different history: compare hashes.',
      'When each key was activated and retired: the issuer states these times without a signature.',
    ],
  });
}

/** Verifies the receipt policies that an issuer publishes: each by its stated hash, and the newest also by the signature. */
export function verifyReceiptPolicyHistory(document: JsonObject, jwks: Jwks): DocumentVerification {
  return verifyHistory(document, jwks, {
    noun: 'history of receipt policies',
    by: issuerRules,
    rules: [
      hashRule('receipt_policy', ({ document: { policies } }) => listIn(policies).at(-1)?.policy ?? null),
      {
        code: 'policy_differs',
        says: 'Each policy has the hash that is stated for it.',
        fault: ({ document: { policies } }) =>
          unless(
            listIn(policies).every(({ policy = null, hash }) => canonicalHash(policy) === hash),
            'A policy does not have the hash that is stated for it.',
          ),
      },
    ],
    signed: ['schema', 'version', 'hash', 'policies', 'issuer_signature.jws'],
    unchecked: [
      'Earlier policies, and the times of each policy: the issuer signs only the newest one.',
      'Whether an earlier policy is the one that a receipt signs: compare its hash with receipt_policy.hash.',
    ],
  });
}

function verifyHistory(
  document: JsonObject,
  jwks: Jwks,
  { noun, by, rules, signed, unchecked }: History,
): DocumentVerification {
  const token = tokenOf(document);
  const jws = parseJws(token);
  if (jws === null) return tokenFault(token, `This is not a valid ${noun}: issuer_signature.jws is missing.`);
  const coverage: Coverage<SignedDocument> = Object.fromEntries(signed.map(name => [name, always]));
  return judgeDocument({ document, payload: jws.claims, jws, jwks }, jws.claims, {
    noun,
    rules: [...by, ...rules],
    reportOn: opened => ({
      unsigned: unsignedIn(document, opened, { coverage, lane: BESIDE }),
      broken: [],
      unchecked,
    }),
  });
}

const BESIDE: ReadonlySet<string> = new Set([
  'activated_at',
  'retired_at',
  'keys',
  'snapshots',
  'issuer_signature.alg',
  'issuer_signature.kid',
]);

/** Rule that the newest version in the document has the hash and the version number that the token signs under `name`. */
function hashRule(name: string, shown: (opened: SignedDocument) => Json): Rule<SignedDocument> {
  return {
    code: 'history_differs',
    says: 'The newest version has the signed hash and version number.',
    fault: opened => {
      const { hash, version } = memberOf(opened.payload[name]);
      const { document } = opened;
      const same = hash === document.hash && version === document.version && canonicalHash(shown(opened)) === hash;
      return unless(same, 'The newest version does not have the signed hash or version number.');
    },
  };
}

/**
 * Verifies that the issuer signed a statement for each key that is listed as revoked. A revocation that is missing from the list cannot be
 * detected.
 */
export function verifyRevocations(
  document: JsonObject,
  jwks: Jwks,
  { histories = [] }: KnownDocuments = {},
): DocumentVerification {
  const revoked = listIn(document.keys).filter(({ status }) => status === 'revoked');
  const others = histories.filter(isRevocations).flatMap(({ keys }) => listIn(keys));
  const beside = others.filter(
    ({ status, statement }) => status === 'revoked' && !revoked.some(entry => entry.statement === statement),
  );
  const shown = [...shownIn(revoked, jwks), ...shownIn(beside, jwks)];
  const judged = judgeBy(revocationRules, { revoked, shown, jwks });
  if (judged.kind === 'invalid') return judged;
  const report = {
    unsigned: { lane: Object.keys(document).filter(name => name !== 'schema'), unknown: [] },
    broken: [],
    unchecked: [
      'Whether every revoked key and session is listed: the issuer’s key set shows for each key whether it was revoked.',
      'Whether the listed sessions were revoked: a session is revoked by its payer’s signature, not by the issuer’s.',
    ],
  };
  return { kind: 'valid', claims: { revoked: revoked.map(({ kid = null }) => kid) }, checks: judged.checks, report };
}

interface RevokedKeys {
  readonly revoked: readonly JsonObject[];
  readonly shown: readonly KeyStatement[];
  readonly jwks: Jwks;
}

const revocationRules: readonly Rule<RevokedKeys>[] = [
  {
    code: 'revocation_unsigned',
    says: 'The issuer signed each revocation with a key that was not revoked at that time. Signed are the key, the times, the reason and the state of the log.',
    fault: ({ revoked, shown, jwks }) => {
      const nameless = revoked.find(entry => seedOf(entry, revoked, jwks) === null);
      if (nameless !== undefined) return `No key of the key set signed the revocation of ${String(nameless.kid)}.`;
      return revocationsFault(shown, jwks);
    },
  },
];

/** The statement of each entry. One statement revokes the three keys of a seed, and it names the ES256 key. */
function shownIn(revoked: readonly JsonObject[], jwks: Jwks): KeyStatement[] {
  return revoked.map(entry => {
    const kid = seedOf(entry, revoked, jwks);
    return { kid, entry, statement: entry.statement, linked: true };
  });
}

/**
 * Kid of the ES256 key that names the seed of a key; null if it is unknown. No revocation signs which other two keys belong to the seed, so
 * all three must have the same times in the key set.
 */
function seedOf({ kid = null, alg, seq }: JsonObject, revoked: readonly JsonObject[], jwks: Jwks): Json {
  if (alg === 'ES256') return kid;
  const seed = revoked.find(each => each.alg === 'ES256' && each.seq === seq)?.kid ?? null;
  const [own, others] = [timesIn(jwks, kid), timesIn(jwks, seed)];
  return own !== null && own === others ? seed : null;
}

/** The times of a key as one text, to compare them; null if the key set does not have this key. */
function timesIn(jwks: Jwks, kid: Json): string | null {
  const key = keysIn(jwks).find(each => each.kid === kid);
  if (key === undefined) return null;
  const { nbf = null, exp = null, revoked = null } = key;
  return canonicalJson({ nbf, exp, revoked });
}

/** Whether the snapshot states the thumbprints of all public keys of a seed. */
function jwksFit({ kid, jwks }: JsonObject, snapshot: Json | undefined): boolean {
  const entry = listIn(memberOf(snapshot).entries).find(each => each.kid === kid);
  const thumbprints = Object.values(memberOf(entry?.thumbprints));
  const shown = listIn(memberOf(jwks).keys);
  return shown.every(jwk => jwk.kid === thumbprintOf(jwk) && thumbprints.includes(String(jwk.kid)));
}

/** Thumbprint of a key (RFC 7638): SHA-256 of only the required members, in canonical order, in base64url. */
function thumbprintOf({ kty = null, crv = null, x = null, y = null }: JsonObject): string {
  const text = canonicalJson(present({ kty, crv, x, y }));
  return Buffer.from(sha256Hex(text), 'hex').toString('base64url');
}

/** Revocations that `keys` shows, and those of all other keys in the available lists: an older snapshot does not show later keys. */
function besideKeys(keys: Json | undefined, histories: readonly JsonObject[], jwks: Jwks): KeyStatement[] {
  const shown = listIn(keys).flatMap(({ kid = null, revoked }): KeyStatement[] =>
    isJsonObject(revoked) ? [{ kid, entry: revoked, statement: revoked.jws, linked: false }] : [],
  );
  if (shown.length === 0) return [];
  const listed = histories.filter(isRevocations).flatMap(document => listIn(document.keys));
  const revoked = listed.filter(({ status }) => status === 'revoked');
  return [...shown, ...shownIn(revoked, jwks).filter(({ kid }) => !shown.some(each => each.kid === kid))];
}

const keyRule = (fault: Rule<SignedDocument>['fault']): Rule<SignedDocument> => ({
  code: 'key_revoked',
  says: 'The signing key is not revoked, or a later version with a valid signature builds on this one.',
  fault,
});

/**
 * The fault of a history whose signing key was revoked. Null if the key was not revoked, or if a later version, signed by a key in force,
 * builds on this history.
 */
function historySignerFault(
  { hash }: JsonObject,
  kid: Json | undefined,
  { iat }: JsonObject,
  jwks: Jwks,
  histories: readonly JsonObject[],
): string | Check | null {
  const fault = undatedFault(jwks, kid, iat);
  if (fault === null || typeof fault === 'string') return fault;
  const later = histories.some(
    other =>
      isIssuerHistory(other) &&
      other.hash !== hash &&
      verifyIssuerHistory(other, jwks).kind === 'valid' &&
      isBefore(hash, other.snapshot),
  );
  return later
    ? null
    : { ...fault, sentence: `${fault.sentence} Also give the newest /.well-known/issuer-history.json.` };
}

const memberOf = (value: Json | undefined): JsonObject => (isJsonObject(value) ? value : {});
const listIn = (value: Json | undefined): readonly JsonObject[] =>
  Array.isArray(value) ? value.filter(isJsonObject) : [];
const kidsIn = (snapshot: Json | undefined) => listIn(memberOf(snapshot).entries).map(({ kid }) => String(kid));

/**
 * The statement that a key was revoked: the hashed members, and the token over their hash. A holder of a revoked key can sign a statement
 * with any time in it. A statement by such a key therefore counts only if a later statement builds on it. Each revocation names the hash of
 * the previous revocation, and each version of the keys names the hash of the previous version.
 */
interface KeyStatement {
  /** Kid of the ES256 key of the seed. */
  readonly kid: Json;
  readonly entry: JsonObject;
  readonly statement: Json | undefined;
  /** Whether the entry shows the hash of the previous revocation. If not, as in a history, the hashes of the other statements are tried. */
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

/** The fault of the first revocation that no key in force signed; null if there is none. */
function revocationsFault(shown: readonly KeyStatement[], jwks: Jwks): string | Check | null {
  const statements: Statement[] = [];
  for (const each of shown) {
    const statement = statementIn(each, shown, jwks);
    if (statement === null) return `No key of the key set signed the revocation of ${String(each.kid)}.`;
    statements.push(statement);
  }
  for (const statement of statements) {
    const fault = signerFault(statement, statements, jwks);
    if (fault !== null) return fault;
  }
  return null;
}

/** Verifies the signature of a statement; null if it is invalid. The token signs the hash of a document, which is rebuilt here. */
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
 * The fault of the key that signed a statement. If that key was itself revoked, the statement counts if that revocation follows it in the
 * chain. If that revocation is not shown, the time in the key set decides whether the statement is false or undecided.
 */
function signerFault(statement: Statement, all: readonly Statement[], jwks: Jwks): string | Check | null {
  const { kid, signed_by, revoked_at } = statement;
  const own = all.find(other => other.kid === signed_by);
  const later = `The revocation of ${String(kid)} was signed by ${String(signed_by)}, a key that was already revoked.`;
  if (own !== undefined) return standsOn(own, statement, all) && ms(own.revoked_at) >= ms(revoked_at) ? null : later;
  const revoked = revocationOf(jwks, signed_by);
  if (revoked === null) return null;
  if (!(Math.floor(ms(revoked_at) / 1000) * 1000 <= ms(revoked.at))) return later;
  return {
    code: 'needs_history',
    sentence: `The revocation of ${String(kid)} was signed by ${String(signed_by)}, which was revoked at ${revoked.at}. To see whether the revocation was signed before that, also give the newest /.well-known/revocations.`,
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
 * Whether the snapshot with this hash is an earlier version of a later snapshot. Each snapshot names the hash of the previous one. The
 * earlier ones can be rebuilt from a later one, because it names all of their keys.
 */
function isBefore(hash: Json | undefined, later: Json | undefined): boolean {
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
