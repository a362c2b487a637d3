import { type KeyObject, sign } from 'node:crypto';
import secp256k1 from 'secp256k1';
import { canonicalJson, type JsonObject } from '../../../schema/canonical-json.ts';
import { jwksUri, logOrigin } from '../../../schema/links.ts';
import type { IssuerHistoryRef, ReceiptPolicyRef } from '../../../schema/receipt-shapes.ts';
import { eip191Hash } from '../../../schema/secp256k1.ts';
import { deriveKeys, type SeedKeys } from './derive.ts';
import { type Histories, historiesAfter, noHistories } from './histories.ts';
import { receiptPolicyRef } from './policy.ts';
import { didReceiptKid, type PublishedIssuer, publisher } from './publish.ts';
import { type KeyStanding, keyStanding, signsUntilMs } from './revocation.ts';
import { type EnvelopeSigner, envelopeSigner, type NoteSigner, noteSigner, p1363 } from './signers.ts';
import { historyRef, type PublicKeys } from './snapshot.ts';

export interface Ed25519Signature extends JsonObject {
  readonly alg: 'Ed25519';
  readonly kid: string;
  /** Signature over the UTF-8 bytes of the hex text, in base64url. */
  readonly value: string;
}

export interface Eip191Signature extends JsonObject {
  readonly alg: 'secp256k1-eip191';
  readonly address: string;
  /** Signature as 0x and 65 bytes in hex: r, s, and v of 27 or 28. */
  readonly value: string;
}

interface Allowance {
  readonly agent_id: number;
  /** Atomic USDC. Null if the book has no budget. */
  readonly remaining: string | null;
  readonly as_of: string;
}

/**
 * Signs for this service, synchronously. Signing on another thread of Node would cost this thread as much time as signing here (measured
 * with 64 callers on two cores), and would cost the other thread the same again.
 */
export interface IssuerSigner extends EnvelopeSigner {
  /** `iss` of every token, without a trailing slash. */
  readonly base_url: string;
  /** `base_url`, then the base URLs that the service had before. */
  readonly base_urls: readonly string[];
  /** RFC 7638 thumbprint of the current ES256 key. */
  readonly kid: string;
  /** Kids of all configured seeds, the current one first. */
  readonly kids: readonly string[];
  /** Name of the log for its followers: see `logOrigin`. */
  readonly log_origin: string;
  /** Signs claims as a compact ES256 JWS. @param typ of its header: `JWT` unless given */
  signJws(claims: JsonObject, typ?: string): string;
  /** Signs a text with raw ES256, in base64url: the `value` of version-8 receipts. */
  signCanonical(text: string): string;
  /** The primary signature over a receipt's payload_hash. */
  signature(payload_hash: string): Ed25519Signature;
  /** The co-signature over the same text, as a wallet would sign it (EIP-191). */
  coSignature(payload_hash: string): Eip191Signature;
  /** Signs an EIP-712 digest of 32 bytes with the same key. Returns 0x and 65 bytes in hex. */
  signDigest(digest: Uint8Array): string;
  /** Signs the canonical {agent_id, remaining, as_of}. The signature can only be verified: it gives no access to money. */
  signAllowance(allowance: Allowance): { readonly alg: 'ES256'; readonly value: string; readonly kid: string };
  /** Signer of notes with every configured seed, except the seeds with these ES256 keys. */
  notesWithout(revoked: readonly string[]): NoteSigner;
  readonly did_receipt_kid: string;
  now_ms(): number;
  /** Adds to the histories what the configured seeds and this code add at that time. @throws BrokenHistory if that is not possible. */
  historiesAfter(known: Histories, at_ms: number): Histories;
}

export interface Issuer extends IssuerSigner, NoteSigner, PublishedIssuer {
  /** State of the current key, as far as this process knows. A key that is not in force must sign nothing. */
  readonly standing: KeyStanding;
  /** Time in milliseconds until which the current key stays in force after it was replaced. Null before. */
  readonly signs_until_ms: number | null;
  /** Reference to the issuer history, which receipts sign together with `receipt_policy`. */
  readonly issuer_history: IssuerHistoryRef;
  readonly receipt_policy: ReceiptPolicyRef;
  /** Reads what other processes have appended, at most once a second. Must be called before published documents are read. */
  renew(): Promise<void>;
}

export interface IssuerOptions {
  readonly base_url: string;
  /** All base URLs, `base_url` first. Default: `base_url` alone. */
  readonly base_urls?: readonly string[];
  /** Name of the log. Default: derived from `base_url`. A service that has moved keeps the name of its log. */
  readonly log_origin?: string;
  now_ms(): number;
}

/**
 * Opens an issuer, which alone reads private keys. Its histories contain only its own seeds, as if the database had none yet.
 * @param secrets 32-byte hex seeds, the current one first. The same seeds give the same keys and hashes in every process.
 */
export function openIssuer(secrets: readonly string[], options: IssuerOptions): Issuer {
  const signer = openSigner(secrets, options);
  const histories = signer.historiesAfter(noHistories, options.now_ms());
  return issuerOf(signer, { latest: () => histories, renew: async () => {} });
}

/** Histories that this process knows, and their renewal. */
export interface HeldHistories {
  latest(): Histories;
  renew(): Promise<void>;
}

