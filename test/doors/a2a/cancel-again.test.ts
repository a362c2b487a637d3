import { expect, it } from 'vitest';
import type { JsonObject } from '../../../schema/canonical-json.ts';
import { limits } from '../../../schema/limits.ts';
import { A2A, payerHeader, rpc, said } from '../../harness/a2a/agent.ts';
import { openService } from '../../harness/doors/open-service.ts';

it('CancelTask again and again, with one payment: it lapses, and no hub works for it any more', async () => {
  const service = await openService();
  const payer = await service.chain.newWallet();
  const payment = await service.payment(payer, A2A);
  const signed = await payerHeader(service, payer);
  service.gates.alpha.hold();
  const send = () =>
    rpc(service, 'SendMessage', said('', { parts: [{ data: { model: 'alpha-1' } }, { text: 'Never mind' }] }), payment);
  const working = { status: 'TASK_STATE_WORKING' };
  const calls: ReturnType<typeof send>[] = [];
  for (let time = 1; time <= limits.payment_failures_max; time++) {
    calls.push(send());
    await expect.poll(() => service.gates.alpha.held()).toBe(time);
    const listed = await rpc<{ tasks: readonly JsonObject[] }>(service, 'ListTasks', working, signed);
    const canceled = await rpc(service, 'CancelTask', { id: String(listed.body.result.tasks[0]?.id) }, signed);
    expect(canceled.body.result).toMatchObject({ status: { state: 'TASK_STATE_CANCELED' } });
  }
  const refused = await send();
  expect(refused.body.error.data[0]?.reason).toBe('PAYMENT_LAPSED');
  expect(service.gates.alpha.held()).toBe(limits.payment_failures_max);
  // Held as they are, each was hung up on.
  const heard = await Promise.all(calls);
  expect(heard.map(({ body }) => body.error.data[0]?.reason)).toEqual(calls.map(() => 'CALL_CANCELED'));
  expect(await service.transfersFrom(payer)).toHaveLength(0);
});
