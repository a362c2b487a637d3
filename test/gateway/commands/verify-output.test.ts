import { mkdir, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { documentsIn } from '../../../gateway/commands/verify/directory.ts';
import { documentOutcome, examine } from '../../../gateway/commands/verify/examine.ts';
import { examinedJson } from '../../../gateway/commands/verify/json.ts';
import { lineOf, linesOf, linesOfTally } from '../../../gateway/commands/verify/lines.ts';
import { verifierPage } from '../../../gateway/verifier-page/page.ts';
import { openTally } from '../../../schema/audit/receipt-tally.ts';
import { isJsonObject, type JsonObject } from '../../../schema/canonical-json.ts';
import { documentEndings } from '../../../subgraphs/receipt/verify/read-document.ts';
import { fixtureKeys, keptDocuments, keptNamed } from '../../harness/fixtures/signed-documents.ts';
import { ownFolder } from '../../harness/scratch.ts';

/* What `npm run verify` answers an auditor, of documents that a service has signed. Its command line is in verify-modes.test.ts. */

let folder: string;
beforeAll(async () => {
  folder = await ownFolder();
  await Promise.all(
    Object.entries(fixtureKeys).map(([name, keys]) => writeFile(join(folder, `${name}.jwks`), JSON.stringify(keys))),
  );
});

const documentOf = (name: string): JsonObject => {
  const { document } = keptNamed(name);
  return isJsonObject(document) ? document : {};
};

/** As the command examines a file. */
async function examined(name: string, document = documentOf(name)) {
  const file = join(folder, `${name}.json`);
  await writeFile(file, JSON.stringify(document));
  const { keys = 'service' } = keptNamed(name);
  return examine(file, { jwks: join(folder, `${keys}.jwks`) }, new Map());
}
const linesFor = async (name: string) => linesOf(await examined(name));

describe('npm run verify -- FILE: what a receipt says of money', () => {
  it.each<[name: string, line: RegExp]>([
    ['payment_base', /^Paid: 0\.002 USDC by 0x\w{40} to 0x\w{40} in base:0x\w{64}\.$/],
    ['payment_solana', /^Paid: 0\.002 USDC by \w+ to \w+ in solana:\w+\.$/],
    ['job_legs', /^Paid: 1\.517002 USDC by 0x\w{40} to 0x\w{40} in base:0x\w{64}\.$/],
    ['vouched_pending', /^Payment pending: 0\.002 USDC by .* \(not spend\)\.$/],
    ['vouched_given_up', /^Payment not found: 0\.002 USDC by .* \(not spend\)\.$/],
    ['vouched_arrived', /^Paid, by the issuer’s unsigned word: 0\.002 USDC by .* \(not spend\)\.$/],
    ['ingest', /^Paid to somebody else: 2\.50 USDC by .* in base:0x\w{64}\.$/],
    ['ingest_unproven', /^Transfer by an unproven payer: 2\.50 USDC by .* \(not spend\)\.$/],
    ['api_key', /^Nothing was paid: an API key was used \(not spend\)\.$/],
    ['demo_key', /^Nothing was paid: a demo key was used \(not spend\)\.$/],
    ['hand_off', /^Nothing was paid: the receipt was handed off \(not spend\)\.$/],
    ['router_broadcast', /^Nothing was paid to this service \(not spend\)\.$/],
  ])('%s', async (name, line) => {
    const lines = await linesFor(`receipt_${name}`);
    expect(lines.filter(each => line.test(each))).toHaveLength(1);
  });

  it('as JSON', async () => {
    const { spend } = JSON.parse(examinedJson(await examined('receipt_payment_base')));
    expect(spend).toMatchObject({ lane: 'paid', is_spend: true, amount: '2000', network: 'base', rail: 'usdc' });
    expect(JSON.parse(examinedJson(await examined('receipt_api_key'))).spend).toMatchObject({
      lane: 'by_key',
      is_spend: false,
      payment_ref: null,
    });
  });

  it('checks that held carry no fault codes', async () => {
    const { checks } = JSON.parse(examinedJson(await examined('receipt_payment_base')));
    expect(checks.length).toBeGreaterThan(10);
    for (const check of checks) expect(Object.keys(check)).toEqual(['sentence']);
  });
});

describe('npm run verify -- FILE: which rows an export has', () => {
  it('rows covered of how many, filters, and whether it is complete', async () => {
    const cut = await linesFor('export_cut');
    expect(cut).toContainEqual(
      expect.stringMatching(/^The export has 2 of \d+ rows of the book: it is NOT complete\.$/),
    );
    expect(cut).toContainEqual(
      expect.stringMatching(/^Filters: limit 2\. Rows omitted by filters: 0; by the limit: \d+\.$/),
    );
    for (const name of ['export_json', 'export_csv'])
      expect(await linesFor(name)).toContainEqual(
        expect.stringMatching(/^The export has (\d+) of \1 rows of the book: it is complete\.$/),
      );
  });

  it('as JSON, and in the line of a directory', async () => {
    const cut = await examined('export_cut');
    expect(JSON.parse(examinedJson(cut)).covers).toMatchObject({
      rows: 2,
      complete: false,
      filtered_out: 0,
      filters: { limit: 2, from: null, to: null },
    });
    expect(lineOf(cut)).toMatch(/: 2 of \d+ rows; NOT complete$/);
  });

  it('an audit pack is recognised, as what nobody has signed: neither valid nor not', async () => {
    const pack = await examined('audit_pack');
    expect([pack.kind, documentOutcome(pack), pack.verified.fault?.code]).toEqual([
      'audit_pack',
      'unknown',
      'not_signed',
    ]);
    expect(linesOf(pack)).toContainEqual(expect.stringContaining('An audit pack is not signed'));
    const { rows, ...rest } = documentOf('audit_pack');
    const short = await examined('audit_pack', { ...rest, rows: (rows as readonly JsonObject[]).slice(1) });
    expect([documentOutcome(short), short.verified.fault?.code]).toEqual(['invalid', 'rows_miscounted']);
  });
});

describe('npm run verify -- FILE: a key set', () => {
  it('is recognised, and how to use it is said', async () => {
    const { verified } = await examine(join(folder, 'service.jwks'), {}, new Map());
    expect(verified.fault).toEqual({
      code: 'not_signed',
      sentence:
        'This is a key set, which is not signed as a whole. Use it to verify other documents, after you have compared it with a key set that you already trust.',
    });
  });
});

describe('npm run verify -- DIR', () => {
  it('reads files of every ending that the page for browsers takes', async () => {
    const mixed = join(folder, 'mixed');
    await mkdir(mixed);
    const checkpoint = keptNamed('checkpoint').text ?? '';
    for (const name of ['one.txt', 'two.NOTE', 'notes.md']) await writeFile(join(mixed, name), checkpoint);
    await writeFile(join(mixed, 'three.tlog-proof'), keptNamed('log_proof').text ?? '');
    const { documents, skipped } = await documentsIn(mixed);
    expect([documents.map(file => basename(file)), skipped]).toEqual([['one.txt', 'three.tlog-proof', 'two.NOTE'], 1]);
    for (const file of documents) {
      const { verified } = await examine(file, { jwks: join(folder, 'service.jwks') }, new Map());
      expect(verified.fault, file).toBeNull();
    }
    for (const ending of documentEndings) expect(verifierPage('')).toMatch(new RegExp(`accept="[^"]*\\${ending}[,"]`));
  });

  it('sums up what was seen to be paid by payer and network, each receipt and each transfer once', async () => {
    const many = join(folder, 'many');
    await mkdir(many);
    const kept = keptDocuments.filter(({ kind, keys }) => kind === 'receipt' && keys === undefined);
    for (const { name, document } of kept) await writeFile(join(many, `${name}.json`), JSON.stringify(document));
    // The same receipt in other forms.
    await writeFile(join(many, 'audit.json'), JSON.stringify(documentOf('receipt_audit_payment_base')));
    await writeFile(join(many, 'one.jwt'), keptNamed('credential').text ?? '');
    await writeFile(join(many, 'one.cose'), Buffer.from(keptNamed('statement').text ?? '', 'base64'));
    const tally = openTally();
    for (const file of (await documentsIn(many)).documents) {
      const { verified, spend } = await examine(file, { jwks: join(folder, 'service.jwks') }, new Map());
      expect(verified.fault, file).toBeNull();
      if (spend) tally.add(verified.claims ?? {}, spend);
    }
    const { receipts, duplicates, transfers_repeated, spend, not_counted, lanes } = tally.tally();
    // `svc_of_answer` is the answer that brought one of them.
    expect([receipts, duplicates, transfers_repeated]).toEqual([kept.length - 1, 4, 0]);
    expect(lanes).toMatchObject({ paid: expect.any(Number), by_key: 1, by_demo_key: 1, handed_on: 1, reported: 3 });
    const networks = spend.map(({ network, rail }) => `${network} ${rail}`);
    expect(new Set(networks)).toEqual(new Set(['base usdc', 'solana usdc']));
    const [own] = spend.filter(({ payer }) => payer === documentOf('receipt_payment_base').payer_wallet);
    // Its calls here, and what it had paid to others.
    expect(own).toMatchObject({
      network: 'base',
      receipts: expect.any(Number),
      amount: expect.stringMatching(/^\d+$/),
    });
    expect(not_counted.map(({ rail }) => rail).sort()).toEqual(['usdc', 'xno']);
    expect(linesOfTally(tally.tally())[0]).toContain('4 more documents of these receipts');
  });

  it('marks a receipt with a warning', async () => {
    const receipt = documentOf('receipt_payment_base');
    expect(lineOf(await examined('receipt_payment_base', { ...receipt, discount: '1' }))).toMatch(
      /^ {2}WARN {2}.*; discount is not signed$/,
    );
    const broken = { ...receipt, signature: { ...(receipt.signature as JsonObject), value: 'AA' } };
    expect(lineOf(await examined('receipt_payment_base', broken))).toMatch(/^ {2}WARN {2}.*; signature is broken$/);
  });
});
