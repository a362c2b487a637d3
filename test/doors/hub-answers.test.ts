import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type AnswerHabit, answerHabits, streamBody } from '../../gateway/development/hub/habits.ts';
import { canonicalHash, type Json, type JsonObject } from '../../schema/canonical-json.ts';
import { mergedDetails } from '../../schema/reasoning.ts';
import { askToStream, listen, type StreamAnswer } from '../harness/doors/listen.ts';
import { onGraph } from '../harness/doors/on-graph.ts';
import { ask, CHAT, type Chat, openService, type ReceiptBody, type Service } from '../harness/doors/open-service.ts';
import { openSocket } from '../harness/doors/socket.ts';
import { type HubServer, openHubServer } from '../harness/receipt/inference/hub-server.ts';
import { atEnd } from '../harness/release.ts';

/*
 * How hubs really answer, and what a caller receives: the same whole and streamed, by REST and on the graph. The habits are those of the
 * development hubs, byte for byte.
 */

let service: Service;
let hubs: readonly [HubServer, HubServer];
/** Habits of the hubs that are called next, in the order of their calls. Once the list is empty, all answer well. */
let habits: AnswerHabit[] = [];

beforeAll(async () => {
  const open = async (): Promise<HubServer> => {
    const hub = await openHubServer(response => {
      const { stream } = (hub.received.at(-1)?.body ?? {}) as { stream?: boolean };
      const habit = habits.shift() ?? answerHabits['dev/sparse'];
      const type = stream ? 'text/event-stream' : 'application/json';
      response.writeHead(200, { 'content-type': type }).end(stream ? streamBody(habit) : habit.whole);
    });
    atEnd(() => hub[Symbol.asyncDispose]());
    return hub;
  };
  hubs = [await open(), await open()];
  const settings = hubs.map(({ base_url }, index) => ({
    name: `hub-${index}`,
    base_url,
    api_key: `sk-hub-${index}-4f1b7c9d02aa`,
    models: ['some/model'],
  }));
  service = await openService({ HUBS: JSON.stringify(settings), RATE_UNCHARGED: '100/600' });
});
beforeEach(() => {
  habits = [];
});

const KEY = { Authorization: 'Bearer a-live-key' };
let asked = 0;
/** A different request for each call, so that no answer is a replay. */
const content = () => `Which is greater? ${++asked}`;

const whole = async () => await service.post<Chat>(CHAT, ask(content()), KEY);
const streamed = async (): Promise<StreamAnswer> => {
  const body = askToStream(content(), { stream_options: { include_usage: true } });
  return await (await listen(service, body, { headers: KEY })).rest();
};

const MESSAGE = 'role content refusal toolCalls { id } reasoningContent reasoning reasoningDetails';
const USAGE = 'usage { promptTokens completionTokens totalTokens details }';
interface OnGraph {
  readonly choices: readonly { readonly message: JsonObject; readonly finishReason: string }[];
  readonly usage: JsonObject | null;
  readonly svc: ReceiptBody;
}
async function wholeOnGraph(): Promise<OnGraph> {
  const input = `{ messages: [{ role: "user", content: "${content()}" }] }`;
  const query = `mutation { answer: createChatCompletion(input: ${input}) { choices { message { ${MESSAGE} } finishReason } ${USAGE} svc } }`;
  const { data, errors } = await onGraph<{ answer: OnGraph }>(service, query, {}, KEY);
  if (!data) throw new Error(JSON.stringify(errors));
  return data.answer;
}

interface ChunkOnGraph {
  readonly choices: readonly { readonly delta: JsonObject; readonly finishReason: string | null }[];
  readonly usage: JsonObject | null;
  readonly svc: ReceiptBody | null;
}
async function streamedOnGraph(): Promise<ChunkOnGraph[]> {
  const input = `{ messages: [{ role: "user", content: "${content()}" }] }`;
  const query = `subscription { answer: chatCompletionStream(input: ${input}) { choices { delta { ${MESSAGE} } finishReason } ${USAGE} svc } }`;
  const heard = await openSocket(service, { api_key: 'a-live-key' }).all(query);
  return heard.map(({ data }) => (data as { answer: ChunkOnGraph }).answer);
}

