import { beforeEach, expect, it } from 'vitest';
import { callDoor, type DoorOutcome } from '../../rest-compat/call.ts';
import type { DoorRequest } from '../../rest-compat/door-request.ts';
import { everyDoor } from '../../rest-compat/every-door.ts';
import type { JsonObject } from '../../schema/canonical-json.ts';
import { ChatRequest } from '../../schema/requests/chat-completion.ts';
import { readRequest } from '../../subgraphs/graph-type.ts';
import { FakePort, payment, succeed } from '../harness/rest-compat/fake-port.ts';

/* Doors called as by another transport: without a server, socket or request of Node. */

let port: FakePort;
beforeEach(() => {
  port = new FakePort();
});

const chat = { messages: [{ role: 'user', content: 'Hello' }] };

/** A call as from a tool's name and arguments; `read` says whether its body was read. */
function call(name: string, given: Partial<DoorRequest> & { readonly value?: JsonObject } = {}) {
  const door = everyDoor.find(row => row.name === name);
  if (!door) throw new Error(`there is no door ${name}`);
  const { value, ...rest } = given;
  const reads: JsonObject[] = [];
  const body = value && {
    expectedBytes: () => JSON.stringify(value).length,
    async read() {
      reads.push(value);
      return { kind: 'json' as const, value };
    },
  };
  const request = { method: 'POST', params: {}, query: {}, headers: {}, address: '::1', body: body ?? null, ...rest };
  return { outcome: callDoor(door, request, { doors: everyDoor, port }), reads };
}

async function textOf(outcome: DoorOutcome): Promise<JsonObject> {
  if (typeof outcome.body !== 'string') throw new Error('it is no answer in one piece');
  return JSON.parse(outcome.body);
}

it('an unpaid call of a paid door comes to its 402, with the body unread', async () => {
  const { outcome, reads } = call('chat_completions', { value: { messages: 'no list' } });
  const answer = await outcome;
  expect(answer.status).toBe(402);
  expect(answer.headers).toHaveProperty('PAYMENT-REQUIRED');
  expect((await textOf(answer)).accepts).toHaveLength(2);
  expect(reads).toEqual([]);
});

it('a free read comes to its answer, and says how often it may be asked', async () => {
  succeed(port, { answer: { keys: [] } });
  const answer = await call('get_jwks', { method: 'GET' }).outcome;
  expect(answer).toMatchObject({ status: 200, headers: { RateLimit: '"free";r=1;t=7' } });
  expect(await textOf(answer)).toEqual({ keys: [] });
});

it('a paid and invalid call comes to a 400 that names the member, and no document runs', async () => {
  const headers = { 'payment-signature': payment };
  const answer = await call('chat_completions', { headers, value: { messages: 'no list' } }).outcome;
  expect(answer.status).toBe(400);
  expect(await textOf(answer)).toMatchObject({ code: 'invalid_request', error: { param: 'messages' } });
  expect(port.calls).toEqual([]);
});

it('a paid and valid call runs its document, with the intent of its headers in the body that was validated', async () => {
  succeed(port, { answer: { id: 'chatcmpl-1' } });
  const headers = { 'payment-signature': payment, 'x-svc-intent': 'bill', 'x-svc-attempt': '2' };
  const answer = await call('chat_completions', { headers, value: chat }).outcome;
  expect(answer.status).toBe(200);
  const [ran] = port.calls;
  expect(ran).toMatchObject({
    operation: 'chat_completions',
    variables: { input: { intentId: 'bill', attemptIndex: 2, messages: chat.messages } },
  });
  const [valid_body] = port.valid_bodies;
  expect(valid_body).toMatchObject({ intent_id: 'bill', attempt_index: 2, messages: chat.messages });
  // A resolver in this process trusts that very object; a copy with the same members is not trusted.
  expect(readRequest(ChatRequest, {}, { valid_body })).toBe(valid_body);
  expect(() => readRequest(ChatRequest, {}, { valid_body: { ...valid_body } })).toThrow();
});

it('a streamed call comes to events', async () => {
  port.events = [{ data: { answer: { id: 'c', choices: [], usage: null, svc: null } }, errors: [] }];
  const headers = { 'payment-signature': payment };
  const answer = await call('chat_completions', { headers, value: { ...chat, stream: true } }).outcome;
  expect(answer).toMatchObject({ status: 200, headers: { 'content-type': 'text/event-stream' } });
  const events: string[] = [];
  for await (const event of answer.body as AsyncIterable<string>) events.push(event);
  expect(events).toEqual(['data: {"id":"c","choices":[]}\n\n', 'data: [DONE]\n\n']);
});

it('a file that a call brought is let go of, however the call ends', async () => {
  const released: string[] = [];
  port.beginUpload = () => ({ id: 'u', take: () => true, async deliver() {}, release: () => void released.push('u') });
  const headers = { 'payment-signature': payment };
  const answer = await call('transcribe_audio', { headers, value: { model: 'm' } }).outcome;
  expect(answer.status).toBe(400);
  expect(released).toEqual(['u']);
});
