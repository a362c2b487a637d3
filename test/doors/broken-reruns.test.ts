import { beforeAll, expect, it } from 'vitest';
import { canonicalHash, type JsonObject } from '../../schema/canonical-json.ts';
import { verifyReceipt } from '../../subgraphs/receipt/verify/receipt.ts';
import { askToStream, listen, type StreamAnswer } from '../harness/doors/listen.ts';
import { CHAT, resetHubsBeforeEach, type Service, sharedService } from '../harness/doors/open-service.ts';

/* If the hub broke off, the payment brings the work again: at most three times, within a day, and once at a time. */

let service: Service;
beforeAll(async () => {
  service = await sharedService();
});
resetHubsBeforeEach(() => service);

const hubCalls = () => service.hubs[1].requests.length;
const breakOff = () => service.hubs[1].behave({ kind: 'answer', in_stream: { after_words: 2, does: 'close' } });

async function broken(content: string) {
  const payer = await service.chain.newWallet();
  const headers = await service.payment(payer, CHAT);
  const body = askToStream(content, { model: 'beta-1' });
  const open = () => listen(service, body, { headers });
  breakOff();
  const first = await (await open()).rest();
  const task_id = first.svc?.task_id ?? '';
  return { payer, headers, body, open, hear: async () => (await open()).rest(), first, task_id };
}

const leftAfter = ({ error }: StreamAnswer) => error?.reruns_left;
const outputOf = ({ text }: StreamAnswer) =>
  canonicalHash([{ index: 0, message: { role: 'assistant', content: text }, finish_reason: 'stop' }]);

const byBeta = { hub: 'beta', model: 'beta-1', answered_model: 'beta-1', answered_catalogue_model: null };

it('three of them break off, too: the fourth resend brings the last part again, and no hub is asked', async () => {
  const { payer, hear, first } = await broken('Four times');
  const before = hubCalls();
  const all = [first, await hear(), await hear(), await hear()];
  expect(all.map(leftAfter)).toEqual([3, 2, 1, 0]);
  expect(all.map(({ svc }) => (svc as JsonObject | undefined)?.rerun)).toEqual([undefined, 1, 2, 3]);
  expect(hubCalls()).toBe(before + 3);
  service.hubs[1].behave({ kind: 'answer' });
  const again = await hear();
  expect(again).toMatchObject({ ends_well: false, text: 'This is ', error: { reruns_left: 0, charged: true } });
  expect(new Set([...all, again].map(({ svc }) => svc?.issuer_signature.jws)).size).toBe(1);
  expect(hubCalls()).toBe(before + 3);
  expect(await service.transfersFrom(payer)).toHaveLength(1);
});

it('the third one is whole: its answer is kept, and committed to beside the receipt of a payer who has no book', async () => {
  const { open, hear, first, task_id } = await broken('No book');
  expect([leftAfter(await hear()), leftAfter(await hear())]).toEqual([2, 1]);
  service.hubs[1].behave({ kind: 'answer' });
  const stream = await open();
  expect(stream.headers.get('x-svc-rerun')).toBe('3');
  expect(stream.headers.get('x-svc-settlement-status')).toBe('idempotent_replay');
  const whole = await stream.rest();
  expect(whole).toMatchObject({ ends_well: true, finish_reasons: ['stop'] });
  const before = hubCalls();
  const kept = await open();
  expect(kept.headers.get('x-svc-rerun')).toBe('3');
  const again = await kept.rest();
  expect(again).toMatchObject({ ends_well: true, text: whole.text, svc: { rerun: 3 } });
  expect(hubCalls()).toBe(before);

  const answered_again = { at: expect.any(String), output_sha256: outputOf(whole), rerun: 3, ...byBeta };
  const { body: receipt } = await service.get<JsonObject>(`/receipt/${task_id}`);
  expect(receipt).toMatchObject({ answered_again, payload: (first.svc as unknown as JsonObject).payload });
  const query = `{ receipt(taskId: "${task_id}") { answeredAgain { at outputSha256 rerun } } }`;
  const { body: graph } = await service.post<JsonObject>('/graphql', { query });
  const { at, output_sha256: outputSha256, rerun } = receipt.answered_again as JsonObject;
  expect(graph).toMatchObject({ data: { receipt: { answeredAgain: { at, outputSha256, rerun } } } });
  const { body: jwks } = await service.get<JsonObject>('/.well-known/jwks.json');
  const verified = verifyReceipt(receipt, jwks);
  expect(verified, JSON.stringify(verified)).toMatchObject({ kind: 'valid' });
  expect(JSON.stringify(verified)).toContain('answered_again');
});

it('a book has a correction of it, with the hash of the answer', async () => {
  const { account } = await service.newAgent();
  const headers = await service.payment(account, CHAT);
  const body = askToStream('On a book', { model: 'beta-1' });
  breakOff();
  const first = await (await listen(service, body, { headers })).rest();
  service.hubs[1].behave({ kind: 'answer' });
  const whole = await (await listen(service, body, { headers })).rest();
  const events = await service.query<{ kind: string; body: JsonObject }>(
    'select kind, body from book_event where task_id = $1 order by position',
    [first.svc?.task_id],
  );
  expect(events.map(({ kind }) => kind)).toEqual(['born', 'replay', 'correction']);
  expect(events.at(-1)?.body).toEqual({ reason: 'answered_on_resend', output_sha256: outputOf(whole), ...byBeta });
});

it('by two at once: one works, the other is told to come again', async () => {
  const { headers, body, open, task_id } = await broken('Two at once');
  const on = Promise.withResolvers<void>();
  service.hubs[1].behave({ kind: 'answer', in_stream: { after_words: 2, does: on.promise } });
  const before = hubCalls();
  const stream = await open();
  await stream.next();
  const busy = await service.post(CHAT, body, headers);
  expect(busy).toMatchObject({ status: 409, body: { code: 'payment_in_flight', task_id } });
  on.resolve();
  expect(await stream.rest()).toMatchObject({ ends_well: true });
  expect(hubCalls()).toBe(before + 1);
});

it('410 a day after the payment, whether its request was forgotten by then or not', async () => {
  const { headers, body, task_id } = await broken('A day later');
  service.hubs[1].behave({ kind: 'answer' });
  await service.query(`update payment_claim set moved_at = moved_at - interval '24 hours' where task_id = $1`, [
    task_id,
  ]);
  const before = hubCalls();
  expect(await service.post(CHAT, body, headers)).toMatchObject({ status: 410, body: { code: 'answer_gone' } });
  expect(hubCalls()).toBe(before);
});

it('one whose process is gone in its midst is not counted', async () => {
  const { hear, task_id } = await broken('Gone in its midst');
  await service.query('update payment_claim set rerun_at = now(), rerun_owner = gen_random_uuid() where task_id = $1', [
    task_id,
  ]);
  expect(leftAfter(await hear())).toBe(2);
});

it('502 where no hub begins is not counted, either', async () => {
  const { headers, body, hear } = await broken('Nobody begins');
  service.hubs[1].behave({ kind: 'close' });
  for (const _ of [1, 2, 3, 4])
    expect(await service.post(CHAT, body, headers)).toMatchObject({ status: 502, body: { charged: true } });
  breakOff();
  expect(leftAfter(await hear())).toBe(2);
});
