import { EventSourceParserStream } from 'eventsource-parser/stream';
import { beforeAll, describe, expect, it } from 'vitest';
import { MessageEventAnswer } from '../../rest-compat/inference/message-answers.ts';
import { MessageStreamFault } from '../../rest-compat/inference/stream-fault.ts';
import { canonicalHash, type Json, type JsonObject } from '../../schema/canonical-json.ts';
import { type Fetch, payingFetch } from '../harness/buyer.ts';
import { type ReceiptBody, resetHubsBeforeEach, type Service, sharedService } from '../harness/doors/open-service.ts';

const MESSAGES = '/v1/messages';
let service: Service;
beforeAll(async () => {
  service = await sharedService();
});
resetHubsBeforeEach(() => service);

const input_schema = { type: 'object', properties: { cityName: { type: 'string' } }, required: ['cityName'] };
const tools = [{ name: 'weather', input_schema }];
const messageRequest = (content: string, members: JsonObject = {}): JsonObject => ({
  max_tokens: 512,
  messages: [{ role: 'user', content }],
  ...members,
});

interface Options {
  readonly headers?: Readonly<Record<string, string>>;
  readonly by?: Fetch;
}

async function open(body: JsonObject, { headers = {}, by = fetch }: Options) {
  const hang_up = new AbortController();
  const answer = await by(service.url + MESSAGES, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ ...body, stream: true }),
    signal: hang_up.signal,
  });
  const events = answer.body
    ?.pipeThrough(new TextDecoderStream() as TransformStream<Uint8Array, string>)
    .pipeThrough(new EventSourceParserStream())
    .getReader();
  return { answer, events, leave: () => hang_up.abort() };
}

/** Reads a whole stream. Each event must match its description. Returns the events and the content that their deltas add up to. */
async function readStream(body: JsonObject, options: Options) {
  const { answer, events } = await open(body, options);
  expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/event-stream']);
  const all: JsonObject[] = [];
  const names: string[] = [];
  for (let next = await events?.read(); next?.value; next = await events?.read()) {
    const data = JSON.parse(next.value.data) as JsonObject;
    expect(MessageEventAnswer.parse(data)).toEqual(data);
    expect(next.value.event).toBe(data.type === 'ping' ? 'svc' : data.type);
    all.push(data);
    names.push(String(next.value.event));
  }
  const svc = all.find(event => 'svc' in event)?.svc as ReceiptBody;
  return { answer, all, names, svc, content: contentOf(all) };
}

/** The content as a client assembles it from the blocks. */
function contentOf(all: readonly JsonObject[]): JsonObject[] {
  const blocks: { block: JsonObject; given: string }[] = [];
  for (const { type, index, content_block, delta } of all) {
    if (type === 'content_block_start') blocks[Number(index)] = { block: content_block as JsonObject, given: '' };
    const open = blocks[Number(index)];
    if (type !== 'content_block_delta' || !open) continue;
    const { text, thinking, signature, partial_json } = delta as JsonObject;
    if (text !== undefined) open.block = { ...open.block, text: `${open.block.text}${text}` };
    if (thinking !== undefined) open.block = { ...open.block, thinking: `${open.block.thinking}${thinking}` };
    if (signature !== undefined) open.block = { ...open.block, signature };
    open.given += partial_json ?? '';
  }
  return blocks.map(({ block, given }) => (given === '' ? block : { ...block, input: JSON.parse(given) }));
}

const commitment = (svc: JsonObject) =>
  (svc.payload as { fulfillment: { output_commitment: JsonObject } }).fulfillment.output_commitment;
const once = (names: readonly string[]) => names.filter((name, index) => name !== names[index - 1]);
const by_key = { headers: { 'x-api-key': 'a-live-key' } };

