import { expect, it } from 'vitest';
import { openGround } from '../harness/faults/ground.ts';
import { startGateways } from '../harness/gateways/trio.ts';
import { openReceiver } from '../harness/webhook/receiver.ts';
import { openWebhookBooks, SEAL_KEY } from '../harness/webhook/webhook-books.ts';

/* Webhook messages of a book are delivered once and in order, by any of the processes. */

const underway = `select count(*)::int as count from graphile_worker.jobs where task_identifier like 'webhook/%'`;

it('three processes tell each message once, and each book in order', async () => {
  const ground = await openGround({ environment: { NODE_ENV: 'test', SEAL_KEY } });
  await startGateways(ground, 3);
  const { database } = ground;
  const [receiver, books] = [await openReceiver(), openWebhookBooks(database)];
  const agents = Array.from({ length: 9 }, (_, index) => index + 101);
  for (const agent of agents) await books.open(agent, receiver.url);
  const rounds = 12;
  for (let round = 0; round < rounds; round++) await books.tell(agents);
  await receiver.untilMessages(agents.length * rounds);
  await expect.poll(async () => (await database.query<{ count: number }>({ text: underway }))[0]?.count).toBe(0);
  // No message is delivered twice.
  expect(receiver.received).toHaveLength(agents.length * rounds);
  for (const agent of agents) {
    const numbers = receiver.received.flatMap(({ body }) => (body.agent_id === agent ? [body.number] : []));
    expect(numbers).toEqual(Array.from({ length: rounds }, (_, index) => index + 1));
  }
});
