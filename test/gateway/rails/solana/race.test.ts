import { beforeAll, expect, it } from 'vitest';
import { audit } from '../../../harness/faults/audit.ts';
import { harmless, jwsOf, nameOf, send, trySend } from '../../../harness/faults/buyer.ts';
import { untilAllClosed } from '../../../harness/faults/claims.ts';
import { eventually, type Ground, openGround } from '../../../harness/faults/ground.ts';
import type { RunningGateway } from '../../../harness/gateway.ts';
import { newSolanaBuyer } from '../../../harness/solana/orders.ts';
import type { RunningService } from '../../../harness/worker-gateway.ts';

let ground: Ground;
/** The first is a process of its own, so that the two share nothing but what processes share. */
let gateways: readonly [RunningGateway, RunningService];
beforeAll(async () => {
  ground = await openGround({ solana: true });
  gateways = [await ground.startProcess(), await ground.start()];
});

it('one payment sent two hundred times at once to two processes is charged once', async () => {
  const order = await (await newSolanaBuyer(ground)).chat('me first');
  const answers = await Promise.all(
    Array.from({ length: 200 }, (_, index) => send(gateways[(index % 2) as 0 | 1], order)),
  );
  expect([...new Set(answers.map(nameOf))].filter(name => !harmless.has(name))).toEqual([]);
  const paid = answers.filter(({ status }) => status === 200);
  expect(paid.length).toBeGreaterThan(0);
  const last = await send(gateways[1], order);
  expect(new Set([...paid, last].map(jwsOf)).size).toBe(1);
  expect(await audit(ground)).toBe(1);
});

it('fifty payments over two processes all land, each once, though one is killed among them', async () => {
  const before = await audit(ground);
  const buyers = await Promise.all(Array.from({ length: 5 }, () => newSolanaBuyer(ground)));
  const orders = await Promise.all(
    buyers.flatMap((buyer, one) => Array.from({ length: 10 }, (_, other) => buyer.chat(`the ${one}${other}th`))),
  );
  const sent = orders.map((order, index) => trySend(gateways[(index % 2) as 0 | 1], order));
  await eventually('the first have moved', async () => {
    const moved = await ground.solana?.svm.transfers(ground.solana.treasury);
    return (moved?.length ?? 0) > before || null;
  });
  await gateways[0].kill('SIGKILL');
  const heard = (await Promise.all(sent)).filter(answer => answer !== null);
  expect([...new Set(heard.map(nameOf))].filter(name => !harmless.has(name))).toEqual([]);
  await untilAllClosed(ground);
  await audit(ground);
  const again = await Promise.all(orders.map(order => send(gateways[1], order)));
  expect(new Set(again.map(nameOf))).toEqual(new Set(['200']));
  expect(await audit(ground)).toBe(before + orders.length);
});
