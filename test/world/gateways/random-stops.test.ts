import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { audit } from '../../harness/faults/audit.ts';
import { answerTo, harmless, nameOf, newBuyer, type Order, send } from '../../harness/faults/buyer.ts';
import { untilAllClosed } from '../../harness/faults/claims.ts';
import { openGround } from '../../harness/faults/ground.ts';
import type { RunningGateway } from '../../harness/gateway.ts';
import { newAgent } from '../../harness/gateways/trio.ts';

/*
 * One of three processes is stopped and resumed repeatedly at random points: within a transaction, during a message to the server, between
 * a commit and its answer, or during a call to the chain.
 */
const WAVES = 5;
const EACH = 8;

it('a process that stutters costs the others no answer, and no payment is charged twice or lost', async () => {
  const ground = await openGround();
  // One after the other, because on a small machine parallel starts delay each other.
  const stuttering = await ground.startProcess();
  const one = await ground.startProcess();
  const other = await ground.startProcess();
  const owner = await newAgent(ground, one);
  const buyers = [owner, await newBuyer(ground), await newBuyer(ground)] as const;
  const orders: Order[] = [];
  const newOrders = async () => {
    const made: Order[] = [];
    // All calls are on one book, so that all need the same head.
    for (let number = 0; number < EACH; number++)
      made.push({ ...(await (buyers[number % 3] ?? owner).chat(`call ${number}`)), session: owner.session });
    orders.push(...made);
    return made;
  };
  const sendAll = (gateway: RunningGateway, made: readonly Order[]) =>
    Promise.all(made.map(async order => nameOf(await send(gateway, order))));

  const calm = new AbortController();
  const stutter = stopAndGo(stuttering, calm.signal);
  const heard: Promise<string[]>[] = [];
  for (let wave = 0; wave < WAVES; wave++) {
    heard.push(sendAll(stuttering, await newOrders()));
    const others = await Promise.all([sendAll(one, await newOrders()), sendAll(other, await newOrders())]);
    expect(others.flat()).toEqual(Array(2 * EACH).fill('200'));
  }
  calm.abort();
  await stutter;
  // Calls at the stopped process may fail with a refusal that charges nothing, or that requests the same payment again.
  const told = new Set((await Promise.all(heard)).flat());
  expect([...told].filter(name => !harmless.has(name) && name !== '503 unavailable')).toEqual([]);

  await untilAllClosed(ground);
  const again = await Promise.all(orders.map(order => answerTo(stuttering, order)));
  expect(new Set(again.map(nameOf))).toEqual(new Set(['200']));
  expect(await audit(ground)).toBe(1 + orders.length);
});

async function stopAndGo({ process: stuttering }: RunningGateway, calm: AbortSignal): Promise<void> {
  while (!calm.aborted) {
    stuttering.kill('SIGSTOP');
    await sleep(300 + Math.random() * 1_200);
    stuttering.kill('SIGCONT');
    await sleep(20 + Math.random() * 180);
  }
}
