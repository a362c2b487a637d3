import { Secret } from '../../../schema/secret.ts';
import type { Vault } from '../../../subgraphs/vault.ts';
import type { SubgraphCall } from './call.ts';

/**
 * A caller's router key on its way to the subgraph that uses it. What a call says can be read on the wire, so the key is
 * sealed, by the secret that gateway and subgraph share, and to that one call: in another it does not open.
 */
export function sealRouterKey(vault: Vault, key: Secret, call: Pick<SubgraphCall, 'subgraph' | 'nonce'>): string {
  return vault.seal(key.reveal(), labelOf(call)).toString('base64url');
}

/** @throws where it was sealed for another call. */
export function openRouterKey(vault: Vault, call: SubgraphCall): Secret | null {
  if (call.router_key_box === undefined) return null;
  return new Secret(vault.open(Buffer.from(call.router_key_box, 'base64url'), labelOf(call)).toString());
}

function labelOf({ subgraph, nonce }: Pick<SubgraphCall, 'subgraph' | 'nonce'>): string {
  return `router-key:${subgraph}:${nonce}`;
}
