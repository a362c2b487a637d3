import { beforeAll, describe, expect, it } from 'vitest';
import type { z } from 'zod';
import { openStore } from '../../gateway/parts.ts';
import type { BoardSearchNoun } from '../../schema/board/entry.ts';
import { boardReadLimits } from '../../schema/limits.ts';
import { searchBoard } from '../../subgraphs/board/search/search.ts';
import type { Database } from '../../subgraphs/database.ts';
import { changePost, writeJob, writePost } from '../harness/board/board.ts';
import { freshDatabase } from '../harness/database.ts';
import { type Service, sharedService } from '../harness/doors/open-service.ts';
import { atEnd } from '../harness/release.ts';

let service: Service;
let database: Database;
beforeAll(async () => {
  service = await sharedService();
  database = await openStore(service.database_url);
  atEnd(() => database.close());
  const at = (minute: number) => ({ posted_at: `2026-01-01T00:${String(minute).padStart(2, '0')}:00Z` });
  await writePost(database, 'post_01early', { untrusted_text: 'A crème brûlée, billed twice', ...at(1) });
  await writePost(database, 'post_03late', { untrusted_text: 'Billed once, and quickly', ...at(3) });
  await writePost(database, 'post_04host', {
    endpoint_host: 'models.weather.example',
    untrusted_text: null,
    ...at(4),
  });
  await writePost(database, 'post_05hidden', { untrusted_text: 'Billed in secret', hidden: true, ...at(5) });
  await writeJob(database, 'job_02one', { untrusted_text: 'Reconcile what was billed', ...at(2) });
  await writeJob(database, 'job_06two', { untrusted_acceptance_test: 'Contains the word marmalade', ...at(6) });
});

type SearchResult = z.infer<typeof BoardSearchNoun>;
const search = (q: string, more = '') =>
  service.get<SearchResult>(`/v1/board/search?q=${encodeURIComponent(q)}${more}`);
const idsFor = async (q: string) => (await search(q)).body.hits.map(({ id }) => id);

