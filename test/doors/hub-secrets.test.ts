import type { ServerResponse } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../schema/canonical-json.ts';
import { audio, audioForm } from '../harness/doors/audio-form.ts';
import { onGraph } from '../harness/doors/on-graph.ts';
import { ask, CHAT, openService, type Service } from '../harness/doors/open-service.ts';
import { openSocket } from '../harness/doors/socket.ts';
import { type HubQuery, openScriptedHub } from '../harness/receipt/inference/scripted-hub.ts';

/*
 * A hub repeats secrets in everything that it can send: our key for it, the key and address of another hub, an account, the caller's key,
 * and another caller's key. None of them may appear in an answer, header, receipt, row, export, log line or metric.
 */

const KEY = 'k3y_of_one_4f1b7c9d02aa';
const ELSEWHERE = 'https://models-of-two.example:8443/tenant-51aa77/v1';
const OTHER_KEY = 'sk-two-9d02aa4f1b7c';
const ROUTER_KEY = 'sk-of-the-caller-77aa01';
/** Secrets of the service. Within an encrypted value only these could be recognised. */
const ours = [
  KEY,
  OTHER_KEY,
  ELSEWHERE,
  'models-of-two.example',
  'tenant-51aa77',
  Buffer.from(OTHER_KEY).toString('base64'),
];
const needles = [...ours, 'org-AbCdEf0123456789', 'proj_abcdef0123456789', `sk-or-v1-${'0a1b2c3d'.repeat(8)}`];

let service: Service;
let agent: Awaited<ReturnType<Service['newAgent']>>;
let speak: (asked: HubQuery, response: ServerResponse) => void;
/** All that the service sent, including headers. */
const heard: string[] = [];

beforeAll(async () => {
  const base_url = await openScriptedHub((asked, response) => speak(asked, response));
  const hub = { name: 'one', base_url, api_key: KEY, models: ['one/chat'], reasoning_models: ['one/chat'] };
  const media = { image_models: ['one/image'], audio_models: ['one/audio'], embedding_models: ['one/vectors'] };
  const other = { name: 'two', base_url: ELSEWHERE, api_key: OTHER_KEY, models: ['two/chat'] };
  service = await openService({
    HUBS: JSON.stringify([{ ...hub, ...media }, other]),
    ROUTER_URL: base_url,
    RATE_UNCHARGED: '100000/600',
    LOG_LEVEL: 'trace',
  });
  agent = await service.newAgent();
});

const keyed = () => ({ 'X-API-Key': 'a-live-key', 'X-SVC-Session': agent.session });

const weather = { name: 'weather', parameters: { type: 'object', properties: {} } };
let asked = 0;
const text = () => `What is the weather? ${++asked}`;
const chat = (members: JsonObject = {}) =>
  ask(text(), { model: 'one/chat', tools: [{ type: 'function', function: weather }], ...members });
const response = (members: JsonObject = {}) => ({
  model: 'one/chat',
  input: text(),
  tools: [{ type: 'function', ...weather }],
  ...members,
});
const message = (members: JsonObject = {}) => ({
  model: 'one/chat',
  max_tokens: 2048,
  thinking: { type: 'enabled', budget_tokens: 1024 },
  messages: [{ role: 'user', content: text() }],
  tools: [{ name: 'weather', input_schema: weather.parameters }],
  ...members,
});

/** Status and text of the answer to a POST. `"error"` in the text of a stream shows that it broke off. */
async function post(path: string, body: unknown, headers: Readonly<Record<string, string>> = {}) {
  const form = body instanceof FormData;
  const answer = await fetch(service.url + path, {
    method: 'POST',
    headers: { ...keyed(), ...(form ? {} : { 'content-type': 'application/json' }), ...headers },
    body: form ? body : JSON.stringify(body),
  });
  const said = await answer.text();
  heard.push(said, ...answer.headers.values());
  return { status: answer.status, text: said };
}

