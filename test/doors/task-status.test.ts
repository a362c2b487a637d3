import { beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../schema/canonical-json.ts';
import { ask, CHAT, type Service, sharedService } from '../harness/doors/open-service.ts';
import { taskOf } from '../harness/doors/tasks.ts';

let service: Service;
beforeAll(async () => {
  service = await sharedService();
});

interface TaskStatusBody extends JsonObject {
  readonly task_id: string;
  readonly status: string;
}
const standing = (id: string) => service.get<TaskStatusBody>(`/task-status?task_id=${id}`);

interface Answer extends JsonObject {
  readonly id: string;
  readonly svc: { readonly task_id: string; readonly payment_ref: string; readonly verify_url: string };
}

/** The task of that wallet's only claim. */
async function taskIdOf(address: string): Promise<string> {
  const text = 'select task_id from payment_claim where lower(payer) = lower($1)';
  const [claim] = await service.query<{ task_id: string }>(text, [address]);
  if (!claim) throw new Error('nothing is claimed');
  return claim.task_id;
}

describe('GET /task-status 200', () => {
  it.each([
    [CHAT, 'completed', ask('Hello')],
    ['/v1/responses', 'completed', { input: 'Hello' }],
    ['/a2a-message', 'completed', ask('Hello')],
    ['/task-request', 'accepted', null],
    ['/task-quote', 'completed', {}],
  ])('%s: %s and settled, by the id of the task and of its answer', async (path, status, sent) => {
    const payer = await service.chain.newWallet();
    const body = sent ?? taskOf(payer);
    const bought = (await service.post<Answer>(path, body, await service.payment(payer, path))).body;
    const { task_id, payment_ref, verify_url } = bought.svc;
    const told = { task_id, status, proof_outcome: 'settled', payment_ref, verify_url };
    for (const id of [task_id, bought.id ?? task_id]) expect((await standing(id)).body).toEqual(told);
  });

  it('working while the hub is, then completed', async () => {
    const hold = Promise.withResolvers<void>();
    for (const hub of service.hubs) hub.behave({ kind: 'answer', until: hold.promise });
    const payer = await service.chain.newWallet();
    const answer = service.post(CHAT, ask('Slow'), await service.payment(payer, CHAT));
    await expect.poll(() => service.claimsOf(payer)).toHaveLength(1);
    const task_id = await taskIdOf(payer.address);
    expect((await standing(task_id)).body).toMatchObject({ status: 'working', proof_outcome: 'pending' });
    hold.resolve();
    expect((await answer).status).toBe(200);
    for (const hub of service.hubs) hub.behave({ kind: 'answer' });
    expect((await standing(task_id)).body).toMatchObject({ status: 'completed', proof_outcome: 'settled' });
  });

  it('working and none for a call by key: there never is a payment to prove', async () => {
    const hold = Promise.withResolvers<void>();
    for (const hub of service.hubs) hub.behave({ kind: 'answer', until: hold.promise });
    const answer = service.post<Answer>(CHAT, ask('By key'), { 'X-API-Key': 'a-live-key' });
    const begun = () => service.query<{ task_id: string }>('select task_id from key_call');
    await expect.poll(begun).toHaveLength(1);
    const [{ task_id } = { task_id: '' }] = await begun();
    expect((await standing(task_id)).body).toMatchObject({
      status: 'working',
      proof_outcome: 'none',
      payment_ref: null,
    });
    const { body: proof } = await service.get<{ does_not_prove: string[] }>(`/prove-result?task_id=${task_id}`);
    expect(proof.does_not_prove).toContain('That anything was paid: no payment stands behind this task.');
    expect(proof.does_not_prove.join(' ')).not.toContain('signed refusal');
    hold.resolve();
    expect((await answer).body.svc.task_id).toBe(task_id);
    for (const hub of service.hubs) hub.behave({ kind: 'answer' });
    expect((await standing(task_id)).body).toMatchObject({ status: 'completed', proof_outcome: 'none' });
  });

  it('released where no hub answered: pending while the payment may still be used, and then none', async () => {
    for (const hub of service.hubs) hub.behave({ kind: 'status', status: 500 });
    const payer = await service.chain.newWallet();
    const failed = await service.post(CHAT, ask('Hello'), await service.payment(payer, CHAT));
    for (const hub of service.hubs) hub.behave({ kind: 'answer' });
    expect(failed.status).toBe(502);
    const task_id = await taskIdOf(payer.address);
    const released = { status: 'released', payment_ref: null };
    expect((await standing(task_id)).body).toMatchObject({ ...released, proof_outcome: 'pending' });
    await service.query('update payment_claim set final = true where task_id = $1', [task_id]);
    expect((await standing(task_id)).body).toMatchObject({ ...released, proof_outcome: 'none' });
  });
});

describe('GET /task-status', () => {
  const nobody = `task_${'0'.repeat(26)}`;

  it.each([nobody, `chatcmpl-${nobody}`, 'x'])('404 for %s', async id => {
    expect(await standing(id)).toMatchObject({ status: 404, body: { code: 'not_found' } });
  });

  it('400 without task_id, and on one too long', async () => {
    for (const query of ['', `?task_id=${'x'.repeat(100)}`])
      expect(await service.get(`/task-status${query}`)).toMatchObject({
        status: 400,
        body: { error: { param: 'task_id' } },
      });
  });
});
