import type { JsonObject } from '../../../schema/canonical-json.ts';
import type { SeedKeys } from './derive.ts';
import type { Snapshot } from './snapshot.ts';

/**
 * This service as x402's signed offers and receipts name it (did:web): whoever holds one finds the key by its `kid` alone,
 * and that the key speaks for the host which the resource is on.
 */
export interface IssuerDid {
  readonly document: JsonObject;
  /** Of the current keys. ES256 may sign the same text twice in two ways, Ed25519 never does (RFC 8032). */
  readonly kids: DidKids;
}

export type DidKids = Readonly<Record<'es256' | 'ed25519', string>>;

const signing = ['es256', 'ed25519'] as const;

/** Every key that ever signed, the newest first. */
export function didDocument(base_url: string, snapshots: readonly Pick<Snapshot, 'keys'>[]): JsonObject {
  const id = didWeb(base_url);
  const methods = snapshots.toReversed().flatMap(({ keys }) =>
    signing.map(name => {
      // `alg` and `use` are a key set's words: JOSE calls one curve Ed25519 and EdDSA, and both are this key.
      const { alg: _alg, use: _use, ...publicKeyJwk } = keys[name];
      return { id: `${id}#${String(publicKeyJwk.kid)}`, type: 'JsonWebKey2020', controller: id, publicKeyJwk };
    }),
  );
  return {
    '@context': ['https://www.w3.org/ns/did/v1', 'https://w3id.org/security/suites/jws-2020/v1'],
    id,
    verificationMethod: methods,
    assertionMethod: methods.map(method => method.id),
  };
}

export function didKids(base_url: string, { es256, ed25519 }: SeedKeys): DidKids {
  const id = didWeb(base_url);
  return { es256: `${id}#${es256.kid}`, ed25519: `${id}#${ed25519.kid}` };
}

/** The did:web method, 3.1: the host with its port's colon encoded, then the path, with colons for slashes. */
function didWeb(base_url: string): string {
  const { host, pathname } = new URL(base_url);
  return ['did:web', host, ...pathname.split('/')]
    .filter(part => part !== '')
    .map((part, index) => (index === 0 ? part : encodeURIComponent(part)))
    .join(':');
}
