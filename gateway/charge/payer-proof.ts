import { limits } from '../../schema/limits.ts';
import { readRedelivery, redeliveryText } from '../../schema/redelivery.ts';
import type { Context } from '../../subgraphs/context.ts';
import { type PaymentClaim } from '../../subgraphs/receipt/claim/claim.entity.ts';
import { railOf } from '../rails/rail.ts';
import type { Landing } from '../record/recorder.ts';
import type { Presented } from './claim-request.ts';
import type { Till } from './till.ts';

/** Whether whoever shows a payment is its payer, by what is in no calldata; the cheapest first. */
export async function isItsPayer(
  till: Till,
  claim: PaymentClaim,
  { identifier }: Presented,
  context: Context,
): Promise<boolean> {
  if (identifier !== null && identifier === claim.identifier) return true;
  return (await isPayersSession(till, claim, context)) || hasSigned(till, claim, context);
}

/** The session under which it was bought, or that of the agent who is registered for the paying wallet. */
async function isPayersSession(till: Till, { landing, payer }: PaymentClaim, { principal }: Context): Promise<boolean> {
  const { possession } = principal;
  if (possession.kind !== 'proven') return false;
  const { agent_id } = possession;
  return (landing as Landing).possessed_by === agent_id || (await till.agentOfWallet(payer)) === agent_id;
}

async function hasSigned(till: Till, claim: PaymentClaim, { principal, redelivery }: Context): Promise<boolean> {
  const proof = redelivery === null ? null : readRedelivery(redelivery);
  if (proof === null || !isFresh(proof.at_seconds, till.clock.now_ms())) return false;
  const { network, paymentId: payment_id, payer } = claim;
  const text = redeliveryText({ network, payment_id, at_seconds: proof.at_seconds });
  return railOf(till, network).signedBy({
    ...{ payer, text, signature: proof.signature },
    asker: principal.address,
  });
}

/** As long as any wallet's signature; a little ahead is let pass, because clocks differ. */
function isFresh(at_seconds: number, now_ms: number): boolean {
  const age_seconds = Math.floor(now_ms / 1_000) - at_seconds;
  return (
    age_seconds <= limits.wallet_signature_age_seconds_max && age_seconds >= -limits.wallet_signature_ahead_seconds_max
  );
}