async function graph(query: string, variables: JsonObject = {}) {
  const answer = await onGraph(service, query, variables, keyed());
  heard.push(answer.text, ...answer.headers.values());
  return { status: answer.errors ? 502 : 200, text: answer.text };
}

async function subscribed(query: string) {
  const { session } = agent;
  const results = await openSocket(service, { api_key: 'a-live-key', session }).all(query);
  const said = JSON.stringify(results);
  heard.push(said);
  return { status: results.some(({ errors }) => errors) ? 502 : 200, text: said };
}

const MESSAGE = 'content refusal reasoning reasoningContent reasoningDetails';
const ITEM = 'type callId name arguments content { type text }';
const USAGE = 'usage { promptTokens details }';
const messages = () => `model: "one/chat", messages: [{ role: "user", content: "${text()}" }]`;
const input = () => `model: "one/chat", input: [{ role: "user", content: "${text()}" }]`;
const tools = 'tools: [{ type: "function", function: { name: "weather" } }]';

interface Door {
  readonly name: string;
  /** Text of the model in a successful answer. */
  readonly says: string;
  call(): Promise<{ readonly status: number; readonly text: string }>;
}

const textDoors: readonly Door[] = [
  { name: `POST ${CHAT}`, says: 'Sunny', call: () => post(CHAT, chat()) },
  {
    name: `POST ${CHAT}, streamed`,
    says: 'Sunny',
    call: () => post(CHAT, chat({ stream: true, stream_options: { include_usage: true } })),
  },
  { name: 'POST /v1/responses', says: 'Sunny', call: () => post('/v1/responses', response()) },
  {
    name: 'POST /v1/responses, streamed',
    says: 'Sunny',
    call: () => post('/v1/responses', response({ stream: true })),
  },
  { name: 'POST /v1/messages', says: 'Sunny', call: () => post('/v1/messages', message()) },
  { name: 'POST /v1/messages, streamed', says: 'Sunny', call: () => post('/v1/messages', message({ stream: true })) },
  {
    name: 'createChatCompletion',
    says: 'Sunny',
    call: () =>
      graph(`mutation { createChatCompletion(input: { ${messages()}, ${tools} }) {
        id model choices { message { ${MESSAGE} toolCalls { id function { name } } } finishReason } ${USAGE} svc } }`),
  },
  {
    name: 'createResponse',
    says: 'Sunny',
    call: () =>
      graph(`mutation { createResponse(input: { ${input()} }) { id model output { ${ITEM} } ${USAGE} svc } }`),
  },
  {
    name: 'createMessage',
    says: 'Sunny',
    call: () =>
      graph(
        'mutation ($input: MessageInput!) { createMessage(input: $input) { id model content stopReason usage { inputTokens } svc } }',
        {
          input: { model: 'one/chat', maxTokens: 2048, messages: [{ role: 'user', content: text() }] },
        },
      ),
  },
  {
    name: 'chatCompletionStream',
    says: 'Sunny',
    call: () =>
      subscribed(`subscription { chatCompletionStream(input: { ${messages()}, streamOptions: { includeUsage: true } }) {
        id model choices { delta { ${MESSAGE} toolCalls { id } } finishReason } ${USAGE} svc } }`),
  },
  {
    name: 'responseStream',
    says: 'Sunny',
    call: () => subscribed(`subscription { responseStream(input: { ${input()} }) { event } }`),
  },
  {
    name: 'messageStream',
    says: 'Sunny',
    call: () =>
      subscribed(
        `subscription { messageStream(input: { model: "one/chat", maxTokens: 64, messages: [{ role: "user", content: "${text()}" }] }) { event } }`,
      ),
  },
];

