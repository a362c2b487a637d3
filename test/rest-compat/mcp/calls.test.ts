import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { everyDoor } from '../../../rest-compat/every-door.ts';
import { bounds } from '../../../rest-compat/faces/mcp/bounds.ts';
import { limits } from '../../../schema/limits.ts';
import { modern, sendMessage, toolCall } from '../../harness/mcp-message.ts';
import { fail, openRestFixture, type RestFixture, succeed } from '../../harness/rest-compat/fake-port.ts';

/* tools/call on a house without anybody behind it: what a door is handed, and what becomes of its answer. */

let house: RestFixture;
beforeAll(async () => {
  house = await openRestFixture();
});
afterAll(() => house.close());
beforeEach(() => {
  house.port.calls.length = 0;
  house.port.seen.length = 0;
  house.port.taken.length = 0;
  house.port.throws = null;
  house.port.events = null;
  house.port.judgement = { kind: 'proven', payer: '0xpayer', presented: null, verified: null };
  succeed(house.port, { answer: { id: 'an-id' } });
});

const paid = { 'x402/payment': { x402Version: 2 } };
const chat = { messages: [{ role: 'user', content: 'Hello' }] };
const called = async (...given: Parameters<typeof toolCall>) =>
  (await sendMessage(house.url, toolCall(...given))).body?.result;

