import type { FastifyRequest } from 'fastify';
import { agentOf } from '../../rest-compat/credentials.ts';
import { isJsonObject, type JsonObject } from '../../schema/canonical-json.ts';
import type { ProvenRequest, ShownProof } from '../../schema/proof.ts';

const PATH = '/graphql';

/** What a proof on /graphql would be of: no path names an agent there, so a header does. */
export function provenOnGraphql({ method, headers, body }: Asking): Pick<ShownProof, 'agent_id' | 'request'> {
  const named = headers['x-svc-agent'];
  return {
    agent_id: agentOf(typeof named === 'string' ? named : undefined),
    request: { method, path: PATH, body: isJsonObject(body) ? body : {} },
  };
}

type Asking = Pick<FastifyRequest, 'method' | 'headers' | 'body'>;

/** The handshake of a socket, which has a GET for its method, and for its body what comes in connection_init. */
export function provenAtConnection(connectionParams: JsonObject): ProvenRequest {
  return { method: 'GET', path: PATH, body: connectionParams };
}

/** An operation on a socket, as it would be sent by HTTP: a write is the same one, whichever way it comes. */
export function provenOnSocket(payload: object): ProvenRequest {
  return { method: 'POST', path: PATH, body: payload as JsonObject };
}
