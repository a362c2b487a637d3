import { createHash } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import type { z } from 'zod';
import type { PublishedExportNoun } from '../../schema/book/export.ts';
import type { JsonObject } from '../../schema/canonical-json.ts';
import { verifyPullExport } from '../../subgraphs/receipt/verify/pull-export.ts';
import { runCommand } from '../harness/commands/run.ts';
import { ask, type Service, sharedService } from '../harness/doors/open-service.ts';
import { ownFolder } from '../harness/scratch.ts';

type Agent = Awaited<ReturnType<Service['newAgent']>>;
type PublishedExport = z.infer<typeof PublishedExportNoun>;

let service: Service;
beforeAll(async () => {
  service = await sharedService();
});

const path = ({ agent_id }: Pick<Agent, 'agent_id'>) => `/v1/agents/${agent_id}/book/export/publish`;
const publish = (agent: Agent, body: JsonObject = {}) =>
  service.post<PublishedExport>(path(agent), { session: agent.session, ...body });
const withdraw = (agent: Agent) =>
  service.knock('DELETE', path(agent), { headers: { 'X-SVC-Session': agent.session } });
const pull = (slug: string, query = '', headers: Record<string, string> = {}) =>
  service.get<JsonObject>(`/public/export/${slug}${query}`, headers);

async function publishing(body: JsonObject = {}) {
  const agent = await service.newAgent();
  const { body: published } = await publish(agent, body);
  return { agent, published };
}

describe('POST /v1/agents/{agent_id}/book/export/publish', () => {
  it('200: an address that nobody guesses; again: the same, with what has come since', async () => {
    const { agent, published } = await publishing();
    expect(published).toMatchObject({ agent_id: agent.agent_id, row_count: 1, complete: true, empty_reason: null });
    expect(published.url).toBe(`${service.url}/public/export/${published.slug}`);
    expect(published.slug).toMatch(/^[\w-]{22}$/);
    await service.buy(agent.account, ask('Later'));
    expect((await pull(published.slug)).body).toMatchObject({ document: { row_count: 1 } });
    const again = (await publish(agent)).body;
    expect(again).toMatchObject({ slug: published.slug, published_at: published.published_at, row_count: 2 });
    expect((await pull(published.slug)).body).toMatchObject({ document: { row_count: 2 } });
  });

  it.each<[string, JsonObject]>([
    ['format', { format: 'html' }],
    ['limit', { limit: 0 }],
    ['from', { from: 'x' }],
    ['intent', { intent: 'misspelt' }],
    ['before', { before: 2 }],
  ])('400 on %s, and nothing is published', async (param, body) => {
    const agent = await service.newAgent();
    expect(await publish(agent, body)).toMatchObject({ status: 400, body: { error: { param } } });
    expect((await service.get(path(agent), { 'X-SVC-Session': agent.session })).status).toBe(404);
  });
});

describe('GET /v1/agents/{agent_id}/book/export/publish', () => {
  it('200 with what is published, 404 where nothing is', async () => {
    const { agent, published } = await publishing();
    const headers = { 'X-SVC-Session': agent.session };
    expect((await service.get(path(agent), headers)).body).toEqual(published);
    const other = await service.newAgent();
    expect((await service.get(path(other), { 'X-SVC-Session': other.session })).status).toBe(404);
  });
});

describe('DELETE /v1/agents/{agent_id}/book/export/publish', () => {
  it('200: its address is gone at once and for good, and what is published next has another', async () => {
    const { agent, published } = await publishing();
    expect((await withdraw(agent)).body).toMatchObject({ agent_id: agent.agent_id, slug: published.slug });
    expect((await pull(published.slug)).status).toBe(404);
    expect((await publish(agent)).body.slug).not.toBe(published.slug);
    expect((await pull(published.slug)).status).toBe(404);
  });

  it('404 where nothing is published', async () => {
    expect((await withdraw(await service.newAgent())).status).toBe(404);
  });
});

describe('GET /public/export/{slug}', () => {
  it('200 for anybody: the signed document, which verifies offline', async () => {
    const { agent, published } = await publishing();
    const { body, headers } = await pull(published.slug);
    expect(headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(body).toMatchObject({ schema: 'svc402.book_pull_export.v1', agent_id: agent.agent_id, specimen: true });
    const jwks = (await service.get('/.well-known/jwks.json')).body;
    expect(verifyPullExport(body, jwks, { base_url: service.url })).toMatchObject({ kind: 'valid' });
  });

  it('200 as CSV: the bytes whose hash the document signs', async () => {
    const { published } = await publishing();
    const { text, headers } = await pull(published.slug, '?format=csv');
    expect(headers.get('content-type')).toBe('text/csv; charset=utf-8');
    const { csv_sha256 } = (await pull(published.slug)).body;
    expect(createHash('sha256').update(text).digest('hex')).toBe(csv_sha256);
  });

  it('200 as CSV says in headers whether rows that match are not in it', async () => {
    const agent = await service.newAgent();
    await service.buy(agent.account, ask('Newest'));
    for (const [limit, truncated] of [
      [1, true],
      [200, false],
    ] as const) {
      const { body: published } = await publish(agent, { limit });
      expect(published).toMatchObject({ truncated, matching_count: 2, row_count: Math.min(limit, 2) });
      const { headers } = await pull(published.slug, '?format=csv');
      const said = ['X-SVC-Truncated', 'X-SVC-Matching-Count'].map(name => headers.get(name));
      expect(said).toEqual([String(truncated), '2']);
    }
  });

  it('200 whose document is the CSV, where its owner has published it so', async () => {
    const { published } = await publishing({ format: 'csv' });
    const { body } = await pull(published.slug);
    expect(body).toMatchObject({ format: 'csv', document_media_type: 'text/csv' });
    expect(body.document_sha256).toBe(createHash('sha256').update(String(body.document)).digest('hex'));
    const jwks = (await service.get('/.well-known/jwks.json')).body;
    expect(verifyPullExport(body, jwks, { base_url: service.url })).toMatchObject({ kind: 'valid' });
  });

  it('304 to whoever has it still, 200 once it was built anew', async () => {
    const { agent, published } = await publishing();
    const tag = (await pull(published.slug)).headers.get('etag') ?? '';
    const again = () => pull(published.slug, '', { 'if-none-match': tag });
    expect((await again()).status).toBe(304);
    await service.buy(agent.account, ask('More'));
    expect((await again()).status).toBe(304);
    await publish(agent);
    expect((await again()).status).toBe(200);
  });

  it('400 on another format, 404 on a slug that is none', async () => {
    const { published } = await publishing();
    expect((await pull(published.slug, '?format=html')).status).toBe(400);
    for (const slug of ['x', `${published.slug}x`, String(published.agent_id)])
      expect((await pull(slug)).status).toBe(404);
  });
});

describe('npm run verify', () => {
  it('says of a pulled export that it is valid, and of one that was touched what is wrong', async () => {
    const { published } = await publishing();
    const { body } = await pull(published.slug);
    const file = join(await ownFolder(), 'export.json');
    const verify = (source: string) => runCommand('gateway/commands/verify.ts', [source]);
    expect(await verify(published.url)).toMatchObject({ code: 0, text: expect.stringContaining('Valid: export') });
    await writeFile(file, JSON.stringify({ ...body, document: { ...(body.document as JsonObject), row_count: 9 } }));
    expect(await verify(file)).toMatchObject({ code: 1, text: expect.stringContaining('(document_hash)') });
  });
});