describe('what a door is handed', () => {
  it('a payment in _meta stands for its header', async () => {
    const result = await called('chat_completions', chat, paid);
    expect(result).toMatchObject({ structuredContent: { id: 'an-id' } });
    expect(result).not.toHaveProperty('isError');
    expect(house.port.seen.at(-1)?.payment).toEqual({ x402_version: 2, header: expect.any(String) });
  });

  it('a payment of version 1 stands for the header of that version', async () => {
    await called('chat_completions', chat, { 'x402/payment': { x402Version: 1 } });
    expect(house.port.seen.at(-1)?.payment?.x402_version).toBe(1);
  });

  it('a payment in a header of the message is none: it comes in _meta alone', async () => {
    const heard = await sendMessage(house.url, toolCall('chat_completions', chat), { 'payment-signature': 'e30=' });
    expect(heard.body?.result?.structuredContent).toHaveProperty('accepts');
  });

  it('API keys and sessions come by header', async () => {
    await sendMessage(house.url, toolCall('chat_completions', chat), {
      authorization: 'Bearer live',
      'x-svc-session': 'good',
    });
    expect(house.port.seen.at(-1)).toMatchObject({ api_key: 'live', sessions: ['good'] });
  });

  it('a session comes by argument, too, also where the door knows it by header alone', async () => {
    await called('get_book_gaps', { agent_id: 7, session: 'good' });
    expect(house.port.calls.at(-1)).toMatchObject({ operation: 'get_book_gaps', variables: { agentId: 7 } });
    await called('set_book_policy', { agent_id: 7, session: 'good', policy_type: 'kill_switch', value: true });
    expect(house.port.calls.at(-1)).toMatchObject({ operation: 'set_book_policy' });
  });

  it('a door that reads and writes is read, unless what only writing takes is given', async () => {
    await called('get_agent_book', { agent_id: 7, session: 'good', limit: 5, before: 9 });
    expect(house.port.calls.at(-1)).toMatchObject({ operation: 'get_agent_book', variables: { before: 9 } });
    await called('get_agent_book', { agent_id: 7, session: 'good', budget: '5000' });
    expect(house.port.calls.at(-1)).toMatchObject({ operation: 'set_agent_budget' });
  });

  it('an argument that nobody knows is refused where the door refuses it', async () => {
    const result = await called('get_agent_book', { agent_id: 7, session: 'good', lmit: 5 });
    expect(result).toMatchObject({ isError: true, structuredContent: { code: 'invalid_request' } });
    expect(house.port.calls).toEqual([]);
  });

  it('names of what all objects have are arguments like any other', async () => {
    const result = await called(
      'get_agent_book',
      JSON.parse('{"agent_id":7,"session":"good","__proto__":1,"constructor":2}'),
    );
    expect(result).toMatchObject({ isError: true, structuredContent: { status: 400 } });
  });

  it('a path takes no empty or long argument', async () => {
    for (const task_id of ['', 'x'.repeat(limits.path_parameter_chars_max + 1)]) {
      expect(await called('get_receipt', { task_id })).toMatchObject({
        isError: true,
        structuredContent: { code: 'invalid_request', error: { param: 'task_id' } },
      });
    }
  });

  it('an argument of a path, and a session, that is no text is refused by its name; so is such a tool', async () => {
    const odd = { toString: 1 };
    for (const [name, given, param] of [
      ['get_receipt', { task_id: odd }, 'task_id'],
      ['get_book_gaps', { agent_id: 7, session: odd }, 'session'],
    ] as const)
      expect(await called(name, given)).toMatchObject({
        isError: true,
        structuredContent: { code: 'invalid_request', error: { param } },
      });
    const message = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: odd, arguments: {} } };
    expect((await sendMessage(house.url, message)).body).toMatchObject({ error: { code: -32602 } });
  });

  it('arguments that are no object are refused', async () => {
    const message = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'get_jwks', arguments: [] } };
    expect((await sendMessage(house.url, message)).body?.result).toMatchObject({ isError: true });
  });

  it('a body beyond what its door takes is refused, though the message may have it', async () => {
    const long = { agent_id: 7, policy_type: 'x'.repeat(limits.small_request_bytes_max) };
    const heard = await sendMessage(house.url, toolCall('set_book_policy', long), { 'x-svc-session': 'good' });
    expect(heard.body?.result).toMatchObject({ isError: true, structuredContent: { code: 'request_too_large' } });
  });

  it('a stream is refused before it is paid: a tool answers in one piece', async () => {
    const result = await called('chat_completions', { ...chat, stream: true }, paid);
    expect(result).toMatchObject({ isError: true, structuredContent: { error: { param: 'stream' } } });
    expect(house.port.calls).toEqual([]);
  });

  it('a file in base64 comes where a form would have brought it', async () => {
    const file = { name: 'a.wav', base64: Buffer.from('sound').toString('base64') };
    await called('transcribe_audio', { model: 'm', file }, paid);
    expect(house.port.calls.at(-1)).toMatchObject({ operation: 'transcribe_audio' });
    expect(JSON.stringify(house.port.calls.at(-1))).toContain('an-upload');
    const without = await called('transcribe_audio', { model: 'm', file: { name: 'a.wav' } }, paid);
    expect(without).toMatchObject({ isError: true, structuredContent: { code: 'invalid_request' } });
  });

  const fileOf = (bytes: number) => ({ name: 'a.wav', base64: Buffer.alloc(bytes, 7).toString('base64') });

  it('a file is as large as a form may bring it, and no larger; an empty one is none', async () => {
    await called('transcribe_audio', { model: 'm', file: fileOf(limits.upload_file_bytes_max) }, paid);
    expect(house.port.calls.at(-1)).toMatchObject({ operation: 'transcribe_audio' });
    house.port.calls.length = 0;
    for (const [bytes, code] of [
      [limits.upload_file_bytes_max + 1, 'request_too_large'],
      [0, 'invalid_request'],
    ] as const)
      expect(await called('transcribe_audio', { model: 'm', file: fileOf(bytes) }, paid)).toMatchObject({
        isError: true,
        structuredContent: { code },
      });
    expect(house.port.calls).toEqual([]);
  });

  it('a message as long as one with a file is refused by every other tool', async () => {
    const text = 'x'.repeat(bounds.message_bytes_max);
    const result = await called('chat_completions', { messages: [{ role: 'user', content: text }] }, paid);
    expect(result).toMatchObject({ isError: true, structuredContent: { code: 'request_too_large' } });
  });

  it('every request of a door fits into a message', () => {
    for (const { takes, body_bytes_max, name } of everyDoor) {
      if (takes === 'application/json') expect(2 * body_bytes_max, name).toBeLessThanOrEqual(bounds.message_bytes_max);
      else expect(body_bytes_max, name).toBeLessThan(bounds.file_message_bytes_max);
    }
  });

  it('a free door counts its calls by address, once', async () => {
    await called('get_jwks');
    expect(house.port.taken).toEqual(['free']);
  });
});

