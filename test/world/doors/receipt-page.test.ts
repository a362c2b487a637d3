import type { Browser, Page } from 'playwright-core';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { pageProgram } from '../../../gateway/development/verifier-program.ts';
import { pageHeaders } from '../../../rest-compat/receipt/page/layout.ts';
import { receiptPage } from '../../../rest-compat/receipt/page/receipt-page.ts';
import { canonicalJson, type Json, type JsonObject } from '../../../schema/canonical-json.ts';
import { openEmptyPage } from '../../harness/doors/browser/open-browser.ts';
import { expectToFit } from '../../harness/doors/browser/page-fit.ts';
import { ask, openService, type Service } from '../../harness/doors/open-service.ts';
import { policyDoorsOf } from '../../harness/doors/policies.ts';
import { alter, issue, issuer } from '../../harness/receipt/issue.ts';
import { paidCall } from '../../harness/vectors/receipt-facts.ts';

let service: Service;
let receipt_url: string;
let refusal_url: string;
let opened: Page;
let page: Page;
let faults: string[];
beforeAll(async () => {
  // On a small machine Chromium's start can delay the chain until it times out.
  [service, opened] = await Promise.all([openService({}, { meant: /the chain cannot be reached/ }), openEmptyPage()]);
  const agent = await service.newAgent();
  receipt_url = (await service.buy(agent.account, ask(), { 'X-SVC-Session': agent.session })).body.svc.verify_url;
  const book = policyDoorsOf(service);
  refusal_url = String((await book.chatToRefusal(await book.newBlockedAgent())).heard.body.refusal_url);
});
beforeEach(async () => {
  page = await (opened.context().browser() as Browser).newPage();
  faults = [];
  page.on('pageerror', fault => void faults.push(String(fault)));
  page.on('console', message => void (message.type() === 'error' && faults.push(message.text())));
});

afterEach(() => page.close());

const headline = () => page.locator('#verdict .headline');
const PAID = 'Signed as shown. Paid: 0.002 USDC';
const REFUSED = 'Every check that can be made here passed';
const FAILED = 'Do not trust this page: it fails its checks';

/** Statuses by the codes of the checks. Items for what was left open have no code and are not included. */
const statuses = async (): Promise<Record<string, string>> =>
  Object.fromEntries(
    await page
      .locator('.checks li[data-check]')
      .evaluateAll(items =>
        (items as unknown as { dataset: { check: string }; querySelector(of: string): { textContent: string } }[]).map(
          item => [item.dataset.check, item.querySelector('.status').textContent],
        ),
      ),
  );

/** Opens the page after its HTML was changed on the way. */
async function openAltered(url: string, change: (html: string) => string) {
  await page.route(url, async route => {
    const response = await route.fetch({ headers: { accept: 'text/html' } });
    const html = await response.text();
    const body = change(html);
    expect(body).not.toBe(html);
    await route.fulfill({ response, body });
  });
  await page.goto(url);
}

/** A change of one member in the page's evidence. */
const inEvidence = (path: string, change: (old: Json) => Json) => (html: string) =>
  html.replace(/(<script type="application\/json" id="evidence">)(.*?)(<\/script>)/s, (_, open, json, close) => {
    const changed = alter(JSON.parse(json), path.split('.'), change);
    return open + JSON.stringify(changed).replaceAll('<', '\\u003c') + close;
  });

