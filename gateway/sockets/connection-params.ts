import { agentOf, credentialsIn } from '../../rest-compat/credentials.ts';
import type { JsonObject } from '../../schema/canonical-json.ts';
import type { ShownProof } from '../../schema/proof.ts';
import { provenAtConnection, type ShownCredentials } from '../graph/identify.ts';

/**
 * Who opens a socket, by connectionParams: `{session}` and `{api_key}`, or `{headers: {'X-SVC-Session', 'X-API-Key'}}` as clients send that know headers only. A
 * proof, `{agent_id, proof}` and a nonce, stands outside of them: it is over all the rest.
 */
export function shownIn(params: Record<string, unknown>): Omit<ShownCredentials, 'address'> {
  const { session, api_key, headers } = params;
  const named = typeof headers === 'object' && headers !== null ? Object.entries(headers) : [];
  const lower = Object.fromEntries(named.map(([name, value]) => [name.toLowerCase(), String(value)]));
  const inHeaders = credentialsIn(lower, {}, null, '');
  return {
    session: said(session) ?? said(lower['x-svc-session']),
    proof: proofIn(params),
    api_key: said(api_key) ?? inHeaders.api_key,
  };
}

function proofIn(params: Record<string, unknown>): ShownProof | null {
  const value = said(params.proof);
  if (value === null) return null;
  const request = provenAtConnection(params as JsonObject);
  return { agent_id: agentOf(said(params.agent_id) ?? undefined), value, nonce: said(params.nonce), request };
}

/** What is no text is shown all the same, and opens nothing. */
function said(value: unknown): string | null {
  return value === undefined || value === null ? null : String(value);
}