describe(`POST ${MESSAGES} with stream: true`, () => {
  it("a text: Anthropic's events in their order, the receipt in one of its own before the last", async () => {
    const payer = await service.chain.newWallet();
    const { answer, all, names, svc, content } = await readStream(messageRequest('Hello'), { by: payingFetch(payer) });
    expect(once(names)).toEqual([
      'message_start',
      'content_block_start',
      'content_block_delta',
      'content_block_stop',
      'message_delta',
      'svc',
      'message_stop',
    ]);
    expect(all[0]).toMatchObject({ message: { id: `msg_${svc.task_id}`, content: [], stop_reason: null } });
    expect(all.at(-3)).toMatchObject({ delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 14 } });
    expect(content).toMatchObject([{ type: 'text', text: expect.stringContaining('You said: "Hello"') }]);
    expect(commitment(svc)).toMatchObject({ status: 'committed', hash: canonicalHash(content as Json) });
    expect(answer.headers.get('x-svc-task-id')).toBe(svc.task_id);
    expect(answer.headers.get('x-svc-settlement-status')).toBe('settled');
    expect(await service.transfersFrom(payer)).toHaveLength(1);
  });

  it('a call: its arguments piece by piece', async () => {
    const { all, names, svc, content } = await readStream(
      messageRequest('Weather?', { tools, tool_choice: { type: 'any' } }),
      by_key,
    );
    expect(once(names).slice(1, 4)).toEqual(['content_block_start', 'content_block_delta', 'content_block_stop']);
    expect(content).toMatchObject([{ type: 'tool_use', name: 'weather', input: { cityName: 'sample' } }]);
    expect(all.at(-3)).toMatchObject({ delta: { stop_reason: 'tool_use' } });
    expect(commitment(svc)).toMatchObject({ hash: canonicalHash(content as Json) });
  });

  const call = (index: number, given: string, id?: string) => ({
    tool_calls: [{ index, ...(id && { id }), function: { ...(id && { name: 'f' }), arguments: given } }],
  });
  const thought = (text: string, signature?: string) => ({
    reasoning_details: [{ type: 'reasoning.text', text, ...(signature && { signature }) }],
  });
  it.each<[string, object[]]>([
    ['text and then calls', [{ content: 'Well' }, call(0, '{"a":', 'x'), call(0, '1}'), call(1, '', 'y')]],
    ['a call and then text', [call(0, '{}', 'x'), { content: 'Well' }]],
    ['a refusal and then text', [{ refusal: 'No' }, { content: 'Yes' }]],
    ['thinking and then text', [{ reasoning_content: 'Hm' }, { reasoning_content: '.' }, { content: 'Well' }]],
    ['thinking that is signed late', [thought('Hm.'), { content: 'Well' }, thought('', 'c2ln')]],
    [
      'thinking that is encrypted',
      [{ reasoning_details: [{ type: 'reasoning.encrypted', data: 'eA==' }] }, { content: 'Well' }],
    ],
    ['calls that take turns', [call(0, '{"a":', 'x'), call(1, '{"b":', 'y'), call(0, '1}'), call(1, '2}')]],
  ])('%s: the blocks are those that the receipt commits to, each stopped before the next', async (name, parts) => {
    const events = [
      ...parts.map(delta => ({ choices: [{ delta }] })),
      { choices: [{ delta: {}, finish_reason: 'stop' }] },
    ];
    service.hubs[0].behave({ kind: 'events', events });
    const { all, svc, content } = await readStream(messageRequest(name, { thinking: { type: 'adaptive' } }), by_key);
    expect(content.some(({ type }) => type === 'thinking')).toBe(/^thinking (?:and|that is signed)/.test(name));
    expect(commitment(svc)).toMatchObject({ status: 'committed', hash: canonicalHash(content as Json) });
    const marks = all.flatMap(({ type, index }) => {
      return /_(?:start|stop)$/.test(String(type)) && index !== undefined ? [`${type} ${index}`] : [];
    });
    expect(marks).toEqual(content.flatMap((_, at) => [`content_block_start ${at}`, `content_block_stop ${at}`]));
  });

  it('what was thought is not shown to whoever has not asked for it', async () => {
    const events = [
      { choices: [{ delta: { reasoning_content: 'Hm.' } }] },
      { choices: [{ delta: { content: 'Well' }, finish_reason: 'stop' }] },
    ];
    service.hubs[0].behave({ kind: 'events', events });
    const { svc, content } = await readStream(messageRequest('Do not think aloud'), by_key);
    expect(content).toMatchObject([{ type: 'text', text: 'Well' }]);
    expect(commitment(svc)).toMatchObject({ hash: canonicalHash(content as Json) });
  });

  it.each<JsonObject>([{}, { tools }])(
    'the same payment again, with %j: the same, signed by the same bytes',
    async members => {
      const payer = await service.chain.newWallet();
      const headers = await service.payment(payer, MESSAGES);
      const body = messageRequest('Again', members);
      const [first, again] = [await readStream(body, { headers }), await readStream(body, { headers })];
      expect(again.content).toEqual(first.content);
      expect(once(again.names)).toEqual(once(first.names));
      expect(again.svc).toMatchObject({
        settlement_status: 'idempotent_replay',
        issuer_signature: first.svc.issuer_signature,
      });
      const whole = await service.post(MESSAGES, body, headers);
      expect(whole).toMatchObject({ status: 409, body: { code: 'claim_already_settled' } });
      expect(await service.transfersFrom(payer)).toHaveLength(1);
    },
  );

  it('an error in place of the end where the hub breaks off: the receipt before it, committed to nothing', async () => {
    service.hubs[0].behave({ kind: 'answer', in_stream: { after_words: 2, does: 'close' } });
    const payer = await service.chain.newWallet();
    const { all, names, svc, content } = await readStream(messageRequest('Break'), { by: payingFetch(payer) });
    expect(names.slice(-2)).toEqual(['svc', 'error']);
    expect(names).not.toContain('message_stop');
    expect(all.at(-1)).toMatchObject({
      error: { type: 'api_error', message: expect.stringContaining('ended its answer') },
    });
    // The description names each of these members, rather than allowing them as additional ones.
    expect(Object.keys(MessageStreamFault.shape)).toEqual(expect.arrayContaining(Object.keys(all.at(-1) ?? {})));
    expect(content).toMatchObject([{ text: 'This is ' }]);
    expect(commitment(svc)).toMatchObject({ status: 'UNVERIFIED', omission_rule: 'hub_broke_off' });
    expect(await service.transfersFrom(payer)).toHaveLength(1);
  });

  it('is brought to its end and recorded when its reader leaves', async () => {
    const on = Promise.withResolvers<void>();
    service.hubs[0].behave({ kind: 'answer', in_stream: { after_words: 2, does: on.promise } });
    const { answer, events, leave } = await open(messageRequest('Leave'), {
      by: payingFetch(await service.chain.newWallet()),
    });
    await events?.read();
    leave();
    on.resolve();
    const task_id = answer.headers.get('x-svc-task-id');
    await expect.poll(async () => (await service.get(`/receipt/${task_id}`)).status).toBe(200);
    expect(commitment((await service.get<ReceiptBody>(`/receipt/${task_id}`)).body)).toMatchObject({
      status: 'committed',
    });
  });

  it('502 where no hub begins: an error, no event, and the payment pays when it is sent again', async () => {
    for (const hub of service.hubs) hub.behave({ kind: 'status', status: 500 });
    const payer = await service.chain.newWallet();
    const payment = await service.payment(payer, MESSAGES);
    const failed = await service.post(MESSAGES, messageRequest('Hello', { stream: true }), payment);
    expect(failed).toMatchObject({
      status: 502,
      body: { type: 'error', charged: false, error: { type: 'api_error' } },
    });
    expect(await service.transfersFrom(payer)).toEqual([]);
    for (const hub of service.hubs) hub.behave({ kind: 'answer' });
    expect((await readStream(messageRequest('Hello'), { headers: payment })).names.at(-1)).toBe('message_stop');
  });
});

