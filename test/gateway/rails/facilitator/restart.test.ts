import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  auditArrivals,
  type FacilitatorService,
  openFacilitatorService,
  registeredBuyer,
  settledAnswerTo,
} from '../../../harness/facilitator/open-service.ts';
import { type FacilitatorBehaviour, honest } from '../../../harness/facilitator.ts';
import {
  type Answer,
  harmless,
  jwsOf,
  nameOf,
  newBuyer,
  type Order,
  send,
  trySend,
} from '../../../harness/faults/buyer.ts';
import { untilClosed } from '../../../harness/faults/claims.ts';
import { eventually } from '../../../harness/faults/ground.ts';
import type { RunningService } from '../../../harness/worker-gateway.ts';

let service: FacilitatorService;
let healthy: RunningService;
let buyer: Awaited<ReturnType<typeof registeredBuyer>>;

beforeAll(async () => {
  service = await openFacilitatorService();
  healthy = await service.startPollingFast();
  buyer = await registeredBuyer(service, healthy);
});

afterAll(async () => {
  await auditArrivals(service);
});

/** Kills a process while the facilitator has its payments in hand; what it does with them then is its own affair. */
async function killedAtTheFacilitator(orders: readonly Order[], then: FacilitatorBehaviour): Promise<void> {
  const dying = await service.startDying();
  const before = service.facilitator.settlements.length;
  const all_there = () => service.facilitator.settlements.length === before + orders.length || null;
  const meanwhile = async () => {
    await eventually('all of them at the facilitator', all_there);
    await dying.kill();
  };
  service.facilitator.behave({ ...then, meanwhile });
  expect(await Promise.all(orders.map(order => trySend(dying, order)))).toEqual(orders.map(() => null));
  await dying.endLease();
  service.facilitator.behave(honest);
}

describe('a process killed while payments are at the facilitator', () => {
  const outcomes: readonly [what: string, then: FacilitatorBehaviour][] = [
    ['which settles them', { settles: true, reply: { kind: 'the_truth' } }],
    ['which forgets them', { settles: false, reply: { kind: 'nothing' } }],
  ];

  it.each(outcomes)('%s: another one finishes them, and each gets its answer, once', async (what, then) => {
    const newcomer = await newBuyer(service.ground);
    const [chat, registration] = [await buyer.chat(what), await newcomer.registration()];
    const before = await service.transfersOf(chat);
    await killedAtTheFacilitator([chat, registration], then);
    for (const order of [chat, registration])
      expect(await untilClosed(service.ground, order)).toMatchObject({ state: 'recorded' });

    const answer = await send(healthy, chat);
    expect(answer.status).toBe(200);
    expect(answer.headers.get('x-svc-settlement-status')).toBe('idempotent_replay');
    expect(jwsOf(await send(healthy, chat))).toBe(jwsOf(answer));
    const registered = await send(healthy, registration);
    expect(registered).toMatchObject({ status: 200, body: { agentWallet: newcomer.address, idempotent_replay: true } });
    expect(await service.transfersOf(chat)).toHaveLength(before.length + 1);
    expect(await service.transfersOf(registration)).toHaveLength(1);
  });

  it('and the chain away when another one takes them up: recorded on its word, then collected', async () => {
    const order = await (await newBuyer(service.ground)).chat('vouched for after a death');
    await killedAtTheFacilitator([order], { settles: false, reply: { kind: 'nothing' } });
    service.facilitator.behave({ ...honest, meanwhile: service.cutOnce() });
    expect(await untilClosed(service.ground, order)).toMatchObject({ state: 'recorded' });
    expect(proofOf(await send(healthy, order))).toBe('pending');
    service.facilitator.behave(honest);
    service.gate.open();
    await eventually('settled', async () => proofOf(await send(healthy, order)) === 'settled' || null);
    expect(await service.transfersOf(order)).toHaveLength(1);
  });
});

describe('two processes that settle by one facilitator', () => {
  it('charge a payment that is sent to both at once only once', async () => {
    const gateways = [healthy, await service.startProcess()];
    const order = await (await newBuyer(service.ground)).chat('Both');
    const answers = await Promise.all(gateways.flatMap(gateway => [send(gateway, order), send(gateway, order)]));
    expect(answers.map(nameOf).filter(name => !harmless.has(name))).toEqual([]);
    const jws = new Set((await Promise.all(gateways.map(gateway => settledAnswerTo(gateway, order)))).map(jwsOf));
    expect(jws.size).toBe(1);
    expect(await service.transfersOf(order)).toHaveLength(1);
  });
});

function proofOf({ body }: Answer): string {
  return (body.svc as { proof_outcome: string }).proof_outcome;
}