const commitment = (svc: JsonObject = {}) =>
  (svc.payload as { fulfillment: { output_commitment: JsonObject } }).fulfillment.output_commitment;

/** The message assembled from the deltas, as any client can hash it. */
function assembled(chunks: StreamAnswer['chunks']): JsonObject {
  const deltas = chunks.flatMap(({ choices }) => choices.map(({ delta }) => delta));
  const joinDeltas = (name: 'content' | 'reasoning_content' | 'reasoning') =>
    deltas.map(delta => delta[name] ?? '').join('');
  const details = mergedDetails(deltas.flatMap(delta => (delta.reasoning_details ?? []) as JsonObject[]));
  return {
    role: 'assistant',
    content: joinDeltas('content') || null,
    ...(joinDeltas('reasoning_content') && { reasoning_content: joinDeltas('reasoning_content') }),
    ...(joinDeltas('reasoning') && { reasoning: joinDeltas('reasoning') }),
    ...(details.length > 0 && { reasoning_details: details }),
  };
}

const TEXT = 'Compare 9.80 with 9.11.';
const ANSWER = '9.8 is greater.';
const FORMAT = 'anthropic-claude-v1';
const details: JsonObject[] = [
  { type: 'reasoning.text', text: TEXT, signature: 'EpkBCkYIBxgCKkA=', format: FORMAT, index: 0 },
  { type: 'reasoning.encrypted', data: 'eyJlbmNyeXB0ZWQiOnRydWV9', id: 'rs_1', format: FORMAT, index: 1 },
];
const usage = { prompt_tokens: 16, completion_tokens: 12, total_tokens: 28 };
const counted = {
  'dev/thinking': {
    prompt_tokens_details: { cached_tokens: 4 },
    completion_tokens_details: { reasoning_tokens: 7 },
    prompt_cache_hit_tokens: 4,
    prompt_cache_miss_tokens: 12,
  },
  'dev/thinking-details': {
    cost: 0.000_228,
    is_byok: false,
    prompt_tokens_details: { cached_tokens: 4, audio_tokens: 0 },
    cost_details: { upstream_inference_cost: null, upstream_inference_prompt_cost: 0.000_048 },
    completion_tokens_details: { reasoning_tokens: 7, image_tokens: 0 },
  },
} as const;
const thinking: readonly [keyof typeof counted, JsonObject, JsonObject][] = [
  ['dev/thinking', { reasoning_content: TEXT }, {}],
  [
    'dev/thinking-details',
    { reasoning: TEXT, reasoning_details: details },
    // In a whole answer the hub sends a null id, and it is passed on unchanged.
    { reasoning_details: details.map(detail => ({ id: null, ...detail })) },
  ],
];

