import { parse } from 'csv-parse/sync';
import { beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../schema/canonical-json.ts';
import { exportFieldNames } from '../../schema/export-row.ts';
import { bookProof, proofWindow } from '../../subgraphs/session/possession/proof.ts';
import { onGraph } from '../harness/doors/on-graph.ts';
import { ask, type Service, sharedService } from '../harness/doors/open-service.ts';
import { policyDoorsOf } from '../harness/doors/policies.ts';
import { sendMessage, toolCall } from '../harness/mcp-message.ts';

type Agent = Awaited<ReturnType<Service['newAgent']>>;

interface Audit extends JsonObject {
  readonly totals: JsonObject;
  readonly rows: readonly JsonObject[];
  readonly next: string | null;
}

let service: Service;
/** An agent with the stamp and two chats on its book. `refused` has a call that its kill switch refused. */
let reader: Agent;
let refused: Agent;
beforeAll(async () => {
  service = await sharedService();
  reader = await service.newAgent();
  await service.buy(reader.account, ask('First', { intent_id: '=treasury', attempt_index: 0 }));
  await service.buy(reader.account, ask('Second'));
  refused = await policyDoorsOf(service).newBlockedAgent();
  await service.buy(refused.account, ask('Refused'));
});

const path = ({ agent_id }: Pick<Agent, 'agent_id'>, query = '') => `/v1/agents/${agent_id}/book/export${query}`;
const held = ({ session }: Agent) => ({ 'X-SVC-Session': session });
const read = async <T = Audit>(agent: Agent, query: string) =>
  (await service.get<T>(path(agent, query), held(agent))).body;

describe('GET /v1/agents/{agent_id}/book/export', () => {
  it('200 as CSV unless told: a line of names, then the rows oldest first, no cell a formula', async () => {
    const heard = await service.get<string>(path(reader), held(reader));
    expect(heard.headers.get('content-type')).toBe('text/csv; charset=utf-8');
    const [names, ...rows]: string[][] = parse(heard.text);
    expect(names).toEqual(exportFieldNames);
    expect(rows.map(([task_id]) => task_id)).toHaveLength(3);
    expect(rows[0]?.[0]).toBe(reader.task_id);
    expect(rows[1]?.[exportFieldNames.indexOf('intent_id')]).toBe("'=treasury");
  });

  it("200 as JSON: the audit pack, its totals the book's", async () => {
    const audit = await read(reader, '?format=json');
    const { totals } = (await service.get(`/v1/agents/${reader.agent_id}/book`, held(reader))).body;
    expect(audit).toMatchObject({
      schema: 'svc402.book_audit.v1',
      agent_id: reader.agent_id,
      row_count: 3,
      policy: null,
    });
    expect(audit.totals).toEqual(totals);
    const [, first] = audit.rows;
    const url = `${service.url}/receipt/${String(first?.task_id)}`;
    expect(first).toMatchObject({
      evidence: 'collected',
      amount: '2000',
      rail: 'usdc',
      intent_id: '=treasury',
      attempt_index: 0,
      payer_wallet: reader.account.address,
      replay_count: 0,
      replay_events: [],
      arrival_status: 'confirmed',
      omission_rule: null,
      verify_url: url,
      auditor_url: `${url}?format=auditor`,
      explorer_url: `https://basescan.org/tx/${String(first?.payment_ref).slice('base:'.length)}`,
    });
    expect(Object.keys(first ?? {})).toEqual(exportFieldNames);
  });

  it('200 with what a policy blocked: visible, without an amount, in no total, its policy beside it', async () => {
    const audit = await read(refused, '?format=json');
    expect(audit).toMatchObject({
      row_count: 2,
      totals: { count: 1, usdc_sum: '2000' },
      policy: { kill_switch: true },
    });
    expect(audit.rows[1]).toMatchObject({
      evidence: 'policy_blocked',
      amount: null,
      policy_code: 'kill_switch',
      reason: expect.any(String),
      verify_url: expect.stringContaining(`${service.url}/refusal/`),
      auditor_url: null,
      explorer_url: null,
    });
  });

  it('200 with the replays of a row, by the names that an audit pack has for them', async () => {
    const agent = await service.newAgent();
    const payment = await service.payment(agent.account, '/v1/chat/completions');
    for (let times = 0; times < 2; times++) await service.post('/v1/chat/completions', ask('Again'), payment);
    const { rows } = await read(agent, '?format=json');
    expect(rows[1]).toMatchObject({
      replay_count: 1,
      replay_events: [
        { replay_of: rows[1]?.task_id, settlement_status: 'idempotent_replay', recorded_at: expect.any(String) },
      ],
    });
  });

  it('200 as a page for print, in which nothing that a caller wrote is markup', async () => {
    const agent = await service.newAgent();
    await service.buy(agent.account, ask('Page', { intent_id: '<script>alert(1)</script>' }));
    const heard = await service.get<string>(path(agent, '?format=html'), held(agent));
    expect(heard.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(heard.text).toContain('&lt;script&gt;alert(1)&lt;/script&gt;');
    expect(heard.text).not.toContain('<script');
    expect(heard.text).toContain('0.004000 USDC');
  });

  it('200 as a page for print with what inflows set aside, beside the amounts and in none', async () => {
    const agent = await service.newAgent();
    const session = { session: agent.session };
    const inflow = await service.post<{ task_id: string }>(`/v1/agents/${agent.agent_id}/book/inflow`, {
      ...session,
      allocation: '1500000',
      bucket: '<b>',
    });
    const correction = { ...session, task_id: inflow.body.task_id, reason: 'A typo', allocation: '1600000' };
    await service.post(`/v1/agents/${agent.agent_id}/book/inflow/correct`, correction);
    const { text } = await service.get<string>(path(agent, '?format=html&evidence=inflow_claimed'), held(agent));
    expect(text).toContain('<small>&lt;b&gt;: 1.500000 USDC set aside</small>');
    expect(text).toContain('<small>A typo</small><small>&lt;b&gt;: 1.600000 USDC set aside</small>');
    expect(text).toContain('No row carries an amount.');
  });

  it.each<[string, string, number]>([
    ['limit', '&limit=2', 2],
    ['a limit above 200, clamped', '&limit=9999', 3],
    ['intent_id', '&intent_id=%3Dtreasury', 1],
    ['evidence', '&evidence=policy_blocked', 0],
    ['from in the future', '&from=2999-01-01', 0],
    ['to tomorrow', `&to=${new Date(Date.now() + 86_400_000).toISOString().slice(0, 10)}`, 3],
    ['to before all', '&to=2020-01-01T00:00:00Z', 0],
  ])('200 with %s', async (_, query, rows) => {
    expect(await read(reader, `?format=json${query}`)).toMatchObject({ row_count: rows });
  });

  it('200 as JSON says of how many rows it is a part, what all of them come to, and where the older ones are', async () => {
    const part = await read(reader, '?format=json&limit=2');
    expect(part).toMatchObject({
      row_count: 2,
      totals: { usdc_sum: '4000' },
      totals_cover: 'rows_shown',
      truncated: true,
      matching_count: 3,
      matching_usdc_sum: '6000',
    });
    expect(part.next).toBe(`${service.url}${path(reader, '?format=json&limit=2&before=2')}`);
    const whole = await read(reader, '?format=json');
    expect(whole).toMatchObject({ truncated: false, matching_count: 3, matching_usdc_sum: '6000', next: null });
  });

  it('200 by `next`: every row that matches once, the last page still a part', async () => {
    const whole = await read(reader, '?format=json&evidence=collected&from=2020-01-01');
    const pages: Audit[] = [];
    const first = path(reader, '?format=json&evidence=collected&from=2020-01-01&limit=1');
    for (let next: string | null = service.url + first; next !== null; ) {
      expect(next.startsWith(service.url)).toBe(true);
      const page: Audit = (await service.get<Audit>(next.slice(service.url.length), held(reader))).body;
      expect(page).toMatchObject({ row_count: 1, truncated: true, matching_count: 3, matching_usdc_sum: '6000' });
      pages.unshift(page);
      next = page.next;
    }
    expect(pages.flatMap(({ rows }) => rows)).toEqual(whole.rows);
  });

  it('200 with the count and the sum of what the filter names, rows without an amount among them', async () => {
    expect(await read(refused, '?format=json&evidence=policy_blocked')).toMatchObject({
      truncated: false,
      matching_count: 1,
      matching_usdc_sum: '0',
    });
    expect(await read(reader, '?format=json&intent_id=%3Dtreasury')).toMatchObject({
      truncated: false,
      matching_count: 1,
      matching_usdc_sum: '2000',
    });
    expect(await read(reader, '?format=json&from=2999-01-01')).toMatchObject({
      truncated: false,
      matching_count: 0,
      matching_usdc_sum: '0',
      next: null,
    });
  });

  it('200 as CSV or a page for print says the same in headers', async () => {
    for (const format of ['csv', 'html']) {
      const part = await service.get<string>(path(reader, `?format=${format}&limit=2`), held(reader));
      const whole = await service.get<string>(path(reader, `?format=${format}`), held(reader));
      const said = [part, whole].map(({ headers }) =>
        ['X-SVC-Truncated', 'X-SVC-Matching-Count', 'Link'].map(name => headers.get(name)),
      );
      const next = `${service.url}${path(reader, `?format=${format}&limit=2&before=2`)}`;
      expect(said).toEqual([
        ['true', '3', `<${next}>; rel="next"`],
        ['false', '3', null],
      ]);
    }
  });

  it('200 as a page for print says that it is a part, and what all rows come to', async () => {
    const { text } = await service.get<string>(path(reader, '?format=html&limit=2'), held(reader));
    expect(text).toContain('Totals of the rows on this page');
    expect(text).toContain('<dd>2 of 3 matching rows</dd>');
    expect(text).toContain('The sum of the USDC amounts of all 3 matching rows is 0.006000 USDC.');
    const whole = await service.get<string>(path(reader, '?format=html'), held(reader));
    expect(whole.text).toContain('<dd>3 (all matching rows)</dd>');
    expect(whole.text).not.toContain('This page shows only some of the matching rows');
  });

  it('the graph and the tool say it too', async () => {
    const query = `{ bookExport(agentId: ${reader.agent_id}, limit: 2) {
      truncated matchingCount matchingUsdcSum nextBefore document } }`;
    const { data } = await onGraph<{ bookExport: JsonObject }>(service, query, {}, reader.session);
    expect(data?.bookExport).toMatchObject({
      truncated: true,
      matchingCount: 3,
      matchingUsdcSum: '6000',
      nextBefore: 2,
      document: { truncated: true, matching_count: 3, next: expect.stringContaining('before=2') },
    });
    const last = `{ bookExport(agentId: ${reader.agent_id}, before: 2) { truncated nextBefore csv } }`;
    expect((await onGraph(service, last, {}, reader.session)).data?.bookExport).toMatchObject({
      truncated: true,
      nextBefore: null,
      csv: expect.stringContaining(reader.task_id),
    });
    const given = { agent_id: reader.agent_id, limit: 1, before: 3 };
    const { body } = await sendMessage(service.url, toolCall('export_book', given), held(reader));
    expect(body?.result?._meta).toMatchObject({
      'svc402/headers': {
        'x-svc-truncated': 'true',
        'x-svc-matching-count': '3',
        link: `<${service.url}${path(reader, '?format=csv&limit=1&before=2')}>; rel="next"`,
      },
    });
  });

  it('200 with a limit has the newest rows', async () => {
    const [all, newest] = [await read(reader, '?format=json'), await read(reader, '?format=json&limit=2')];
    expect(newest.rows).toEqual(all.rows.slice(1));
  });

  it('200 by X-SVC-Proof', async () => {
    const proof = bookProof(reader.session, reader.agent_id, proofWindow(Date.now()));
    expect((await service.get(path(reader), { 'X-SVC-Proof': proof })).status).toBe(200);
  });

  it.each([
    'limit=0',
    'limit=x',
    'before=-1',
    'before=x',
    'format=pdf',
    'from=yesterday',
    'to=2026-13-01',
    'evidence=rumour',
  ])('400 on %s', async query => {
    const param = query.split('=')[0];
    const heard = await service.get(path(reader, `?${query}`), held(reader));
    expect(heard).toMatchObject({ status: 400, body: { code: 'invalid_request', error: { param } } });
    expect(heard.body).not.toMatchObject({ detail: expect.stringContaining('Invalid ISO') });
  });

  it('400 on a member that is not known, in query or body: a misspelt filter would export all rows', async () => {
    const unknown = { status: 400, body: { code: 'invalid_request', error: { param: 'intent' } } };
    expect(await service.get(path(reader, '?intent=x'), held(reader))).toMatchObject(unknown);
    expect(await service.post(path(reader), { session: reader.session, intent: 'x' })).toMatchObject(unknown);
    for (const part of ['/stream', '/journal'])
      expect(await service.get(`${path(reader, part)}?intent=x`, held(reader))).toMatchObject(unknown);
  });

  it('400 on a limit of -1 says which there are, by REST and by GraphQL', async () => {
    const bounds = expect.stringContaining('must be a whole number from 1 to 200');
    const rest = await service.get(path(reader, '?limit=-1'), held(reader));
    expect(rest).toMatchObject({ status: 400, body: { detail: bounds, error: { param: 'limit' } } });
    const query = `{ bookExport(agentId: ${reader.agent_id}, limit: -1) { csv } }`;
    const { body } = await service.post<{ errors: unknown }>('/graphql', { query }, held(reader));
    expect(body.errors).toMatchObject([{ message: bounds, extensions: { param: 'limit' } }]);
  });
});

describe('POST /v1/agents/{agent_id}/book/export', () => {
  it('200 by session in the body or header, the body saying what is asked', async () => {
    const asked = { format: 'json', intent_id: '=treasury', limit: 5 };
    for (const [body, headers] of [
      [{ ...asked, session: reader.session }, {}],
      [asked, held(reader)],
    ] as const)
      expect((await service.post(path(reader), body, headers)).body).toMatchObject({ row_count: 1 });
    expect((await service.post<string>(path(reader), { session: reader.session })).text).toContain(reader.task_id);
  });

  it('400 on a bad member', async () => {
    const heard = await service.post(path(reader), { session: reader.session, limit: '5' });
    expect(heard).toMatchObject({ status: 400, body: { error: { param: 'limit' } } });
  });
});
