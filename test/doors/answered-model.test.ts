import { parse } from 'csv-parse/sync';
import { parquetReadObjects } from 'hyparquet';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Json, JsonObject } from '../../schema/canonical-json.ts';
import { verifyDispute } from '../../subgraphs/receipt/verify/dispute.ts';
import { verifyReceipt } from '../../subgraphs/receipt/verify/receipt.ts';
import { payingFetch } from '../harness/buyer.ts';
import { disputeDoorsOf, requestOfChat } from '../harness/doors/disputes.ts';
import { listen } from '../harness/doors/listen.ts';
import { ask, CHAT, openService, type ReceiptBody, type Service } from '../harness/doors/open-service.ts';
import { policyDoorsOf } from '../harness/doors/policies.ts';
import { openSocket } from '../harness/doors/socket.ts';
import { startTestHub } from '../harness/hub.ts';

/* The model that a hub names in its answer: which part of it is signed and shown, and how a dispute of the model ends. */

const DATED = 'dev/answers-dated';
const OTHER = 'dev/answers-other';
const UNKNOWN = 'dev/answers-unknown';
/** Value of `model` in a hub's answer, for the models whose answers this test makes itself. */
const namesByModel: Record<string, Json> = {
  'north/aliased': 'internal-7',
  'north/silent': null,
  'north/leaks': 'at key-of-north',
};

let service: Service;
let agent: Awaited<ReturnType<Service['newAgent']>>;
let jwks: JsonObject;
beforeAll(async () => {
  const development = await startTestHub({ name: 'alpha', models: [DATED, OTHER, UNKNOWN, 'dev/small'] });
  const north = await startTestHub({ name: 'north', models: Object.keys(namesByModel) });
  north.behave(({ body }) => {
    const { model, stream } = body as { readonly model: string; readonly stream?: boolean };
    const named = namesByModel[model] ?? null;
    const head = { id: 'x', created: 1, ...(named === null ? {} : { model: named }) };
    if (stream) {
      // The first chunk does not name the model, as in the streams of some gateways.
      const first = { id: 'x', created: 1, choices: [{ index: 0, delta: { role: 'assistant', content: 'Hi' } }] };
      return {
        kind: 'events',
        events: [first, { ...head, choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }],
      };
    }
    const message = { role: 'assistant', content: 'Hi' };
    return { kind: 'status', status: 200, body: { ...head, choices: [{ index: 0, message, finish_reason: 'stop' }] } };
  });
  const aliases = { 'north/aliased': ['internal-7'] };
  service = await openService({ HUBS: JSON.stringify([development.config, { ...north.config, aliases }]) });
  agent = await service.newAgent();
  jwks = (await service.get<JsonObject>('/.well-known/jwks.json')).body;
});

const { file, bought } = disputeDoorsOf(() => service);

async function streamed(
  body: JsonObject,
): Promise<{ readonly svc: ReceiptBody; readonly task_id: string; readonly salt: string }> {
  const headers = { ...(await service.payment(agent.account, CHAT)), 'X-SVC-Session': agent.session };
  const heard = await listen(service, { ...body, stream: true }, { headers });
  const { svc } = await heard.rest();
  if (svc === undefined) throw new Error('the stream ended without a receipt');
  return { svc, task_id: svc.task_id, salt: heard.headers.get('x-svc-request-salt') ?? '' };
}

const ways = [
  ['whole', (body: JsonObject) => bought(agent, body)],
  ['streamed', streamed],
] as const;

const rowOf = async (task_id: string) => {
  const { body } = await service.get<{ entries: readonly (JsonObject & { route?: JsonObject })[] }>(
    `/v1/agents/${agent.agent_id}/book`,
    { 'X-SVC-Session': agent.session },
  );
  return body.entries.find(row => row.task_id === task_id);
};

