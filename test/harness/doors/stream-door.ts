import { decodePaymentRequiredHeader } from '@x402/core/http';
import { describe, expect, it } from 'vitest';
import { payingFetch } from '../buyer.ts';
import { askToStream, type Chunk, listen } from './listen.ts';
import { ask, type Chat, type Service } from './open-service.ts';

/** The test hub's answer to a message. */
export const hubEcho = (content: string, hub = 'alpha') =>
  `This is ${hub}-1 on ${hub}, a development model that thinks nothing. You said: "${content}"`;

/** Tests the guarantees that every streaming chat endpoint gives a payer: when text is sent, who receives it again, and who never does. */
export function testStreamDoor(opened: () => Service, path: string): void {
  describe('the order of a stream', () => {
    it('the money has moved when the first chunk arrives, and the hub has not ended', async () => {
      const service = opened();
      const payer = await service.chain.newWallet();
      const on = Promise.withResolvers<void>();
      service.hubs[0].behave({ kind: 'answer', in_stream: { after_words: 2, does: on.promise } });
      const stream = await listen(service, askToStream('First byte'), { by: payingFetch(payer), path });
      expect(JSON.parse((await stream.next()) ?? '')).toMatchObject({ choices: [{ delta: { role: 'assistant' } }] });
      expect(JSON.parse((await stream.next()) ?? '')).toMatchObject({ choices: [{ delta: { content: 'This ' } }] });
      expect(await service.transfersFrom(payer)).toHaveLength(1);
      const task_id = stream.headers.get('x-svc-task-id') ?? '';
      expect((await service.get(`/task-status?task_id=${task_id}`)).body).toMatchObject({ status: 'settling' });
      expect((await service.get(`/receipt/${task_id}`)).status).toBe(404);
      on.resolve();
      expect(await stream.rest()).toMatchObject({ ends_well: true, svc: { task_id } });
    });

    it('not a byte goes out while the payment is on its way, though the hub has said all', async () => {
      const service = opened();
      const payer = await service.chain.newWallet();
      const payment = await service.payment(payer, path);
      await service.chain.setAutomine(false);
      let answered = false;
      const stream = listen(service, askToStream('Waiting'), { headers: payment, path }).then(it => {
        answered = true;
        return it;
      });
      await expect.poll(() => service.claimsOf(payer)).toMatchObject([{ state: 'settling' }]);
      const busy = await service.post(path, askToStream('Waiting'), payment);
      expect(busy).toMatchObject({ status: 409, body: { code: 'payment_in_flight' } });
      expect(answered).toBe(false);
      await service.chain.setAutomine(true);
      await service.chain.mine();
      const heard = await (await stream).rest();
      expect(heard).toMatchObject({ ends_well: true, text: hubEcho('Waiting') });
      expect(await service.transfersFrom(payer)).toHaveLength(1);
    });

    it('409 payment_in_flight to whoever sends the payment again in the midst of it', async () => {
      const service = opened();
      const payer = await service.chain.newWallet();
      const payment = await service.payment(payer, path);
      const on = Promise.withResolvers<void>();
      service.hubs[0].behave({ kind: 'answer', in_stream: { after_words: 2, does: on.promise } });
      const stream = await listen(service, askToStream('Twice'), { headers: payment, path });
      await stream.next();
      const busy = await service.post(path, askToStream('Twice'), payment);
      expect(busy).toMatchObject({ status: 409, body: { code: 'payment_in_flight' } });
      on.resolve();
      expect(await stream.rest()).toMatchObject({ ends_well: true });
    });
  });

  describe('the same payment again', () => {
    it('for the same stream: the same words and the same signed bytes, in a stream', async () => {
      const service = opened();
      const payer = await service.chain.newWallet();
      const payment = await service.payment(payer, path);
      const body = askToStream('Again', { stream_options: { include_usage: true } });
      const first = await (await listen(service, body, { headers: payment, path })).rest();
      const stream = await listen(service, body, { headers: payment, path });
      const again = await stream.rest();
      expect(again).toMatchObject({ ends_well: true, text: first.text, finish_reasons: ['stop'] });
      expect(again.svc?.issuer_signature).toEqual(first.svc?.issuer_signature);
      expect(again.svc?.settlement_status).toBe('idempotent_replay');
      expect(stream.headers.get('x-svc-settlement-status')).toBe('idempotent_replay');
      const last = ({ id, created, model, usage }: Chunk) => ({ id, created, model, usage });
      expect(again.chunks.map(last).at(-1)).toEqual(first.chunks.map(last).at(-1));
      expect(await service.transfersFrom(payer)).toHaveLength(1);
    });

    it('409 claim_already_settled for the same answer in one piece: that is another request', async () => {
      const service = opened();
      const payer = await service.chain.newWallet();
      const payment = await service.payment(payer, path);
      await (await listen(service, askToStream('Streamed'), { headers: payment, path })).rest();
      const whole = await service.post(path, ask('Streamed'), payment);
      expect(whole).toMatchObject({ status: 409, body: { code: 'claim_already_settled' } });
    });
  });

  describe('a stream that is refused before its first byte', () => {
    it('402 unpaid, as JSON, with the body unread', async () => {
      const service = opened();
      const heard = await service.post(path, askToStream('Unpaid'));
      expect(heard).toMatchObject({ status: 402, body: { x402Version: 1 } });
      expect(decodePaymentRequiredHeader(heard.headers.get('PAYMENT-REQUIRED') ?? '')).toMatchObject({
        x402Version: 2,
      });
    });

    it('402 where the payer has no funds', async () => {
      const service = opened();
      const payer = await service.chain.newWallet(1n);
      const heard = await service.post(path, askToStream('Poor'), await service.payment(payer, path));
      expect(heard).toMatchObject({ status: 402, body: { error: 'insufficient_funds' } });
    });

    it.each<[string, object, string]>([
      ['an unknown model', { model: 'nobody-1' }, 'unknown_model'],
      ['a stream that is no boolean', { stream: 'yes' }, 'invalid_request'],
      ['options that are none', { stream_options: 7 }, 'invalid_request'],
      ['an include_usage that is no boolean', { stream_options: { include_usage: 1 } }, 'invalid_request'],
    ])('400 on %s, and the payment stays usable', async (_, members, code) => {
      const service = opened();
      const payer = await service.chain.newWallet();
      const payment = await service.payment(payer, path);
      const refused = await service.post(path, askToStream('Bad', { ...members }), payment);
      expect(refused).toMatchObject({ status: 400, body: { code } });
      expect(await service.transfersFrom(payer)).toEqual([]);
      expect(await (await listen(service, askToStream('Good'), { headers: payment, path })).rest()).toMatchObject({
        ends_well: true,
      });
    });

    it('403 on a wrong session', async () => {
      const service = opened();
      const payer = await service.chain.newWallet();
      const payment = await service.payment(payer, path);
      const heard = await service.post(path, askToStream('Guess'), { ...payment, 'X-SVC-Session': 'svcs_guessed' });
      expect(heard).toMatchObject({ status: 403, text: '' });
    });

    it('403 where the book does not allow it: the refusal, as any other call gets it, and the hub is not asked', async () => {
      const service = opened();
      const { account, agent_id, session } = await service.newAgent();
      const policy = { session, policy_type: 'kill_switch', value: true };
      expect(await service.post(`/v1/agents/${agent_id}/book/policy`, policy)).toMatchObject({ status: 200 });
      const before = service.hubs[0].requests.length;
      const refused = await service.post(path, askToStream('Blocked'), await service.payment(account, path));
      expect(refused).toMatchObject({ status: 403, body: { code: 'policy_blocked', charged: false } });
      expect(refused.headers.get('content-type')).toContain('json');
      expect(service.hubs[0].requests).toHaveLength(before);
    });

    it('502 where every hub fails: as JSON, and nothing is charged', async () => {
      const service = opened();
      for (const hub of service.hubs) hub.behave({ kind: 'status', status: 500 });
      const payer = await service.chain.newWallet();
      const failed = await service.post(path, askToStream('Nobody'), await service.payment(payer, path));
      for (const hub of service.hubs) hub.behave({ kind: 'answer' });
      expect(failed).toMatchObject({ status: 502, body: { code: 'hub_failed', charged: false } });
      expect(await service.transfersFrom(payer)).toEqual([]);
    });

    it('is not what stream: false asks for', async () => {
      const service = opened();
      const payer = await service.chain.newWallet();
      const whole = await service.knock<Chat>('POST', path, {
        body: ask('Whole', { stream: false, stream_options: { include_usage: true } }),
        by: payingFetch(payer),
      });
      expect(whole).toMatchObject({ status: 200, body: { object: 'chat.completion' } satisfies Partial<Chat> });
    });
  });
}