const mediaDoors: readonly Door[] = [
  {
    name: 'POST /v1/images/generations',
    says: 'iVBORw0KGgo=',
    call: () => post('/v1/images/generations', { model: 'one/image', prompt: text() }),
  },
  {
    name: 'createImage',
    says: 'iVBORw0KGgo=',
    call: () =>
      graph(
        `mutation { createImage(input: { model: "one/image", prompt: "${text()}" }) { data { b64Json url revisedPrompt } model svc } }`,
      ),
  },
  {
    name: 'POST /v1/audio/transcriptions',
    says: 'Sunny',
    call: () =>
      post(
        '/v1/audio/transcriptions',
        audioForm({ file: audio(text()), model: 'one/audio', response_format: 'verbose_json' }),
      ),
  },
  {
    name: 'createTranscription',
    says: 'Sunny',
    call: () =>
      graph(
        `mutation ($file: AudioFileInput!) { createTranscription(input: { model: "one/audio", responseFormat: "verbose_json", file: $file }) {
          text language duration segments svc } }`,
        { file: { base64: audio(text()).bytes.toString('base64'), format: 'wav' } },
      ),
  },
  {
    name: 'POST /v1/embeddings',
    says: '0.5',
    call: () => post('/v1/embeddings', { model: 'one/vectors', input: text() }),
  },
  {
    name: 'createEmbeddings',
    says: '0.5',
    call: () =>
      graph(
        `mutation { createEmbeddings(input: { model: "one/vectors", input: ["${text()}"] }) { data { embedding } model usage { promptTokens } svc } }`,
      ),
  },
];
const doors = [...textDoors, ...mediaDoors];

/** Members that the service does not read, some with a needle as their name. */
const aside = (needle: string): JsonObject => ({
  id: needle,
  object: needle,
  model: needle,
  system_fingerprint: needle,
  service_tier: needle,
  provider: needle,
  task: needle,
  citations: [needle],
  [needle]: { [needle]: needle },
});

const counted = (needle: string): JsonObject => ({
  prompt_tokens: 3,
  completion_tokens: 1,
  total_tokens: 4,
  [needle]: 1,
  [needle.toLowerCase()]: { [needle.toLowerCase()]: 2 },
  prompt_tokens_details: { cached_tokens: 1, [needle]: 1, [needle.toLowerCase()]: 1 },
});

const thoughtOf = (needle: string): JsonObject[] => [
  {
    type: 'reasoning.text',
    text: 'Hm',
    index: 0,
    id: needle,
    format: needle,
    signature: ours.includes(needle) ? needle : 'EpkBCkYI',
    note: { deep: [needle], [needle]: 1 },
    [needle]: 1,
  },
  { type: needle, index: 1, data: 'sealed' },
];

/** A finish reason is short. An answer with a longer one is invalid. */
const reasonOf = (needle: string) => needle.slice(0, 64);

const called = (needle: string) => [
  { id: needle, type: needle, [needle]: 1, function: { name: 'weather', arguments: '{}', [needle]: needle } },
];

function whole(path: string, needle: string): JsonObject {
  if (path === '/images/generations')
    return {
      ...aside(needle),
      created: 1,
      data: [{ ...aside(needle), b64_json: 'iVBORw0KGgo=', revised_prompt: needle }],
    };
  if (path === '/embeddings')
    return { ...aside(needle), data: [{ ...aside(needle), index: 0, embedding: [0.5] }], usage: counted(needle) };
  if (path === '/audio/transcriptions') {
    const segment = { ...aside(needle), id: 0, start: 0, end: 1, text: 'Sunny' };
    return { ...aside(needle), text: 'Sunny', language: needle.slice(0, 64), duration: 1, segments: [segment] };
  }
  const told = {
    ...aside(needle),
    role: 'assistant',
    content: 'Sunny',
    name: needle,
    annotations: [{ type: needle }],
    audio: { id: needle },
    tool_calls: called(needle),
    reasoning_details: thoughtOf(needle),
  };
  const choice = {
    ...aside(needle),
    index: 0,
    message: told,
    finish_reason: reasonOf(needle),
    logprobs: { [needle]: 1 },
  };
  return { ...aside(needle), choices: [choice], usage: counted(needle) };
}

