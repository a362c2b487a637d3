import { beforeAll, describe, expect, it } from 'vitest';
import type { FaultPoint } from '../../gateway/operations/faults.ts';
import { audit } from '../harness/faults/audit.ts';
import { newBuyer, send } from '../harness/faults/buyer.ts';
import { eventually, type Ground, openGround, untilReached } from '../harness/faults/ground.ts';
import type { RunningService } from '../harness/worker-gateway.ts';

/* A process is killed during calls by API key. Nothing was paid, so nothing is owed, and no record may be partly written. */

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

function callByKey(
  { url }: Pick<RunningService, 'url'>,
  content: string,
  members = {},
  more: Record<string, string> = {},
): Promise<Response> {
  const own = { 'x-api-key': 'a-live-key', 'x-svc-session': agent.session };
  const headers = { 'content-type': 'application/json', ...own, ...more };
  const body = { model: 'test/model', messages: [{ role: 'user', content }], ...members };
  return fetch(`${url}/v1/chat/completions`, { method: 'POST', headers, body: JSON.stringify(body) });
}

const count = async (text: string) => (await ground.database.query<{ n: number }>({ text }))[0]?.n;
const receipts = () => count(`select count(*)::int as n from receipt where proof_outcome = 'none'`);
const rows = () => count(`select count(*)::int as n from book_row where evidence = 'UNVERIFIED'`);
const underway = () => count('select count(*)::int as n from key_call');
const standing = async () => ({ receipts: await receipts(), rows: await rows() });

const lose = (gateway: Pick<RunningService, 'url'>, content: string, members = {}) =>
  callByKey(gateway, content, members)
    .then(answer => answer.text())
    .catch(() => null);

describe('a process killed in the midst of calls by key', () => {
  it('between two steps: only what was recorded stands, and stands whole', async () => {
    const before = await standing();
    const points = ['after_claim', 'after_work', 'mid_stream', 'before_record', 'after_record'] as const;
    const dying = await ground.startDying({ plan: { point: points, signal: 'none' } });
    const lost: Promise<unknown>[] = [];
    for (const point of points) {
      lost.push(lose(dying, point, { stream: point === 'mid_stream' }));
      await untilReached(dying, point);
    }
    await dying.kill();
    await Promise.all(lost);
    expect(await standing()).toEqual({ receipts: Number(before.receipts) + 1, rows: Number(before.rows) + 1 });
    expect((await callByKey(healthy, 'Once more')).status).toBe(200);
  });

  it.each<FaultPoint>(['in_claim', 'in_record'])('%s: nothing stands of it', async point => {
    const before = await standing();
    const dying = await ground.startDying({ plan: { point } });
    const lost = lose(dying, point);
    await untilReached(dying, point);
    await dying.died;
    await lost;
    expect(await standing()).toEqual(before);
  });

  it('leaves what it held to nobody: it is forgotten once its process is known to be gone', async () => {
    await expect.poll(underway, { interval: 250 }).toBe(0);
    await audit(ground);
  });
});

describe('a process killed in the midst of calls under an Idempotency-Key', () => {
  interface KeyCallAnswer {
    readonly status: number;
    readonly svc: { readonly task_id: string; readonly settlement_status: string } | undefined;
    /** Codes of the answers before this one. */
    readonly codes: ReadonlySet<string>;
  }

  /** Sends the call again as long as the answer reports that it is in progress. */
  async function untilAnswered(send: () => Promise<Response>): Promise<KeyCallAnswer> {
    const codes = new Set<string>();
    return eventually('an answer', async () => {
      const answer = await send();
      const { code, svc } = (await answer.json()) as { code?: string } & Pick<KeyCallAnswer, 'svc'>;
      if (answer.status !== 409) return { status: answer.status, svc, codes };
      expect(code).toBe('idempotency_key_in_flight');
      codes.add(String(code));
      return null;
    });
  }

  it('before its record: the key goes to who asks again, once its process is gone; then it has its answer', async () => {
    const before = await standing();
    const points = ['after_claim', 'after_work', 'before_record'] as const;
    const dying = await ground.startDying({ plan: { point: points, signal: 'none' } });
    const lost: Promise<unknown>[] = [];
    for (const point of points) {
      const sent = callByKey(dying, `named ${point}`, {}, { 'idempotency-key': `named-${point}` });
      lost.push(sent.then(answer => answer.text()).catch(() => null));
      await untilReached(dying, point);
    }
    await dying.kill();
    await Promise.all(lost);
    expect(await standing()).toEqual(before);
    for (const point of points) {
      const key = `named-${point}`;
      const send = () => callByKey(healthy, `named ${point}`, {}, { 'idempotency-key': key });
      const done = await untilAnswered(send);
      expect(done).toMatchObject({ status: 200, svc: { settlement_status: 'waived' } });
      const twice = await untilAnswered(send);
      expect(twice.svc).toMatchObject({ task_id: done.svc?.task_id, settlement_status: 'idempotent_replay' });
    }
    expect(await receipts()).toBe(Number(before.receipts) + points.length);
  });

  it('after its record: the key has its answer, from any process', async () => {
    const before = await standing();
    const dying = await ground.startDying({ plan: { point: 'after_record', signal: 'none' } });
    const headers = { 'idempotency-key': 'recorded' };
    const lost = callByKey(dying, 'recorded', {}, headers)
      .then(answer => answer.text())
      .catch(() => null);
    await untilReached(dying, 'after_record');
    await dying.kill();
    await lost;
    const told = await untilAnswered(() => callByKey(healthy, 'recorded', {}, headers));
    expect(told).toMatchObject({ status: 200, svc: { settlement_status: 'idempotent_replay' }, codes: new Set() });
    expect(await receipts()).toBe(Number(before.receipts) + 1);
  });
});

describe('a hold that was swept away while its process was thought to be gone', () => {
  it('503, and nothing is recorded', async () => {
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
