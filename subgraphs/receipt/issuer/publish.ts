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
 * A snapshot as it is published: the document whose hash receipts sign, and beside it the keys, with their times, that the document names
 * by their hashes. The newest one if neither version nor hash is given. Null if it does not exist.
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

/** The operator's statement that the keys of a snapshot are revoked, with its own signature. Null if they are not revoked. */
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

/**
 * Public document with all receipt policies, to which policies are only added. The signature covers the number and hash of the newest
 * version.
 */
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

/** Documents and keys that the issuer publishes. */
export interface PublishedIssuer {
  /** DID document in which x402's clients find the keys of signed offers and receipts. */
  readonly did: IssuerDid;
  /**
   * Every public key, including those of seeds that are no longer configured, so that old receipts still verify. `addresses` is a token
   * (`typ` svc-addresses+jwt) over {iss, iat, base_urls}, with the current and the former base URLs of this service.
   */
  readonly jwks: JsonObject;
  /** The current issuer-history document. */
  readonly history: JsonObject;
  /** Snapshot of the issuer history by version or by hash; without either, the current one. Null if it does not exist. */
  historySnapshot(wanted: WantedSnapshot): JsonObject | null;
  readonly policyHistory: JsonObject;
  /** Document that lists the keys that no longer sign. */
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

/** Returns a function that returns the documents for the newest known histories. They are made once for each state of the histories. */
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
    // `addresses` distinguishes a receipt of a former base URL, whose links lead to the current one, from a receipt with altered links.
    jwks: { ...publishedKeys(histories), addresses: sign({ base_urls: [...base_urls] }, ADDRESSES_TYP) },
    history,
    historySnapshot: wanted => historyDocument(histories, wanted),
    policyHistory: policyHistory(histories.policies, sign),
    revocations: revocations(histories),
  };
}

const seconds = (time: string) => Math.floor(Date.parse(time) / 1000);

/**
 * Every public key that ever signed, the newest first, so that old receipts still verify without their seeds. Each key has the times in
 * which it signed (`nbf`, `exp`, `revoked`: members that OpenID Federation defines for a key with a history). The first key has no `nbf`,
 * because it signed before times were kept. A member that is left out does not apply to the key.
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

/**
 * Member `revoked` of a key. Null if it is not revoked. `tree_size`: only leaves of the log before this one count as signed by the issuer.
 */
function revokedMember(revocations: readonly Revocation[], keys: PublicKeys): JsonObject | null {
  const revoked = findRevocation(revocations, kidOf(keys));
  if (revoked === null) return null;
  const { revoked_at, since, reason, log } = revoked;
  return { revoked_at: seconds(revoked_at), since: seconds(since), reason, ...log };
}

/**
 * Document that lists the keys that no longer sign, by the current issuer history. The keys of a seed that was replaced are `retired` since
 * then, and what they signed before still verifies. Keys that others may hold are `revoked`, and only what the log contained by then
 * verifies. Delegated sessions that were revoked are listed beside them (revoked-sessions.ts).
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
 * Identity of this service in x402's signed offers and receipts (did:web). A receipt names its key by `kid`. From the signature of an offer
 * an address is recovered, which the document lists. Both show that the key signs on behalf of the host of the resource.
 */
interface IssuerDid {
  readonly document: JsonObject;
  /** Key id in receipts. It is the Ed25519 key, which signs a text in only one way (RFC 8032). */
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
    // A proof that was made after `revoked` does not verify (Controlled Identifiers 1.0, 2.2).
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
    // `alg` and `use` are left out, because only a key set needs them. In JOSE the algorithm is called Ed25519 or EdDSA, and this key
    // serves for both names.
    const { alg: _alg, use: _use, ...publicKeyJwk } = keys[name];
    return { id: `${id}#${String(publicKeyJwk.kid)}`, type: 'JsonWebKey2020', controller: id, publicKeyJwk };
  });
}

/**
 * Method for the key whose signatures show only an address (CAIP-10). The extension signs typed data for chain 1, whatever network the
 * payment is on.
 */
function recoveryMethod(id: string, keys: PublicKeys) {
  const blockchainAccountId = `eip155:1:${addressOf(keys)}`;
  const type = 'EcdsaSecp256k1RecoveryMethod2020';
  return { id: `${id}#${String(keys.secp256k1.kid)}`, type, controller: id, blockchainAccountId };
}

export function didReceiptKid(base_url: string, { ed25519 }: SeedKeys): string {
  return `${didWeb(base_url)}#${ed25519.kid}`;
}