const event = (value: unknown) => `data: ${JSON.stringify(value)}\n\n`;

function streamed(needle: string): string {
  const chunk = (delta: JsonObject, members: JsonObject = {}) =>
    event({
      ...aside(needle),
      choices: [{ ...aside(needle), index: 0, delta: { ...aside(needle), ...delta }, ...members }],
    });
  return [
    `: ${needle}\n\nevent: ${needle}\nid: ${needle}\n`,
    chunk({ role: 'assistant', reasoning_details: thoughtOf(needle) }),
    chunk({ content: 'Sunny' }),
    chunk({ tool_calls: [{ index: 0, ...called(needle)[0] }] }),
    chunk({}, { finish_reason: reasonOf(needle) }),
    event({ ...aside(needle), choices: [], usage: counted(needle) }),
    'data: [DONE]\n\n',
  ].join('');
}

/** Headers that a hub can send. Not every text is valid in a header, but every needle is. */
const headersOf = (needle: string) => ({
  'x-request-id': needle,
  'retry-after': needle,
  'set-cookie': `account=${needle}`,
  'openai-organization': needle,
  server: needle,
  via: needle,
  location: needle,
});

function answers(bodies: { whole(path: string): JsonObject; streamed(): string }, needle: string): typeof speak {
  return ({ path, stream }, answer) => {
    const type = stream ? 'text/event-stream' : 'application/json';
    answer.writeHead(200, needle, { ...headersOf(needle), 'content-type': type });
    answer.end(stream ? bodies.streamed() : JSON.stringify(bodies.whole(path)));
  };
}

describe.each(doors)('$name', ({ call, says }) => {
  it.each(needles)('answers without %s, which stands wherever it is no content', async needle => {
    speak = answers({ whole: path => whole(path, needle), streamed: () => streamed(needle) }, needle);
    const { status, text: said } = await call();
    expect({ status, said }).toEqual({ status: 200, said: expect.stringContaining(says) });
    expect(said.includes(needle)).toBe(false);
  });
});

describe.each(textDoors)('$name, where a tool is called', ({ call }) => {
  it.each(needles)('%s is the name of no tool: it goes out in no answer', async needle => {
    const calls = [{ index: 0, id: 'call_1', type: 'function', function: { name: needle, arguments: '{}' } }];
    speak = answers(
      {
        whole: () => ({ choices: [{ message: { content: null, tool_calls: calls }, finish_reason: 'tool_calls' }] }),
        streamed: () => event({ choices: [{ delta: { tool_calls: calls } }] }),
      },
      needle,
    );
    const { status, text: said } = await call();
    expect([status, said.includes(needle)]).toEqual([502, false]);
  });
});

it('the name of a tool that the caller has written is its own, whatever it looks like', async () => {
  const name = 'org-AbCdEf0123456789';
  const calls = [{ index: 0, id: 'call_1', type: 'function', function: { name, arguments: '{}' } }];
  const reply = { choices: [{ message: { content: null, tool_calls: calls }, finish_reason: 'tool_calls' }] };
  const delta = { choices: [{ index: 0, delta: { tool_calls: calls }, finish_reason: 'tool_calls' }] };
  speak = answers({ whole: () => reply, streamed: () => event(delta) }, 'x');
  for (const stream of [false, true]) {
    const request = {
      ...ask(text(), { model: 'one/chat', stream }),
      tools: [{ type: 'function', function: { ...weather, name } }],
    };
    const answer = await fetch(service.url + CHAT, {
      method: 'POST',
      headers: { 'X-API-Key': 'a-live-key', 'content-type': 'application/json' },
      body: JSON.stringify(request),
    });
    expect([answer.status, (await answer.text()).includes(name)]).toEqual([200, true]);
  }
});

