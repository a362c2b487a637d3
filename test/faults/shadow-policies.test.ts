import { beforeAll, expect, it } from 'vitest';
import { audit } from '../harness/faults/audit.ts';
import { auditBooks } from '../harness/faults/audit-books.ts';
import { newBuyer, send, trySend } from '../harness/faults/buyer.ts';
import { untilClosed } from '../harness/faults/claims.ts';
import { type Ground, openGround } from '../harness/faults/ground.ts';
import type { RunningService } from '../harness/worker-gateway.ts';

/* The verdict of a policy in shadow mode is stored with the claim. Only the process that records the claim writes the event. */

let ground: Ground;
let healthy: RunningService;
beforeAll(async () => {
  ground = await openGround();
  healthy = await ground.start();
});

it.each([
  ['before_record', ['born', 'policy_changed', 'policy_changed', 'born', 'would_block']],
  ['after_work', ['born', 'policy_changed', 'policy_changed']],
] as const)('a process killed %s leaves the events %j, whatever is set since', async (point, left) => {
  const buyer = await newBuyer(ground);
  const { agent_id, session } = (await send(healthy, await buyer.registration())).body;
  const set = (value: boolean | null) =>
    fetch(`${healthy.url}/v1/agents/${agent_id}/book/policy`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ session, policy_type: 'kill_switch', value, mode: 'shadow' }),
    });
  expect((await set(true)).status).toBe(200);
  const chat = await buyer.chat(point);
  const dying = await ground.startDying({ plan: { point } });
  const lost = trySend(dying, chat);
  await dying.died;
  expect(await lost).toBeNull();
  expect((await set(null)).status).toBe(200);
  await dying.endLease();
  await untilClosed(ground, chat);
  const text = 'select kind, seq, body from book_event where agent_id = $1 order by position';
  const events = await ground.database.query({ text, values: [agent_id] });
  expect(events.map(({ kind }) => kind)).toEqual(left);
  const told = events.find(({ kind }) => kind === 'would_block');
  if (told) expect(told).toMatchObject({ seq: 2, body: { policy_code: 'kill_switch', spent_atomic: '2000' } });
});

it('every payment of this file has moved once, and every book is sound', async () => {
  expect(await audit(ground)).toBe(3);
  await auditBooks(ground.database);
});
