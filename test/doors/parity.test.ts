import { beforeAll, describe, expect, it, vi } from 'vitest';
import { canonicalJson, isJsonObject, type Json, type JsonObject } from '../../schema/canonical-json.ts';
import { disputeDoorsOf } from '../harness/doors/disputes.ts';
import { inflowDoorsOf } from '../harness/doors/inflows.ts';
import { ask, CHAT, type Chat, openService, type Service } from '../harness/doors/open-service.ts';
import { refusing } from '../harness/doors/refusing.ts';

/*
 * What is signed is the same bytes, whichever face it is asked for by. A face is a column: how it asks for one object. A face
 * that does not offer an object leaves it out there.
 */

/** The rows that were made, by which objects are named. */
interface Made {
  readonly agent_id: number;
  readonly session: string;
  readonly task_id: string;
  readonly refusal_id: string;
  readonly inflow_task_id: string;
  readonly dispute_id: string;
  readonly slug: string;
}

/** Where a face has it: what is asked, and the way to the object in the answer. */
interface Asked<Q> {
  readonly asks: Q;
  readonly way?: readonly (string | number)[];
}
interface Columns {
  readonly rest: Asked<string>;
  readonly graphql: Asked<string>;
}
type Face = keyof Columns;

let service: Service;
let made: Made;

/** How each face is asked; what comes is text, or a JSON value. */
const faces: { readonly [F in Face]: (asks: string) => Promise<Json> } = {
  async rest(path) {
    const answer = await fetch(service.url + path, { headers: { 'X-SVC-Session': made.session } });
    const text = await answer.text();
    expect(answer.status, text).toBe(200);
    return answer.headers.get('content-type')?.startsWith('application/json') ? (JSON.parse(text) as Json) : text;
  },
  async graphql(query) {
    const { body } = await service.post('/graphql', { query: `{ it: ${query} }` }, { 'X-SVC-Session': made.session });
    expect(body.errors).toBeUndefined();
    return (body.data as JsonObject).it ?? null;
  },
};

function along(found: Json, way: readonly (string | number)[]): Json {
  return way.reduce<Json>((at, step) => {
    const next = Array.isArray(at) ? at[Number(step)] : isJsonObject(at) ? at[step] : undefined;
    if (next === undefined) throw new Error(`nothing at ${step} of ${JSON.stringify(at).slice(0, 200)}`);
    return next;
  }, found);
}

const everything = (row: Made): Readonly<Record<string, Columns>> => {
  const { agent_id, task_id, refusal_id, inflow_task_id, dispute_id, slug } = row;
  const book = `/v1/agents/${agent_id}/book`;
  const receipt = `receipt(taskId: "${task_id}")`;
  const refusal = `refusal(refusalId: "${refusal_id}")`;
  const inflow = { way: ['entries', 0] } as const;
  return {
    receipt: {
      rest: { asks: `/receipt/${task_id}.json` },
      graphql: { asks: `${receipt} { document }`, way: ['document'] },
    },
    'preimage of a receipt': {
      rest: { asks: `/receipt/${task_id}/preimage` },
      graphql: { asks: `${receipt} { preimage }`, way: ['preimage'] },
    },
    'credential of a receipt': {
      rest: { asks: `/receipt/${task_id}?format=vc` },
      graphql: { asks: `${receipt} { verifiableCredential }`, way: ['verifiableCredential'] },
    },
    refusal: {
      rest: { asks: `/refusal/${refusal_id}.json` },
      graphql: { asks: `${refusal} { document }`, way: ['document'] },
    },
    'claim of an inflow': {
      rest: { asks: `${book}?task_id=${inflow_task_id}`, way: [...inflow.way, 'inflow_claim'] },
      graphql: {
        asks: `book(agentId: ${agent_id}, filter: {taskId: "${inflow_task_id}"}) { entries { inflowClaim } }`,
        way: [...inflow.way, 'inflowClaim'],
      },
    },
    'verdict of a dispute': {
      rest: { asks: `${book}/dispute/${dispute_id}`, way: ['verdict'] },
      graphql: { asks: `dispute(agentId: ${agent_id}, disputeId: "${dispute_id}") { verdict }`, way: ['verdict'] },
    },
    'published export': {
      rest: { asks: `/public/export/${slug}` },
      graphql: { asks: `pullExport(slug: "${slug}") { signed }`, way: ['signed'] },
    },
    'statement of totals': { rest: { asks: '/log/totals' }, graphql: { asks: 'logTotals' } },
    'total of a book': {
      rest: { asks: `${book}/total?task_id=${task_id}` },
      graphql: { asks: `bookTotal(agentId: ${agent_id}, taskId: "${task_id}")` },
    },
    'proof of a payment': {
      rest: { asks: `/log/payment-proof/${task_id}` },
      graphql: { asks: `paymentProof(taskId: "${task_id}")` },
    },
    'checkpoint of the log': { rest: { asks: '/log/checkpoint' }, graphql: { asks: 'logCheckpoint' } },
    'proof of a leaf': {
      rest: { asks: `/log/proof/${task_id}` },
      graphql: { asks: `logProof(taskId: "${task_id}")` },
    },
    'history of issuer keys': {
      rest: { asks: '/.well-known/issuer-history.json' },
      graphql: { asks: 'issuerHistory' },
    },
    'history of policies': {
      rest: { asks: '/.well-known/receipt-policy-history.json' },
      graphql: { asks: 'receiptPolicyHistory' },
    },
  };
};

