import { beforeAll, expect, it } from 'vitest';
import { auditBooks } from '../harness/faults/audit-books.ts';
import { auditLog } from '../harness/faults/audit-log.ts';
import { answerTo, newBuyer, send, trySend } from '../harness/faults/buyer.ts';
import { eventually, type Ground, openGround } from '../harness/faults/ground.ts';
import type { RunningService } from '../harness/worker-gateway.ts';

/* A paid post is written once, regardless of which process dies, with the backing that was found before. */

let ground: Ground;
let first: RunningService;
const OURS = { BASE_URL: 'https://gateway.example' };
beforeAll(async () => {
  ground = await openGround({ environment: OURS });
  first = await ground.start();
});

it('killed before it is recorded: the same payment is one post, and its receipt backs no other', async () => {
  const buyer = await newBuyer(ground);
  const { agent_id, session } = (await answerTo(first, await buyer.registration())).body as Record<string, string>;
  const called = { ...(await buyer.chat('a call')), session: String(session) };
  const { task_id } = (await answerTo(first, called)).body.svc as { task_id: string };
  const report = { endpoint: 'https://gateway.example/v1', outcome: 'success', receipt_ref: task_id };
  const pay = async () => ({ ...(await buyer.pay('/v1/board/posts', report)), session: String(session) });
  const order = await pay();
  const dying = await ground.startDying({ plan: { point: 'before_record' } });
  expect(await trySend(dying, order)).toBeNull();
  await dying.died;
  expect((await send(first, await pay())).body.code).toBe('receipt_backs_another');
  await dying.endLease();
  const mine = await eventually('its answer', async () => {
    const answer = await send(first, order);
    return answer.status === 201 ? answer : null;
  });
  expect(mine.body).toMatchObject({ backing: 'spend-backed', host_basis: 'signed', amount: '2000' });
  const count = async (text: string, value: unknown) => (await ground.database.query({ text, values: [value] })).length;
  expect([
    await count('select 1 from board_post where agent_id = $1', agent_id),
    await count('select 1 from board_event where post_id = $1', mine.body.post_id),
    await count('select 1 from claim_slot where slot = $1', `backs:${task_id}`),
    await count(`select 1 from book_row where agent_id = $1 and model = 'board'`, agent_id),
  ]).toEqual([1, 1, 1, 1]);
  await auditBooks(ground.database);
  await auditLog(ground.database, ground.saved_head);
});
