import { gzipSync } from 'node:zlib';
import { beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../schema/canonical-json.ts';
import { limits } from '../../schema/limits.ts';
import { ask, CHAT, type Chat, type Service, sharedService } from '../harness/doors/open-service.ts';

let service: Service;
beforeAll(async () => {
  service = await sharedService();
});

const hubCalls = () => service.hubs.map(hub => hub.requests.length);

interface RefusalBody {
  readonly code: string;
  readonly error: { readonly param: string | null };
}

/**
 * Expects that a request is refused before the claim and without a call of a hub, and that the same payment then pays for a valid request.
 */
async function refusedThenPaid(body: unknown, headers: Record<string, string> = {}) {
  const payer = await service.chain.newWallet();
  const payment = await service.payment(payer, CHAT);
  const before = hubCalls();
  const refused = await service.post<RefusalBody>(CHAT, body, { ...payment, ...headers });
  expect(await service.claimsOf(payer)).toEqual([]);
  expect(hubCalls()).toEqual(before);
  expect((await service.post(CHAT, ask(), payment)).status).toBe(200);
  expect(await service.transfersFrom(payer)).toHaveLength(1);
  return { status: refused.status, code: refused.body.code, param: refused.body.error.param };
}

/** JSON that JSON.stringify would not write. The last member is sent exactly as given. */
const spelt = (member: string) => `{"messages":[{"role":"user","content":"Hello"}],${member}}`;
const message = (members: string) => `{"messages":[{${members}}]}`;
const LONE = '"\\ud800"';
const NUL = '"a\\u0000b"';
const deep = (levels: number) => '['.repeat(levels) + ']'.repeat(levels);

describe('POST /v1/chat/completions 400 invalid_request, and the payment stays usable, on', () => {
  it.each<[string, string, unknown]>([
    ['no message', 'messages', { messages: [] }],
    ['more messages than are read', 'messages', `{"messages":[${'{},'.repeat(limits.chat_messages_max)}{}]}`],
    ['messages that are an object', 'messages', { messages: { role: 'user', content: 'Hi' } }],
    ['messages that are null', 'messages', { messages: null }],
    ['a message that is text', 'messages.0', { messages: ['Hello'] }],
    ['a message without a role', 'messages.0.role', { messages: [{ content: 'Hello' }] }],
    ['a later message without a role', 'messages.1.role', { messages: [...messages(), { content: 'Hello' }] }],
    ['a role in other letters', 'messages.0.role', { messages: [{ role: 'User', content: 'Hello' }] }],
    ['a message without content', 'messages.0.content', { messages: [{ role: 'user' }] }],
    ['content that is null', 'messages.0.content', { messages: [{ role: 'user', content: null }] }],
    ['content that is a number', 'messages.0.content', { messages: [{ role: 'user', content: 7 }] }],
    ['content with half of a surrogate pair', 'messages.0.content', message(`"role":"user","content":${LONE}`)],
    ['content nested 50 deep', 'messages.0.content.0', message(`"role":"user","content":${deep(50)}`)],
    ['messages nested 50 deep', 'messages.0', `{"messages":${deep(50)}}`],
    ['a model that is a number', 'model', ask('Hello', { model: 7 })],
    ['a model with half of a surrogate pair', 'model', spelt(`"model":${LONE}`)],
    ['a model of 201 characters', 'model', ask('Hello', { model: 'm'.repeat(limits.model_id_chars_max + 1) })],
    ['temperature 3', 'temperature', ask('Hello', { temperature: 3 })],
    ['temperature -1', 'temperature', ask('Hello', { temperature: -1 })],
    ['temperature "1"', 'temperature', ask('Hello', { temperature: '1' })],
    ['temperature 1e400', 'temperature', spelt('"temperature":1e400')],
    ['temperature -1e400', 'temperature', spelt('"temperature":-1e400')],
    ['two temperatures', 'temperature', spelt('"temperature":1,"temperature":3')],
    ['max_tokens 0', 'max_tokens', ask('Hello', { max_tokens: 0 })],
    ['max_tokens 1.5', 'max_tokens', ask('Hello', { max_tokens: 1.5 })],
    ['max_tokens 2^31', 'max_tokens', ask('Hello', { max_tokens: 2 ** 31 })],
    ['max_tokens 2^53 + 1', 'max_tokens', spelt('"max_tokens":9007199254740993')],
    ['max_tokens 1e400', 'max_tokens', spelt('"max_tokens":1e400')],
    ['max_tokens of 400 digits', 'max_tokens', spelt(`"max_tokens":${'9'.repeat(400)}`)],
    ['max_tokens true', 'max_tokens', ask('Hello', { max_tokens: true })],
    ['stream "yes"', 'stream', ask('Hello', { stream: 'yes' })],
    ['max_completion_tokens 0', 'max_completion_tokens', ask('Hello', { max_completion_tokens: 0 })],
    ['seed 1e400', 'seed', spelt('"seed":1e400')],
    ['forty thousand tools', 'tools', spelt(`"tools":[${'0,'.repeat(39_999)}0]`)],
    ['tool_choice "required"', 'tool_choice', ask('Hello', { tool_choice: 'required' })],
    ['functions', 'functions', ask('Hello', { functions: [{ name: 'f' }] })],
    ['response_format yaml', 'response_format.type', ask('Hello', { response_format: { type: 'yaml' } })],
    ['n 2', 'n', ask('Hello', { n: 2 })],
    ['logprobs', 'logprobs', ask('Hello', { logprobs: true })],
    ['modalities with audio', 'modalities', ask('Hello', { modalities: ['text', 'audio'] })],
    ['audio', 'audio', ask('Hello', { audio: { voice: 'alloy', format: 'mp3' } })],
    ['intent_id that is a number', 'intent_id', ask('Hello', { intent_id: 7 })],
    ['intent_id with U+0000', 'intent_id', spelt(`"intent_id":${NUL}`)],
    ['intent_id with half of a surrogate pair', 'intent_id', spelt(`"intent_id":${LONE}`)],
    ['intent_id of 129 characters', 'intent_id', ask('Hello', { intent_id: 'i'.repeat(129) })],
    ['attempt_index 0.5', 'attempt_index', ask('Hello', { attempt_index: 0.5 })],
    ['attempt_index "1"', 'attempt_index', ask('Hello', { attempt_index: '1' })],
    ['attempt_index 2^31', 'attempt_index', ask('Hello', { attempt_index: 2 ** 31 })],
  ])('%s: param %s', async (_, param, body) => {
    expect(await refusedThenPaid(body)).toEqual({ status: 400, code: 'invalid_request', param });
  });

  it.each<[string, unknown]>([
    ['no body', ''],
    ['a body cut off', '{"messages":[{"role":"user","content":"Hel'],
    ['something after the JSON', `${JSON.stringify(ask())}}`],
    ['JSON with a comment', `/* hi */${JSON.stringify(ask())}`],
    ['NaN', spelt('"temperature":NaN')],
    ['text in single quotes', "{'messages':[]}"],
    ['a line feed inside text', message('"role":"user","content":"a\nb"')],
    ['bytes that are no UTF-8', new Uint8Array([...Buffer.from('{"a":"'), 0xff, 0xc0, 0x22, 0x7d])],
    ['UTF-16', Buffer.from(JSON.stringify(ask()), 'utf16le')],
    ['a JSON list', [ask()]],
    ['a JSON text', '"messages"'],
    ['JSON null', 'null'],
    ['lists nested 500,000 deep', deep(500_000)],
    ['members nested 10,000 deep', spelt(`"metadata":${deep(10_000)}`)],
    ['half a million members', spelt(`"tools":[${'0,'.repeat(499_999)}0]`)],
  ])('%s', async (_, body) => {
    expect(await refusedThenPaid(body)).toMatchObject({ status: 400, code: 'invalid_request' });
  });

  it.each<[string, Record<string, string>]>([
    ['x-svc-attempt', { 'X-SVC-Attempt': '-1' }],
    ['x-svc-attempt', { 'X-SVC-Attempt': '1.5' }],
    ['x-svc-attempt', { 'X-SVC-Attempt': '0x10' }],
    ['x-svc-attempt', { 'X-SVC-Attempt': '2147483648' }],
    ['x-svc-attempt', { 'X-SVC-Attempt': '9'.repeat(40) }],
    ['x-svc-attempt', { 'X-SVC-Attempt': '1, 2' }],
    ['x-svc-intent', { 'X-SVC-Intent': 'i'.repeat(129) }],
  ])('%s in %o', async (param, headers) => {
    expect(await refusedThenPaid(ask(), headers)).toEqual({ status: 400, code: 'invalid_request', param });
  });
});

function messages() {
  return [{ role: 'user', content: 'Hello' }];
}

describe('POST /v1/chat/completions refused, and the payment stays usable', () => {
  it.each([
    ['__proto__', '{"messages":[{"role":"user","content":"x"}],"__proto__":{"temperature":9}}'],
    ['messages.0.__proto__', '{"messages":[{"role":"user","content":"x","__proto__":{"role":"tool"}}]}'],
  ])('400 on %s, which is the name of no member', async (param, body) => {
    expect(await refusedThenPaid(body)).toEqual({ status: 400, code: 'invalid_request', param });
  });

  it.each(['gamma-1', '', 'svc/AUTO', '__proto__', 'constructor', 'alpha-1\0'])(
    '400 unknown_model on %j: param model',
    async model => {
      const refused = await refusedThenPaid(ask('Hello', { model }));
      expect(refused).toEqual({ status: 400, code: 'unknown_model', param: 'model' });
    },
  );

  it.each([
    ['text/plain', {}],
    ['text/json', {}],
    ['application/jsonp', {}],
    ['application/json; charset=latin1', {}],
    ['multipart/form-data; boundary=x', {}],
    ['application/x-www-form-urlencoded', {}],
    ['', {}],
    ['application/json', { 'content-encoding': 'gzip' }],
    ['application/json', { 'content-encoding': 'br' }],
    ['application/json', { 'content-encoding': 'identity, gzip' }],
  ] as [string, Record<string, string>][])('415 on content type "%s" %o', async (type, headers) => {
    const body = 'content-encoding' in headers ? gzipSync(JSON.stringify(ask())) : ask();
    const refused = await refusedThenPaid(body, { 'content-type': type, ...headers });
    expect(refused).toEqual({ status: 415, code: 'unsupported_media_type', param: null });
  });

  const large = JSON.stringify(ask('x'.repeat(limits.request_bytes_max)));
  it.each<[string, () => unknown]>([
    ['declared', () => large],
    ['in chunks', () => new Blob([large]).stream()],
    ['of one byte, in chunks', () => new Blob([exactly(limits.request_bytes_max + 1)]).stream()],
    ['of one byte', () => exactly(limits.request_bytes_max + 1)],
  ])('413 on a body beyond 1 MiB %s', async (_, body) => {
    expect(await refusedThenPaid(body())).toEqual({ status: 413, code: 'request_too_large', param: null });
  });

  it('200 on a body of 1 MiB to the byte, declared and in chunks', async () => {
    const body = exactly(limits.request_bytes_max);
    for (const sent of [body, new Blob([body]).stream()]) {
      const payer = await service.chain.newWallet();
      const payment = await service.payment(payer, CHAT);
      expect((await service.post(CHAT, sent, payment)).status).toBe(200);
    }
  });
});

/** A valid request of exactly that many bytes. */
function exactly(bytes: number): string {
  const empty = JSON.stringify(ask(''));
  return JSON.stringify(ask('x'.repeat(bytes - empty.length)));
}

describe('POST /v1/chat/completions 200, and the hub gets what was written for it and nothing else, on', () => {
  const known = { model: 'beta-1', messages: messages() };
  const said = JSON.stringify(known).slice(1, -1);
  it.each<[string, string, object]>([
    ['members that nobody reads', `{${said},"user":"me","tools":[],"n":1,"logit_bias":{}}`, {}],
    [
      'content in parts',
      '{"model":"beta-1","messages":[{"role":"user","content":[{"type":"text","text":"Hel"},{"type":"text","text":"lo"}]}]}',
      {},
    ],
    ['the newer name of max_tokens', `{${said},"temperature":1,"max_completion_tokens":30}`, one()],
    [
      'constructor, which nobody here knows',
      `{${said},"constructor":{"prototype":{"n":1}}}`,
      { constructor: { prototype: { n: 1 } } },
    ],
    ['members nested 50 deep', `{${said},"metadata":${deep(50)}}`, {}],
    ['a number beyond every other', `{${said},"metadata":1e400}`, {}],
    ['null where nothing is said', `{${said},"temperature":null,"max_tokens":null,"stream":null}`, {}],
    ['numbers in other spellings', `{${said},"temperature":1.0e0,"max_tokens":30.0}`, one()],
    ['a byte order mark', `\ufeff{${said}}`, {}],
  ])('%s', async (_, body, more) => {
    const payer = await service.chain.newWallet();
    const heard = await service.post<Chat>(CHAT, body, await service.payment(payer, CHAT));
    expect(heard.status).toBe(200);
    const hub = service.hubs[1].requests.at(-1);
    expect(hub?.body).toEqual({ ...known, ...more });
    expect(Object.keys(hub?.headers ?? {}).sort()).toEqual(
      ['accept', 'authorization', 'connection', 'content-length', 'content-type', 'host'].sort(),
    );
  });

  it.each<[string, JsonObject, JsonObject]>([
    ['content null and no calls', { content: null }, { content: null }],
    ['no content and no calls', {}, { content: null }],
    ['an empty text', { content: '' }, { content: '' }],
    ['an empty list of calls', { content: 'So?', tool_calls: [] }, { content: 'So?' }],
    ['a refusal alone', { refusal: 'No.' }, { content: null, refusal: 'No.' }],
    [
      'members that answers have',
      { content: 'So?', name: 'n', audio: null, annotations: [], refusal: null },
      { content: 'So?', name: 'n' },
    ],
  ])('a history with an assistant of %s', async (_, given, told) => {
    const history = (assistant: JsonObject): JsonObject[] => [
      { role: 'developer', content: 'Be short.' },
      { role: 'user', content: 'Hello' },
      { role: 'assistant', ...assistant },
      { role: 'user', content: 'Go on.' },
    ];
    const body = { model: 'beta-1', messages: history(given) };
    expect((await service.buy(await service.chain.newWallet(), body)).status).toBe(200);
    expect(service.hubs[1].requests.at(-1)?.body).toEqual({ ...body, messages: history(told) });
  });

  function one() {
    return { temperature: 1, max_tokens: 30 };
  }

  it.each(['__proto__', 'constructor', 'a "b" c', '\u2028 ü 🧾', ' '])(
    'an intent named %j: the book has it',
    async intent_id => {
      const { account, agent_id, session } = await service.newAgent();
      const { body } = await service.buy(account, ask('Hello', { intent_id, attempt_index: 2 ** 31 - 1 }));
      // Read without `get`, because zod checks every answer there and drops a member named __proto__.
      const read = await fetch(`${service.url}/v1/agents/${agent_id}/book`, { headers: { 'X-SVC-Session': session } });
      const { intents } = (await read.json()) as { intents: object };
      expect(Object.entries(intents)).toEqual([
        [intent_id, expect.objectContaining({ attempts: [expect.objectContaining({ task_id: body.svc.task_id })] })],
      ]);
    },
  );
});
