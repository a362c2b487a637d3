import { Refusal } from '../../../schema/errors.ts';
import type { Approval } from '../../../schema/policy-rule.ts';
import { actSince, isActSigned, PAY_ACTION, payResource, windowOfAct } from '../../../schema/session/act.ts';
import type { ShownDelegation } from '../../../schema/session/delegation-header.ts';
import { ZERO_HASH } from '../../../schema/session/typed-data.ts';
import type { Services } from '../../context.ts';
import { openChallenge } from './challenge.ts';

/**
 * Verifies the act `pay` on the resource `payment/<id>` that was sent with a payment, and returns it as an approval. Null if none was
 * sent. The act approves this payment only, and a payment buys only once, so the nonce is not stored. The approval is as old as the
 * nonce. If this throws, nothing was charged. @throws act_expired, act_signature_invalid
 */
export function payActOf(
  services: Pick<Services, 'base_urls'> & { readonly vault: Pick<Services['vault'], 'mark'> },
  { act, delegation_hash, agent_address }: ShownDelegation,
  payment_id: string,
  now_seconds: number,
): Approval | null {
  if (act === null) return null;
  const time =
    'challenge_id' in act
      ? openChallenge(services, delegation_hash, act.challenge_id)
      : { nonce: act.nonce.toLowerCase(), deadline: act.deadline, issued_at: null };
  if (time === null || windowOfAct(time, now_seconds).kind !== 'open') throw actRefusal('act_expired');
  const signed = {
    delegation_hash,
    nonce: time.nonce,
    deadline: time.deadline,
    action: PAY_ACTION,
    resource: payResource(payment_id),
    target_agent: 0,
    payload_hash: ZERO_HASH,
  };
  if (!isActSigned(services.base_urls, agent_address, signed, act.signature)) throw actRefusal('act_signature_invalid');
  return { act: PAY_ACTION, at_ms: actSince(time) * 1_000 };
}

function actRefusal(code: 'act_expired' | 'act_signature_invalid'): Refusal {
  return new Refusal(code, { param: 'x-svc-delegation', facts: { charged: false } });
}