/** The shapes in which hubs report an error. */
const shapes: readonly (readonly [name: string, body: (error: JsonObject) => unknown])[] = [
  ['wrapped', error => ({ error })],
  ['flat', error => ({ ...error, detail: error.message })],
  ['in a list', error => [{ error }]],
  ['as a text', error => ({ error: error.message })],
  ['as a page', error => error.message],
];
const turn = <T>(all: readonly T[], index: number) => all[index % all.length] as T;
const faulted = (needle: string): JsonObject => ({
  message: `The request was refused (${needle}).`,
  code: needle.toLowerCase(),
  type: needle.toLowerCase(),
  param: needle.toLowerCase(),
  metadata: { raw: needle, provider_name: needle, reasons: [needle], flagged_input: needle, [needle]: needle },
  status: needle,
  details: [{ reason: needle, domain: needle }],
});

const refusedWith = [400, 403, 413, 422, 429, 401, 500, 503];

describe.each(doors)('$name, refused by its hub', ({ call }) => {
  const refused = async (status: number, needle: string, [, body]: (typeof shapes)[number]) => {
    speak = (_, answer) =>
      void answer
        .writeHead(status, needle, { ...headersOf(needle), 'content-type': 'application/json' })
        .end(JSON.stringify(body(faulted(needle))));
    const { text: said } = await call();
    expect(said).toMatch(/hub_|error/i);
    expect({ status, needle, leaks: said.toLowerCase().includes(needle.toLowerCase()) }).toMatchObject({
      leaks: false,
    });
  };

  it('400 in whatever shape, with whatever needle', async () => {
    for (const [index, needle] of needles.entries()) await refused(400, needle, turn(shapes, index));
  });

  it('any status, in whatever shape', async () => {
    for (const [index, status] of refusedWith.entries())
      await refused(status, turn(needles, index), turn(shapes, index + 1));
  });
});

describe.each(textDoors)('$name, where its hub fails after it has begun', ({ call }) => {
  it.each(needles)('without %s in the error that ends it', async needle => {
    const error = faulted(needle);
    speak = answers(
      {
        whole: () => ({ choices: [{ message: { content: 'Sunny' }, finish_reason: 'error' }], error }),
        streamed: () =>
          [event({ choices: [{ delta: { content: 'Sunny' } }] }), 'event: error\n', event({ error })].join(''),
      },
      needle,
    );
    expect((await call()).text.includes(needle)).toBe(false);
  });
});

describe('under the caller’s own key for the router', () => {
  const routed = { 'X-Router-Key': ROUTER_KEY };
  const mine = [...needles, ROUTER_KEY, Buffer.from(ROUTER_KEY).toString('base64')];

  it.each([true, false])('neither that key nor another’s is in an answer; streamed: %s', async stream => {
    for (const needle of mine) {
      speak = answers({ whole: path => whole(path, needle), streamed: () => streamed(needle) }, needle);
      const { status, text: said } = await post(CHAT, chat({ model: 'router/some/model', stream }), routed);
      expect({ needle, status, leaks: said.includes(needle) }).toEqual({ needle, status: 200, leaks: false });
    }
  });

  it.each([400, 401, 402, 403, 429, 500])('nor in a refusal with %i', async status => {
    for (const needle of mine) {
      speak = (_, answer) =>
        void answer.writeHead(status, headersOf(needle)).end(JSON.stringify({ error: faulted(needle) }));
      const { text: said } = await post(CHAT, chat({ model: 'router/some/model' }), routed);
      expect([needle, said.includes(needle)]).toEqual([needle, false]);
    }
  });
});

