import { canonicalJson, type JsonObject } from '../../../schema/canonical-json.ts';
import { issuerLinks, refusalUrl } from '../../../schema/links.ts';
import type { RefusalPayload } from '../../../schema/refusal.ts';
import { asEntity, selectList } from '../../columns.ts';
import type { Database } from '../../database.ts';
import { recordDamaged } from '../damaged-record.ts';
import { withoutMembers } from '../receipt/stored-check.ts';
import { parseJws } from '../verify/signature.ts';
import { SignedRefusal } from './refusal.entity.ts';

/**
 * Reads a refusal by its id with one prepared statement. Null if there is none. @throws Refusal record_damaged if it is not stored as it
 * was signed
 */
export async function refusalById(database: Database, refusal_id: string): Promise<SignedRefusal | null> {
  const text = `select ${selectList(SignedRefusal)} from refusal where refusal_id = $1`;
  const [row] = await database.query({ name: 'refusal by id', text, values: [refusal_id] });
  if (!row) return null;
  const refusal = asEntity(SignedRefusal, row);
  const column = refusalFault(refusal);
  if (column !== null) throw recordDamaged(database, { record: 'refusal', id: refusal_id, column });
  return refusal;
}

/** First column of a stored refusal that differs from what was signed. Null if all agree. */
function refusalFault(refusal: SignedRefusal): string | null {
  const jws = parseJws(refusal.jws);
  if (jws === null || jws.header.kid !== refusal.kid) return 'jws';
  const { jti } = jws.claims;
  const signed = withoutMembers(jws.claims, ['iss', 'iat', 'jti']);
  if (canonicalJson(signed) !== refusal.payload) return 'payload';
  const facts = {
    refusal_id: [refusal.refusalId, signed.refusal_id],
    jti: [refusal.refusalId, jti],
    agent_id: [refusal.agentId, signed.agent_id],
    book_seq: [refusal.bookSeq, signed.policy_blocked_seq],
    task_id: [refusal.taskId, signed.task_id],
    refusal_code: [refusal.refusalCode, signed.refusal_code],
    policy_code: [refusal.policyCode, signed.policy_code],
    issued_at: [refusal.issuedAt.toISOString(), signed.timestamp],
  };
  return Object.entries(facts).find(([, [stored, shown]]) => stored !== shown)?.[0] ?? null;
}

/** The public refusal, as GET /refusal/{refusal_id} and the refused call itself show it: the payload, and the signatures that prove it. */
export function refusalDocument({ refusalId, payload, jws, kid, value }: SignedRefusal, base_url: string): JsonObject {
  return {
    ...(JSON.parse(payload) as RefusalPayload),
    refusal_url: refusalUrl(base_url, refusalId),
    issuer_signature: { jws, kid, value, alg: 'ES256' },
    verification: {
      ...issuerLinks(base_url),
      how: 'Verify issuer_signature.jws (ES256) with the key named by its kid, and compare its claims with this document. A refusal signed with a key that the set marks `revoked` proves nothing.',
    },
  };
}
