import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { examine } from '../../gateway/commands/verify/examine.ts';
import { linesOf } from '../../gateway/commands/verify/lines.ts';
import { filesInZip, type ZipFile, zipOf } from '../../schema/audit/zip.ts';
import { isJsonObject, type JsonObject } from '../../schema/canonical-json.ts';
import { verifyBundle } from '../../subgraphs/receipt/verify/bundle.ts';
import { inflowDoorsOf } from '../harness/doors/inflows.ts';
import { onGraph } from '../harness/doors/on-graph.ts';
import { ask, CHAT, type Service, sharedService } from '../harness/doors/open-service.ts';
import { policyDoorsOf } from '../harness/doors/policies.ts';
import { ownFolder } from '../harness/scratch.ts';

let service: Service;
let agent: Awaited<ReturnType<Service['newAgent']>>;
let bundle: Uint8Array;
let jwks: JsonObject;
beforeAll(async () => {
  service = await sharedService();
  agent = await service.newAgent();
  const session = { 'X-SVC-Session': agent.session };
  await service.buy(agent.account, ask('One of the bundle', { intent_id: 'bill', attempt_index: 0 }), session);
  await service.post(CHAT, ask('By key'), { authorization: 'Bearer a-live-key', ...session });
  await inflowDoorsOf(() => service).record(agent, { allocation: '2000' });
  const book = policyDoorsOf(service);
  await book.set(agent, 'kill_switch', true);
  await book.chatToRefusal(agent, ask('Refused'));
  jwks = (await service.jwks()) as JsonObject;
  bundle = (await fetchBundle()).bytes;
});

async function fetchBundle(query = '') {
  const answer = await fetch(`${service.url}/v1/agents/${agent.agent_id}/book/export?format=bundle${query}`, {
    headers: { 'X-SVC-Session': agent.session },
  });
  return { answer, bytes: new Uint8Array(await answer.arrayBuffer()) };
}

const filesOf = (archive: Uint8Array): ZipFile[] =>
  [...(filesInZip(archive) ?? [])].map(([name, bytes]) => ({ name, bytes }));
const jsonIn = (name: string): JsonObject => {
  const found: unknown = JSON.parse(Buffer.from(filesInZip(bundle)?.get(name) ?? '').toString());
  return isJsonObject(found) ? found : {};
};
const rows = () => jsonIn('export.json').rows as readonly JsonObject[];
/** The bundle with some files replaced. Null removes a file. */
const changed = (files: Readonly<Record<string, JsonObject | string | null>>) =>
  zipOf([
    ...filesOf(bundle).filter(({ name }) => !(name in files)),
    ...Object.entries(files).flatMap(([name, content]) =>
      content === null
        ? []
        : [{ name, bytes: Buffer.from(typeof content === 'string' ? content : JSON.stringify(content)) }],
    ),
  ]);

describe('GET /v1/agents/{agent_id}/book/export?format=bundle', () => {
  it('200: a zip archive with the audit pack and all that it can be checked by', async () => {
    const { answer } = await fetchBundle();
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'application/zip']);
    expect(answer.headers.get('x-svc-truncated')).toBe('false');
    const names = filesOf(bundle).map(({ name }) => name);
    expect(names).toEqual(
      expect.arrayContaining(['export.json', 'jwks.json', 'issuer-history.json', 'log/checkpoint', 'log/head.json']),
    );
    expect(names.filter(name => name.startsWith('receipts/'))).toHaveLength(3);
    expect(names.filter(name => name.startsWith('proofs/'))).toHaveLength(3);
    expect(names.filter(name => name.startsWith('refusals/'))).toHaveLength(1);
    expect(rows()).toHaveLength(5);
    for (const row of rows())
      expect(row).toMatchObject({ seq: expect.any(Number), row_hash: expect.stringMatching(/^[0-9a-f]{64}$/) });
  });

  it('verifies offline: rows, receipts and proofs against each other', () => {
    expect(verifyBundle(bundle, jwks)).toMatchObject({
      kind: 'valid',
      claims: {
        agent_id: agent.agent_id,
        rows: 5,
        receipts: 3,
        refusals: 1,
        receipts_signed_for_it: 3,
        inflow_claims: 1,
        rows_without_document: 0,
      },
    });
  });

  it('the same on the graph, in base64', async () => {
    const query = 'query ($agentId: Int!) { bookExport(agentId: $agentId) { bundle } }';
    const { data } = await onGraph<{ bookExport: { bundle: string } }>(
      service,
      query,
      { agentId: agent.agent_id },
      agent.session,
    );
    expect(verifyBundle(Buffer.from(data?.bookExport.bundle ?? '', 'base64'), jwks).kind).toBe('valid');
  });

  it('a part of the book says that it is one', async () => {
    const { answer, bytes } = await fetchBundle('&limit=2');
    expect(answer.headers.get('x-svc-truncated')).toBe('true');
    expect(verifyBundle(bytes, jwks)).toMatchObject({
      kind: 'valid',
      claims: { rows: 2 },
      report: {
        unchecked: expect.arrayContaining([expect.stringContaining('5 rows match, but no signature covers that')]),
      },
    });
  });

  it('says nothing as verified of what the pack alone says', () => {
    const said = verifyBundle(changed({ 'export.json': { ...jsonIn('export.json'), exported_at: 'never' } }), jwks);
    expect(said.kind === 'valid' && [Object.keys(said.claims), said.report.unsigned.lane]).toEqual([
      expect.not.arrayContaining(['exported_at', 'truncated', 'matching_count']),
      expect.arrayContaining(['exported_at', 'truncated', 'matching_count'].map(name => `export.json: ${name}`)),
    ]);
  });
});

