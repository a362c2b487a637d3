import { expect, it } from 'vitest';
import { audit } from '../harness/faults/audit.ts';
import { newBuyer, send } from '../harness/faults/buyer.ts';
import { claimOf } from '../harness/faults/claims.ts';
import { eventually, openGround } from '../harness/faults/ground.ts';

it('SIGTERM lets calls in flight come to their end, then the process ends with 0', async () => {
  const ground = await openGround();
  const gateway = await ground.startProcess();
  const buyer = await newBuyer(ground);
  expect((await send(gateway, await buyer.registration())).status).toBe(200);
  const orders = await Promise.all(Array.from({ length: 5 }, (_, index) => buyer.chat(`slow ${index}`)));
  const answers = orders.map(order => send(gateway, order));
  await eventually('the hub at work', () => ground.hub.requests.length === orders.length || null);

  const exited = gateway.kill('SIGTERM');
  const ready = () =>
    fetch(`${gateway.url}/readyz`).then(
      answer => answer.ok,
      () => false,
    );
  await eventually('stopping', async () => ((await ready()) ? null : true));
  ground.answerSlow();
  expect((await Promise.all(answers)).map(answer => answer.status)).toEqual(orders.map(() => 200));
  expect(await exited).toBe(0);
  for (const order of orders) expect(await claimOf(ground, order)).toMatchObject({ state: 'recorded', lease_epoch: 0 });
  expect(await audit(ground)).toBe(1 + orders.length);
});
