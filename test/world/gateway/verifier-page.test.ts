import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import type { Browser, Page } from 'playwright-core';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Json, JsonObject } from '../../../schema/canonical-json.ts';
import { openEmptyPage } from '../../harness/doors/browser/open-browser.ts';
import { fixtureKeys, keptDocuments, keptNamed } from '../../harness/fixtures/signed-documents.ts';
import { makeAuditDocument } from '../../harness/receipt/audit-document.ts';
import { alter, issue, issuer, otherIssuer } from '../../harness/receipt/issue.ts';
import { ROOT } from '../../harness/root.ts';
import { ownFolder } from '../../harness/scratch.ts';
import { paidCall } from '../../harness/vectors/receipt-facts.ts';

/* dist/verify/verify.html, opened from a disk. */

let folder: string;
let browser: Browser;
let page: Page;
let reached: string[];
let faults: string[];
const documents: Record<string, JsonObject> = {};
beforeAll(async () => {
  const [own, opened] = await Promise.all([ownFolder(), openEmptyPage()]);
  folder = own;
  browser = opened.context().browser() as Browser;
  await promisify(execFile)(process.execPath, ['gateway/commands/build-client.ts', folder], { cwd: ROOT });
  const [receipt, audit] = await Promise.all([issue(paidCall), makeAuditDocument(paidCall)]);
  Object.assign(documents, { receipt, audit });
});

beforeEach(async () => {
  const context = await browser.newContext();
  page = await context.newPage();
  [reached, faults] = [[], []];
  page.on('request', request => void reached.push(request.url()));
  page.on('websocket', socket => void reached.push(socket.url()));
  page.on('pageerror', fault => void faults.push(String(fault)));
  page.on('console', message => void (message.type() === 'error' && faults.push(message.text())));
  await context.route('**/*', route => (route.request().url().startsWith('file:') ? route.continue() : route.abort()));
  await page.goto(pathToFileURL(join(folder, 'verify/verify.html')).href);
  await page.locator('body[data-ready=true]').waitFor();
});

afterEach(async () => {
  // After any drop the page has made no request, and the browser has reported no error.
  expect(reached.filter(url => !url.startsWith('data:'))).toEqual([
    pathToFileURL(join(folder, 'verify/verify.html')).href,
  ]);
  expect(faults).toEqual([]);
  await page.context().close();
});

type Files = Readonly<Record<string, Json | string>>;
const textOf = (content: Json | string) => (typeof content === 'string' ? content : JSON.stringify(content));

/** Drops files on the page, as a browser does. */
async function drop(files: Files): Promise<void> {
  const texts = Object.entries(files).map(([name, content]) => [name, textOf(content)] as const);
  const transfer = await page.evaluateHandle(given => {
    type Made = new (...args: readonly unknown[]) => { readonly items: { add(file: unknown): void } };
    const { DataTransfer: Transfer, File: Dropped } = globalThis as unknown as { DataTransfer: Made; File: Made };
    const carried = new Transfer();
    for (const [name, text] of given) carried.items.add(new Dropped([text], name, { type: 'application/json' }));
    return carried;
  }, texts);
  await page.dispatchEvent('body', 'drop', { dataTransfer: transfer });
}

const cards = () =>
  page.locator('section.document').evaluateAll(sections =>
    (sections as unknown as { dataset: { status: string }; querySelector(of: string): { textContent: string } }[]).map(
      section => ({
        status: section.dataset.status,
        file: section.querySelector('h2').textContent,
        headline: section.querySelector('.headline').textContent,
        detail: section.querySelector('.detail').textContent,
      }),
    ),
  );
const keys = () => ({ 'jwks.json': issuer.jwks as JsonObject });
const show = async (name: string) => {
  const to = process.env.SVC_TEST_SCREENSHOTS;
  if (to) await page.screenshot({ path: join(to, `${name}.png`), fullPage: true });
};

