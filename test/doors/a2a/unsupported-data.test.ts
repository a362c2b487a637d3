import { beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../schema/canonical-json.ts';
import { A2A, paymentMetadata, rawMessage, rpc, X402 } from '../../harness/a2a/agent.ts';
import { type Service, sharedService } from '../../harness/doors/open-service.ts';

/* Data that would reach no model is refused by name and never sold, with any means of payment. */

let service: Service;
beforeAll(async () => {
  service = await sharedService();
});

const ORDERS: JsonObject = { parts: [{ text: 'Sum them up' }, { data: { model: 'alpha-1', orders: [1, 2, 3] } }] };
const ACTIVE = { 'A2A-Extensions': X402 };

describe.each(['SendMessage', 'SendStreamingMessage'])('%s with data that a chat does not know', method => {
  it('-32005 naming part and member, and nothing is charged', async () => {
    const payer = await service.chain.newWallet();
    const { status, body } = await rpc(service, method, rawMessage('', ORDERS), await service.payment(payer, A2A));
    expect([status, body.error.code]).toEqual([200, -32005]);
    expect(body.error.message).toContain('"orders"');
    expect(JSON.stringify(body.error.data)).toContain('"field":"message.parts.1"');
    expect(await service.transfersFrom(payer)).toHaveLength(0);
  });

  it('-32005 with x402 activated: nothing is offered, and a payment in metadata is not taken', async () => {
    expect((await rpc(service, method, rawMessage('', ORDERS), ACTIVE)).body.error.code).toBe(-32005);
    const payer = await service.chain.newWallet();
    const asked = await rpc<{ task: { status: { message: { metadata: JsonObject } } } }>(
      service,
      'SendMessage',
      rawMessage('Hello'),
      ACTIVE,
    );
    const required = asked.body.result.task.status.message.metadata['x402.payment.required'];
    const metadata = await paymentMetadata(payer, required);
    const paid = await rpc(service, method, rawMessage('', { ...ORDERS, metadata }), ACTIVE);
    expect(paid.body.error.code).toBe(-32005);
    expect(await service.transfersFrom(payer)).toHaveLength(0);
  });
});
