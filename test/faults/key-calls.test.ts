import { beforeAll, describe, expect, it } from 'vitest';
import type { FaultPoint } from '../../gateway/payment/till.ts';
import type { RunningService } from '../harness/worker-gateway.ts';
import { audit } from './audit.ts';
import { newBuyer, send } from './buyer.ts';
import { type Ground, openGround, reached } from './ground.ts';

/*
 * A process that is killed in the midst of calls by key: nothing was paid, so nothing is owed; and nothing stands
 * half-written, whatever it had in hand.
 */

let ground: Ground;
let healthy: RunningService;
let agent: { readonly agent_id: number; readonly session: string };
beforeAll(async () => {
  ground = await openGround();
  healthy = await ground.start();
  const { status, body } = await send(healthy, await (await newBuyer(ground)).registration());
  expect(status).toBe(200);
  agent = { agent_id: Number(body.agent_id), session: String(body.session) };
});

function callByKey({ url }: RunningService, content: string, members = {}): Promise<Response> {
  const headers = { 'content-type': 'application/json', 'x-api-key': 'a-live-key', 'x-svc-session': agent.session };
  const body = { model: 'test/model', messages: [{ role: 'user', content }], ...members };
  return fetch(`${url}/v1/chat/completions`, { method: 'POST', headers, body: JSON.stringify(body) });
}

const count = async (text: string) => (await ground.database.query<{ n: number }>({ text }))[0]?.n;
const receipts = () => count(`select count(*)::int as n from receipt where proof_outcome = 'none'`);
const rows = () => count(`select count(*)::int as n from book_row where evidence = 'UNVERIFIED'`);
const underway = () => count('select count(*)::int as n from key_call');
const standing = async () => ({ receipts: await receipts(), rows: await rows() });

const lose = (gateway: RunningService, content: string, members = {}) =>
  callByKey(gateway, content, members)
    .then(answer => answer.text())
    .catch(() => null);

describe('a process killed in the midst of calls by key', () => {
  it('between two steps: only what was recorded stands, and stands whole', { timeout: 60_000 }, async () => {
    const before = await standing();
    const points = ['after_claim', 'after_work', 'mid_stream', 'before_record', 'after_record'] as const;
    const dying = await ground.startFaulty({ point: points, signal: 'none' });
    const lost: Promise<unknown>[] = [];
    for (const point of points) {
      lost.push(lose(dying, point, { stream: point === 'mid_stream' }));
      await reached(dying, point);
    }
    await dying.kill('SIGKILL');
    await Promise.all(lost);
    expect(await standing()).toEqual({ receipts: Number(before.receipts) + 1, rows: Number(before.rows) + 1 });
    expect((await callByKey(healthy, 'Once more')).status).toBe(200);
  });

  it.each<FaultPoint>(['in_claim', 'in_record'])('%s: nothing stands of it', { timeout: 60_000 }, async point => {
    const before = await standing();
    const dying = await ground.startFaulty({ point });
    const lost = lose(dying, point);
    await reached(dying, point);
    expect(await dying.exited).toBeNull();
    await lost;
    expect(await standing()).toEqual(before);
  });

  it('leaves what it held to nobody: it is forgotten once its process is known to be gone', {
    timeout: 60_000,
  }, async () => {
    await expect.poll(underway, { timeout: 45_000, interval: 250 }).toBe(0);
    await audit(ground);
  });
});

describe('a hold that was swept away while its process was thought to be gone', () => {
  it('503, and nothing is recorded', { timeout: 60_000 }, async () => {
    const release = Promise.withResolvers<void>();
    const asked = ground.hub.requests.length;
    ground.hub.behave({ kind: 'answer', until: release.promise });
    const before = await standing();
    const call = callByKey(healthy, 'swept');
    await expect.poll(() => ground.hub.requests.length).toBe(asked + 1);
    await ground.database.query({ text: 'delete from key_call' });
    release.resolve();
    const answer = await call;
    expect(answer.status).toBe(503);
    expect(await answer.json()).toMatchObject({ code: 'unavailable', charged: false });
    expect(await standing()).toEqual(before);
  });
});