describe('what is dropped', () => {
  it('a receipt of a real chain leads to its explorer, and one of a chain that stood in does not', async () => {
    const receipt = await issue({ ...paidCall, profile: 'production' });
    await drop({ 'receipt.json': receipt as JsonObject, ...keys() });
    const link = page.getByRole('link', { name: 'Look it up on BaseScan' });
    await link.waitFor();
    const transaction = String(paidCall.payment?.ref).slice('base:'.length);
    expect(await link.getAttribute('href')).toBe(`https://basescan.org/tx/${transaction}`);
    expect(await link.getAttribute('rel')).toBe('noreferrer noopener');
    await drop({ 'development.json': documents.receipt ?? {} });
    await expect.poll(async () => (await cards()).length).toBe(2);
    expect(await link.count()).toBe(1);
  });

  it('a good receipt and its issuer’s key set: valid, and what was bought is told', async () => {
    await drop({ 'receipt.json': documents.receipt ?? {}, ...keys() });
    await expect.poll(cards).toMatchObject([
      {
        status: 'passed',
        file: 'receipt.json',
        headline: 'This receipt is valid. Paid: 0.002 USDC',
        detail: expect.stringContaining('jwks.json'),
      },
    ]);
    expect(await page.locator('dl').textContent()).toContain('0.002 USDC');
    expect(await page.locator('.profile strong').textContent()).toBe('development');
    expect(await page.locator('.checks li[data-status=passed]').count()).toBeGreaterThanOrEqual(12);
    await show('good');
  });

  it('a receipt alone: not checked, until the key set comes', async () => {
    await drop({ 'receipt.json': documents.receipt ?? {} });
    await expect.poll(cards).toMatchObject([{ status: 'open', headline: 'Not checked' }]);
    await drop(keys());
    await expect.poll(cards).toMatchObject([{ status: 'passed' }]);
  });

  it('a receipt and a stranger’s key set: NOT valid, until that of its issuer comes', async () => {
    await drop({ 'receipt.json': documents.receipt ?? {}, 'others.json': otherIssuer.jwks as JsonObject });
    await expect
      .poll(cards)
      .toMatchObject([{ status: 'failed', detail: expect.stringContaining('signature_invalid') }]);
    await drop(keys());
    await expect.poll(cards).toMatchObject([{ status: 'passed', detail: expect.stringContaining('jwks.json') }]);
  });

  it('a key set that comes last among the files of one drop is read first', async () => {
    await drop({ 'a.json': documents.receipt ?? {}, 'b.json': documents.receipt ?? {}, ...keys() });
    await expect.poll(async () => (await cards()).map(({ status }) => status)).toEqual(['passed', 'passed']);
    expect(await page.locator('#summary').textContent()).toContain('1 more documents of these receipts');
  });

  it.each<[what: string, path: string]>([
    ['the amount', 'amount'],
    ['the payload', 'payload.hub'],
    ['the token', 'issuer_signature.jws'],
    ['the raw value', 'issuer_signature.value'],
  ])('a receipt with %s altered: NOT valid, and what it says is struck out', async (_, path) => {
    const forged = alter(documents.receipt ?? {}, path.split('.'), old => `${String(old).slice(0, -4)}AAAA`);
    await drop({ ...keys(), 'forged.json': forged });
    await expect.poll(cards).toMatchObject([{ status: 'failed', headline: 'This receipt is NOT valid' }]);
    expect(await page.locator('dl').count()).toBe(0);
    await show('tampered');
  });

  it('a broken second signature: named, beside the one that is enough', async () => {
    const { signature } = documents.receipt as { signature: JsonObject };
    await drop({ ...keys(), 'one.json': { ...documents.receipt, signature: { ...signature, value: 'AA' } } });
    await expect.poll(cards).toMatchObject([{ status: 'passed' }]);
    expect(await page.locator('.checks li[data-status=failed]').textContent()).toContain(
      'signature is not a valid signature',
    );
  });

  it('an audit document: by the keys that it brings, the log’s proofs and both signatures', async () => {
    await drop({ 'audit.json': documents.audit ?? {} });
    await expect.poll(cards).toMatchObject([
      {
        status: 'passed',
        headline: 'This audit document of a receipt is valid. Paid: 0.002 USDC',
        detail: expect.stringContaining('that it contains'),
      },
    ]);
    expect(await page.locator('.checks').textContent()).toContain(
      'The log was only appended to since the receipt was signed (consistency proof).',
    );
    await show('audit');
    const forged = alter(documents.audit ?? {}, ['log', 'consistency', 'proof'], () => []);
    await drop({ 'forged.json': forged });
    await expect
      .poll(cards)
      .toMatchObject([{ status: 'failed', detail: expect.stringContaining('log_rewritten') }, {}]);
  });

  it('rubbish: named as no document, and nothing of it is markup', async () => {
    const evil = '<img src=x onerror=alert(1)><script>alert(1)</script>';
    await drop({ 'text.json': 'no json', 'list.json': [], 'empty.json': {}, ...keys() });
    await expect.poll(async () => (await cards()).map(({ status }) => status)).toEqual(Array(3).fill('failed'));
    await drop({ [`${evil.slice(0, 24)}.json`]: { ...documents.receipt, [evil]: evil } });
    await expect.poll(async () => (await cards()).length).toBe(4);
    expect((await cards())[0]).toMatchObject({ status: 'passed', file: '<img src=x onerror=alert.json' });
    expect(await page.locator('main img, main script').count()).toBe(0);
    expect(await page.locator('.checks').first().textContent()).toContain(evil);
    await show('rubbish');
  });

  it('the same by choosing files, and a file that is too long is not read', async () => {
    const long = join(folder, 'long.json');
    await writeFile(long, Buffer.alloc(9 * 1024 * 1024, 0x20));
    await page.locator('#files').setInputFiles([long]);
    await expect.poll(cards).toMatchObject([{ status: 'failed', detail: expect.stringContaining('longer than') }]);
  });
});