describe('a receipt in Chromium', () => {
  it('checks itself, asks nobody, and says what it is in the development profile', async () => {
    const asked: string[] = [];
    page.on('request', request => void asked.push(request.url()));
    await page.goto(receipt_url);
    await expect.poll(() => headline().textContent()).toBe(PAID);
    expect(await statuses()).toEqual({ page_differs: 'Passed', chain: 'Not checkable here' });
    const sentences = (await page.locator('.checks li[data-status=passed]').allTextContents()).join();
    expect(sentences).toContain('The primary signature or the co-signature of payload_hash is valid');
    expect(sentences).toContain(
      'The checkpoint has the size and root of that tree head, and a key of the issuer signed it.',
    );
    expect(await page.locator('.checks li[data-status=failed]').count()).toBe(0);
    expect(await page.locator('.profile strong').textContent()).toBe('development');
    expect(await page.locator('.sum').textContent()).toContain('Paid: 0.002 USDC');
    expect(asked.filter(url => !url.startsWith('data:'))).toEqual([receipt_url]);
    expect(faults).toEqual([]);
  });

  it.each<[what: string, change: (html: string) => string, failed: string]>([
    [
      'the payment shown',
      html => html.replace('data-fact="Payment">Paid: 0.002', 'data-fact="Payment">Paid: 0.001'),
      'page_differs',
    ],
    ['the payee shown', html => html.replace(/(data-fact="Paid to">0x)./g, '$1Z'), 'page_differs'],
    ['a fact left out', html => html.replace(/<dt>Model<\/dt><dd[^>]*>[^<]*<\/dd>/, ''), 'page_differs'],
    ['the profile left out', html => html.replace(/<p class="profile".*?<\/p>/s, ''), 'page_differs'],
    ['the amount', inEvidence('receipt.amount', () => '1'), 'copy_mismatch'],
    ['the payload', inEvidence('receipt.payload.hub', () => 'other'), 'payload_hash_mismatch'],
    [
      'the signature',
      inEvidence('receipt.issuer_signature.jws', jws => String(jws).replace(/.{8}$/, 'AAAAAAAA')),
      'signature_invalid',
    ],
    ['the keys', inEvidence('keys.keys', () => []), 'signature_invalid'],
    ['the path through the log', inEvidence('log.inclusion.leaf_hash', () => '0'.repeat(64)), 'not_in_log'],
    [
      'the checkpoint',
      inEvidence('log.checkpoint', note => String(note).replace(/\n\d+\n/, '\n99\n')),
      'checkpoint_invalid',
    ],
    ['the co-signature', inEvidence('receipt.co_signature.value', () => '0x00'), 'co_signature'],
  ])('with %s altered fails, and says so before all else', async (_, change, failed) => {
    await openAltered(receipt_url, change);
    await expect.poll(() => headline().textContent()).toBe(FAILED);
    expect((await statuses())[failed]).toMatch(/^(Failed|Broken)$/);
    expect(await page.title()).toMatch(/^FAILED/);
    expect(faults).toEqual([]);
  });

  it('whose evidence is none fails, too', async () => {
    await openAltered(receipt_url, html => html.replace(/(id="evidence">)\{/, '$1['));
    await expect.poll(() => headline().textContent()).toBe(FAILED);
  });

  it('whose script was altered does not run, and says that nothing was checked', async () => {
    await openAltered(receipt_url, html => html.replace('Do not trust this page', 'Do  trust this page'));
    expect(await headline().textContent()).toBe('Not checked here');
    expect(faults.join()).toContain('Content Security Policy');
  });

  it('without JavaScript is read all the same, as not checked', async () => {
    const context = await page.context().browser()?.newContext({ javaScriptEnabled: false });
    const bare = await context?.newPage();
    await bare?.goto(receipt_url);
    expect(await bare?.locator('#verdict .headline').textContent()).toBe('Not checked here');
    expect(await bare?.locator('.sum').textContent()).toContain('Paid: 0.002 USDC');
    expect(await bare?.locator('.checks .status').first().textContent()).toBe('Not checked here');
    await context?.close();
  });

  it.each([
    ['light', 'screen'],
    ['dark', 'screen'],
    ['light', 'print'],
    ['dark', 'print'],
  ] as const)('is legible: %s, on %s', async (colorScheme, media) => {
    await page.emulateMedia({ colorScheme, media });
    await page.goto(receipt_url);
    await expect.poll(() => headline().textContent()).toBe(PAID);
    const ratios = await page.evaluate(CONTRASTS);
    expect(ratios.length).toBeGreaterThan(40);
    // Minimum contrast of text (WCAG 2.2, section 1.4.3).
    expect(Math.min(...ratios)).toBeGreaterThanOrEqual(4.5);
    expect(await page.locator('nav').isVisible()).toBe(media === 'screen');
  });

  it('is no wider than the screen', async () => {
    await page.goto(receipt_url);
    await expectToFit(page, 'paid-receipt');
  });

  it('is reached by keyboard, and its parts have names', async () => {
    await page.goto(receipt_url);
    await page.keyboard.press('Tab');
    expect(await page.evaluate('document.activeElement.textContent')).toBe('JSON');
    expect(await page.getByRole('status').textContent()).toContain('check');
    expect(await page.getByRole('list', { name: 'Checks' }).count()).toBe(1);
    expect(await page.getByRole('navigation', { name: 'For programs' }).count()).toBe(1);
    expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe('Spend receipt');
  });
});

/** Code that runs in the page: the contrast of each text (WCAG 2.2, section 1.4.3) with the nearest painted background behind it. */
const CONTRASTS = `(() => {
  const light = color => {
    const [r, g, b] = color.match(/[\\d.]+/g).map(Number).map(v => (v / 255 <= 0.04045 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const behind = element => {
    for (let at = element; at; at = at.parentElement) {
      const { backgroundColor } = getComputedStyle(at);
      if (backgroundColor !== 'rgba(0, 0, 0, 0)') return backgroundColor;
    }
    return 'rgb(255, 255, 255)';
  };
  return [...document.querySelectorAll('main *, footer *')]
    .filter(it => it.checkVisibility() && [...it.childNodes].some(node => node.nodeType === 3 && node.data.trim()))
    .map(it => [light(getComputedStyle(it).color), light(behind(it))].sort((a, b) => b - a))
    .map(([more, less]) => (more + 0.05) / (less + 0.05));
})()` as unknown as () => number[];

describe('a refusal in Chromium', () => {
  it('that is not there is a page that says so, and so is a receipt', async () => {
    for (const kind of ['refusal', 'receipt']) {
      await page.goto(`${service.url}/${kind}/${kind}_${'0'.repeat(26)}`);
      expect(await headline().textContent()).toBe(`There is no such ${kind}`);
      expect(Math.min(...(await page.evaluate(CONTRASTS)))).toBeGreaterThanOrEqual(4.5);
    }
  });

  it('checks itself, and says that nothing was charged', async () => {
    await page.goto(refusal_url);
    await expect.poll(() => headline().textContent()).toBe(REFUSED);
    expect(await page.locator('[data-fact="Charged"]').textContent()).toBe('Nothing');
    expect(await page.locator('.sum').textContent()).toBe('Refused by the policy of its book (policy_blocked)');
    expect(faults).toEqual([]);
  });

  it.each<[what: string, change: (html: string) => string, failed: string]>([
    [
      'the code shown',
      html => html.replace('data-fact="Refused">policy_blocked', 'data-fact="Refused">none'),
      'page_differs',
    ],
    ['the code', inEvidence('refusal.refusal_code', () => 'budget_exhausted'), 'copy_mismatch'],
    ['a member added', inEvidence('refusal', old => ({ ...(old as JsonObject), discount: '1' })), 'copy_mismatch'],
    ['the keys', inEvidence('keys.keys', () => []), 'signature_invalid'],
  ])('with %s altered fails', async (_, change, failed) => {
    await openAltered(refusal_url, change);
    await expect.poll(() => headline().textContent()).toBe(FAILED);
    expect((await statuses())[failed]).toBe('Failed');
  });
});

describe('what strangers call their models', () => {
  const hostile = `</script><script>globalThis.hurt=1</script><img src=x onerror="globalThis.hurt=1">"'><b>&amp;<!--`;

  it('is text, wherever it stands', async () => {
    const receipt = await issue({ ...paidCall, hub: hostile, model: hostile, job_kind: hostile });
    const [payload, program] = [receipt.payload as JsonObject, await pageProgram('own-evidence')];
    const audit = {
      schema: 'svc402.receipt_audit.v1',
      receipt,
      preimage: canonicalJson(payload),
      keys: issuer.jwks,
      issuer_history: issuer.historySnapshot({}),
      receipt_policy: { policy: {} },
      transfer: { network: hostile, expect: hostile },
      lane: { proof_outcome: hostile },
      proves: [hostile],
      does_not_prove: [hostile],
    };
    await page.route('https://svc.example/**', route =>
      route.fulfill({
        headers: pageHeaders(program),
        contentType: 'text/html; charset=utf-8',
        body: receiptPage(audit, program),
      }),
    );
    await page.goto('https://svc.example/receipt/any');
    // The document names another policy and another transfer, so the page's own script finds that it fails.
    await expect.poll(() => headline().textContent()).toBe(FAILED);
    expect(await page.evaluate('globalThis.hurt')).toBeUndefined();
    expect(await page.locator('[data-fact="Model"]').textContent()).toBe(hostile);
    expect(await page.locator('img, b, script:not(#evidence):not([type=module])').count()).toBe(0);
    expect(faults).toEqual([]);
  });
});
