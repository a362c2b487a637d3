import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { isJsonObject, type JsonObject } from '../../../../schema/canonical-json.ts';
import { type AgentId, agentId } from '../../../../schema/ids.ts';
import { buildExport } from '../../../../subgraphs/book/export/build.ts';
import {
  type ExportFilter,
  publishExport,
  scopeOf,
  withdrawExport,
} from '../../../../subgraphs/book/export/publish.ts';
import { systemClock, systemRandom } from '../../../../subgraphs/clock.ts';
import { verify } from '../../../../subgraphs/receipt/verify/module.ts';
import { verifyPullExport } from '../../../../subgraphs/receipt/verify/pull-export.ts';
import { anyRow, bookOf, type RowChanges } from '../../../harness/export/book.ts';
import { issuer } from '../../../harness/ledger/fixture.ts';
import { alter, paths } from '../../../harness/receipt/issue.ts';
import { freshStore } from '../../../harness/store.ts';

interface CoverageRequest extends ExportFilter {
  readonly format?: 'json' | 'csv';
  readonly limit?: number;
  readonly subject_task_id?: string;
}

const base_url = issuer.base_url;
let store: Awaited<ReturnType<typeof freshStore>>;
let agents = 0;
beforeAll(async () => {
  store = await freshStore();
});

async function newBook(rows: readonly RowChanges[]): Promise<AgentId> {
  const agent_id = agentId(++agents);
  await bookOf(store, agent_id, rows);
  return agent_id;
}

async function published(agent_id: AgentId, asked: CoverageRequest = {}): Promise<JsonObject> {
  const publisher = {
    database: store,
    issuer,
    clock: systemClock,
    random: systemRandom,
    base_url,
    profile: 'production',
  } as const;
  const { format = 'json', limit = null, subject_task_id = null, ...filter } = asked;
  const scope = scopeOf(agent_id, filter, limit);
  const { signed } = await publishExport(publisher, agent_id, { scope, format, subject_task_id });
  return JSON.parse(signed ?? '') as JsonObject;
}

const verified = (document: JsonObject) => verifyPullExport(document, issuer.jwks, { base_url });
const coverageIn = ({ coverage }: JsonObject): JsonObject => (isJsonObject(coverage) ? coverage : {});

/** Computes the universe from the table by the rules of the specification, with code that shares nothing with ours. */
async function universeOf(agent_id: AgentId): Promise<{ hash: string; count: number }> {
  const rows = await store.query<Record<string, unknown>>({
    text: 'select * from book_row where agent_id = $1',
    values: [agent_id],
  });
  const sha = (text: string) => createHash('sha256').update(text, 'utf8').digest('hex');
  const lines = rows
    .map(row => ({ at: (row.collected_at as Date).toISOString(), id: row.task_id as string, row }))
    .sort((one, other) =>
      one.at < other.at ? -1 : one.at > other.at ? 1 : Buffer.compare(Buffer.from(one.id), Buffer.from(other.id)),
    )
    .map(({ at, id, row }) =>
      sha([id, row.evidence, row.amount === null ? '' : String(row.amount), row.payment_ref ?? '', at].join('|')),
    );
  return { hash: sha(lines.join('\n')), count: rows.length };
}