describe('many documents', () => {
  const MANY = 10_000;
  /** Number of receipts. The other documents are audit packs, whose signatures the page does not verify. */
  const RECEIPTS = 200;

  it('10,000 documents: a table with what is wrong first, a summary, and what was left out', async () => {
    const one = JSON.stringify(documents.receipt);
    const pack = JSON.stringify(keptNamed('audit_pack').document);
    const forged = JSON.stringify(alter(documents.receipt ?? {}, ['amount'], () => '1'));
    await page.evaluate(
      ([text, other, unsigned, keys, receipts, many]) => {
        type Made = new (...args: readonly unknown[]) => { readonly items: { add(file: unknown): void } };
        const browser = globalThis as unknown as Record<'DataTransfer' | 'File', Made> & {
          dispatchEvent(event: unknown): void;
          Event: new (name: string) => object;
        };
        const carried = new browser.DataTransfer();
        for (let at = 0; at < many; at++)
          carried.items.add(new browser.File([at === 70 ? other : at < receipts ? text : unsigned], `${at}.json`));
        carried.items.add(new browser.File([text], 'one too many.json'));
        carried.items.add(new browser.File([keys], 'jwks.json'));
        browser.dispatchEvent(Object.assign(new browser.Event('drop'), { dataTransfer: carried }));
      },
      [one, forged, pack, JSON.stringify(issuer.jwks), RECEIPTS, MANY] as const,
    );
    await expect.poll(() => page.locator('progress').count(), { timeout: 60_000 }).toBe(1);
    await expect.poll(() => page.evaluate('document.body.dataset.shown'), { timeout: 200_000 }).toBe(String(MANY));
    const summary = (await page.locator('#summary').textContent()) ?? '';
    expect(summary).toContain('10000 documents: 199 valid, 1 NOT valid, 9800 to look closer at.');
    expect(summary).toContain('1 receipts. Not counted again: 198 more documents of these receipts');
    expect(summary).toContain(
      'Spend whose transfer was seen: 0.002 USDC by 0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
    );
    expect(summary).toContain('Left out: 1 documents beyond 10000');
    expect(await page.locator('tbody tr').count()).toBe(MANY);
    expect(await page.locator('tbody tr').first().textContent()).toContain('70.json');
    await page.locator('tbody tr button').first().click();
    expect(await page.locator('#details .headline').textContent()).toBe('This receipt is NOT valid');
    await page.setViewportSize({ width: 1200, height: 900 });
    const to = process.env.SVC_TEST_SCREENSHOTS;
    if (to) await page.screenshot({ path: join(to, 'many.png') });
  });

  it('documents of every kind that the service signs, and text that is pasted', async () => {
    const json = keptDocuments.filter(({ document, keys: of }) => document !== undefined && of === undefined);
    // Leaves out a book, which is no document, a proof alone, which states nothing, and typed data, which is stored here without its
    // signature.
    const signed = json.filter(({ kind }) => !['book', 'typed_data', 'inclusion', 'consistency'].includes(kind));
    const texts = signed.map(({ document, signature, signer }) =>
      JSON.stringify(signature === undefined ? document : { ...(document as JsonObject), signature, signer }),
    );
    await page.locator('#text').fill([...texts, keptNamed('credential').text ?? ''].join('\n'));
    await page.locator('#paste button').click();
    await drop({ 'jwks.json': fixtureKeys.service });
    await expect.poll(() => page.locator('tbody tr').count()).toBe(signed.length + 1);
    expect(await page.locator('tr[data-status=failed]').count()).toBe(0);
    await expect.poll(() => page.locator('#summary').textContent()).toContain(`${signed.length + 1} documents: `);
    const opened = () => page.locator('tr[data-status=open]').allTextContents();
    // The key set was dropped last, and must apply to the earlier documents too.
    await expect.poll(async () => (await opened()).filter(row => row.includes('Not checked'))).toEqual([]);
    const open = await opened();
    expect(open.length).toBeGreaterThan(3);
    for (const row of open) expect(row).toMatch(/is not signed|unproven payer|Nothing was paid to this service/);
    const to = process.env.SVC_TEST_SCREENSHOTS;
    if (to) await page.screenshot({ path: join(to, 'kinds.png'), fullPage: true });
  });
});

