import { parse } from 'csv-parse/sync';
import { parquetReadObjects } from 'hyparquet';
import pg from 'pg';
import { beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../schema/canonical-json.ts';
import { agentId } from '../../schema/ids.ts';
import { exportLimits } from '../../schema/limits.ts';
import { inTurn } from '../../subgraphs/book/export/pages.ts';
import { ask, type Service, sharedService } from '../harness/doors/open-service.ts';
import { policyDoorsOf } from '../harness/doors/policies.ts';
import { openSocket } from '../harness/doors/socket.ts';
import { expectDescribed } from '../harness/doors/table.ts';

type Agent = Awaited<ReturnType<Service['newAgent']>>;

let service: Service;
/** An agent with the stamp and two chats on its book. */
let reader: Agent;
/** An agent with these rows in this order: the stamp, two chats with one intent, one without, and a call that its kill switch refused. */
let varied: Agent;
beforeAll(async () => {
  service = await sharedService();
  reader = await service.newAgent();
  for (const name of ['First', 'Second']) await service.buy(reader.account, ask(name));
  varied = await service.newAgent();
  const intents: JsonObject[] = [{ intent_id: 'bill' }, {}, { intent_id: 'bill' }];
  for (const intent of intents) await service.buy(varied.account, ask('Varied', intent));
  await policyDoorsOf(service).set(varied, 'kill_switch', true);
  await service.buy(varied.account, ask('Refused'));
});

const STREAM = 'stream';
const JOURNAL = 'journal';
const path = ({ agent_id }: Pick<Agent, 'agent_id'>, door: string, query = '') =>
  `/v1/agents/${agent_id}/book/export/${door}${query}`;
const held = ({ session }: Agent) => ({ 'X-SVC-Session': session });

/** An answer that is not JSON, unparsed. */
async function taken(pathname: string, { headers, ...init }: RequestInit = {}) {
  const answer = await fetch(service.url + pathname, { headers: { ...held(reader), ...headers }, ...init });
  const bytes = Buffer.from(await answer.arrayBuffer());
  const [bare = pathname] = pathname.split('?');
  const text = bytes.toString();
  expectDescribed(init.method ?? 'GET', bare, { status: answer.status, headers: answer.headers, text, body: text });
  return { status: answer.status, headers: answer.headers, bytes, text };
}

describe('GET /v1/agents/{agent_id}/book/export/stream', () => {
  it('200 as CSV unless told, and how many rows there will be before the first', async () => {
    const { status, headers, text } = await taken(path(reader, STREAM));
    expect(status).toBe(200);
    expect(headers.get('content-type')).toBe('text/csv; charset=utf-8');
    expect([headers.get('x-svc-export-rows'), headers.get('x-svc-export-last-seq')]).toEqual(['3', '3']);
    const records: Record<string, string>[] = parse(text, { columns: true });
    expect(records.map(({ seq }) => seq)).toEqual(['1', '2', '3']);
    expect(records[0]).toMatchObject({ task_id: reader.task_id, amount: '2000', evidence: 'collected' });
  });

  it('200 as NDJSON, its last line saying that nothing is missing', async () => {
    const { headers, text } = await taken(path(reader, STREAM, '?format=ndjson'));
    expect(headers.get('content-type')).toBe('application/x-ndjson; charset=utf-8');
    const lines = text
      .trimEnd()
      .split('\n')
      .map(line => JSON.parse(line) as JsonObject);
    expect(lines.map(({ seq }) => seq)).toEqual([1, 2, 3, undefined]);
    expect(lines[3]).toEqual({ end: { rows_done: 3, rows_total: 3, last_seq: 3 } });
    const { rows } = (await service.get(path(reader, '', '?format=json').replace('/?', '?'), held(reader))).body;
    expect(lines.slice(0, 3)).toEqual(rows);
  });

  it('200 as Parquet', async () => {
    const { headers, bytes } = await taken(path(reader, STREAM, '?format=parquet'));
    expect(headers.get('content-type')).toBe('application/vnd.apache.parquet');
    const file = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length) as ArrayBuffer;
    const rows = await parquetReadObjects({ file });
    expect(rows.map(({ seq, amount }) => [seq, amount])).toEqual([1, 2, 3].map(seq => [seq, '2000']));
  });

  it('200 after a row: only what follows it, without the line of names', async () => {
    const whole = (await taken(path(reader, STREAM))).text.split('\n');
    const { headers, text } = await taken(path(reader, STREAM, '?after=2'));
    expect(text.split('\n')).toEqual(whole.slice(3));
    expect(headers.get('x-svc-export-rows')).toBe('1');
    expect((await taken(path(reader, STREAM, '?after=99'))).text).toBe('');
  });

  it.each<[string, number[]]>([
    ['evidence=collected', [1, 2, 3, 4]],
    ['evidence=policy_blocked', [5]],
    ['intent_id=bill', [2, 4]],
    ['intent_id=bill&evidence=policy_blocked', []],
    ['from=2020-01-01&intent_id=bill', [2, 4]],
    ['from=2999-01-01', []],
    ['to=2020-01-01', []],
  ])('200 by %s: the rows that match, and how many, in every form', async (query, seqs) => {
    const { headers, text } = await taken(path(varied, STREAM, `?format=ndjson&${query}`), { headers: held(varied) });
    expect(headers.get('x-svc-export-rows')).toBe(String(seqs.length));
    const lines = text
      .trimEnd()
      .split('\n')
      .map(line => JSON.parse(line) as { seq?: number; end?: JsonObject });
    expect(lines.slice(0, -1).map(({ seq }) => seq)).toEqual(seqs);
    expect(lines.at(-1)?.end).toMatchObject({
      rows_done: seqs.length,
      rows_total: seqs.length,
      filters: Object.fromEntries(
        [...new URLSearchParams(query)].map(([name, value]) => [
          name,
          /^\d/.test(value) ? `${value}T00:00:00.000Z` : value,
        ]),
      ),
    });
    const csv = await taken(path(varied, STREAM, `?${query}`), { headers: held(varied) });
    const records: Record<string, string>[] = parse(csv.text, { columns: true });
    expect(records.map(({ seq }) => Number(seq))).toEqual(seqs);
    const { bytes } = await taken(path(varied, STREAM, `?format=parquet&${query}`), { headers: held(varied) });
    const file = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length) as ArrayBuffer;
    expect((await parquetReadObjects({ file })).map(({ seq }) => seq)).toEqual(seqs);
  });

  it('200 from a moment on and up to one, and after a row of what matches', async () => {
    const all = await taken(path(varied, STREAM), { headers: held(varied) });
    const records: Record<string, string>[] = parse(all.text, { columns: true });
    const [from, to] = [records[1]?.collected_at, records[3]?.collected_at];
    const between = await taken(path(varied, STREAM, `?from=${from}&to=${to}`), { headers: held(varied) });
    expect(between.text.trimEnd().split('\n').slice(1)).toEqual(all.text.split('\n').slice(2, 4));
    const resumed = await taken(path(varied, STREAM, '?intent_id=bill&after=2'), { headers: held(varied) });
    expect(resumed.text.trimEnd().split('\n')).toEqual(all.text.split('\n').slice(4, 5));
    expect(resumed.headers.get('x-svc-export-rows')).toBe('1');
  });

  it('200 on HEAD: how many rows there are, and none of them', async () => {
    const { status, headers } = await fetch(service.url + path(reader, STREAM), {
      method: 'HEAD',
      headers: held(reader),
    });
    expect([status, headers.get('x-svc-export-rows')]).toEqual([200, '3']);
  });

  it.each(['format=xml', 'after=-1', 'after=x', 'after=2147483648', 'from=x', 'evidence=stolen'])(
    '400 on %s',
    async query => {
      const heard = await service.get(path(reader, STREAM, `?${query}`), held(reader));
      expect(heard).toMatchObject({ status: 400, body: { error: { param: query.split('=')[0] } } });
    },
  );

  it('429 where too many of one book are under way, and 200 again once their readers have left', async () => {
    const agent = await service.newAgent();
    const leaving = new AbortController();
    const open = () => fetch(service.url + path(agent, STREAM), { headers: held(agent), signal: leaving.signal });
    const standing = new pg.Client({ connectionString: service.database_url });
    await standing.connect();
    try {
      // The lock holds back the first page of a stream, but not its header line. The streams are thus open until their readers leave.
      await standing.query('begin; lock table book_row in access exclusive mode');
      const readers = await Promise.all(Array.from({ length: exportLimits.streams_per_book_max }, open));
      expect(readers.map(({ status }) => status)).toEqual(readers.map(() => 200));
      const heard = await service.get(path(agent, STREAM), held(agent));
      expect(heard).toMatchObject({ status: 429, body: { code: 'rate_limited' } });
    } finally {
      leaving.abort();
      await standing.end();
    }
    await expect
      .poll(async () => (await fetch(service.url + path(agent, STREAM), { headers: held(agent) })).status)
      .toBe(200);
  });

  it('nothing is counted for readers who have left while they waited, and their room is free at once', async () => {
    const agent = await service.newAgent();
    const leaving = new AbortController();
    const turns = Promise.withResolvers<void>();
    // Other books take all turns.
    const others = Array.from({ length: exportLimits.pages_read_at_once_max }, (_, at) =>
      inTurn(agentId(1_000_000 + at), () => turns.promise),
    );
    try {
      const counted = Array.from({ length: exportLimits.streams_per_book_max }, () =>
        fetch(service.url + path(agent, STREAM, '?evidence=collected'), {
          headers: held(agent),
          signal: leaving.signal,
        }).catch(() => null),
      );
      // An export of the whole book counts no rows, so it waits for no turn.
      const whole = async () => {
        const heard = await fetch(service.url + path(agent, STREAM), { headers: held(agent) });
        await heard.body?.cancel();
        return heard.status;
      };
      await expect.poll(whole).toBe(429);
      leaving.abort();
      expect(await Promise.all(counted)).toEqual(counted.map(() => null));
      // None of them has had a turn since, so no statement runs for them.
      await expect.poll(whole).toBe(200);
    } finally {
      leaving.abort();
      turns.resolve();
      await Promise.all(others);
    }
  });
});