describe.each(thinking)('%s', (name, reasoning, differently) => {
  const habit = answerHabits[name];
  const message = { role: 'assistant', content: ANSWER, ...reasoning };

  it('whole: reasoning and all that is counted come back, and the receipt commits to the message', async () => {
    habits = [habit];
    const { status, body, text } = await service.post<Chat>(CHAT, ask(content()), KEY);
    expect(status).toBe(200);
    expect(body.choices).toEqual([{ index: 0, message: { ...message, ...differently }, finish_reason: 'stop' }]);
    expect(body.usage).toEqual({ ...usage, ...counted[name] });
    const raw = JSON.parse(text) as { choices: [{ message: Json }] };
    expect(commitment(body.svc)).toMatchObject({ status: 'committed', hash: canonicalHash(raw.choices[0].message) });
  });

  it('streamed: its deltas as they came, and the receipt commits to what they add up to', async () => {
    habits = [habit];
    const { chunks, svc, ends_well, finish_reasons } = await streamed();
    expect({ ends_well, finish_reasons }).toEqual({ ends_well: true, finish_reasons: ['stop'] });
    expect(assembled(chunks)).toEqual(message);
    expect(chunks.at(-1)?.usage).toEqual({ ...usage, ...counted[name] });
    expect(commitment(svc)).toMatchObject({ status: 'committed', hash: canonicalHash(message) });
    const thoughts = chunks
      .flatMap(({ choices }) => choices.map(({ delta }) => delta))
      .filter(delta => delta.reasoning ?? delta.reasoning_content ?? delta.reasoning_details);
    expect(thoughts.length).toBeGreaterThan(1);
  });

  it('by GraphQL, whole and streamed: the same', async () => {
    habits = [habit];
    const { reasoning_content = null, reasoning: said = null, reasoning_details = null } = reasoning;
    const names = { reasoningContent: reasoning_content, reasoning: said };
    const told = { ...names, reasoningDetails: differently.reasoning_details ?? reasoning_details };
    const counts = { promptTokens: 16, completionTokens: 12, totalTokens: 28, details: counted[name] };
    const answer = await wholeOnGraph();
    const fields = { role: 'assistant', content: ANSWER, refusal: null, toolCalls: null, ...told };
    expect(answer).toMatchObject({ choices: [{ message: fields, finishReason: 'stop' }], usage: counts });

    habits = [habit];
    const chunks = await streamedOnGraph();
    const deltas = chunks.flatMap(({ choices }) => choices.map(({ delta }) => delta));
    const joined = (field: string) => deltas.map(delta => delta[field] ?? '').join('') || null;
    expect({ reasoningContent: joined('reasoningContent'), reasoning: joined('reasoning') }).toEqual(names);
    const all = deltas.flatMap(delta => (delta.reasoningDetails ?? []) as JsonObject[]);
    expect(mergedDetails(all)).toEqual(reasoning_details ?? []);
    expect(chunks.at(-1)?.usage).toEqual(counts);
  });

  it('sent again: the same reasoning and the same signed bytes, whole and streamed', async () => {
    const payer = await service.chain.newWallet();
    const payment = await service.payment(payer, CHAT);
    const body = ask(content());
    habits = [habit];
    const first = await service.post<Chat>(CHAT, body, payment);
    const again = await service.post<Chat>(CHAT, body, payment);
    expect(again.body.choices).toEqual(first.body.choices);
    expect([again.body.usage, again.body.svc.issuer_signature]).toEqual([
      first.body.usage,
      first.body.svc.issuer_signature,
    ]);

    const another = await service.payment(payer, CHAT);
    const stream = askToStream(content());
    habits = [habit];
    const heard = await (await listen(service, stream, { headers: another })).rest();
    const replayed = await (await listen(service, stream, { headers: another })).rest();
    expect(assembled(replayed.chunks)).toEqual(assembled(heard.chunks));
    expect(replayed.svc?.issuer_signature).toEqual(heard.svc?.issuer_signature);
    expect(await service.transfersFrom(payer)).toHaveLength(2);
  });

  it('to an agent: its text, and beside it the whole message as data', async () => {
    habits = [habit];
    const message_ = { messageId: 'm', role: 'ROLE_USER', parts: [{ text: content() }] };
    const call = { jsonrpc: '2.0', id: 1, method: 'SendMessage', params: { message: message_ } };
    const { body } = await service.post<{ result: { task: { artifacts: [{ parts: JsonObject[] }] } } }>(
      '/a2a-message',
      call,
      {
        ...KEY,
        'A2A-Version': '1.0',
      },
    );
    expect(body.result.task.artifacts[0].parts).toEqual([
      { text: ANSWER, mediaType: 'text/plain' },
      { data: { ...message, ...differently }, mediaType: 'application/json' },
    ]);
  });
});

