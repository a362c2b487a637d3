import type { JsonObject } from '../../schema/canonical-json.ts';
import type { Child } from './child/child.ts';
import type { Side } from './contest.ts';
import { drive } from './load/callers.ts';
import { bytesOf } from './load/connection.ts';
import { signedPayments } from './payments.ts';
import type { GatewayReady } from './servers/gateway.ts';

/* One paid chat, by which each face is measured and compared with the REST endpoint that does the same work. */

const CALLERS = 64;
const PER_SECOND_MAX = 2_500;
export const chat: JsonObject = { model: 'bench/small', messages: [{ role: 'user', content: 'Hello' }] };

export function chatAtDoor(url: string, payment: string): Buffer {
  const headers = { 'payment-signature': payment };
  return bytesOf({ method: 'POST', url: `${url}/v1/chat/completions`, headers, body: JSON.stringify(chat) });
}

/** A side that pays for chats. `way` makes the bytes of a call from a payment. */
export function paidSide(gateway: Child<GatewayReady>, way: (payment: string) => Buffer, seconds: number): Side {
  const { url, pay_to } = gateway.ready;
  return {
    round() {
      const requests = signedPayments(Math.ceil(PER_SECOND_MAX * seconds), pay_to).map(way);
      return drive({ url, servers: [gateway], request: () => requests.pop(), seconds, callers: CALLERS, status: 200 });
    },
  };
}