describe('GET /v1/board/search', () => {
  it('200: posts and jobs that hold the words, newest first, in whatever case and with or without accents', async () => {
    const { status, body } = await search('BILLED');
    expect([status, body.matched, body.next]).toEqual([200, 'words', null]);
    expect(body.hits).toMatchObject([
      { kind: 'post', id: 'post_03late', url: `${service.url}/v1/board/posts/post_03late` },
      { kind: 'job', id: 'job_02one', endpoint_host: null, url: `${service.url}/v1/board/jobs/job_02one` },
      { kind: 'post', id: 'post_01early', endpoint_host: 'api.example', outcome: 'success' },
    ]);
    expect(await idsFor('creme brulee')).toEqual(['post_01early']);
    expect(await idsFor('marmalade')).toEqual(['job_06two']);
  });

  it('200: no more of them than `limit`, and as many as there may be where it is larger', async () => {
    expect((await search('billed', '&limit=1')).body.hits.map(({ id }) => id)).toEqual(['post_03late']);
    expect((await search('billed', '&limit=3000000000')).body.hits).toHaveLength(3);
  });

  it('200: phrases, alternatives and what is not wanted, as search engines have them; any other sign is none', async () => {
    expect(await idsFor('"billed twice"')).toEqual(['post_01early']);
    expect(await idsFor('billed -twice')).toEqual(['post_03late', 'job_02one']);
    expect(await idsFor('twice or marmalade')).toEqual(['job_06two', 'post_01early']);
    for (const odd of [`' & | ! :* ( <->`, '""', '\\', `'; drop table board_post --`])
      expect((await search(odd)).status).toBe(200);
  });

  it('200 of nothing where a phrase or what is left out meets nothing: what is alike was not asked for', async () => {
    for (const q of ['billed -billed', 'marmalade -marmalade', '"marmalade word"', '-word marmalade'])
      expect((await search(q)).body, q).toEqual({ matched: 'words', tolerant: false, hits: [], next: null });
  });

  it('400 of a member that is none of its own: a page would begin anew for ever', async () => {
    expect((await search('billed', '&cursor=x')).status).toBe(400);
  });

  it('200: of an endpoint its host is found, whole or by a part of it', async () => {
    expect(await idsFor('models.weather.example')).toEqual(['post_04host']);
    expect(await idsFor('weather')).toEqual(['post_04host']);
  });

  it('200 without what is hidden: neither by its words nor by such that are alike', async () => {
    expect(await idsFor('secret')).toEqual([]);
    expect(await idsFor('secrett')).toEqual([]);
    await writePost(database, 'post_07hide', { untrusted_text: 'Soon to be unfindable' });
    expect(await idsFor('unfindable')).toEqual(['post_07hide']);
    await changePost(database, 'post_07hide', 'post_hidden', 'hidden = true');
    expect(await idsFor('unfindable')).toEqual([]);
  });

  it('200: misspelt words find what is alike where none holds them, and the answer says so', async () => {
    const { body } = await search('marmelade');
    expect(body).toMatchObject({ matched: 'similar', tolerant: true, hits: [{ id: 'job_06two' }] });
    expect((await search('zzzzqqqq')).body).toMatchObject({ matched: 'words', hits: [], next: null });
  });

  it('200: page by page, each entry once, also among those of one second', async () => {
    for (let i = 0; i < 5; i++)
      await writePost(database, `post_08same${i}`, {
        untrusted_text: 'simultaneous',
        posted_at: '2026-02-01T00:00:00Z',
      });
    const seen: string[] = [];
    for (let after = ''; ; ) {
      const { body } = await search('simultaneous', `&limit=2${after}`);
      seen.push(...body.hits.map(({ id }) => id));
      if (body.next === null) break;
      after = `&after=${body.next}`;
    }
    expect(seen).toEqual([4, 3, 2, 1, 0].map(i => `post_08same${i}`));
  });

  it.each([
    ['', 'q'],
    ['?q=', 'q'],
    [`?q=${'x'.repeat(boardReadLimits.search_chars_max + 1)}`, 'q'],
    ['?q=%20', 'q'],
    ['?q=a%00', 'q'],
    ['?q=a&limit=0', 'limit'],
    ['?q=a&limit=many', 'limit'],
    ['?q=a&after=elsewhere', 'after'],
  ])('400 on %s', async (query, param) => {
    expect(await service.get(`/v1/board/search${query}`)).toMatchObject({
      status: 400,
      body: { code: 'invalid_request', error: { param } },
    });
  });

  it('400 query_too_costly where it takes too long', async () => {
    const blocked = await database.connect();
    try {
      await blocked.query('set idle_in_transaction_session_timeout = 0; set transaction_timeout = 0');
      await blocked.query('begin; lock table board_post in access exclusive mode');
      expect(await search('anything')).toMatchObject({ status: 400, body: { code: 'query_too_costly' } });
    } finally {
      await blocked.end();
    }
  });
});

it('200 without hits where nothing holds the words and looking for misspelt ones takes too long, and the answer says so', async () => {
  const slow: Database = {
    ...database,
    transaction: (work, bound) =>
      database.transaction(tx => {
        const query = async (statement: Parameters<typeof tx.query>[0]) => {
          const similar = JSON.stringify(statement).includes('.%>)');
          if (similar) await tx.query(`select pg_sleep(${(2 * boardReadLimits.search_ms_max) / 1_000})`);
          return tx.query(statement);
        };
        return work({ ...tx, query } as typeof tx);
      }, bound),
  };
  const asked = { query: 'marmelade', address: '', base_url: '' };
  expect(await searchBoard(slow, asked)).toEqual({ matched: 'words', tolerant: false, hits: [], next: null });
});

it('without pg_trgm words are found, misspelt ones are not, and the answer says so', async () => {
  const { url } = await freshDatabase();
  const bare = await openStore(url);
  try {
    await bare.query({ text: 'drop extension pg_trgm cascade' });
    await writePost(bare, 'post_09bare', { untrusted_text: 'marmalade' });
    const asked = { address: '', base_url: '' };
    expect(await searchBoard(bare, { ...asked, query: 'marmalade' })).toMatchObject({
      tolerant: false,
      hits: [{ id: 'post_09bare' }],
    });
    expect(await searchBoard(bare, { ...asked, query: 'marmelade' })).toMatchObject({ tolerant: false, hits: [] });
  } finally {
    await bare.close();
  }
});