describe('the coverage of an export', () => {
  it('of a whole book: both hashes are what a stranger computes, and it verifies', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(anyRow, { minLength: 1, maxLength: 40 }), async rows => {
        const agent_id = await newBook(rows);
        const document = await published(agent_id);
        const { hash, count } = await universeOf(agent_id);
        expect(coverageIn(document)).toMatchObject({
          enumerated_hash: hash,
          universe_hash: hash,
          enumerated_count: count,
          universe_count: count,
          complete: true,
          truncated: false,
          empty_reason: null,
          omitted_by_policy_count: 0,
          filtered_out_count: 0,
        });
        expect(verified(document)).toMatchObject({ kind: 'valid' });
      }),
      { numRuns: 10 },
    );
  });

  it('of a window: what the limit leaves out is omitted, what a filter does is filtered, and the universe stays whole', async () => {
    const agent_id = await newBook([{ intent_id: 'a' }, { intent_id: 'b' }, { intent_id: 'a' }, { intent_id: 'a' }]);
    const document = await published(agent_id, {
      intentId: 'a',
      limit: 2,
      subject_task_id: `task_${agent_id}_${agent_id * 100_000 + 1}`,
    });
    const { hash } = await universeOf(agent_id);
    expect(coverageIn(document)).toMatchObject({
      payload_version: 1,
      book_id: agent_id,
      scope: { book_id: agent_id, from: null, to: null, filters: { evidence: null, intent_id: 'a' }, limit: 2 },
      order: 'collected_at then task_id',
      enumerated_count: 2,
      universe_count: 4,
      universe_hash: hash,
      complete: false,
      truncated: true,
      omitted_by_policy_count: 1,
      filtered_out_count: 1,
      subject_in_universe: true,
    });
    expect(verified(document)).toMatchObject({ kind: 'valid' });
    expect(coverageIn(await published(agent_id, { subject_task_id: 'task_of_nobody' }))).toMatchObject({
      subject_in_universe: false,
    });
  });

  it('of nothing that matches: empty_by_policy, with the hash of nothing', async () => {
    const agent_id = await newBook([{}]);
    const document = await published(agent_id, { evidence: 'a2a_escrow' });
    const nothing = createHash('sha256').update('').digest('hex');
    expect(coverageIn(document)).toMatchObject({
      empty_reason: 'empty_by_policy',
      enumerated_hash: nothing,
      enumerated_count: 0,
      complete: false,
    });
    expect(verified(document)).toMatchObject({ kind: 'valid' });
  });

  it('of a scan that did not finish: empty_by_drain, no hash and no row', async () => {
    const agent_id = await newBook([{}, {}]);
    const blocker = await store.connect();
    try {
      await blocker.query('begin; lock table book_row in access exclusive mode');
      const scope = scopeOf(agent_id, {}, null);
      const exported_at = new Date().toISOString();
      const built = await buildExport(store, { scope, subject_task_id: null, exported_at, base_url, scan_ms_max: 200 });
      expect(built.audit.rows).toEqual([]);
      expect(built.coverage).toMatchObject({
        empty_reason: 'empty_by_drain',
        enumerated_count: 0,
        enumerated_hash: null,
        universe_hash: null,
        universe_count: null,
        complete: false,
      });
    } finally {
      await blocker.end();
    }
  });
});

describe('a published export', () => {
  it('keeps its slug when it is built anew, and loses it when it is withdrawn', async () => {
    const agent_id = await newBook([{}]);
    const [first, again] = [await published(agent_id), await published(agent_id, { format: 'csv' })];
    expect(again).toMatchObject({ slug: first.slug, format: 'csv', document_media_type: 'text/csv' });
    expect(verified(again)).toMatchObject({ kind: 'valid' });
    expect(await withdrawExport(store, agent_id)).toEqual({ slug: first.slug });
    expect(await withdrawExport(store, agent_id)).toBeNull();
    expect((await published(agent_id)).slug).not.toBe(first.slug);
  });

  it('has the schema, the note and the key that a stranger checks it by', async () => {
    const document = await published(await newBook([{}]));
    const { kid } = issuer;
    expect(document).toMatchObject({
      schema: 'svc402.book_pull_export.v1',
      specimen: false,
      verify_jwks: `${base_url}/.well-known/jwks.json`,
      document: { schema: 'svc402.book_audit.v1', row_count: 1 },
      coverage: { schema: 'svc402.export_coverage.v1', issuer_signature: { alg: 'ES256', kid } },
      issuer_signature: { alg: 'ES256', kid, issuer_jwk: { kid, kty: 'EC', crv: 'P-256' } },
      pull_note: expect.any(String),
    });
    const bytes = JSON.stringify(document).match(/"document":(\{.*?\}),"document_media_type"/)?.[1] ?? '';
    expect(createHash('sha256').update(bytes).digest('hex')).toBe(document.document_sha256);
  });

  it('has a coverage that verifies by itself, and altered does not', async () => {
    const coverage = coverageIn(await published(await newBook([{}, {}]), { limit: 1 }));
    const keys = issuer.jwks as JsonObject;
    expect(verify(coverage, keys)).toMatchObject({ kind: 'export_coverage', valid: true });
    for (const path of paths(coverage))
      expect(verify(alter(coverage, path, old => `${old}x`) as JsonObject, keys).valid, path.join('.')).toBe(false);
  });

  it('is invalid where anything of it was touched', async () => {
    const document = await published(await newBook([{}, {}]), { limit: 1 });
    const coverage = coverageIn(document);
    const audit = document.document as JsonObject;
    const touched: [string, JsonObject][] = [
      ['copy_mismatch', { ...document, agent_id: 9 }],
      ['document_hash', { ...document, document: { ...audit, rows: [] } }],
      ['coverage_hash', { ...document, coverage: { ...coverage, complete: true } }],
      ['link_foreign', { ...document, verify_jwks: 'https://elsewhere.example/jwks.json' }],
      [
        'signature_invalid',
        {
          ...document,
          issuer_signature: {
            ...(document.issuer_signature as JsonObject),
            jws: `${String((document.issuer_signature as JsonObject).jws).slice(0, -8)}AAAAAAAA`,
          },
        },
      ],
    ];
    for (const [code, other] of touched) expect(verified(other)).toMatchObject({ kind: 'invalid', code });
    expect(verified({ ...document, more: 1 })).toMatchObject({
      kind: 'valid',
      report: { unsigned: { unknown: ['more'] } },
    });
  });
});
