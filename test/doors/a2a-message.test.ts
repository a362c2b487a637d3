import { beforeAll, describe, expect, it } from 'vitest';
import { payingFetch } from '../harness/buyer.ts';
import { askToStream, listen } from '../harness/doors/listen.ts';
import {
  ask,
  CHAT,
  type Chat,
  resetHubsBeforeEach,
  type Service,
  sharedService,
} from '../harness/doors/open-service.ts';
import { testPaidDoor } from '../harness/doors/paid-door.ts';
import { hubEcho, testStreamDoor } from '../harness/doors/stream-door.ts';

const A2A = '/a2a-message';

let service: Service;
beforeAll(async () => {
  service = await sharedService();
});
resetHubsBeforeEach(() => service);

describe(`POST ${A2A}`, () => {
  it('200 with a chat response and its receipt, one transfer', async () => {
    const payer = await service.chain.newWallet();
    const heard = await service.knock<Chat>('POST', A2A, { body: ask('Hello'), by: payingFetch(payer) });
    expect(heard).toMatchObject({
      status: 200,
      body: {
        object: 'chat.completion',
        choices: [{ message: { role: 'assistant', content: expect.stringContaining('"Hello"') } }],
        svc: { proof_outcome: 'settled', payer_wallet: payer.address },
      },
    });
    expect(await service.transfersFrom(payer)).toHaveLength(1);
  });

  it('200 idempotent_replay of the same chat, bought at the other door: one field, two paths', async () => {
    const payer = await service.chain.newWallet();
    const payment = await service.payment(payer, A2A);
    const first = await service.post<Chat>(A2A, ask('Hello'), payment);
    const again = await service.post<Chat>(CHAT, ask('Hello'), payment);
    expect(again.headers.get('x-svc-settlement-status')).toBe('idempotent_replay');
    expect(again.body.svc.issuer_signature).toEqual(first.body.svc.issuer_signature);
    expect(await service.transfersFrom(payer)).toHaveLength(1);
  });

  it('502 where every hub fails, and nothing is charged', async () => {
    for (const hub of service.hubs) hub.behave({ kind: 'status', status: 500 });
    const payer = await service.chain.newWallet();
    const failed = await service.post(A2A, ask('Hello'), await service.payment(payer, A2A));
    for (const hub of service.hubs) hub.behave({ kind: 'answer' });
    expect(failed).toMatchObject({ status: 502, body: { code: 'hub_failed', charged: false } });
    expect(await service.transfersFrom(payer)).toEqual([]);
  });
});

describe(`POST ${A2A} with stream: true`, () => {
  it('200 in events: the text piece by piece, in the last one the receipt, one transfer', async () => {
    const payer = await service.chain.newWallet();
    const stream = await listen(service, askToStream('By message'), { by: payingFetch(payer), path: A2A });
    expect(stream.status).toBe(200);
    expect(stream.headers.get('content-type')).toBe('text/event-stream');
    const heard = await stream.rest();
    expect(heard).toMatchObject({ ends_well: true, text: hubEcho('By message'), finish_reasons: ['stop'] });
    expect(heard.chunks.length).toBeGreaterThan(4);
    expect(stream.headers.get('x-svc-task-id')).toBe(heard.svc?.task_id);
    expect(await service.transfersFrom(payer)).toHaveLength(1);
  });

  it('200 by a live key, and the same stream again at the other door by the same payment', async () => {
    const waived = await listen(service, askToStream('By key'), { headers: { 'X-API-Key': 'a-live-key' }, path: A2A });
    expect(waived.headers.get('x-svc-settlement-status')).toBe('waived');
    expect(await waived.rest()).toMatchObject({ ends_well: true, text: hubEcho('By key') });
    const payer = await service.chain.newWallet();
    const payment = await service.payment(payer, A2A);
    const first = await (await listen(service, askToStream('Both'), { headers: payment, path: A2A })).rest();
    const again = await (await listen(service, askToStream('Both'), { headers: payment, path: CHAT })).rest();
    expect(again.svc?.issuer_signature).toEqual(first.svc?.issuer_signature);
    expect(await service.transfersFrom(payer)).toHaveLength(1);
  });
});

testStreamDoor(() => service, A2A);

testPaidDoor(() => service, {
  path: A2A,
  job_kind: 'completions',
  body: (_, name) => ask(name),
  wrong: [
    ['messages', { messages: 7 }],
    ['messages.0.role', { messages: [{ role: 'function', content: 'x' }] }],
    ['model', { model: 'nobody-1' }],
    ['stream', { stream: 'yes' }],
    ['tools.0.type', { tools: [{ type: 'web_search' }] }],
  ],
});
