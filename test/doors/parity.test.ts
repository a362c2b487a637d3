import { beforeAll, describe, expect, it } from 'vitest';
import { canonicalJson, isJsonObject, type Json, type JsonObject } from '../../schema/canonical-json.ts';
import { SCITT_STATEMENT } from '../../schema/cose.ts';
import { rawMessage, rpc } from '../harness/a2a/agent.ts';
import { onGraph } from '../harness/doors/on-graph.ts';
import { ask, CHAT, type Service, sharedService } from '../harness/doors/open-service.ts';
import { policyDoorsOf } from '../harness/doors/policies.ts';
import { paidBy, sendMessage, toolCall } from '../harness/mcp-message.ts';
import { untilHolds } from '../harness/until-holds.ts';

/*
 * A receipt has the same bytes in each of its forms through every face, and so has the answer to a paid call. Each column says how a face
 * requests one object; a face that does not offer it has no column. Other endpoints are compared in parity-of-doors.test.ts.
 */

/** The session and the task that the requests name. */
interface ParityRows {
  readonly session: string;
  readonly task_id: string;
}

/** A request by one face, and the path of the object in its answer. */
interface ParityCase<Q> {
  readonly asks: Q;
  readonly way?: readonly (string | number)[];
  /** Members that depend on the time of the request. */
  readonly but?: readonly string[];
}
/** A tool and its arguments. */
type Tool = readonly [name: string, given?: JsonObject];
interface Asks {
  readonly rest: string;
  readonly graphql: string;
  readonly mcp: Tool;
  /** Id for GetTask. */
  readonly a2a: string;
}
type Face = keyof Asks;
type Columns = { readonly [F in Face]?: ParityCase<Asks[F]> };

let service: Service;
let made: ParityRows;

/** Sends the request of each face. Returns a text or a JSON value. */
const faces: { readonly [F in Face]: (asks: Asks[F]) => Promise<Json> } = {
  async rest(path) {
    const answer = await fetch(service.url + path, { headers: { 'X-SVC-Session': made.session } });
    const bytes = Buffer.from(await answer.arrayBuffer());
    expect(answer.status, bytes.toString()).toBe(200);
    const type = answer.headers.get('content-type') ?? '';
    // A document that is not text is base64 on the graph.
    if (type.startsWith(SCITT_STATEMENT)) return bytes.toString('base64');
    return type.startsWith('application/json') ? (JSON.parse(bytes.toString()) as Json) : bytes.toString();
  },
  async graphql(query) {
    const { data, errors } = await onGraph(service, `{ it: ${query} }`, {}, made.session);
    expect(errors).toBeUndefined();
    return data?.it ?? null;
  },
  async mcp([name, given = {}]) {
    const { body, text } = await sendMessage(service.url, toolCall(name, given), { 'X-SVC-Session': made.session });
    expect(body?.result?.isError, text).toBeUndefined();
    return body?.result?.structuredContent ?? null;
  },
  async a2a(id) {
    const { body, text } = await rpc(service, 'GetTask', { id }, { 'X-SVC-Session': made.session });
    expect(body.error, text).toBeUndefined();
    return body.result;
  },
};

/** The object as a face shows it. Null if the face does not offer it. */
async function shownBy<F extends Face>(face: F, asked: ParityCase<Asks[F]> | undefined): Promise<string | null> {
  if (!asked) return null;
  const it = along(await faces[face](asked.asks), asked.way ?? []);
  return typeof it === 'string' ? it : canonicalJson(without(it, asked.but ?? []));
}

function without(it: Json, names: readonly string[]): Json {
  return isJsonObject(it) ? Object.fromEntries(Object.entries(it).filter(([name]) => !names.includes(name))) : it;
}

function along(found: Json, way: readonly (string | number)[]): Json {
  return way.reduce<Json>((at, step) => {
    const next = Array.isArray(at) ? at[Number(step)] : isJsonObject(at) ? at[step] : undefined;
    if (next === undefined) throw new Error(`nothing at ${step} of ${JSON.stringify(at).slice(0, 200)}`);
    return next;
  }, found);
}

