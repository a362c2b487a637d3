import { beforeAll, describe, expect, it } from 'vitest';
import { trySend } from '../harness/faults/buyer.ts';
import { untilClosed } from '../harness/faults/claims.ts';
import { type Ground, openGround } from '../harness/faults/ground.ts';
import { newAgent } from '../harness/gateways/trio.ts';
import { openReceiver } from '../harness/webhook/receiver.ts';
import type { RunningService } from '../harness/worker-gateway.ts';

/* A message is sent regardless of which process dies, because its event is committed and no process has to remember it. */

let ground: Ground;
beforeAll(async () => {
  ground = await openGround({ environment: { NODE_ENV: 'test' } });
});

const set = async (at: Pick<RunningService, 'url'>, agent: { agent_id: number; session: string }, url: string) => {
  const answer = await fetch(`${at.url}/v1/agents/${agent.agent_id}/book/webhook`, {
    method: 'PUT',
    headers: { 'content-type': 'application/json', 'X-SVC-Session': agent.session },
    body: JSON.stringify({ url }),
  });
  expect(answer.status).toBe(200);
};

describe('a process killed', () => {
  it('between a row and its delivery: another one delivers', async () => {
    const first = await ground.start();
    const [agent, receiver] = [await newAgent(ground, first), await openReceiver()];
    await set(first, agent, receiver.url);
    await first.stop();

    const order = { ...(await agent.pay('/v1/chat/completions', { messages: [{ role: 'user', content: 'hi' }] })) };
    const dying = await ground.startDying({ plan: { point: 'after_record' } });
    await trySend(dying, { ...order, session: agent.session });
    await dying.died;

    const next = await ground.start();
    await receiver.untilMessages(2);
    expect(await untilClosed(ground, order)).toMatchObject({ state: 'recorded' });
    expect(new Set(receiver.received.map(({ body }) => body.kind))).toEqual(new Set(['settle', 'collected']));
    await next.stop();
  });

  it('during a delivery: the same message comes again, by the same id', async () => {
    const receiver = await openReceiver(() => 'hang');
    const dying = await ground.startDying();
    const agent = await newAgent(ground, dying);
    await set(dying, agent, receiver.url);
    const body = { session: agent.session, allocation: '5', task_id: 'killed-in-delivery' };
    const recorded = await fetch(`${dying.url}/v1/agents/${agent.agent_id}/book/inflow`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    expect(recorded.status).toBe(201);
    await receiver.untilRequests(1);
    await dying.kill();
    receiver.answerWith(() => ({ status: 200 }));

    const next = await ground.start();
    await receiver.untilRequests(2);
    expect(new Set(receiver.ids()).size).toBe(1);
    expect(receiver.received[1]?.text).toBe(receiver.received[0]?.text);
    await next.stop();
  });
});
