import { type JsonObject, present } from '../../../schema/canonical-json.ts';
import { ADDRESSES_TYP, documents } from '../../../schema/documents.ts';
import { KEY_OVERLAP_SECONDS } from '../../../schema/key-times.ts';
import { didWeb } from '../../../schema/links.ts';
import type { SeedKeys } from './derive.ts';
import type { Histories } from './histories.ts';
import { findRevocation, type Revocation } from './revocation.ts';
import { addressOf, historyRef, kidOf, type PublicKeys, type Snapshot, type Version } from './snapshot.ts';

interface WantedSnapshot {
  readonly version?: number | undefined;
  readonly hash?: string | undefined;
}

/**
 * A snapshot as it is published: the document whose hash receipts sign, and beside it the keys that it names by their hashes, with their
 * times. The newest one if neither version nor hash is given; null if it does not exist.
 */
function historyDocument({ snapshots, revocations }: Histories, wanted: WantedSnapshot): JsonObject | null {
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
        revoked: revokedOf(revocations, snapshot),
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

/** Beside what is signed about its keys: the operator's statement, with its own signature. */
function revokedOf(all: readonly Revocation[], { keys }: Snapshot): JsonObject | null {
  const document = findRevocation(all, kidOf(keys));
  const jws = all.find(each => each.document === document)?.jws;
  if (document === null || jws === undefined) return null;
  const { revoked_at, since, reason, log } = document;
  return { revoked_at, since, reason, log, jws };
}

function jwksOf({ keys: { es256, ed25519, secp256k1 } }: Pick<Snapshot, 'keys'>): JsonObject[] {
  return [es256, ed25519, secp256k1];
}

/** The public append-only document; the signature covers the newest version's number and hash. */
function policyHistory(versions: readonly Version[], sign: (claims: JsonObject) => string): JsonObject {
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

/** Public facts of the issuer. */
export interface PublishedIssuer {
  /** DID document in which x402's clients find the keys of signed offers and receipts. */
  readonly did: IssuerDid;
  /**
   * Every public key, also of seeds that are no longer configured, so that old receipts still verify. `addresses` is a token (`typ`
   * svc-addresses+jwt) over {iss, iat, base_urls}: where this service is, and where it was.
   */
  readonly jwks: JsonObject;
  /** The current issuer-history document. */
  readonly history: JsonObject;
  /** A snapshot of it by version or by hash; the current one without either; null if it does not exist. */
  historySnapshot(wanted: WantedSnapshot): JsonObject | null;
  readonly policyHistory: JsonObject;
  /** Keys that no longer sign. */
  readonly revocations: JsonObject;
}

/** Facts of the signer that published documents need. */
interface Publisher {
  readonly base_url: string;
  readonly base_urls: readonly string[];
  readonly did_receipt_kid: string;
  signJws(claims: JsonObject, typ?: string): string;
  now_ms(): number;
}

/** The published documents for the histories as they are known: made once for each state of them. */
export function publisher(signer: Publisher, latest: () => Histories): () => PublishedIssuer {
  let known = latest();
  let made = publish(signer, known);
  return () => {
    if (latest() === known) return made;
    known = latest();
    made = publish(signer, known);
    return made;
  };
}

function publish(signer: Publisher, histories: Histories): PublishedIssuer {
  const { base_url: iss, base_urls } = signer;
  const history = historyDocument(histories, {});
  if (history === null) throw new RangeError('the issuer has no history');
  const sign = (claims: JsonObject, typ?: string) =>
    signer.signJws({ iss, iat: Math.floor(signer.now_ms() / 1000), ...claims }, typ);
  return {
    did: { document: didDocument(iss, histories), receipt_kid: signer.did_receipt_kid },
    // Distinguishes a receipt of a former address, whose links lead to the present one, from one with altered links.
    jwks: { ...publishedKeys(histories), addresses: sign({ base_urls: [...base_urls] }, ADDRESSES_TYP) },
    history,
    historySnapshot: wanted => historyDocument(histories, wanted),
    policyHistory: policyHistory(histories.policies, sign),
    revocations: revocations(histories),
  };
}

const seconds = (time: string) => Math.floor(Date.parse(time) / 1000);

/**
 * Every public key that ever signed, the newest first, so that old receipts still verify without their seeds; each with the times in which
 * it signed (`nbf`, `exp`, `revoked`: OpenID Federation's members of a key that has a history). The first key states no beginning: it has
 * signed since before times were kept. A member that a key leaves out does not apply.
 */
export function publishedKeys({ snapshots, revocations }: Pick<Histories, 'snapshots' | 'revocations'>): JsonObject {
  const sets = snapshots.map(({ keys, activated_at }, index) => {
    const next = snapshots[index + 1];
    const times = present({
      nbf: index === 0 ? null : seconds(activated_at),
      exp: next === undefined ? null : seconds(next.activated_at) + KEY_OVERLAP_SECONDS,
      revoked: revokedMember(revocations, keys),
    });
    return [keys.es256, keys.ed25519, keys.secp256k1].map(jwk => ({ ...jwk, ...times }));
  });
  return { keys: sets.reverse().flat() };
}

/** `tree_size`: leaves of the log before that one are the issuer's. */
function revokedMember(revocations: readonly Revocation[], keys: PublicKeys): JsonObject | null {
  const revoked = findRevocation(revocations, kidOf(keys));
  if (revoked === null) return null;
  const { revoked_at, since, reason, log } = revoked;
  return { revoked_at: seconds(revoked_at), since: seconds(since), reason, ...log };
}

/**
 * Keys that no longer sign, as the issuer history knows them now: each key of a seed that was replaced is `retired` since then, and what it
 * signed before still verifies; one that others may hold is `revoked`, and only what the log held by then verifies. Delegated sessions that
 * were revoked are listed beside them (revoked-sessions.ts).
 */
export function revocations(histories: Pick<Histories, 'snapshots' | 'revocations'>): JsonObject {
  const { snapshots } = histories;
  const newest = snapshots.at(-1);
  if (newest === undefined) throw new RangeError('the issuer has no history');
  return {
    schema: documents.revocations,
    issuer_history: historyRef(newest),
    keys: snapshots.flatMap((snapshot, index) => endedKeys(snapshot, snapshots[index + 1], histories)).toReversed(),
  };
}

function endedKeys(
  { version, keys, activated_at }: Snapshot,
  next: Snapshot | undefined,
  { revocations }: Pick<Histories, 'revocations'>,
): JsonObject[] {
  if (next === undefined) return [];
  const { activated_at: retired_at } = next;
  const said = revocations.find(({ document }) => document.kid === kidOf(keys));
  const { revoked_at, since, reason, log, previous_hash }: JsonObject = said?.document ?? {};
  const status = said === undefined ? 'retired' : 'revoked';
  const revoked =
    said === undefined ? {} : present({ revoked_at, since, reason, log, previous_hash, statement: said.jws });
  return [keys.secp256k1, keys.ed25519, keys.es256].map(({ kid = null, alg = null }) => ({
    kid,
    alg,
    seq: version,
    status,
    activated_at,
    retired_at,
    ...revoked,
  }));
}

/**
 * This service as x402's signed offers and receipts name it (did:web). A receipt names its key by `kid`; from an offer
 * an address is recovered that is listed here. Both show that the key speaks for the host of the resource.
 */
interface IssuerDid {
  readonly document: JsonObject;
  /** Key id in receipts. Ed25519 signs a text in only one way (RFC 8032). */
  readonly receipt_kid: string;
}

const jose = ['es256', 'ed25519'] as const;

/** Every key that ever signed, the newest first. */
function didDocument(
  base_url: string,
  { snapshots, revocations }: Pick<Histories, 'snapshots' | 'revocations'>,
): JsonObject {
  const id = didWeb(base_url);
  const methods = snapshots.toReversed().flatMap(({ keys }) => {
    const { revoked_at = null } = findRevocation(revocations, kidOf(keys)) ?? {};
    // Controlled Identifiers 1.0, 2.2: a proof that was made after it does not verify.
    const ended = present({ revoked: revoked_at });
    return [...joseMethods(id, keys), recoveryMethod(id, keys)].map(method => ({ ...method, ...ended }));
  });
  return {
    '@context': [
      'https://www.w3.org/ns/did/v1',
      'https://w3id.org/security/suites/jws-2020/v1',
      'https://w3id.org/security/suites/secp256k1recovery-2020/v2',
    ],
    id,
    verificationMethod: methods,
    assertionMethod: methods.map(method => method.id),
  };
}

function joseMethods(id: string, keys: PublicKeys) {
  return jose.map(name => {
    // `alg` and `use` are a key set's words: JOSE calls one curve Ed25519 and EdDSA, and both are this key.
    const { alg: _alg, use: _use, ...publicKeyJwk } = keys[name];
    return { id: `${id}#${String(publicKeyJwk.kid)}`, type: 'JsonWebKey2020', controller: id, publicKeyJwk };
  });
}

/** The key whose signatures name nothing but an address (CAIP-10); the extension signs typed data on chain 1, whatever is paid. */
function recoveryMethod(id: string, keys: PublicKeys) {
  const blockchainAccountId = `eip155:1:${addressOf(keys)}`;
  const type = 'EcdsaSecp256k1RecoveryMethod2020';
  return { id: `${id}#${String(keys.secp256k1.kid)}`, type, controller: id, blockchainAccountId };
}

export function didReceiptKid(base_url: string, { ed25519 }: SeedKeys): string {
  return `${didWeb(base_url)}#${ed25519.kid}`;
}