describe('POST /v1/responses, of a hub that thinks', () => {
  const RESPONSES = '/v1/responses';
  const output = [
    { type: 'reasoning', status: 'completed', summary: [], content: [{ type: 'reasoning_text', text: TEXT }] },
    { type: 'message', content: [{ type: 'output_text', text: ANSWER }] },
  ];
  interface ResponseOutput {
    readonly output: JsonObject[];
    readonly usage: JsonObject;
    readonly svc: ReceiptBody;
  }

  it.each(thinking)(
    '%s: reasoning is an item of the output, told once, and what is counted has both names',
    async name => {
      habits = [answerHabits[name]];
      const { body } = await service.post<ResponseOutput>(RESPONSES, { input: content() }, KEY);
      expect(body.output).toMatchObject(output);
      const [reasoning] = body.output;
      expect(reasoning?.id).toBe(`rs_${body.svc.task_id}`);
      expect(Object.keys(reasoning ?? {}).sort()).toEqual(['content', 'id', 'status', 'summary', 'type']);
      const { prompt_tokens_details, completion_tokens_details } = counted[name];
      const details = { input_tokens_details: prompt_tokens_details, output_tokens_details: completion_tokens_details };
      const counts = { ...usage, input_tokens: 16, output_tokens: 12, ...counted[name], ...details };
      expect(body.usage).toEqual(counts);
      expect(commitment(body.svc)).toMatchObject({ status: 'committed', hash: canonicalHash(body.output) });
    },
  );

  const include = ['reasoning.encrypted_content'];
  /** The messages that the hub receives if the items of an answer are sent with the next turn. */
  const sentBack = async (items: readonly JsonObject[]) => {
    habits = [];
    const input = [{ role: 'user', content: content() }, ...items, { role: 'user', content: 'And now?' }];
    const { status } = await service.post(RESPONSES, { input }, KEY);
    expect(status).toBe(200);
    const heard = hubs.flatMap(hub => hub.received.map(({ body }) => body as JsonObject));
    const turns = heard.flatMap(({ messages }) => (messages ?? []) as readonly JsonObject[]);
    const last = turns.findLastIndex(({ content: said }) => said === 'And now?');
    return turns.slice(last - 1, last);
  };
  const { reasoning, reasoning_details } = JSON.parse(answerHabits['dev/thinking-details'].whole).choices[0].message;

  it('with encrypted_content, where it is asked for: sent back, it is what the hub said, member by member', async () => {
    habits = [answerHabits['dev/thinking-details']];
    const { body } = await service.post<ResponseOutput>(RESPONSES, { input: content(), include }, KEY);
    expect(body.output[0]).toMatchObject({ type: 'reasoning', encrypted_content: expect.any(String) });
    expect(commitment(body.svc)).toMatchObject({ status: 'committed', hash: canonicalHash(body.output) });
    const [turn] = await sentBack(body.output);
    expect(turn).toEqual({ role: 'assistant', content: ANSWER, reasoning, reasoning_details });
  });

  it('by GraphQL with encryptedContent, the same text', async () => {
    habits = [answerHabits['dev/thinking-details'], answerHabits['dev/thinking-details']];
    const query = `mutation { answer: createResponse(input: {
      input: [{ role: "user", content: "${content()}" }], include: ["reasoning.encrypted_content"]
    }) { output { encryptedContent } } }`;
    const { data } = await onGraph<{ answer: { output: JsonObject[] } }>(service, query, {}, KEY);
    const { body } = await service.post<ResponseOutput>(RESPONSES, { input: content(), include }, KEY);
    const encryptedContent = body.output[0]?.encrypted_content;
    expect(data?.answer.output).toEqual([{ encryptedContent }, { encryptedContent: null }]);
  });

  it('streamed, and all of it encrypted: an item at its place, which is sent back with its turn', async () => {
    const encrypted = { type: 'reasoning.encrypted', data: 'eA==' };
    const deltas = [{ reasoning_details: [encrypted] }, { content: ANSWER }, {}];
    const chunks = deltas.map((delta, at) => ({
      choices: [{ index: 0, delta, finish_reason: at === 2 ? 'stop' : null }],
    }));
    const stream = [...chunks.map(chunk => `data: ${JSON.stringify(chunk)}`), 'data: [DONE]'];
    habits = [{ source: 'a model of OpenAI by OpenRouter', whole: '', stream }];
    const asked_for = { input: content(), stream: true, include };
    const listening = await listen(service, asked_for, { headers: KEY, path: RESPONSES });
    const events: JsonObject[] = [];
    for (let data = await listening.next(); data !== null; data = await listening.next()) events.push(JSON.parse(data));
    const items = (type: string) =>
      events
        .filter(event => event.type === type)
        .map(({ output_index, item }) => [output_index, (item as JsonObject).id] as const);
    const added = items('response.output_item.added');
    expect(added).toEqual(items('response.output_item.done'));
    expect(added.map(([place]) => place)).toEqual([0, 1]);
    const completed = events.find(({ type }) => type === 'response.completed');
    const response = completed?.response as unknown as ResponseOutput;
    expect(added.map(([, id]) => id)).toEqual(response.output.map(({ id }) => id));
    const [turn] = await sentBack(response.output);
    expect(turn).toEqual({ role: 'assistant', content: ANSWER, reasoning_details: [encrypted] });
  });

  it('by GraphQL the same', async () => {
    habits = [answerHabits['dev/thinking']];
    const query = `mutation { answer: createResponse(input: { input: [{ role: "user", content: "${content()}" }] }) {
      output { type summary content { type text } } outputText usage { inputTokens details }
    } }`;
    const { data } = await onGraph<{ answer: JsonObject }>(service, query, {}, KEY);
    const { prompt_tokens_details, completion_tokens_details } = counted['dev/thinking'];
    const details = { input_tokens_details: prompt_tokens_details, output_tokens_details: completion_tokens_details };
    expect(data?.answer).toEqual({
      output: [
        { type: 'reasoning', summary: [], content: [{ type: 'reasoning_text', text: TEXT }] },
        { type: 'message', summary: null, content: [{ type: 'output_text', text: ANSWER }] },
      ],
      outputText: ANSWER,
      usage: { inputTokens: 16, details: { ...counted['dev/thinking'], ...details } },
    });
  });
});