describe('a bundle that was altered', () => {
  const withRow = (index: number, members: JsonObject) => ({
    ...jsonIn('export.json'),
    rows: rows().map((row, at) => (at === index ? { ...row, ...members } : row)),
  });
  const paid = () => rows().findIndex(({ intent_id }) => intent_id === 'bill');
  const claimed = () => rows().findIndex(({ inflow_claim }) => isJsonObject(inflow_claim));
  const refused = () => rows().findIndex(({ evidence }) => evidence === 'policy_blocked');
  const taskOf = (index: number) => String(rows()[index]?.task_id);

  it.each<[what: string, code: string, change: () => Readonly<Record<string, JsonObject | string | null>>]>([
    [
      'a row left out',
      'pack_contradicts_itself',
      () => ({ 'export.json': { ...jsonIn('export.json'), rows: rows().slice(1) } }),
    ],
    [
      'a row left out, and counted as if it never was',
      'pack_contradicts_itself',
      () => ({ 'export.json': { ...jsonIn('export.json'), rows: rows().slice(1), row_count: rows().length - 1 } }),
    ],
    ...Object.entries({
      payer_wallet: `0x${'1'.repeat(40)}`,
      model: 'another',
      hub: 'another',
      rail: 'xno',
      intent_id: 'another',
      attempt_index: 7,
      transfer_index: 99_999,
      delegation_hash: `0x${'1'.repeat(64)}`,
    }).map(
      ([name, value]) =>
        [`another ${name}`, 'row_differs', () => ({ 'export.json': withRow(paid(), { [name]: value }) })] as [
          string,
          string,
          () => Readonly<Record<string, JsonObject | string | null>>,
        ],
    ),
    ...Object.entries({ amount: '2000', bucket: 'another', payment_ref: 'base:0x01' }).map(
      ([name, value]) =>
        [
          `another ${name} of an inflow`,
          'row_differs',
          () => ({ 'export.json': withRow(claimed(), { [name]: value }) }),
        ] as [string, string, () => Readonly<Record<string, JsonObject | string | null>>],
    ),
    ['another amount', 'row_differs', () => ({ 'export.json': withRow(paid(), { amount: '1' }) })],
    ['another payment_ref', 'row_differs', () => ({ 'export.json': withRow(paid(), { payment_ref: 'base:0x01' }) })],
    ['another seq', 'row_differs', () => ({ 'export.json': withRow(paid(), { seq: 99 }) })],
    ['another seq of a refusal', 'row_differs', () => ({ 'export.json': withRow(refused(), { seq: 99 }) })],
    ['another book', 'row_differs', () => ({ 'export.json': { ...jsonIn('export.json'), agent_id: 999_999 } })],
    ['a receipt left out', 'document_missing', () => ({ [`receipts/${taskOf(paid())}.json`]: null })],
    ['a proof left out', 'not_in_log', () => ({ [`proofs/${taskOf(paid())}`]: null })],
    [
      'a receipt altered',
      'receipt_invalid',
      () => ({ [`receipts/${taskOf(paid())}.json`]: { ...jsonIn(`receipts/${taskOf(paid())}.json`), amount: '1' } }),
    ],
    ['another checkpoint', 'checkpoint_invalid', () => ({ 'log/checkpoint': 'none' })],
    ['another head', 'checkpoint_invalid', () => ({ 'log/head.json': {} })],
    [
      'another history',
      'histories_invalid',
      () => ({ 'issuer-history.json': { ...jsonIn('issuer-history.json'), version: 9 } }),
    ],
    ['a file more', 'document_missing', () => ({ 'notes.txt': 'paid in full' })],
  ])('%s: %s', (_, code, change) => {
    expect(verifyBundle(changed(change()), jwks)).toMatchObject({ kind: 'invalid', code });
  });

  it('and by a stranger’s keys is not valid, and neither is what is no archive', () => {
    expect(verifyBundle(bundle, { keys: [] })).toMatchObject({ kind: 'invalid', code: 'histories_invalid' });
    expect(verifyBundle(bundle.subarray(1), jwks)).toMatchObject({ kind: 'invalid', code: 'malformed' });
  });
});

describe('npm run verify -- bundle.zip', () => {
  it('tells what was checked, and what its receipts come to', async () => {
    const folder = await ownFolder();
    await writeFile(join(folder, 'bundle.zip'), bundle);
    const lines = linesOf(await examine(join(folder, 'bundle.zip'), {}, new Map()));
    expect(lines).toContainEqual('  ok    Each receipt is in the log under that checkpoint (inclusion proof).');
    expect(lines).toContainEqual(expect.stringContaining('Valid: 5 rows, by '));
    expect(lines).toContainEqual(expect.stringContaining(`sign that they belong to book ${agent.agent_id}.`));
    expect(lines).toContainEqual(
      expect.stringMatching(/^Spend whose transfer was seen: 0\.004 USDC by 0x\w{40} on base \(2 receipts\)\.$/),
    );
    expect(lines.join('\n')).not.toMatch(/all rows/);
    expect(lines).toContainEqual('Whether rows were left out cannot be verified, because no signature covers that.');
  });
});
