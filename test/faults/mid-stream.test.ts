import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../schema/canonical-json.ts';
import { listen } from '../harness/doors/listen.ts';
import { audit } from '../harness/faults/audit.ts';
import { nameOf, newBuyer, type Order, send } from '../harness/faults/buyer.ts';
import { claimOf, untilClosed } from '../harness/faults/claims.ts';
import { eventually, type Ground, openGround } from '../harness/faults/ground.ts';
import type { RunningService } from '../harness/worker-gateway.ts';

let ground: Ground;
let buyer: Awaited<ReturnType<typeof newBuyer>>;
beforeAll(async () => {
  ground = await openGround();
  buyer = await newBuyer(ground);
});
beforeEach(() => ground.hub.behave({ kind: 'answer' }));

const open = (gateway: { url: string }, { body, payment }: Order) =>
  listen(gateway, JSON.parse(body), { headers: { 'x-payment': payment } });

/** Makes the hub stop after its first words until `goOn` is called. */
function pausedHub(): { goOn(): void } {
  const on = Promise.withResolvers<void>();
  ground.hub.behave({ kind: 'answer', in_stream: { after_words: 2, does: on.promise } });
  return { goOn: () => on.resolve() };
}

async function commitmentOf(order: Order): Promise<JsonObject> {
  const claim = await claimOf(ground, order);
  const text = `select payload::json -> 'fulfillment' -> 'output_commitment' as commitment from receipt where task_id = $1`;
  const [row] = await ground.database.query<{ commitment: JsonObject }>({ text, values: [claim?.task_id] });
  return row?.commitment ?? {};
}

describe('a process killed in the midst of a paid stream', () => {
  let healthy: RunningService;
  let order: Order;
  beforeAll(async () => {
    healthy = await ground.start();
    expect((await send(healthy, await buyer.registration())).status).toBe(200);
  });

  it('has moved the money once; another one records it, without an answer', async () => {
    order = await buyer.stream('Cut short');
    const dying = await ground.startDying({ plan: { point: 'mid_stream' } });
    const { goOn } = pausedHub();
    const stream = await open(dying, order);
    expect(stream.status).toBe(200);
    await stream.next();
    goOn();
    await expect(stream.rest()).rejects.toThrow();
    await dying.endLease();
    expect(await untilClosed(ground, order)).toMatchObject({ state: 'recorded' });
    expect(await commitmentOf(order)).toEqual({
      status: 'UNVERIFIED',
      hash: null,
      kind: null,
      omission_rule: 'process_ended',
    });
    expect(await audit(ground)).toBe(2);
  });

  it('and so one that works for it again: its hold runs out with its life', async () => {
    const dying = await ground.startDying();
    pausedHub();
    const stream = await open(dying, order);
    await stream.next();
    expect(nameOf(await send(healthy, order))).toBe('409 payment_in_flight');
    await dying.kill();
    await expect(stream.rest()).rejects.toThrow();
    await dying.endLease();

    ground.hub.behave({ kind: 'answer' });
    const before = ground.hub.requests.length;
    const again = await eventually('the hold run out', async () => {
      const resent = await open(healthy, order);
      if (resent.status === 200) return resent;
      expect(resent.status).toBe(409);
      return null;
    });
    const heard = await again.rest();
    expect(heard).toMatchObject({ ends_well: true, finish_reasons: ['stop'] });
    expect(heard.text).toContain('"Cut short"');
    expect(heard.svc).toMatchObject({ settlement_status: 'idempotent_replay' });
    expect(ground.hub.requests).toHaveLength(before + 1);
    expect((await (await open(healthy, order)).rest()).text).toBe(heard.text);
    expect(ground.hub.requests).toHaveLength(before + 1);
    expect(await audit(ground)).toBe(2);
  });
});

describe('a process that is told to stop', () => {
  it('brings its streams to their end, readers or none, within bounds', async () => {
    const gateway = await ground.startProcess({ entry: 'test/harness/faults/gateway-that-stops-soon.ts' });
    const { goOn } = pausedHub();
    const orders = [await buyer.stream('Staying'), await buyer.stream('Leaving')] as const;
    const staying = await open(gateway, orders[0]);
    const leaving = await open(gateway, orders[1]);
    await leaving.next();
    leaving.leave();
    ground.hub.behave({ kind: 'answer', in_stream: { after_words: 2, does: 'hang' } });
    const endless = await buyer.stream('Endless');
    const deserted = await open(gateway, endless);
    await deserted.next();
    deserted.leave();

    const exited = gateway.kill('SIGTERM');
    goOn();
    expect(await staying.rest()).toMatchObject({ ends_well: true, finish_reasons: ['stop'] });
    expect(await exited).toBe(0);
    for (const order of [...orders, endless])
      expect(await claimOf(ground, order)).toMatchObject({ state: 'recorded', lease_epoch: 0 });
    for (const order of orders) expect(await commitmentOf(order)).toMatchObject({ status: 'committed' });
    expect(await commitmentOf(endless)).toMatchObject({ status: 'UNVERIFIED', omission_rule: 'process_ended' });
    expect(await audit(ground)).toBe(2 + 3);

    // The service itself cut the stream off, so it owes the whole answer without a further charge.
    ground.hub.behave({ kind: 'answer' });
    const heard = await (await open(await ground.start(), endless)).rest();
    expect(heard).toMatchObject({ ends_well: true, finish_reasons: ['stop'] });
    expect(heard.text).toContain('"Endless"');
    expect(heard.svc).toMatchObject({ settlement_status: 'idempotent_replay' });
    expect(await audit(ground)).toBe(2 + 3);
  });
});