it('an agent that is streamed to: its text piece by piece, and what was thought as data at the end', async () => {
  habits = [answerHabits['dev/thinking-details']];
  const message = { messageId: 'm', role: 'ROLE_USER', parts: [{ text: content() }] };
  const call = { jsonrpc: '2.0', id: 1, method: 'SendStreamingMessage', params: { message } };
  const stream = await listen(service, call, { headers: { ...KEY, 'A2A-Version': '1.0' }, path: '/a2a-message' });
  const parts: JsonObject[] = [];
  for (let next = await stream.next(); next !== null; next = await stream.next()) {
    const { result } = JSON.parse(next) as { result: { artifactUpdate?: { artifact: { parts: JsonObject[] } } } };
    parts.push(...(result.artifactUpdate?.artifact.parts ?? []));
  }
  expect(parts).toEqual([
    { text: ANSWER, mediaType: 'text/plain' },
    { data: { role: 'assistant', reasoning: TEXT, reasoning_details: details }, mediaType: 'application/json' },
  ]);
});

describe('dev/thinks-to-the-limit', () => {
  const habit = answerHabits['dev/thinks-to-the-limit'];
  const message = { role: 'assistant', content: null, reasoning: 'Compare 9.80 with' };

  it('is an answer whole and streamed: its reason is that its tokens were used up', async () => {
    habits = [habit];
    const { body } = await whole();
    expect(body.choices).toEqual([{ index: 0, message, finish_reason: 'length' }]);
    habits = [habit];
    const heard = await streamed();
    expect(heard).toMatchObject({ ends_well: true, finish_reasons: ['length'], text: '' });
    expect(assembled(heard.chunks)).toEqual(message);
    for (const svc of [body.svc, heard.svc]) expect(commitment(svc)).toMatchObject({ hash: canonicalHash(message) });
  });
});