describe('POST /v1/agents/{agent_id}/book/export/stream', () => {
  it('200 by session in the body, which says what is asked', async () => {
    const body = JSON.stringify({ session: reader.session, format: 'ndjson', after: 2 });
    const headers = { 'content-type': 'application/json', 'X-SVC-Session': '' };
    const { text } = await taken(path(reader, STREAM), { method: 'POST', body, headers });
    expect(text.split('\n')).toHaveLength(3);
  });

  it('200 with what narrows the rows in the body', async () => {
    const body = JSON.stringify({ session: varied.session, format: 'ndjson', intent_id: 'bill' });
    const headers = { 'content-type': 'application/json', 'X-SVC-Session': '' };
    const { text } = await taken(path(varied, STREAM), { method: 'POST', body, headers });
    expect(text).toContain('"rows_done":2');
  });

  it.each([STREAM, JOURNAL])('400 on a member that is not known, by POST to %s', async door => {
    const heard = await service.post(path(reader, door), { session: reader.session, from_seq: 2 });
    expect(heard).toMatchObject({ status: 400, body: { error: { param: 'from_seq' } } });
  });
});

describe('GET /v1/agents/{agent_id}/book/export/journal', () => {
  it('200 as double-entry CSV, per row and per day, with the sum of the book', async () => {
    for (const [query, entries] of [
      ['', 3],
      ['?per=day', 1],
    ] as const) {
      const { headers, text } = await taken(path(reader, JOURNAL, query));
      expect(headers.get('content-type')).toBe('text/csv; charset=utf-8');
      const records: Record<string, string>[] = parse(text, { columns: true });
      // If the test runs across midnight, there are two days.
      expect(records.length).toBeGreaterThanOrEqual(2 * entries);
      const debits = records.map(({ debit = '' }) => BigInt(debit.replace('.', '') || '0'));
      expect(debits.reduce((sum, debit) => sum + debit, 0n)).toBe(6_000n);
    }
  });

  it('200 as a journal for ledger and hledger', async () => {
    const { headers, text } = await taken(path(reader, JOURNAL, '?format=ledger'));
    expect(headers.get('content-type')).toBe('text/x-ledger; charset=utf-8');
    expect(text).toContain('  expenses:inference  0.002000 USDC\n  assets:wallet:usdc  -0.002000 USDC\n');
    expect(text).toContain(`(${reader.task_id})`);
  });

  it('200 with the registration among the fees and the calls as inference, per row and per day', async () => {
    for (const per of ['row', 'day']) {
      const { text } = await taken(path(reader, JOURNAL, `?per=${per}`));
      const records: Record<string, string>[] = parse(text, { columns: true });
      const sumOf = (name: string) =>
        records
          .filter(({ account }) => account === name)
          .reduce((sum, { debit = '' }) => sum + BigInt(debit.replace('.', '')), 0n);
      expect([sumOf('expenses:fees'), sumOf('expenses:inference')]).toEqual([2_000n, 4_000n]);
    }
  });

  it('200 with the names of accounts that are set, alike by query, by body and on the graph; the head states them', async () => {
    const names = { account_inference: 'Expenses:AI & more', account_wallet: 'Assets:Crypto:<currency>' };
    const query = await taken(path(reader, JOURNAL, `?format=ledger&${new URLSearchParams(names)}`));
    expect(query.text).toContain('  Expenses:AI & more  0.002000 USDC\n  Assets:Crypto:usdc  -0.002000 USDC\n');
    expect(query.text).toContain('  expenses:fees  0.002000 USDC\n');
    const head = query.text.slice(0, query.text.indexOf('\n\n')).split('\n');
    expect(head).toEqual(
      expect.arrayContaining([
        '; account_inference=Expenses:AI & more',
        '; account_fees=expenses:fees',
        '; account_wallet=Assets:Crypto:<currency>',
      ]),
    );
    const body = JSON.stringify({ session: reader.session, format: 'ledger', ...names });
    const headers = { 'content-type': 'application/json', 'X-SVC-Session': '' };
    expect((await taken(path(reader, JOURNAL), { method: 'POST', body, headers })).text).toBe(query.text);
    const { all, first } = openSocket(service, { session: reader.session });
    const graph = await all(`subscription { bookJournal(agentId: ${reader.agent_id}, format: ledger,
      accounts: { inference: "Expenses:AI & more", wallet: "Assets:Crypto:<currency>" }) { text } }`);
    const pieces = graph.map(({ data }) => (data as { bookJournal: { text: string } }).bookJournal.text);
    expect(pieces.join('')).toBe(query.text);
    const refused = first(
      `subscription { bookJournal(agentId: ${reader.agent_id}, accounts: { fees: "(Fees)" }) { text } }`,
    );
    const extensions = { code: 'invalid_request', param: 'account_fees' };
    await expect(refused).rejects.toMatchObject([{ extensions }]);
  });

  it.each<[string, number]>([
    ['evidence=collected', 4],
    ['evidence=policy_blocked', 0],
    ['intent_id=bill', 2],
    ['to=2020-01-01', 0],
    ['from=2020-01-01', 4],
  ])('200 by %s: entries of the rows that match, per row and per day', async (query, rows) => {
    for (const per of ['row', 'day']) {
      const { text } = await taken(path(varied, JOURNAL, `?per=${per}&${query}`), { headers: held(varied) });
      const records: Record<string, string>[] = parse(text, { columns: true });
      const debits = records.map(({ debit = '' }) => BigInt(debit.replace('.', '') || '0'));
      expect(debits.reduce((sum, debit) => sum + debit, 0n)).toBe(2_000n * BigInt(rows));
    }
  });

  it('200 as a journal that says which rows it is of', async () => {
    const query = '?format=ledger&intent_id=bill&from=2020-01-01';
    const { text } = await taken(path(varied, JOURNAL, query), { headers: held(varied) });
    expect(text.split('\n')[0]).toContain('Filters: from 2020-01-01T00:00:00.000Z, intent_id bill.');
    expect((await taken(path(varied, JOURNAL, '?format=ledger'), { headers: held(varied) })).text).not.toContain(
      'Only',
    );
  });

  it.each(['format=xls', 'per=week'])('400 on %s', async query => {
    const heard = await service.get(path(reader, JOURNAL, `?${query}`), held(reader));
    expect(heard).toMatchObject({ status: 400, body: { error: { param: query.split('=')[0] } } });
  });

  it.each(['account_fees=Fees;paid', 'account_wallet=Assets::Crypto', 'account_other=a%20%20b', 'account_gifts=Gifts'])(
    '400 on %s, by query and by body',
    async query => {
      const refused = { status: 400, body: { error: { param: query.split('=')[0] } } };
      expect(await service.get(path(reader, JOURNAL, `?${query}`), held(reader))).toMatchObject(refused);
      const body = { session: reader.session, ...Object.fromEntries(new URLSearchParams(query)) };
      expect(await service.post(path(reader, JOURNAL), body)).toMatchObject(refused);
    },
  );
});

describe('POST /v1/agents/{agent_id}/book/export/journal', () => {
  it('200 by session in the body', async () => {
    const body = JSON.stringify({ session: reader.session, per: 'day', evidence: 'collected' });
    const headers = { 'content-type': 'application/json', 'X-SVC-Session': '' };
    expect((await taken(path(reader, JOURNAL), { method: 'POST', body, headers })).text).toContain('paid calls');
  });
});