describe('what is signed beside receipts', () => {
  it.each<[name: string, text: string, headline: string]>([
    ['a checkpoint', keptNamed('checkpoint').text ?? '', 'This checkpoint of the log is valid'],
    ['a proof of the log', keptNamed('log_proof').text ?? '', 'This proof of the log is valid'],
    ['a message’s HMAC', `sha256=${'ab'.repeat(32)}`, 'This signature by a shared secret cannot be decided here'],
  ])('%s, pasted', async (_, text, headline) => {
    await drop({ 'jwks.json': fixtureKeys.service });
    await page.locator('#text').fill(text);
    await page.locator('#paste button').click();
    await expect.poll(cards).toMatchObject([{ headline }]);
  });

  it.each(['text_register_pay', 'text_approval'])('%s: by its signer, without a key set', async name => {
    const { text = '', signer = '', signature = '' } = keptNamed(name);
    await drop({ 'text.json': { text, signer, signature } });
    await expect.poll(cards).toMatchObject([{ status: 'passed', headline: 'This text signed by a wallet is valid' }]);
    await drop({ 'other.json': { text: `${text}1`, signer, signature } });
    await expect.poll(async () => (await cards()).map(({ status }) => status)).toEqual(['open', 'passed']);
  });
});

describe('the page', () => {
  it('reads dark and on paper', async () => {
    await drop({ 'receipt.json': documents.receipt ?? {}, ...keys() });
    await expect.poll(cards).toHaveLength(1);
    const paper = () => page.evaluate('getComputedStyle(document.body).backgroundColor');
    expect(await paper()).toBe('rgb(255, 255, 255)');
    await page.emulateMedia({ colorScheme: 'dark' });
    expect(await paper()).toBe('rgb(13, 17, 23)');
    await show('dark');
    await page.emulateMedia({ media: 'print', colorScheme: 'dark' });
    expect(await paper()).toBe('rgb(255, 255, 255)');
    expect(await page.locator('.drop').isVisible()).toBe(false);
  });

  it('reaches nobody, whatever a program in it would try', async () => {
    const tried = await page.evaluate("fetch('http://127.0.0.1:9/').then(() => 'reached', () => 'refused')");
    expect(tried).toBe('refused');
    expect(faults.splice(0).join()).toContain('Content Security Policy');
  });
});
