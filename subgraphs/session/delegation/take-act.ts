import { Refusal } from '../../../schema/errors.ts';
import { limits, sessionLimits } from '../../../schema/limits.ts';
import type { ActRequest } from '../../../schema/requests/session.ts';
import type { ActTime } from '../../../schema/session/act.ts';
import type { Tx } from '../../database.ts';
import { revocationsAmong } from '../../receipt/issuer/revoked-sessions.ts';
import type { Delegation } from './delegation.entity.ts';

/** A verified act that has not expired. Its effect takes the nonce. */
export interface SignedAct {
  readonly session: Delegation;
  readonly request: ActRequest;
  readonly time: ActTime;
}

/**
 * Takes the nonce of an act, in the transaction of its effect. A nonce can be taken once over all processes. This is called for valid
 * acts only, so that only session keys can add rows. Concurrent acts may exceed the limit of rows slightly. @throws act_nonce_used,
 * rate_limited
 */
export async function takeAct(tx: Tx, { delegationHash }: Delegation, { nonce, deadline }: ActTime): Promise<void> {
  const { rows } = await tx.query<{ full: boolean; taken: boolean }>({
    name: 'take act',
    text: `with remembered as (
        select count(*) as uses from (select from act_use where delegation_hash = $1 limit $4) as uses_of_session
      ), taken as (
        insert into act_use (delegation_hash, nonce, forget_at)
        select $1, $2, to_timestamp($3) from remembered where uses < $4
        on conflict do nothing returning 1
      )
      select uses >= $4 as full, exists (select from taken) as taken from remembered`,
    values: [delegationHash, nonce, deadline + limits.clocks_apart_seconds_max, sessionLimits.acts_taken_max],
  });
  if (rows[0]?.taken) return;
  throw rows[0]?.full
    ? new Refusal('rate_limited', { facts: { retry_after_seconds: sessionLimits.act_seconds_max } })
    : new Refusal('act_nonce_used');
}

/**
 * Checks that a session is still active. Call it last in the transaction of an act, because sessions are locked after the heads of books.
 * A concurrent revocation waits for the transaction, and later acts are refused. @throws session_not_active
 */
export async function requireStillActive(tx: Tx, { path, sessionExpiry }: Delegation): Promise<void> {
  const { rows } = await tx.query<{ now_seconds: number }>({
    name: 'share sessions',
    text: `with shared as materialized (
        select delegation_hash from delegation where delegation_hash = any($1) order by delegation_hash for share)
      select floor(extract(epoch from clock_timestamp()))::int8 as now_seconds from shared`,
    values: [path],
  });
  const over = rows.some(({ now_seconds }) => now_seconds >= sessionExpiry);
  const revoked = await revocationsAmong(tx, path);
  if (rows.length !== path.length || over || revoked.size > 0)
    throw new Refusal('session_not_active', { facts: { session_status: revoked.size > 0 ? 'revoked' : 'expired' } });
}
