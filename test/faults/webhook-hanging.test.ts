import { expect, it } from 'vitest';
import { openGround } from '../harness/faults/ground.ts';
import { openReceiver } from '../harness/webhook/receiver.ts';
import { openWebhookBooks, SEAL_KEY } from '../harness/webhook/webhook-books.ts';

/* More receivers hang than jobs run at once. They must delay only each other and no other receiver. */

const BOOKS = 160;
const HANGING = 80;

it('receivers that hang hold up no other: all others are told before the first of them is given up on', async () => {
  const ground = await openGround({
    // Deliveries get a share of the connection pool, so the pool has the default size of production.
    environment: { NODE_ENV: 'test', SEAL_KEY, DATABASE_CONNECTIONS_MAX: '16' },
  });
  const { database } = ground;
  await ground.start();
  const [good, bad, books] = [await openReceiver(), await openReceiver(), openWebhookBooks(database)];
  const agents = Array.from({ length: BOOKS }, (_, index) => index + 101);
  const isHanging = (agent: number) => agent % (BOOKS / HANGING) === 0;
  for (const agent of agents) await books.open(agent, isHanging(agent) ? bad.url : good.url);
  // All receivers are fast at first, so that the service counts them as such and could give them the jobs of fast receivers.
  await books.tell(agents);
  await Promise.all([good.untilMessages(BOOKS - HANGING), bad.untilMessages(HANGING)]);
  await expect.poll(() => database.query({ text: 'select 1 from webhook where answered_at is null' })).toEqual([]);

  bad.answerWith(() => 'hang');
  await books.tell(agents);
  await good.untilMessages(2 * (BOOKS - HANGING));
  const timed_out = await database.query({ text: `select 1 from webhook where last_error like '%in time%'` });
  expect(timed_out).toEqual([]);

  // Now the service has seen which ones hang, so none of these takes a job of a fast receiver.
  await books.tell(agents);
  await good.untilMessages(3 * (BOOKS - HANGING));
});