/** Combines a signer with histories. @throws if they do not contain its current key. */
export function issuerOf(signer: IssuerSigner, { latest, renew }: HeldHistories): Issuer {
  const signed = latest().snapshots.find(({ keys }) => keys.es256.kid === signer.kid);
  if (signed === undefined) throw new RangeError('the history does not hold the current key');
  const shown = publisher(signer, latest);
  const notes = () => signer.notesWithout(latest().revocations.map(({ document }) => document.kid));
  return {
    ...signer,
    signNote: (name, text) => notes().signNote(name, text),
    verifierKeys: name => notes().verifierKeys(name),
    get standing() {
      return keyStanding(latest(), signer.kid, signer.now_ms());
    },
    get signs_until_ms() {
      return signsUntilMs(latest(), signer.kid);
    },
    get did() {
      return shown().did;
    },
    get jwks() {
      return shown().jwks;
    },
    get history() {
      return shown().history;
    },
    get policyHistory() {
      return shown().policyHistory;
    },
    get revocations() {
      return shown().revocations;
    },
    historySnapshot: wanted => shown().historySnapshot(wanted),
    issuer_history: historyRef(signed),
    receipt_policy: receiptPolicyRef,
    renew,
  };
}

function openSigner(secrets: readonly string[], options: IssuerOptions): IssuerSigner {
  const { base_url, base_urls = [base_url], log_origin = logOrigin(base_url), now_ms } = options;
  const seeds = secrets.map(deriveKeys);
  const current = seeds[0];
  if (current === undefined) throw new RangeError('an issuer needs at least one key');
  const signCanonical = (text: string) => es256(current.es256.key, text).toString('base64url');
  const oldestFirst = seeds.toReversed().map(seed => ({
    keys: publicKeysOf(seed),
    sign: (claims: JsonObject) => jwsSigner(seed, base_url).signJws({ iss: base_url, ...claims }),
  }));
  return {
    base_url,
    base_urls,
    log_origin,
    kid: current.es256.kid,
    kids: seeds.map(({ es256 }) => es256.kid),
    did_receipt_kid: didReceiptKid(base_url, current),
    ...jwsSigner(current, base_url),
    notesWithout: revoked => noteSigner(seeds.filter(({ es256 }) => !revoked.includes(es256.kid))),
    ...envelopeSigner(current, base_url),
    signCanonical,
    signature: payload_hash => ed25519Signature(current, payload_hash),
    coSignature: payload_hash => eip191Signature(current, payload_hash),
    signDigest: digest => recoverable(current, digest),
    signAllowance: ({ agent_id, remaining, as_of }) => {
      const value = signCanonical(canonicalJson({ agent_id, remaining, as_of }));
      return { alg: 'ES256', value, kid: current.es256.kid };
    },
    now_ms,
    historiesAfter: (known, at_ms) => historiesAfter(known, oldestFirst, at_ms),
  };
}

/** Kids of these seeds, in their order. */
export function kidsOfSeeds(secrets: readonly string[]): readonly string[] {
  return secrets.map(secret => deriveKeys(secret).es256.kid);
}

function publicKeysOf({ es256, ed25519, secp256k1: co_signing }: SeedKeys): PublicKeys {
  return { es256: es256.jwk, ed25519: ed25519.jwk, secp256k1: co_signing.jwk };
}

const USUAL_TYP = 'JWT';

function jwsSigner({ es256: { key, kid } }: SeedKeys, base_url: string): Pick<IssuerSigner, 'signJws'> {
  const encoded = (part: JsonObject) => Buffer.from(JSON.stringify(part)).toString('base64url');
  const headerOf = (typ: string) => encoded({ alg: 'ES256', kid, typ, jku: jwksUri(base_url) });
  const usual = headerOf(USUAL_TYP);
  return {
    signJws(claims, typ = USUAL_TYP) {
      const input = `${typ === USUAL_TYP ? usual : headerOf(typ)}.${encoded(claims)}`;
      return `${input}.${es256(key, input).toString('base64url')}`;
    },
  };
}

/**
 * JOSE requires r and s side by side (RFC 7518 §3.4), not DER. Node would return this form for `{key, dsaEncoding}`. That takes 130 µs
 * instead of 50, because Node recognises such an object only after other attempts have failed.
 */
function es256(key: KeyObject, text: string): Buffer {
  return p1363(sign('sha256', Buffer.from(text), key));
}

function ed25519Signature({ ed25519: { key, kid } }: SeedKeys, text: string): Ed25519Signature {
  return { alg: 'Ed25519', kid, value: sign(null, Buffer.from(text), key).toString('base64url') };
}

function eip191Signature(seed: SeedKeys, text: string): Eip191Signature {
  return { alg: 'secp256k1-eip191', address: seed.secp256k1.address, value: recoverable(seed, eip191Hash(text)) };
}

/** Signature with r, s, and a v of 27 or 28, from which the address can be recovered. */
function recoverable(seed: SeedKeys, digest: Uint8Array): string {
  const { signature, recid } = secp256k1.ecdsaSign(digest, seed.secp256k1.key);
  return `0x${Buffer.from(signature).toString('hex')}${(27 + recid).toString(16)}`;
}
