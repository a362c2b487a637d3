import { EventSourceParserStream } from 'eventsource-parser/stream';
import { beforeAll, describe, expect, it } from 'vitest';
import { ResponseEvent } from '../../rest-compat/inference/answers.ts';
import { ResponseStreamFault } from '../../rest-compat/inference/stream-fault.ts';
import { canonicalHash, type Json, type JsonObject } from '../../schema/canonical-json.ts';
import { type Fetch, payingFetch } from '../harness/buyer.ts';
import { type ReceiptBody, resetHubsBeforeEach, type Service, sharedService } from '../harness/doors/open-service.ts';

const RESPONSES = '/v1/responses';
let service: Service;
beforeAll(async () => {
  service = await sharedService();
});
resetHubsBeforeEach(() => service);

const parameters = { type: 'object', properties: { cityName: { type: 'string' } }, required: ['cityName'] };
const tools = [{ type: 'function', name: 'weather', parameters }];

interface Whole extends JsonObject {
  readonly output: Json;
  readonly status: string;
  readonly svc: ReceiptBody;
}
interface Options {
  readonly headers?: Readonly<Record<string, string>>;
  readonly by?: Fetch;
}

async function open(body: JsonObject, { headers = {}, by = fetch }: Options) {
  const hang_up = new AbortController();
  const answer = await by(service.url + RESPONSES, {
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

/** Reads a whole stream. Each event must match its description and be named by its type, with numbers without a gap. */
async function readStream(body: JsonObject, options: Options) {
  const { answer, events } = await open(body, options);
  expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/event-stream']);
  const all: JsonObject[] = [];
  for (let next = await events?.read(); next?.value; next = await events?.read()) {
    const data = JSON.parse(next.value.data) as JsonObject;
    expect(next.value.event).toBe(data.type);
    expect(ResponseEvent.parse(data)).toEqual(data);
    all.push(data);
  }
  expect(all.map(({ sequence_number }) => sequence_number)).toEqual(all.map((_, index) => index));
  const last = all.at(-1);
  return { answer, all, types: all.map(({ type }) => String(type)), last, whole: last?.response as Whole };
}

const commitment = (svc: JsonObject) =>
  (svc.payload as { fulfillment: { output_commitment: JsonObject } }).fulfillment.output_commitment;
const once = (types: readonly string[]) => types.filter((type, index) => type !== types[index - 1]);
const deltas = (all: readonly JsonObject[], type: string) =>
  all.flatMap(event => (event.type === type ? [String(event.delta)] : []));

describe(`POST ${RESPONSES} with stream: true`, () => {
  it('a text: the events of OpenAI in their order, the receipt in the last, committed to its output', async () => {
    const payer = await service.chain.newWallet();
    const { answer, all, types, last, whole } = await readStream({ input: 'Hello' }, { by: payingFetch(payer) });
    expect(once(types)).toEqual([
      'response.created',
      'response.in_progress',
      'response.output_item.added',
      'response.content_part.added',
      'response.output_text.delta',
      'response.output_text.done',
      'response.content_part.done',
      'response.output_item.done',
      'response.completed',
    ]);
    const text = deltas(all, 'response.output_text.delta').join('');
    expect(text).toContain('You said: "Hello"');
    expect(all[0]).toMatchObject({ response: { status: 'in_progress', output: [] } });
    expect(last).toMatchObject({ response: { status: 'completed', output_text: text, usage: { output_tokens: 14 } } });
    expect(whole.id).toBe(`resp_${whole.svc.task_id}`);
    expect(commitment(whole.svc)).toMatchObject({ status: 'committed', hash: canonicalHash(whole.output) });
    expect(answer.headers.get('x-svc-task-id')).toBe(whole.svc.task_id);
    expect(answer.headers.get('x-svc-settlement-status')).toBe('settled');
    expect(await service.transfersFrom(payer)).toHaveLength(1);
  });

  it('a call: its arguments piece by piece and whole', async () => {
    const payer = await service.chain.newWallet();
    const asked = { input: 'Weather?', tools, tool_choice: 'required' };
    const { all, types, whole } = await readStream(asked, { by: payingFetch(payer) });
    expect(once(types).slice(2)).toEqual([
      'response.output_item.added',
      'response.function_call_arguments.delta',
      'response.function_call_arguments.done',
      'response.output_item.done',
      'response.completed',
    ]);
    const given = deltas(all, 'response.function_call_arguments.delta').join('');
    expect(JSON.parse(given)).toEqual({ cityName: 'sample' });
    expect(whole).toMatchObject({ output: [{ type: 'function_call', name: 'weather', arguments: given }] });
    expect(all.at(-2)).toMatchObject({ output_index: 0, item: (whole.output as JsonObject[])[0] });
    expect(commitment(whole.svc)).toMatchObject({ hash: canonicalHash(whole.output) });
    expect(service.hubs[0].requests.at(-1)?.body).toMatchObject({
      tools: [{ type: 'function', function: { name: 'weather', parameters } }],
      tool_choice: 'required',
      stream: true,
    });
    expect(await service.transfersFrom(payer)).toHaveLength(1);
  });

  it.each<JsonObject>([{}, { tools }])(
    'the same payment again, with %j: the same output and the same signed bytes',
    async members => {
      const payer = await service.chain.newWallet();
      const headers = await service.payment(payer, RESPONSES);
      const body = { input: 'Again', ...members };
      const [first, again] = [await readStream(body, { headers }), await readStream(body, { headers })];
      expect(again.whole.output).toEqual(first.whole.output);
      expect(once(again.types)).toEqual(once(first.types));
      expect(again.whole.svc).toMatchObject({
        settlement_status: 'idempotent_replay',
        issuer_signature: first.whole.svc.issuer_signature,
      });
      const whole = await service.post(RESPONSES, body, headers);
      expect(whole).toMatchObject({ status: 409, body: { code: 'claim_already_settled' } });
      expect(await service.transfersFrom(payer)).toHaveLength(1);
    },
  );

  it('text first and calls after it, and a call before its text: the places are those of the output', async () => {
    const answerInParts = (...parts: object[]) => {
      const events = [
        ...parts.map(delta => ({ choices: [{ delta }] })),
        { choices: [{ delta: {}, finish_reason: 'stop' }] },
      ];
      return { kind: 'events' as const, events };
    };
    const call = { tool_calls: [{ index: 3, id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } }] };
    for (const parts of [
      [{ content: 'Well' }, call],
      [call, { content: 'Well' }],
      [{ refusal: 'No' }, { content: 'Yes' }],
    ]) {
      service.hubs[0].behave(answerInParts(...parts));
      const { all, whole } = await readStream(
        { input: JSON.stringify(parts) },
        { headers: { Authorization: 'Bearer a-live-key' } },
      );
      const done = all.filter(({ type }) => type === 'response.output_item.done');
      expect(done.map(({ item }) => item)).toEqual(whole.output);
      for (const { item_id, output_index } of all.filter(event => 'delta' in event))
        expect((whole.output as JsonObject[])[Number(output_index)]?.id).toBe(item_id);
      expect(commitment(whole.svc)).toMatchObject({ hash: canonicalHash(whole.output) });
    }
  });

  it('response.failed and an error where the hub breaks off: charged, nothing is said to be done, and the same payment brings the whole', async () => {
    service.hubs[0].behave({ kind: 'answer', in_stream: { after_words: 2, does: 'close' } });
    const payer = await service.chain.newWallet();
    const headers = await service.payment(payer, RESPONSES);
    const { all, types, last } = await readStream({ input: 'Break' }, { headers });
    expect(types.some(type => type.endsWith('.done'))).toBe(false);
    const failed = all.at(-2) ?? {};
    expect(failed).toMatchObject({
      type: 'response.failed',
      response: { status: 'failed', error: { code: 'server_error' }, output_text: 'This is ' },
    });
    const { svc } = failed.response as Whole;
    expect(commitment(svc)).toMatchObject({ status: 'UNVERIFIED', omission_rule: 'hub_broke_off' });
    expect(last).toMatchObject({
      type: 'error',
      code: 'hub_broke_off',
      message: expect.stringContaining('Send the same request with the same payment'),
      reruns_left: 3,
      task_id: svc.task_id,
    });
    expect(Object.keys(ResponseStreamFault.shape)).toEqual(expect.arrayContaining(Object.keys(last ?? {})));
    service.hubs[0].behave({ kind: 'answer' });
    const again = await readStream({ input: 'Break' }, { headers });
    expect(again.whole).toMatchObject({ status: 'completed', output_text: expect.stringContaining('"Break"') });
    expect(again.whole.svc).toMatchObject({ rerun: 1, issuer_signature: svc.issuer_signature });
    expect(again.whole.svc).toMatchObject({ answered_again: { output_sha256: canonicalHash(again.whole.output) } });
    expect(again.answer.headers.get('x-svc-rerun')).toBe('1');
    expect(await service.transfersFrom(payer)).toHaveLength(1);
  });

  it('is brought to its end and recorded when its reader leaves', async () => {
    const payer = await service.chain.newWallet();
    const on = Promise.withResolvers<void>();
    service.hubs[0].behave({ kind: 'answer', in_stream: { after_words: 2, does: on.promise } });
    const { answer, events, leave } = await open({ input: 'Leave' }, { by: payingFetch(payer) });
    await events?.read();
    leave();
    on.resolve();
    const task_id = answer.headers.get('x-svc-task-id');
    await expect.poll(async () => (await service.get(`/receipt/${task_id}`)).status).toBe(200);
    const { body } = await service.get<ReceiptBody>(`/receipt/${task_id}`);
    expect(commitment(body)).toMatchObject({ status: 'committed' });
    expect(await service.transfersFrom(payer)).toHaveLength(1);
  });

  it('502 where no hub begins: a problem, no event, and the payment pays when it is sent again', async () => {
    for (const hub of service.hubs) hub.behave({ kind: 'status', status: 500 });
    const payer = await service.chain.newWallet();
    const payment = await service.payment(payer, RESPONSES);
    const failed = await service.post(RESPONSES, { input: 'Hello', stream: true }, payment);
    expect(failed).toMatchObject({ status: 502, body: { charged: false } });
    expect(await service.transfersFrom(payer)).toEqual([]);
    for (const hub of service.hubs) hub.behave({ kind: 'answer' });
    expect((await readStream({ input: 'Hello' }, { headers: payment })).whole.status).toBe('completed');
  });
});
