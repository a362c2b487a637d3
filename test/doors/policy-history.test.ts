import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, describe, expect, it } from 'vitest';
import { openStore } from '../../gateway/parts.ts';
import type { JsonObject } from '../../schema/canonical-json.ts';
import { sha256Hex } from '../../schema/digest.ts';
import { agentId } from '../../schema/ids.ts';
import { auditStart } from '../../subgraphs/book/audit/audit.ts';
import { auditStep } from '../../subgraphs/book/audit/audit-database.ts';
import { bookProof, proofWindow } from '../../subgraphs/session/possession/proof.ts';
import { onGraph } from '../harness/doors/on-graph.ts';
import { openService, type Service } from '../harness/doors/open-service.ts';
import { auditBooks } from '../harness/faults/audit-books.ts';
import { atEnd } from '../harness/release.ts';

type Agent = Awaited<ReturnType<Service['newAgent']>>;
interface Change {
  readonly position: number;
  readonly at: string;
}

let service: Service;
let agent: Agent;
let stranger: Agent;
beforeAll(async () => {
  // A test causes this error on purpose.
  service = await openService({}, { meant: /violates check constraint/ });
  [agent, stranger] = [await service.newAgent(), await service.newAgent()];
});

const path = (query = '') => `/v1/agents/${agent.agent_id}/book/policy${query}`;
const read = async (query = '') =>
  (await service.get<JsonObject>(path(query), { 'X-SVC-Session': agent.session })).body;
const set = (policy_type: string, value: JsonObject[string]) =>
  service.post(path(), { session: agent.session, policy_type, value });
const CHANGES = `query ($agentId: Int!, $limit: Int, $before: Int) {
  policyChanges(agentId: $agentId, limit: $limit, before: $before) {
    position kind policyType before after policyVersion at by session } }`;
const graph = (query: string, variables: JsonObject = {}, session = agent.session) =>
  onGraph(service, query, { agentId: agent.agent_id, ...variables }, session);
const changes = async (variables: JsonObject = {}) =>
  (await graph(CHANGES, variables)).data?.policyChanges as unknown as Change[];

describe('a change of policy or budget', () => {
  it('is an event of the book, with who, what and when, newest first', async () => {
    await set('daily_cap', '9000');
    await service.post(`/v1/agents/${agent.agent_id}/book`, { session: agent.session, budget: '70000' });
    await set('daily_cap', '5000');
    await service.post(path(), {
      proof: bookProof(agent.session, agent.agent_id, proofWindow(Date.now())),
      policy_type: 'daily_cap',
      value: null,
    });
    const session = sha256Hex(agent.session).slice(0, 16);
    const told = { kind: 'policy_changed', policyType: 'daily_cap', by: 'session', session };
    expect(await changes()).toMatchObject([
      { ...told, position: 5, before: '5000', after: null, policyVersion: 4, by: 'plain_proof' },
      { ...told, position: 4, before: '9000', after: '5000', policyVersion: 3 },
      {
        ...told,
        position: 3,
        kind: 'budget_changed',
        policyType: null,
        before: null,
        after: '70000',
        policyVersion: 2,
      },
      { ...told, position: 2, before: null, after: '9000', policyVersion: 1 },
    ]);
    expect((await changes({ limit: 2, before: 4 })).map(({ position }) => position)).toEqual([3, 2]);
  });

  it('that changes nothing is none', async () => {
    await set('daily_cap', null);
    expect(await changes({ limit: 1 })).toMatchObject([{ position: 5 }]);
  });

  it('that is refused is none', async () => {
    expect((await set('daily_cap', 'all')).status).toBe(400);
    expect(await changes({ limit: 1 })).toMatchObject([{ position: 5 }]);
  });

  it('stands in the one chain of the book, gapless, and its audit finds it sound', async () => {
    await service.buy(agent.account);
    const store = await openStore(service.database_url);
    atEnd(() => store.close());
    await auditBooks(store);
    const step = await auditStep(store, agentId(agent.agent_id), auditStart);
    expect(step).toMatchObject({ kind: 'sound', ended: true, walked: { position: 6, seq: 2 } });
  });

  it('in one transaction with the terms: an event that cannot be written leaves both', async () => {
    await service.query(`alter table book_event add constraint broken check (kind <> 'policy_changed') not valid`);
    try {
      await set('kill_switch', true);
    } finally {
      await service.query('alter table book_event drop constraint broken');
    }
    expect(await read()).toMatchObject({ kill_switch: null });
    expect(await changes({ limit: 1 })).toMatchObject([{ position: 5 }]);
  });
});

describe('the policy at a time', () => {
  it('200 by ?at: what was in force then', async () => {
    const [cleared, second, , first] = await changes();
    const moments: [Change | undefined, string | null][] = [
      [first, '9000'],
      [second, '5000'],
      [cleared, null],
    ];
    for (const [change, daily_cap] of moments) {
      const at = change?.at ?? '';
      expect(await read(`?at=${at}`)).toMatchObject({ agent_id: agent.agent_id, daily_cap });
    }
    expect(await read('?at=2026-01-01')).toMatchObject({ daily_cap: null });
  });

  it('200 for a book of which no change tells: as it stands', async () => {
    const { body } = await service.get(`/v1/agents/${stranger.agent_id}/book/policy?at=2026-01-01`, {
      'X-SVC-Session': stranger.session,
    });
    expect(body).toMatchObject({ agent_id: stranger.agent_id, daily_cap: null });
  });

  it.each([
    ['at', '?at=yesterday'],
    ['at', '?at=0000-01-01'],
    ['since', '?since=2026-01-01'],
  ])('400 naming %s: %s', async (param, query) => {
    expect(await read(query)).toMatchObject({ code: 'invalid_request', error: { param } });
  });

  it('is told to whoever follows the book, with no row', async () => {
    const { createClient } = await import('graphql-ws');
    const { default: WebSocket } = await import('ws');
    const client = createClient({
      url: `${service.url.replace(/^http/, 'ws')}/graphql`,
      webSocketImpl: WebSocket,
      retryAttempts: 0,
      connectionParams: { session: agent.session },
    });
    try {
      const query = `subscription ($agentId: Int!) { bookRows(agentId: $agentId, after: 6) { position kind seq taskId row { seq } } }`;
      const events = client.iterate({ query, variables: { agentId: agent.agent_id } });
      const next = events.next();
      await sleep(100);
      await set('hourly_cap', '1');
      expect((await next).value).toEqual({
        data: { bookRows: { position: 7, kind: 'policy_changed', seq: null, taskId: null, row: null } },
      });
    } finally {
      await client.dispose();
    }
  });
});