describe.each(ways)('POST /v1/chat/completions, %s', (_, buy) => {
  it.each([
    [DATED, 'dev/answers-dated-2024-08-06', undefined],
    [OTHER, 'dev/small', 'dev/small'],
    [UNKNOWN, 'tiny-model-2024', undefined],
    ['dev/small', 'dev/small', undefined],
    ['north/aliased', 'internal-7', 'north/aliased'],
  ])('%s answers as %s: in svc, signed, and on the row', async (model, answered_model, answered_catalogue_model) => {
    const { svc, task_id } = await buy(ask('Which', { model }));
    expect(svc).toMatchObject({ model, answered_model, payload: { model, answered_model } });
    expect([svc.answered_catalogue_model, (svc.payload as JsonObject).answered_catalogue_model]).toEqual(
      Array(2).fill(answered_catalogue_model),
    );
    expect(svc.payload).toMatchObject({ receipt_policy: { version: 9 } });
    expect(verifyReceipt(svc, jwks)).toMatchObject({ kind: 'valid' });
    expect(verifyReceipt({ ...svc, answered_model: 'another' }, jwks)).toMatchObject({ kind: 'invalid' });
    expect(await rowOf(task_id)).toMatchObject({ route: { model, answered_model } });
    expect((await service.get<ReceiptBody>(`/receipt/${task_id}`)).body).toMatchObject({ answered_model });
  });

  it.each(['north/silent', 'north/leaks'])('%s: none, where the hub names none that may be shown', async model => {
    const { svc, task_id } = await buy(ask('Which', { model }));
    expect(svc.payload).not.toHaveProperty('answered_model');
    expect(svc).not.toHaveProperty('answered_model');
    expect((await rowOf(task_id))?.route?.answered_model ?? null).toBeNull();
    expect(JSON.stringify([svc, await rowOf(task_id)])).not.toContain('key-of-north');
  });

  it.each<[string, string, string | undefined, string]>([
    ['dev/small', 'stand', 'dev/small', 'model_as_requested'],
    [DATED, 'stand', 'dev/answers-dated-2024-08-06', 'answered_as_requested'],
    ['north/aliased', 'stand', 'internal-7', 'answered_as_requested'],
    ['north/silent', 'stand', undefined, 'model_as_requested'],
    [OTHER, 'refund', 'dev/small', 'another_model_of_hub'],
    [UNKNOWN, 'open', 'tiny-model-2024', 'model_unclear'],
  ])('a claim of a wrong model: %s is %s, as %s answered', async (model, outcome, answered, reason) => {
    const { task_id } = await buy(ask('Disputed', { model }));
    const claim = { task_id, claim_type: 'wrong_model', evidence: { requested_model: model } };
    const { body, status } = await file(agent, claim);
    expect([status, body.outcome ?? 'open', body.reason]).toEqual([201, outcome, reason]);
    expect(body.verdict).toMatchObject({ rule_version: 4, reason });
    expect(body.verdict.facts).toContainEqual({
      name: 'disputed.answered_model',
      value: answered ?? null,
      from: 'receipt_payload',
    });
    const verified = verifyDispute(body.verdict, jwks);
    expect(verified, JSON.stringify(verified)).toMatchObject({ kind: 'valid' });
  });
});

describe('a claim of a wrong model', () => {
  it('of svc/auto is judged by the model that was chosen and named', async () => {
    // svc/auto prefers hubs that have answered fast, so the policy allows only one model.
    const choosy = await service.newAgent();
    await policyDoorsOf(service).set(choosy, 'model_allowlist', [DATED]);
    const body = ask('Any');
    const { svc, task_id, salt } = await bought(choosy, body);
    expect(svc).toMatchObject({ model: DATED, answered_model: 'dev/answers-dated-2024-08-06' });
    const evidence = { request: requestOfChat(body), salt };
    const filed = await file(choosy, { task_id, claim_type: 'wrong_model', evidence });
    expect(filed.body).toMatchObject({ outcome: 'stand', reason: 'answered_as_requested' });
  });
});

