import { beforeAll, describe, expect, it } from 'vitest';
import { canonicalHash, type Json, type JsonObject } from '../../schema/canonical-json.ts';
import { payingFetch } from '../harness/buyer.ts';
import { audioForm } from '../harness/doors/audio-form.ts';
import { askToStream, listen } from '../harness/doors/listen.ts';
import { ask, CHAT, openService, type Service, type Svc } from '../harness/doors/open-service.ts';
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

type Answer = JsonObject & { readonly svc: Svc };

async function buy(path: string, body: unknown): Promise<Answer & { readonly text: string }> {
  const heard = await service.knock<Answer>('POST', path, { body, by: payingFetch(await service.chain.newWallet()) });
  expect(heard.status).toBe(200);
  if (typeof heard.body === 'object') return { ...heard.body, text: (heard.body.text as string) ?? '' };
  const task_id = heard.headers.get('x-svc-task-id');
  return { text: heard.text, svc: (await service.get<Svc>(`/receipt/${task_id}`)).body };
}

const commitment = (svc: JsonObject) =>
  (svc.payload as { fulfillment: { output_commitment: JsonObject } }).fulfillment.output_commitment;
const committed = (value: Json) => ({
  status: 'committed',
  hash: canonicalHash(value),
  kind: 'sha256',
  omission_rule: null,
});
const without = (omission_rule: string) => ({ status: 'UNVERIFIED', hash: null, kind: null, omission_rule });

describe('the receipt commits, by the words of the policy that it signs,', () => {
  it.each([
    ['POST /v1/chat/completions', ask('Hello')],
    ['POST /a2a-message', ask('Hello')],
    ['POST /v1/responses', { input: 'Hello' }],
    ['POST /task-quote', { payment: { rail: 'tfuel' } }],
  ])('%s: to one member of the answer as it stands there', async (door, body) => {
    const answer = await buy(door.replace('POST ', ''), body);
    expect(commitment(answer.svc)).toEqual(committed(answer[doors[door]?.of ?? ''] ?? null));
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

  it.each(['b64_json', 'url'])('POST /v1/images/generations as %s: to each item, completed', async response_format => {
    const { svc, data } = await buy('/v1/images/generations', { prompt: 'A lighthouse', response_format });
    const completed = (data as JsonObject[]).map(({ b64_json = null, url = null, revised_prompt = null }) => ({
      b64_json,
      url,
      revised_prompt,
    }));
    expect(commitment(svc)).toEqual(committed(completed));
  });

  it.each(['json', 'text', 'verbose_json'])('POST /v1/audio/transcriptions as %s: to four members', async format => {
    const answer = await buy('/v1/audio/transcriptions', audioForm({ response_format: format }));
    const { text, language = null, duration = null, segments = null } = answer;
    expect(segments === null).toBe(format !== 'verbose_json');
    expect(commitment(answer.svc)).toEqual(committed({ text, language, duration, segments }));
  });

  it('POST /task-request: to nothing, as there is no input', async () => {
    const payer = await service.chain.newWallet();
    const { body } = await service.knock<Answer>('POST', '/task-request', {
      body: taskOf(payer, 'input'),
      by: payingFetch(payer),
    });
    expect(doors['POST /task-request']?.of).toBeNull();
    expect(commitment(body.svc)).toEqual(without('no_input'));
  });

  it('POST /v1/agents/register: to nothing, as its answer holds a secret', async () => {
    const { task_id } = await service.newAgent();
    expect(doors['POST /v1/agents/register']?.of).toBeNull();
    expect(commitment((await service.get<Svc>(`/receipt/${task_id}`)).body)).toEqual(without('no_output'));
  });
});
