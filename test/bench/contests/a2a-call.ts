import { randomUUID } from 'node:crypto';
import { X402 } from '../../harness/a2a/agent.ts';
import { atMost, type Contest, cpuMs } from '../contest.ts';
import { bytesOf } from '../load/connection.ts';
import { chat, chatAtDoor, paidSide } from '../paid-side.ts';

/** Cost of an agent's message, compared with the REST endpoint that does the same work in the same process. */
export const a2aPaidCall: Contest = {
  name: 'a2a-paid-call',
  beside: 'the REST door of the same service',
  lines: [{ name: 'paid call by an A2A message: CPU', unit: 'ms', goal: atMost(1.3), of: cpuMs }],
  async open({ stage, seconds, quick }) {
    const gateway = await stage.gateway();
    const { url } = gateway.ready;
    const byDoor = (payment: string) => chatAtDoor(url, payment);
    const byMessage = (payment: string) => sentMessage(url, payment);
    for (const way of [byMessage, byDoor]) await paidSide(gateway, way, quick ? 0.5 : 1.5).round();
    return { ours: paidSide(gateway, byMessage, seconds), beside: paidSide(gateway, byDoor, seconds) };
  },
};

/** A message of a client that has activated x402 and includes the payment in the message's metadata, because it knows the price. */
function sentMessage(url: string, payment: string): Buffer {
  const { messages: _, ...data } = chat;
  const metadata = {
    'x402.payment.status': 'payment-submitted',
    'x402.payment.payload': JSON.parse(Buffer.from(payment, 'base64').toString()),
  };
  const parts = [{ data }, { text: 'Hello' }];
  const message = { messageId: randomUUID(), role: 'ROLE_USER', parts, metadata };
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'SendMessage', params: { message } });
  const headers = { 'a2a-version': '1.0', 'a2a-extensions': X402 };
  return bytesOf({ method: 'POST', url: `${url}/a2a-message`, headers, body });
}
