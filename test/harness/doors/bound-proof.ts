import { randomBytes } from 'node:crypto';
import { type ProvenRequest, provenBodyHash } from '../../../schema/proof.ts';
import { boundProof, proofWindow } from '../../../subgraphs/session/possession/proof.ts';

export const newNonce = () => randomBytes(18).toString('base64url');

/** A bound proof of the current time, in the headers that carry it. */
export function boundProofHeaders(
  session: string,
  agent_id: number,
  { method, path, body }: ProvenRequest,
  nonce = newNonce(),
) {
  const bound = { method, path, body_sha256: String(provenBodyHash(body)), nonce };
  return { 'X-SVC-Proof': boundProof(session, agent_id, proofWindow(Date.now()), bound), 'X-SVC-Nonce': nonce };
}
