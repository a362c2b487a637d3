import { type JsonObject, present } from '../../../schema/canonical-json.ts';
import { didWeb } from '../../../schema/links.ts';
import type { SeedKeys } from './derive.ts';
import type { Histories } from './histories.ts';
import { findRevocation } from './revocation.ts';
import { addressOf, kidOf, type PublicKeys } from './snapshot.ts';

/**
 * This service as x402's signed offers and receipts name it (did:web). Whoever holds a receipt finds the key by its `kid`
 * alone; whoever holds an offer recovers an address from it, and finds that address here. Either says that the key speaks
 * for the host which the resource is on.
 */
export interface IssuerDid {
  readonly document: JsonObject;
  /** By which receipts name their key: Ed25519 never signs one text in two ways (RFC 8032). */
  readonly receipt_kid: string;
}

const jose = ['es256', 'ed25519'] as const;

/** Every key that ever signed, the newest first. */
export function didDocument(
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