/** The caller pays for what a model writes, draws or transcribes, so it is passed on unchanged, even if it contains this text. */
const CONTENT = 'org-C0ntent0f0neCa11';
const asContent: readonly (readonly [member: string, why: string, said: JsonObject])[] = [
  ['content', 'the text of the model', { content: CONTENT }],
  ['refusal', 'the text by which the model refuses', { content: null, refusal: CONTENT }],
  ['reasoning_content', 'what the model thought', { content: 'Sunny', reasoning_content: CONTENT }],
  ['reasoning', 'what the model thought', { content: 'Sunny', reasoning: CONTENT }],
  [
    'reasoning_details[].text and summary',
    'what the model thought',
    { content: 'Sunny', reasoning_details: [{ type: 'reasoning.summary', summary: CONTENT }] },
  ],
  [
    'reasoning_details[].signature and data',
    'sealed, and wanted back as it is: held to our own secrets alone',
    { content: 'Sunny', reasoning_details: [{ type: 'reasoning.encrypted', data: CONTENT }] },
  ],
  [
    'tool_calls[].function.arguments',
    'the text of the model',
    {
      content: null,
      tool_calls: [
        { index: 0, id: 'call_1', function: { name: 'weather', arguments: JSON.stringify({ of: CONTENT }) } },
      ],
    },
  ],
];

describe.each([
  ['whole', false],
  ['streamed', true],
])('what is content, %s', (_, stream) => {
  it.each(asContent)('%s goes out as it is: %s', async (_member, _why, said) => {
    const message = { role: 'assistant', ...said };
    speak = answers(
      {
        whole: () => ({ choices: [{ message, finish_reason: 'stop' }] }),
        streamed: () => event({ choices: [{ delta: message, finish_reason: 'stop' }] }),
      },
      'x',
    );
    const { status, text: answer } = await post(CHAT, chat({ stream }));
    expect([status, answer.includes(CONTENT)]).toEqual([200, true]);
  });
});

describe('an image by its URL', () => {
  const drawn = async (url: string) => {
    speak = (_, answer) => void answer.writeHead(200).end(JSON.stringify({ data: [{ url }] }));
    return await post('/v1/images/generations', { model: 'one/image', prompt: text(), response_format: 'url' });
  };

  it('is where its hub keeps it', async () => {
    const url = 'https://images.example/1a2b.png?sig=c2ln&expires=1';
    expect(await drawn(url)).toMatchObject({ status: 200, text: expect.stringContaining(url) });
  });

  it.each([...ours, encodeURIComponent(ELSEWHERE), `sk-or-v1-${'0a1b2c3d'.repeat(8)}`])(
    'is none where it holds %s',
    async needle => {
      const { status, text: said } = await drawn(`https://images.example/1a2b.png?of=${needle}`);
      expect([status, said.includes(needle)]).toEqual([502, false]);
    },
  );
});

/** Rows of every table, as text. */
async function dumped(): Promise<string> {
  const tables = await service.query<{ name: string }>(
    `select format('%I.%I', table_schema, table_name) as name from information_schema.tables
      where table_type = 'BASE TABLE' and table_schema not in ('pg_catalog', 'information_schema')`,
  );
  const texts: string[] = [];
  for (const { name } of tables)
    texts.push(...(await service.query<{ row: string }>(`select t::text as row from ${name} t`)).map(({ row }) => row));
  return texts.join('\n');
}

afterAll(async () => {
  const book = `/v1/agents/${agent.agent_id}/book`;
  const shown = { 'X-SVC-Session': agent.session };
  const exported = (await service.get(`${book}/export`, shown)).text;
  const rows = (await service.get<{ entries: { task_id: string }[] }>(book, shown)).body.entries;
  const receipts: string[] = [];
  for (const { task_id } of rows) receipts.push((await service.get(`/receipt/${task_id}`)).text);
  const metrics = await (await fetch(`${service.url}/metrics`)).text();
  const dump = await dumped();
  expect(rows.length).toBeGreaterThan(5);
  expect(dump).toContain(rows[0]?.task_id);
  expect(service.gateway.logs.length).toBeGreaterThan(needles.length);
  const places = {
    answers: heard.join('\n'),
    exported,
    receipts: receipts.join('\n'),
    metrics,
    dump,
    logs: service.gateway.logs.join('\n'),
  };
  for (const [place, written] of Object.entries(places))
    for (const needle of [...needles, ROUTER_KEY])
      expect({ place, needle, leaks: written.includes(needle) }).toEqual({ place, needle, leaks: false });
});