const everything = ({ task_id }: ParityRows): Readonly<Record<string, Columns>> => {
  const receipt = `receipt(taskId: "${task_id}")`;
  return {
    receipt: {
      rest: { asks: `/receipt/${task_id}.json` },
      graphql: { asks: `${receipt} { document }`, way: ['document'] },
      mcp: { asks: ['get_receipt', { task_id }] },
      a2a: { asks: task_id, way: ['metadata', 'svc'] },
    },
    'credential of a receipt': {
      rest: { asks: `/receipt/${task_id}?format=vc` },
      graphql: { asks: `${receipt} { verifiableCredential }`, way: ['verifiableCredential'] },
      mcp: { asks: ['get_receipt', { task_id, format: 'vc' }], way: ['text'] },
    },
    'statement of a receipt': {
      rest: { asks: `/receipt/${task_id}?format=cose` },
      graphql: { asks: `${receipt} { transparentStatement }`, way: ['transparentStatement'] },
    },
    'audit of a receipt': {
      rest: { asks: `/receipt/${task_id}?format=auditor`, but: ['as_of'] },
      graphql: { asks: `${receipt} { auditorDocument }`, way: ['auditorDocument'], but: ['as_of'] },
    },
  };
};

const refusedBy = () => policyDoorsOf(service);

beforeAll(async () => {
  service = await sharedService();
  const { account, session } = await service.newAgent();
  const { task_id } = (await service.buy(account, ask('Parity'))).body.svc;
  made = { session, task_id };
  // Waits until the newest statement of totals includes the newest leaf, so that nothing changes after it.
  const [log] = await service.query<{ tree_size: string }>('select tree_size from log_head');
  const stated = async () => (await service.get('/log/totals')).body?.tree_size;
  await untilHolds(async () => expect(await stated()).toBe(Number(log?.tree_size)));
});

const nobody: ParityRows = { session: '', task_id: '' };

describe.each(Object.keys(everything(nobody)))('%s', name => {
  it('is the same by each face that offers it', async () => {
    const { rest, graphql, mcp, a2a } = everything(made)[name] as Columns;
    const shown = await Promise.all([
      shownBy('rest', rest),
      shownBy('graphql', graphql),
      shownBy('mcp', mcp),
      shownBy('a2a', a2a),
    ]);
    const [first = '', ...others] = shown.filter(it => it !== null);
    expect(first.length).toBeGreaterThan(50);
    expect(others.length).toBeGreaterThan(0);
    for (const other of others) expect(other).toBe(first);
  });
});

interface FaceAnswer {
  readonly body: Json;
  readonly headers: Headers;
}
type Call = (shown: Readonly<Record<string, string>>, request: JsonObject) => Promise<FaceAnswer>;

/** One request for a chat with one payment or key, by each face. The answer contains the signed document at some place. */
const calls: { readonly [F in Face]: Call } = {
  rest: (shown, request) => service.post<Json>(CHAT, request, shown),
  graphql(shown, request) {
    const query = 'mutation ($input: ChatCompletionInput!) { it: createChatCompletion(input: $input) { id svc } }';
    return service.post<Json>('/graphql', { query, variables: { input: request } }, shown);
  },
  async mcp({ 'PAYMENT-SIGNATURE': payment, ...shown }, request) {
    const { body, headers } = await sendMessage(
      service.url,
      toolCall('chat_completions', request, paidBy(payment)),
      shown,
    );
    return { body: body?.result?.structuredContent ?? {}, headers };
  },
  async a2a(shown, { messages }) {
    const [{ content }] = messages as [{ content: string }];
    const { body, headers } = await rpc(service, 'SendMessage', rawMessage(content), shown);
    return { body: body as unknown as Json, headers };
  },
};

/** The outermost object with that member, because each face wraps it differently. */
function havingIn(it: Json, member: string): JsonObject | null {
  if (Array.isArray(it)) return it.map(one => havingIn(one, member)).find(found => found !== null) ?? null;
  if (!isJsonObject(it)) return null;
  return member in it ? it : havingIn(Object.values(it), member);
}