const plain: readonly (keyof typeof answerHabits)[] = ['dev/empty-finish-reason', 'dev/partial-usage', 'dev/sparse'];
describe.each(plain)('%s', name => {
  it('is an answer whole and streamed, and what its hub left out is filled in', async () => {
    habits = [answerHabits[name]];
    const { status, body } = await whole();
    expect(status).toBe(200);
    const choices = [{ index: 0, message: { role: 'assistant', content: ANSWER }, finish_reason: 'stop' }];
    expect(body).toMatchObject({ choices, id: `chatcmpl-${body.svc.task_id}`, created: expect.any(Number) });
    habits = [answerHabits[name]];
    const heard = await streamed();
    expect(heard).toMatchObject({ ends_well: true, text: ANSWER, finish_reasons: ['stop'] });
    expect(heard.chunks[0]).toMatchObject({ choices: [{ index: 0, delta: { role: 'assistant' } }] });
    for (const svc of [body.svc, heard.svc]) expect(commitment(svc)).toMatchObject({ hash: canonicalHash(choices) });
  });
});

it('dev/no-finish-reason: whole it has come to its end, streamed it broke off', async () => {
  habits = [answerHabits['dev/no-finish-reason']];
  const { body } = await whole();
  expect(body.choices).toMatchObject([{ message: { content: ANSWER }, finish_reason: 'stop' }]);
  habits = [answerHabits['dev/no-finish-reason']];
  const { text, svc } = await streamed();
  expect(text).toBe(ANSWER);
  expect(commitment(svc)).toMatchObject({ status: 'UNVERIFIED', omission_rule: 'hub_broke_off' });
});

describe.each(['dev/only-role', 'dev/thinks-and-stops', 'dev/fails-within'] as const)('%s, whole', name => {
  it('is no answer: the other hub answers, and if that one says the same it is 502, uncharged', async () => {
    habits = [answerHabits[name]];
    const { status, body } = await whole();
    expect([status, body.choices[0]?.message.content]).toEqual([200, ANSWER]);
    habits = [answerHabits[name], answerHabits[name]];
    const payer = await service.chain.newWallet();
    const failed = await service.post(CHAT, ask(content()), await service.payment(payer, CHAT));
    const attempts = [{ reason: 'not_a_completion' }, { reason: 'not_a_completion' }];
    expect(failed).toMatchObject({ status: 502, body: { code: 'hub_failed', charged: false, attempts } });
    expect(await service.transfersFrom(payer)).toEqual([]);
  });
});

it('dev/only-role, streamed: the other hub answers, and if that one says the same it is 502, uncharged', async () => {
  habits = [answerHabits['dev/only-role']];
  expect(await streamed()).toMatchObject({ ends_well: true, text: ANSWER });
  habits = [answerHabits['dev/only-role'], answerHabits['dev/only-role']];
  const payer = await service.chain.newWallet();
  const payment = await service.payment(payer, CHAT);
  const failed = await service.post(CHAT, askToStream('Only a role'), payment);
  expect(failed).toMatchObject({ status: 502, body: { code: 'hub_failed', charged: false } });
  expect(await service.transfersFrom(payer)).toEqual([]);
  expect(await (await listen(service, askToStream('Only a role'), { headers: payment })).rest()).toMatchObject({
    text: ANSWER,
  });
  expect(await service.transfersFrom(payer)).toHaveLength(1);
});

it.each(['dev/thinks-and-stops', 'dev/fails-within'] as const)(
  '%s, streamed: what was said is delivered, and the receipt commits to none of it',
  async name => {
    habits = [answerHabits[name]];
    const { chunks, svc } = await streamed();
    const deltas = chunks.flatMap(({ choices }) => choices.map(({ delta }) => delta));
    expect(deltas.map(delta => delta.content ?? delta.reasoning_content ?? '').join('')).toMatch(
      /^(9\.8 is|Compare 9\.80 with)$/,
    );
    expect(commitment(svc)).toMatchObject({ status: 'UNVERIFIED', omission_rule: 'hub_broke_off' });
  },
);