const { file, bought } = disputeDoorsOf(() => service);
const { record } = inflowDoorsOf(() => service);

beforeAll(async () => {
  service = await openService();
  const agent = await service.newAgent();
  const { agent_id, session } = agent;
  const { task_id } = await bought(agent, ask('Parity'));
  const inflow = await record(agent, { allocation: '2000' });
  const filed = await file(agent, { task_id, claim_type: 'output_missing' });
  const published = await service.post<{ slug: string }>(`/v1/agents/${agent_id}/book/export/publish`, { session });
  const refused = refusing(service);
  const { heard } = await refused.refused(await refused.killed());
  made = {
    ...{ agent_id, session, task_id },
    refusal_id: heard.body.refusal_id ?? '',
    inflow_task_id: inflow.body.task_id ?? '',
    dispute_id: filed.body.dispute_id,
    slug: published.body.slug,
  };
  // Until the newest leaf is behind the newest statement of totals: nothing moves any more.
  const [log] = await service.query<{ tree_size: string }>('select tree_size from log_head');
  const stated = async () => expect((await service.get('/log/totals')).body?.tree_size).toBe(Number(log?.tree_size));
  await vi.waitFor(stated, { timeout: 20_000, interval: 200 });
});

const nobody: Made = {
  agent_id: 0,
  session: '',
  task_id: '',
  refusal_id: '',
  inflow_task_id: '',
  dispute_id: '',
  slug: '',
};

describe.each(Object.keys(everything(nobody)))('%s', name => {
  it('is the same by each face that offers it', async () => {
    const columns = everything(made)[name] as Columns;
    const found = await Promise.all(
      (Object.keys(faces) as Face[]).map(async face => {
        const { asks, way = [] } = columns[face];
        const it = along(await faces[face](asks), way);
        return [face, typeof it === 'string' ? it : canonicalJson(it)] as const;
      }),
    );
    const [[, first = ''] = []] = found;
    expect(first.length).toBeGreaterThan(50);
    expect(Object.fromEntries(found)).toEqual(Object.fromEntries(found.map(([face]) => [face, first])));
  });
});

describe('a paid call', () => {
  const SIGNED = [
    'task_id',
    'payload_hash',
    'signature',
    'co_signature',
    'issuer_signature',
    'tree_head_hash',
  ] as const;
  const signedIn = (svc: JsonObject) => Object.fromEntries(SIGNED.map(name => [name, svc[name]]));

  it('that was paid for by one face is answered again by the other with the receipt that was signed, and charged once', async () => {
    const payer = await service.chain.newWallet();
    const payment = await service.payment(payer, CHAT);
    const request = ask('By either face');
    const { body: first } = await service.post<Chat>(CHAT, request, payment);
    const query = 'mutation ($input: ChatCompletionInput!) { it: createChatCompletion(input: $input) { id svc } }';
    const { body } = await service.post<{ data: { it: Pick<Chat, 'id' | 'svc'> } }>(
      '/graphql',
      { query, variables: { input: request } },
      payment,
    );
    const { it: again } = body.data;
    expect(again.id).toBe(first.id);
    for (const name of SIGNED) expect(first.svc[name], name).toBeDefined();
    expect(canonicalJson(signedIn(again.svc) as JsonObject)).toBe(canonicalJson(signedIn(first.svc) as JsonObject));
    expect(await service.transfersFrom(payer)).toHaveLength(1);
  });
});