/** The signed document and the headers in each face's answer to the same request with the same payment or key. */
async function byEachFace(
  shown: Readonly<Record<string, string>>,
  request: JsonObject,
  by: readonly Face[] = ['rest', 'graphql', 'mcp', 'a2a'],
) {
  const answers: { readonly face: Face; readonly signed: JsonObject; readonly headers: Headers }[] = [];
  // In sequence, because the first call buys and the others receive the same purchase again.
  for (const face of by) {
    const { body, headers } = await calls[face](shown, request);
    const signed = havingIn(body, 'issuer_signature');
    if (signed === null) throw new Error(`${face} shows nothing signed: ${JSON.stringify(body).slice(0, 300)}`);
    answers.push({ face, signed, headers });
  }
  return answers;
}

/** Expects that all have these members with the same values. */
function agreesOn(answers: Awaited<ReturnType<typeof byEachFace>>, members: readonly string[]): void {
  const [first] = answers;
  for (const { face, signed } of answers)
    for (const member of members) {
      expect(signed[member], `${face}: ${member}`).toBeDefined();
      expect(signed[member], `${face}: ${member}`).toEqual(first?.signed[member]);
    }
}

const headerOf = (answers: Awaited<ReturnType<typeof byEachFace>>, asked: Face, name: string) =>
  answers.find(({ face }) => face === asked)?.headers.get(name);

describe('a paid call', () => {
  const SIGNED = ['task_id', 'payload_hash', 'signature', 'co_signature', 'issuer_signature', 'tree_head_hash'];

  it('that was paid for by one face is answered again by each other with the receipt that was signed, and charged once', async () => {
    const payer = await service.chain.newWallet();
    const answers = await byEachFace(await service.payment(payer, CHAT), ask('By any face'));
    agreesOn(answers, SIGNED);
    expect(headerOf(answers, 'graphql', 'x-svc-settlement-status')).toBe('idempotent_replay');
    expect(await service.transfersFrom(payer)).toHaveLength(1);
  });

  it('by a key under an Idempotency-Key is answered again by each other face with the receipt that was signed', async () => {
    const keys = { 'X-API-Key': 'a-live-key', 'Idempotency-Key': `parity-${crypto.randomUUID()}` };
    const answers = await byEachFace(keys, ask('By any face under a key'));
    agreesOn(answers, SIGNED);
    expect(headerOf(answers, 'graphql', 'x-svc-settlement-status')).toBe('idempotent_replay');
  });

  it.each([
    ['demo_key', 'a-demo-key'],
    ['live_key', 'a-live-key'],
  ])('waived by a %s says so by each face, and names no payment', async (waived_by, key) => {
    for (const { face, signed } of await byEachFace({ 'X-API-Key': key }, ask('By a key')))
      expect(signed, face).toMatchObject({ waived_by, payment_ref: null });
  });

  const REFUSED = [
    'code',
    'refusal_id',
    'refusal_code',
    'refusal_url',
    'policy_code',
    'nonce',
    'base_anchor',
    'policy_blocked_seq',
    'issuer_signature',
    'charged',
  ];

  it.each([
    ['kill_switch', 'kill_switch', true, ask('Not by any face'), undefined],
    ['high_risk_approval_missing', 'risk_tiers', { high: ['chat_completions'], low: [] }, ask('Too risky'), undefined],
    // Not by A2A, because a message names no model.
    [
      'model_not_allowed',
      'model_allowlist',
      ['alpha-2'],
      ask('By beta', { model: 'beta-1' }),
      ['rest', 'graphql', 'mcp'],
    ],
  ] as const)(
    'that its book refuses by %s gets the one signed refusal by each face',
    async (policy_code, policy, value, request, by) => {
      const agent = await service.newAgent();
      await refusedBy().set(agent, policy, value as Json);
      const answers = await byEachFace(await service.payment(agent.account, CHAT), request, by);
      agreesOn(answers, REFUSED);
      expect(answers[0]?.signed).toMatchObject({ policy_code, charged: false });
      for (const face of ['rest', 'graphql'] as const)
        expect(headerOf(answers, face, 'x-svc-refusal-url')).toBe(answers[0]?.signed.refusal_url);
    },
  );
});
