import { canonicalJson, type JsonObject } from '../../../schema/canonical-json.ts';
import { documents } from '../../../schema/documents.ts';
import type { RefusalId } from '../../../schema/ids.ts';
import { networks } from '../../../schema/network.ts';
import type { RefusalCode } from '../../../schema/policy-rule.ts';
import type { BaseAnchor, RefusalPayload } from '../../../schema/refusal.ts';
import { iso, type Random } from '../../clock.ts';
import { insertRows, type Tx } from '../../database.ts';
import type { Issuer } from '../issuer/signing-keys.ts';

/** What signing a refusal needs: the issuer's keys, and the newest block of the chain that this process has seen. */
export interface Refuser {
  readonly issuer: Issuer;
  readonly random: Random;
  readonly profile: 'development' | 'production';
  anchor(): BaseAnchor;
}

/** Facts of the refused call. The issuer and the state of the chain are in `Refuser`. */
export interface RefusalFacts {
  readonly refusal_id: RefusalId;
  readonly task_id: string;
  readonly agent_id: number;
  /** Position of the policy_blocked row, written in the same transaction. */
  readonly book_seq: number;
  readonly refusal_code: RefusalCode;
  readonly policy_code: string;
  /** Null if no payment was requested. */
  readonly requested_atomic: bigint | null;
  readonly at_ms: number;
}

const NONCE_BYTES = 16;

/**
 * Signs and writes refusals in the transaction of their rows. Signs with ES256 alone, to save time, because the book's head is locked
 * meanwhile.
 */
export function issueRefusals(tx: Tx, refuser: Refuser, calls: readonly RefusalFacts[]): void {
  if (calls.length === 0) return;
  const base_anchor = refuser.anchor();
  insertRows(
    tx,
    'refusal',
    calls.map(call => refusalRow(refuser, call, payloadOf(refuser, call, base_anchor))),
  );
}

function payloadOf({ random, profile }: Refuser, call: RefusalFacts, base_anchor: BaseAnchor): RefusalPayload {
  return {
    schema: documents.refusal,
    refusal_id: call.refusal_id,
    chain_id: networks.base.chain_id,
    base_anchor: { ...base_anchor },
    refusal_code: call.refusal_code,
    policy_code: call.policy_code,
    nonce: Buffer.from(random.bytes(NONCE_BYTES)).toString('hex'),
    timestamp: iso(call.at_ms),
    agent_id: call.agent_id,
    book_id: call.agent_id,
    task_id: call.task_id,
    ...(call.requested_atomic === null ? {} : { requested_amount: call.requested_atomic.toString() }),
    policy_blocked_seq: call.book_seq,
    charged: false,
    ...(profile === 'development' ? { profile } : {}),
  };
}

/** Row of table `refusal`. In the token, the registered claims (RFC 7519 §4.1) are beside the payload's members. */
function refusalRow({ issuer }: Refuser, call: RefusalFacts, payload: RefusalPayload): object {
  const canonical = canonicalJson(payload);
  const claims: JsonObject = {
    iss: issuer.base_url,
    iat: Math.floor(call.at_ms / 1000),
    jti: call.refusal_id,
    ...payload,
  };
  return {
    refusal_id: call.refusal_id,
    agent_id: call.agent_id,
    book_seq: call.book_seq,
    task_id: call.task_id,
    refusal_code: call.refusal_code,
    policy_code: call.policy_code,
    payload: canonical,
    jws: issuer.signJws(claims),
    kid: issuer.kid,
    value: issuer.signCanonical(canonical),
    issued_at: payload.timestamp,
  };
}