describe('the same by GraphQL', () => {
  const ask = (query: string, input: JsonObject, headers: Record<string, string> = { 'x-api-key': 'a-live-key' }) =>
    service.post<{ data: { answer: JsonObject } }>('/graphql', { query, variables: { input } }, headers);

  it('createMessage: what REST answers, bound to the same request', async () => {
    const body = messageRequest('Both ways', { system: 'Be short.', tools, top_k: 3 });
    const rest = await service.post<JsonObject>(MESSAGES, body, {
      'x-api-key': 'a-live-key',
      'idempotency-key': 'both-ways',
    });
    const { max_tokens, top_k, messages, system, ...others } = body;
    const block = (text: Json | undefined) => [{ type: 'text', text: text ?? null }];
    const input = {
      ...others,
      maxTokens: max_tokens ?? null,
      topK: top_k ?? null,
      system: block(system),
      messages: messages ?? null,
    };
    const query = `mutation M($input: MessageInput!) { answer: createMessage(input: $input) { id content stopReason usage { inputTokens outputTokens } } }`;
    const graph = await ask(query, input, { 'x-api-key': 'a-live-key', 'idempotency-key': 'both-ways' });
    expect(graph.body.data.answer).toMatchObject({
      id: rest.body.id,
      content: rest.body.content,
      stopReason: rest.body.stop_reason,
    });
  });

  it('messageTokens: the same estimate', async () => {
    const body = { messages: [{ role: 'user', content: 'How many?' }] };
    const rest = await service.post<JsonObject>(`${MESSAGES}/count_tokens`, body);
    const query =
      'query T($input: MessageTokensInput!) { answer: messageTokens(input: $input) { inputTokens estimate } }';
    const graph = await ask(query, body, {});
    expect(graph.body.data.answer).toEqual({ inputTokens: rest.body.input_tokens, estimate: true });
  });
});