describe('what becomes of its answer', () => {
  it('text and structure are the very body that the door answers', async () => {
    succeed(house.port, { answer: { id: 'an-id', svc: { a: '1', b: null } } });
    const result = await called('chat_completions', chat, paid);
    expect(JSON.parse(result?.content[0]?.text ?? '')).toEqual(result?.structuredContent);
    const heard = await sendMessage(house.url, toolCall('chat_completions', chat, paid));
    expect(heard.text).toContain(`"structuredContent":${result?.content[0]?.text}`);
  });

  it('unpaid: 200, isError, and what is asked for, structured and as text', async () => {
    const heard = await sendMessage(house.url, toolCall('chat_completions', chat));
    expect(heard.status).toBe(200);
    const result = heard.body?.result;
    expect(result).toMatchObject({ isError: true, structuredContent: { x402Version: 2, accepts: expect.any(Array) } });
    expect(JSON.parse(result?.content[0]?.text ?? '')).toEqual(result?.structuredContent);
  });

  it('unpaid, to whoever knows the extension: a result of its own, and no error', async () => {
    const extensions = { extensions: { 'org.x402/payment': {} } };
    const { message, headers } = modern('tools/call', { name: 'chat_completions', arguments: chat }, extensions);
    const { body } = await sendMessage(house.url, message, headers);
    expect(body?.result).toMatchObject({ resultType: 'payment_required', paymentRequired: { x402Version: 2 } });
    expect(body?.result).not.toHaveProperty('isError');
  });

  it.each(['chat_completions', 'register_agent', 'ingest_foreign_x402'])(
    'a payment that cannot be read is told the price of %s, and why, as x402 has it; nothing is run',
    async name => {
      house.port.judgement = { kind: 'malformed', why: 'It is not base64.' };
      const shown = { task_id: 'a-receipt', agent_id: 7, session: 'good', ...chat };
      const heard = await sendMessage(house.url, toolCall(name, shown, paid), { authorization: 'Bearer live' });
      const result = heard.body?.result;
      expect(heard.status).toBe(200);
      expect(result).toMatchObject({
        isError: true,
        structuredContent: { x402Version: 2, error: 'It is not base64.', accepts: expect.any(Array) },
      });
      expect(JSON.parse(result?.content[0]?.text ?? '')).toEqual(result?.structuredContent);
      expect(house.port.calls).toEqual([]);
      expect(house.port.taken).toContain('unproven');
    },
  );

  it('a payment that cannot be read, to whoever knows the extension, is told the price in the result of its own', async () => {
    house.port.judgement = { kind: 'malformed', why: 'It is not base64.' };
    const extensions = { extensions: { 'org.x402/payment': {} } };
    const call = { name: 'chat_completions', arguments: chat };
    const { message, headers } = modern('tools/call', call, extensions, paid);
    const { body } = await sendMessage(house.url, message, headers);
    expect(body?.result).toMatchObject({ paymentRequired: { error: 'It is not base64.' } });
  });

  it('where the price depends on what is paid for, the resolver tells it to a payment that cannot be read', async () => {
    house.port.judgement = { kind: 'malformed', why: 'It is not base64.' };
    const required = { x402Version: 2, accepts: [{ amount: '10000' }] };
    const challenge = {
      headers: { 'PAYMENT-REQUIRED': Buffer.from(JSON.stringify(required)).toString('base64') },
      body: {},
    };
    const error = { code: 'payment_required', status: 402, message: 'Unpaid.', facts: {}, challenge } as const;
    fail(house.port, error);
    const result = await called('pay_job', { id: 'a-job', session: 'good' }, paid);
    expect(result).toMatchObject({ isError: true, structuredContent: required });
  });

  it('how a payment settled stands in _meta, and what else headers say of the call', async () => {
    const settled = { success: true, transaction: '0xabc', network: 'eip155:8453' };
    const headers = {
      'PAYMENT-RESPONSE': Buffer.from(JSON.stringify(settled)).toString('base64'),
      'x-svc-task-id': 't',
    };
    succeed(house.port, { answer: { id: 'an-id' } }, headers);
    expect((await called('chat_completions', chat, paid))?._meta).toEqual({
      'x402/payment-response': settled,
      'svc402/headers': { 'x-svc-task-id': 't' },
    });
  });

  it('an outcome that is not known is an error that says what to do, and when', async () => {
    const pending = { code: 'settlement_pending', status: 503, message: 'Not known yet.', facts: {} } as const;
    fail(house.port, pending);
    expect(await called('chat_completions', chat, paid)).toMatchObject({
      isError: true,
      structuredContent: { code: 'settlement_pending' },
      _meta: { 'svc402/headers': { 'retry-after': '5' } },
    });
  });

  it.each([
    [{}, 401, 'unauthenticated'],
    [{ session: 'wrong' }, 403, 'forbidden'],
  ])('an empty body says by its status what is missing: %o', async (shown, status, code) => {
    expect(await called('get_book_gaps', { agent_id: 7, ...shown })).toMatchObject({
      isError: true,
      structuredContent: { status, code },
    });
  });

  it('text that is no JSON is structured as what it is', async () => {
    succeed(house.port, { answer: { text: 'a checkpoint' } });
    const result = await called('get_log_checkpoint');
    expect(result).toMatchObject({ structuredContent: { media_type: expect.stringMatching(/^text/) } });
  });

  it('a fault of ours says nothing but that, and whether a payment may be open', async () => {
    house.port.throws = new Error('a secret');
    const heard = await sendMessage(house.url, toolCall('chat_completions', chat, paid));
    expect(heard.text).not.toContain('a secret');
    expect(heard.body?.result).toMatchObject({ isError: true, structuredContent: { code: 'internal' } });
  });
});