describe('other faces', () => {
  it('POST /graphql: the receipt and the row of a chat', async () => {
    const query = `mutation ($input: ChatCompletionInput!) { createChatCompletion(input: $input) { svc receipt { taskId
      payload { answeredModel answeredCatalogueModel fulfillment { outputCommitment { covers } } } row { route { model answeredModel } } } } }`;
    const variables = { input: ask('By graph', { model: OTHER }) };
    const { body } = await service.knock<{ data: { createChatCompletion: JsonObject } }>('POST', '/graphql', {
      body: { query, variables },
      headers: { 'X-SVC-Session': agent.session },
      by: payingFetch(agent.account),
    });
    expect(body.data.createChatCompletion).toMatchObject({
      svc: { answered_model: 'dev/small' },
      receipt: {
        payload: {
          answeredModel: 'dev/small',
          answeredCatalogueModel: 'dev/small',
          fulfillment: { outputCommitment: { covers: ['choices'] } },
        },
        row: { route: { model: OTHER, answeredModel: 'dev/small' } },
      },
    });
  });

  it.each([
    [DATED, 'stand', 'answered_as_requested'],
    [OTHER, 'refund', 'another_model_of_hub'],
    [UNKNOWN, null, 'model_unclear'],
  ])('POST /graphql: a claim that %s was not answered as requested is %s by %s', async (model, outcome, reason) => {
    const { task_id } = await bought(agent, ask('Disputed by graph', { model }));
    const query = `mutation ($agentId: Int!, $input: DisputeInput!) {
      fileDispute(agentId: $agentId, input: $input) { dispute { outcome reason verdict } } }`;
    const input = { taskId: task_id, claimType: 'wrong_model', evidence: { requested_model: model } };
    const { body } = await service.knock<{ data: { fileDispute: { dispute: JsonObject } } }>('POST', '/graphql', {
      body: { query, variables: { agentId: agent.agent_id, input } },
      headers: { 'X-SVC-Session': agent.session },
    });
    const { verdict, ...found } = body.data.fileDispute.dispute;
    expect(found).toEqual({ outcome, reason });
    const document = (typeof verdict === 'string' ? JSON.parse(verdict) : verdict) as JsonObject;
    expect(verifyDispute(document, jwks)).toMatchObject({ kind: 'valid' });
  });

  it('a socket: a stream ends with the receipt that names it, and a live reader of the book gets it with the row', async () => {
    const input = `input: { model: "${OTHER}", messages: [{ role: "user", content: "By socket" }] }`;
    const socket = openSocket(service, { session: agent.session, api_key: 'a-live-key' });
    const followed = `subscription { bookRows(agentId: ${agent.agent_id}) { row { taskId seq route { model answeredModel } } } }`;
    const next = socket.first(followed);
    const heard = await socket.all(`subscription { chatCompletionStream(${input}) { svc } }`);
    const last = heard.at(-1)?.data as { readonly chatCompletionStream: { readonly svc: JsonObject } } | undefined;
    expect(last?.chatCompletionStream.svc).toMatchObject({ model: OTHER, answered_model: 'dev/small' });
    expect(await next).toMatchObject({
      data: { bookRows: { row: { route: { model: OTHER, answeredModel: 'dev/small' } } } },
    });
  });

  it('x-svc-answered-model of a whole answer', async () => {
    const { headers } = await service.buy(agent.account, ask('Headers', { model: DATED }));
    expect(headers.get('x-svc-answered-model')).toBe('dev/answers-dated-2024-08-06');
    const silent = await service.buy(agent.account, ask('Headers', { model: 'north/silent' }));
    expect(silent.headers.get('x-svc-answered-model')).toBeNull();
  });

  it('exports: as the last column of CSV and Parquet, in JSON, and in the memo of a journal where it is another one', async () => {
    const { task_id } = await bought(agent, ask('Exported', { model: DATED }));
    const path = (door: string) => `/v1/agents/${agent.agent_id}/book/export${door}`;
    const taken = async (door: string) =>
      Buffer.from(
        await (await fetch(service.url + path(door), { headers: { 'X-SVC-Session': agent.session } })).arrayBuffer(),
      );
    const answered_model = 'dev/answers-dated-2024-08-06';
    for (const door of ['?format=csv', '/stream?format=csv']) {
      const [names = [], ...rows] = parse((await taken(door)).toString()) as string[][];
      expect(names.at(-1)).toBe('answered_model');
      expect(rows.find(row => row.includes(task_id))?.at(-1)).toBe(answered_model);
    }
    const lines = (await taken('/stream?format=ndjson')).toString().trimEnd().split('\n');
    expect(lines.map(line => JSON.parse(line)).find(row => row.task_id === task_id)).toMatchObject({ answered_model });
    const parquet = await taken('/stream?format=parquet');
    const bytes = parquet.buffer.slice(parquet.byteOffset, parquet.byteOffset + parquet.length) as ArrayBuffer;
    const found = (await parquetReadObjects({ file: bytes })).find(row => row.task_id === task_id);
    expect(found).toMatchObject({ answered_model });
    const journal = (await taken('/journal?format=csv')).toString();
    expect(journal).toContain(`${DATED} at alpha, hub named ${answered_model}`);
    expect(journal).not.toContain('hub named dev/answers-dated,');
    const pack = await service.get<{ rows: readonly JsonObject[] }>(path('?format=json'), {
      'X-SVC-Session': agent.session,
    });
    expect(pack.body.rows.find(row => row.task_id === task_id)).toMatchObject({ answered_model });
    expect((await taken('?format=html')).toString()).toContain(`hub named ${answered_model}`);
  });
});
