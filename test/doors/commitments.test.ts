import { beforeAll, describe, expect, it } from 'vitest';
import { canonicalHash, isJsonObject, type Json, type JsonObject } from '../../schema/canonical-json.ts';
import { payingFetch } from '../harness/buyer.ts';
import { audioForm } from '../harness/doors/audio-form.ts';
import { askToStream, listen } from '../harness/doors/listen.ts';
import { ask, CHAT, openService, type ReceiptBody, type Service } from '../harness/doors/open-service.ts';
import { taskOf } from '../harness/doors/tasks.ts';

let service: Service;
let doors: Readonly<Record<string, { readonly of: string | null }>>;
beforeAll(async () => {
  service = await openService({}, { media: true });
  const { body } = await service.get<{ policies: { policy: { commitments?: { doors: typeof doors } } }[] }>(
    '/.well-known/receipt-policy-history.json',
  );
  doors = body.policies.at(-1)?.policy.commitments?.doors ?? {};
});

/** The receipt and the bytes of the answer. The hash is computed again from nothing else. */
interface Bought {
  readonly svc: ReceiptBody;
  readonly raw: string;
}

async function buy(path: string, body: unknown): Promise<Bought> {
  const heard = await service.knock('POST', path, { body, by: payingFetch(await service.chain.newWallet()) });
  expect(heard.status).toBe(200);
  const task_id = heard.headers.get('x-svc-task-id');
  return { raw: heard.text, svc: (await service.get<ReceiptBody>(`/receipt/${task_id}`)).body };
}

/** The part that the policy names: one member, or all but the receipt. */
function committedPart(raw: string, of: string | null | undefined): Json {
  const { svc: _, ...answer } = JSON.parse(raw) as JsonObject;
  return of === 'all but svc' ? answer : (answer[of ?? ''] ?? null);
}

const commitment = (svc: JsonObject) =>
  (svc.payload as { fulfillment: { output_commitment: JsonObject } }).fulfillment.output_commitment;
/** The `covers` member by the policy's rule: members of an object, or the name of a list. */
const covered = (value: Json, of: string) => (isJsonObject(value) ? Object.keys(value).sort() : [of]);
const committed = (value: Json, of = 'choices') => ({
  covers: covered(value, of),
  status: 'committed',
  hash: canonicalHash(value),
  kind: 'sha256',
  omission_rule: null,
  by: 'service',
});
const without = (omission_rule: string) => ({ status: 'UNVERIFIED', hash: null, kind: null, omission_rule });

describe('the receipt commits, by the words of the policy that it signs,', () => {
  it.each([
    ['POST /v1/chat/completions', ask('Hello')],
    ['POST /a2a-message', ask('Hello')],
    ['POST /v1/responses', { input: 'Hello' }],
    ['POST /v1/messages', { max_tokens: 64, messages: [{ role: 'user', content: 'Hello' }] }],
    ['POST /task-quote', { payment: { rail: 'tfuel' } }],
    ['POST /task-quote', {}],
    ['POST /v1/images/generations', { prompt: 'A lighthouse', response_format: 'b64_json' }],
    ['POST /v1/images/generations', { prompt: 'A lighthouse', response_format: 'url' }],
    ['POST /v1/embeddings', { input: ['One', 'Two'] }],
    ['POST /v1/embeddings', { input: 'One', encoding_format: 'base64' }],
    ['POST /v1/audio/transcriptions', audioForm({ response_format: 'json' })],
    ['POST /v1/audio/transcriptions', audioForm({ response_format: 'verbose_json' })],
  ])('%s %j: to what stands in the answer, as it stands there', async (door, body) => {
    const { svc, raw } = await buy(door.replace('POST ', ''), body);
    const said = committedPart(raw, doors[door]?.of);
    expect(said).toSatisfy(value => typeof value === 'object' && value !== null);
    expect(commitment(svc)).toEqual(committed(said, doors[door]?.of ?? ''));
  });

  it('POST /v1/images/generations where the hub says no more than it has to: to just that', async () => {
    service.hubs[0].behave({ kind: 'status', status: 200, body: { data: [{ b64_json: 'QUJD' }] } });
    const { svc } = await buy('/v1/images/generations', { prompt: 'A lighthouse' });
    service.hubs[0].behave({ kind: 'answer' });
    expect(commitment(svc)).toEqual(committed([{ b64_json: 'QUJD' }], 'data'));
  });

  it('POST /v1/audio/transcriptions as text: to the whole body', async () => {
    const { svc, raw } = await buy('/v1/audio/transcriptions', audioForm({ response_format: 'text' }));
    expect(commitment(svc)).toEqual(committed({ text: raw }));
  });

  it.each([
    ['whole', {}],
    ['streamed', { stream: true }],
  ])(`POST ${CHAT} that calls a tool, %s: to its message, and covers its members by name`, async (_, members) => {
    const tools = [{ type: 'function', function: { name: 'look_up', parameters: { type: 'object' } } }];
    const by = payingFetch(await service.chain.newWallet());
    const heard = await listen(service, ask('Look it up', { tools, ...members }), { by });
    const task_id = heard.headers.get('x-svc-task-id');
    await heard.rest().catch(() => null);
    const receipt = async () => (await service.get<ReceiptBody>(`/receipt/${task_id}`)).body;
    await expect.poll(async () => (await receipt()).task_id).toBe(task_id);
    expect(commitment(await receipt())).toMatchObject({ covers: ['content', 'role', 'tool_calls'] });
  });

  it(`POST ${CHAT} streamed: to the choices that its chunks add up to`, async () => {
    const stream = await listen(service, askToStream('Hello'), { by: payingFetch(await service.chain.newWallet()) });
    const { chunks, text: content, svc } = await stream.rest();
    const finish_reason = chunks.findLast(({ choices }) => choices.length > 0)?.choices[0]?.finish_reason ?? null;
    expect(finish_reason).not.toBeNull();
    expect(commitment(svc ?? {})).toEqual(
      committed([{ index: 0, message: { role: 'assistant', content }, finish_reason }]),
    );
  });

  it('POST /task-request: to nothing, as there is no input', async () => {
    const payer = await service.chain.newWallet();
    const { body } = await service.knock<{ svc: ReceiptBody }>('POST', '/task-request', {
      body: taskOf(payer, 'input'),
      by: payingFetch(payer),
    });
    expect(doors['POST /task-request']?.of).toBeNull();
    expect(commitment(body.svc)).toEqual(without('no_input'));
  });

  it('POST /v1/agents/register: to nothing, as its answer holds a secret', async () => {
    const { task_id } = await service.newAgent();
    expect(doors['POST /v1/agents/register']?.of).toBeNull();
    expect(commitment((await service.get<ReceiptBody>(`/receipt/${task_id}`)).body)).toEqual(without('no_output'));
  });
});
