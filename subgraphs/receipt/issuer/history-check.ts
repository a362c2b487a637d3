import { createHash } from 'node:crypto';
import { canonicalJson, type Json, type JsonObject } from '../../../schema/canonical-json.ts';
import { canonicalHash } from '../../../schema/digest.ts';
import { parseJws, verifyEs256 } from '../verify/signature.ts';
import { activation, BrokenHistory, type Histories } from './histories.ts';
import { kidOf, type Snapshot, snapshotDocument } from './snapshot.ts';
import type { Version } from './version.ts';

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
