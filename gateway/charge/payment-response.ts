import type { JsonObject } from '../../schema/canonical-json.ts';
import { type TaskId, taskMs } from '../../schema/ids.ts';
import { networks } from '../../schema/network.ts';
import type { Context } from '../../subgraphs/context.ts';
import { namedIn } from '../rails/named-payment.ts';
import type { Landing } from '../record/recorder.ts';
import { signedReceipt } from '../x402/extensions/offer-receipt.ts';
import { settlementHeaders } from '../x402/payment-header.ts';
import type { Authorized } from './authorized.ts';
import type { Till } from './till.ts';

/** A payment that has moved, and the call that it paid for. */
export interface Settlement {
  readonly payment: Authorized;
  readonly task_id: TaskId;
  readonly transaction: string;
  readonly landing: JsonObject;
}

/** Tells an x402 client what became of its payment, in the header of the version that it speaks: v2 has a signed receipt. */
export async function announce(till: Till, context: Context, settlement: Settlement): Promise<void> {
  const { payment, transaction, landing } = settlement;
  const { network, payer } = payment.authorization;
  const answer = { success: true, transaction, network, payer };
  const extensions = payment.x402_version === 2 ? { extensions: await receiptOf(till, context, settlement) } : {};
  Object.assign(context.response.headers, settlementHeaders(payment.x402_version, { ...answer, ...extensions }));
  announceSalt(context, landing);
}

/**
 * The same where that is not known yet: x402's word for it is no refusal, so that nobody signs another. `transaction` is
 * the one that was sent for it, if any.
 */
export function outcomeOpen({ payment, response }: Answered, transaction: unknown): Record<string, string> {
  const named = payment && namedIn(payment);
  const told = 'PAYMENT-RESPONSE' in response.headers || 'X-PAYMENT-RESPONSE' in response.headers;
  if (!named || told) return {};
  const { network, payer } = named;
  const sent = typeof transaction === 'string' ? transaction : '';
  const answer = { success: false, error_reason: 'settlement_pending', transaction: sent, network, payer };
  return settlementHeaders(payment.x402_version, answer);
}

type Answered = Pick<Context, 'payment' | 'response'>;

/** It names what the client asked for as its offer did, and the moment in which the call was taken, which its id holds. */
function receiptOf(till: Till, context: Context, { payment, task_id, transaction }: Settlement): Promise<JsonObject> {
  const { network, payer } = payment.authorization;
  return signedReceipt(till.issuer, {
    resource: context.payment?.resource ?? `${till.base_url}/graphql`,
    network: networks[network].caip2,
    payer,
    transaction,
    at_seconds: Math.floor(taskMs(task_id) / 1_000),
  });
}

/** With it the caller, and nobody else, can show which request the receipt's request_hash is of. */
export function announceSalt({ response }: Pick<Context, 'response'>, landing: JsonObject): void {
  response.headers['x-svc-request-salt'] = (landing as Landing).request_salt;
}
