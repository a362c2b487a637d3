import { beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../schema/canonical-json.ts';
import { onGraph } from '../harness/doors/on-graph.ts';
import { ask, CHAT, type Chat, type Service, sharedService } from '../harness/doors/open-service.ts';
import { policyDoorsOf } from '../harness/doors/policies.ts';

type Agent = Awaited<ReturnType<Service['newAgent']>>;
interface Answer {
  readonly data: Record<string, never> | null;
  readonly errors?: readonly { readonly path?: readonly string[]; readonly extensions: JsonObject }[];
}

let service: Service;
/** An agent with the stamp on its book, a chat with an intent that was sent twice, one by API key, and one that the book refused. */
let agent: Agent;
let paid: Chat;
let by_key: Chat;
beforeAll(async () => {
  service = await sharedService();
  agent = await service.newAgent();
  const payment = await service.payment(agent.account, CHAT);
  const body = ask('Twice', { intent_id: 'bill', attempt_index: 3 });
  paid = (await service.post<Chat>(CHAT, body, payment)).body;
  await service.post<Chat>(CHAT, body, payment);
  const key = { 'X-API-Key': 'a-live-key', 'X-SVC-Session': agent.session };
  by_key = (await service.post<Chat>(CHAT, ask('By key'), key)).body;
  const shop = policyDoorsOf(service);
  await shop.set(agent, 'kill_switch', true);
  await shop.chatToRefusal(agent, ask('Refused', { intent_id: 'bill', attempt_index: 4 }));
  await shop.set(agent, 'kill_switch', null);
});

const graph = async (query: string, variables: JsonObject = {}, headers: Record<string, string> | null = null) =>
  (await onGraph(service, query, variables, headers ?? agent.session)).body as Answer;

describe('a book by GraphQL', () => {
  it('gives rows, intents and sums the shapes of the specification', async () => {
    const { data, errors } = await graph(
      `query ($agentId: Int!) { book(agentId: $agentId) {
        window intents { intentId collectedCount blockedCount attempts { taskId attemptIndex evidence collected } }
        totals { count usdcSum byRail { rail count amount } }
        entries { taskId evidence settledBy policyCode replayEvents { settlementStatus replayOf count firstAt }
          fulfillment { jobKind intentId attemptIndex outputCommitment { status kind } authorization { paymentRef } } } } }`,
      { agentId: agent.agent_id },
    );
    expect(errors).toBeUndefined();
    const refused = { attemptIndex: 4, evidence: 'policy_blocked', collected: false };
    expect(data?.book).toMatchObject({
      window: 'prepaid_ceiling',
      intents: [
        {
          intentId: 'bill',
          collectedCount: 1,
          blockedCount: 1,
          attempts: [{ taskId: paid.svc.task_id, attemptIndex: 3, evidence: 'collected', collected: true }, refused],
        },
      ],
      totals: { count: 2, usdcSum: '4000', byRail: [{ rail: 'usdc', count: 2, amount: '4000' }] },
      entries: [
        { evidence: 'policy_blocked', settledBy: null, policyCode: 'kill_switch', fulfillment: null },
        { evidence: 'UNVERIFIED', settledBy: null },
        {
          settledBy: 'observed_transfer',
          replayEvents: [
            { settlementStatus: 'idempotent_replay', replayOf: paid.svc.task_id, count: null, firstAt: null },
          ],
          fulfillment: {
            jobKind: 'completions',
            intentId: 'bill',
            attemptIndex: 3,
            outputCommitment: { status: 'committed', kind: 'sha256' },
            authorization: null,
          },
        },
        { taskId: agent.task_id },
      ],
    });
  });

  it('joins a receipt to each row that has one, paid or by key, and none to a refusal', async () => {
    const { data } = await graph(
      'query ($agentId: Int!) { book(agentId: $agentId) { entries { receipt { taskId payloadHash proofOutcome } } } }',
      { agentId: agent.agent_id },
    );
    expect(data?.book).toMatchObject({
      entries: [
        { receipt: null },
        { receipt: { taskId: by_key.svc.task_id, payloadHash: by_key.svc.payload_hash, proofOutcome: 'none' } },
        { receipt: { taskId: paid.svc.task_id, payloadHash: paid.svc.payload_hash, proofOutcome: 'settled' } },
        { receipt: { taskId: agent.task_id } },
      ],
    });
  });

  it('that is refused is null, and voids nothing else of the answer', async () => {
    const { data, errors } = await graph(
      `query ($mine: Int!, $other: Int!) { mine: book(agentId: $mine) { agentId } other: book(agentId: $other) { agentId }
        policy: bookPolicy(agentId: $other) { killSwitch } jwks }`,
      { mine: agent.agent_id, other: agent.agent_id + 1 },
    );
    expect(data).toMatchObject({
      mine: { agentId: agent.agent_id },
      other: null,
      policy: null,
      jwks: { keys: expect.any(Array) },
    });
    expect(errors?.map(({ path, extensions }) => [path, extensions.code]).sort()).toEqual([
      [['other'], 'forbidden'],
      [['policy'], 'forbidden'],
    ]);
  });
});

describe('setBudget', () => {
  const BUDGET =
    'mutation ($agentId: Int!, $budget: AtomicAmount) { setBudget(agentId: $agentId, budgetAtomic: $budget) { cap remaining } }';
  const capOf = async () => {
    const { data } = await graph('query ($agentId: Int!) { book(agentId: $agentId) { cap } }', {
      agentId: agent.agent_id,
    });
    return data?.book;
  };

  it('refuses a budget that is left out, by text or by variable, and leaves the ceiling', async () => {
    const agentId = agent.agent_id;
    expect((await graph(BUDGET, { agentId, budget: '70000' })).data).toEqual({
      setBudget: { cap: '70000', remaining: '66000' },
    });
    const left_out = [
      await graph(BUDGET, { agentId }),
      await graph('mutation ($agentId: Int!) { setBudget(agentId: $agentId) { cap } }', { agentId }),
    ];
    for (const { data, errors } of left_out) {
      expect(data).toEqual({ setBudget: null });
      expect(errors).toMatchObject([{ extensions: { code: 'invalid_request', param: 'budgetAtomic' } }]);
    }
    expect(await capOf()).toEqual({ cap: '70000' });
  });

  it('clears the ceiling by an explicit null', async () => {
    expect(await graph(BUDGET, { agentId: agent.agent_id, budget: null })).toEqual({
      data: { setBudget: { cap: null, remaining: null } },
    });
    expect(await capOf()).toEqual({ cap: null });
  });
});

describe('words of the graph', () => {
  it('are enums: a word that is none is refused before anybody is asked', async () => {
    const asked = [
      `{ book(agentId: ${agent.agent_id}, filter: {evidence: stolen}) { agentId } }`,
      `mutation { setBookPolicy(agentId: ${agent.agent_id}, policyType: no_such_policy, value: true) { agentId } }`,
    ];
    for (const query of asked)
      expect((await graph(query)).errors).toMatchObject([{ extensions: { code: 'invalid_request' } }]);
  });
});
