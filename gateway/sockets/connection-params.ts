import { agentOf, credentialsIn, sessionsIn } from '../../rest-compat/credentials.ts';
import { requireKnownHeaders } from '../../rest-compat/door-request.ts';
import type { JsonObject } from '../../schema/canonical-json.ts';
import type { ShownProof } from '../../schema/proof.ts';
import { provenAtConnection, type ShownCredentials } from '../graph/identify.ts';

/**
 * Who opens a socket, by connectionParams: `{session}`, `{sessions: [...]}`, `{api_key}` and `{agent_id}`, or by the headers
 * of HTTP, `X-SVC-Session`, `X-API-Key` and the like in whatever case, bare or under `headers`. A proof, `{agent_id, proof}`
 * and a nonce, stands outside of them: it is over all the rest.
 * @throws Refusal invalid_request
 */
export function shownIn(params: Record<string, unknown>): Omit<ShownCredentials, 'address'> {
  const { session, sessions, api_key, agent_id, headers } = params;
  const named = { ...lowerCased(headers), ...lowerCased(params) };
  requireKnownHeaders(named);
  const inHeaders = credentialsIn(headersIn(named), {}, null, '');
  const own = [...shownAs(session), ...shownAs(sessions)];
  return {
    sessions: [...new Set(own.length > 0 ? own : shownAs(named['x-svc-session']))],
    agent: agent_id === undefined || agent_id === null ? inHeaders.agent : agentOf(String(agent_id)),
    proof: proofIn(params),
    api_key: said(api_key) ?? inHeaders.api_key,
    slice: inHeaders.slice,
    ingest_key: inHeaders.ingest_key,
    board_secrets: inHeaders.board_secrets,
  };
}

function lowerCased(named: unknown): Record<string, unknown> {
  const members = typeof named === 'object' && named !== null ? Object.entries(named) : [];
  return Object.fromEntries(members.map(([name, value]) => [name.toLowerCase(), value]));
}

function headersIn(named: Record<string, unknown>): Record<string, string> {
  return Object.fromEntries(Object.entries(named).map(([name, value]) => [name, String(value)]));
}

/** One, or a list of them, or one header with several in it. */
function shownAs(shown: unknown): readonly string[] {
  if (Array.isArray(shown)) return shown.flatMap(shownAs);
  const text = said(shown);
  if (text === null) return [];
  const sessions = sessionsIn(text);
  // An empty one is one that was shown, and opens nothing.
  return sessions.length > 0 ? sessions : [text];
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
