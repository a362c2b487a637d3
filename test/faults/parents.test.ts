import { expect, it } from 'vitest';
import { audit } from '../harness/faults/audit.ts';
import { newBuyer, send, trySend } from '../harness/faults/buyer.ts';
import { untilClosed } from '../harness/faults/claims.ts';
import { openGround, untilReached } from '../harness/faults/ground.ts';

it('a call whose process is killed between settlement and record is recorded with its parent', async () => {
  const ground = await openGround();
  const healthy = await ground.start();
  const buyer = await newBuyer(ground);
  const { body } = await send(healthy, await buyer.registration());
  const parent_ref = String(body.task_id);
  const messages = [{ role: 'user', content: 'Child' }];
  const order = await buyer.pay('/v1/chat/completions', { model: 'test/model', messages, parent_ref });

  const dying = await ground.startDying({ plan: { point: 'before_record' } });
  const lost = trySend(dying, order);
  await untilReached(dying, 'before_record');
  expect(await lost).toBeNull();
  await dying.endLease();

  const { state, task_id } = await untilClosed(ground, order);
  expect(state).toBe('recorded');
  const rows = await ground.database.query({
    text: 'select parent_ref, evidence from book_row where task_id = $1',
    values: [task_id],
  });
  expect(rows).toEqual([{ parent_ref, evidence: 'collected' }]);
  expect((await send(healthy, order)).body).toMatchObject({ svc: { task_id } });
  expect(await audit(ground)).toBe(2);
});
