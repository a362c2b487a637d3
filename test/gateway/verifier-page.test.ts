import { execFile } from 'node:child_process';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { pageProgram } from '../../gateway/development/verifier-program.ts';
import { receiptPage } from '../../rest-compat/receipt/page/receipt-page.ts';
import { refusalPage } from '../../rest-compat/receipt/page/refusal-page.ts';
import { isJsonObject, type Json, type JsonObject } from '../../schema/canonical-json.ts';
import { runPage } from '../harness/doors/browser/run-page.ts';
import { keptDocuments, keptNamed } from '../harness/fixtures/signed-documents.ts';
import { makeAuditDocument } from '../harness/receipt/audit-document.ts';
import { alter } from '../harness/receipt/issue.ts';
import { ROOT } from '../harness/root.ts';
import { ownFolder } from '../harness/scratch.ts';
import { paidCall } from '../harness/vectors/receipt-facts.ts';

const program = await pageProgram('own-evidence');
const document = (name: string): JsonObject => {
  const { document: found = null } = keptNamed(name);
  return isJsonObject(found) ? found : {};
};

it('dist/verify/verify.html is one file, under a policy that lets it run its own script and reach nobody', async () => {
  const folder = await ownFolder();
  await promisify(execFile)(process.execPath, ['gateway/commands/build-client.ts', folder], { cwd: ROOT });
  const path = join(folder, 'verify/verify.html');
  const html = await readFile(path, 'utf8');
  const [, policy = ''] = /http-equiv="content-security-policy" content="([^"]+)"/.exec(html) ?? [];
  expect(policy).toMatch(/^default-src 'none'; script-src 'sha256-[^']+'; style-src 'sha256-[^']+';/);
  expect(policy).not.toMatch(/https?:|unsafe|\*|connect-src/);
  expect((await stat(path)).size).toBeLessThan(380_000);
});

it('the program of the page of a receipt ends no script element, and is no longer than 260 kB', () => {
  expect(program).not.toMatch(/<\/script|<!--/i);
  expect(Buffer.byteLength(program)).toBeLessThan(260_000);
});

describe('the page of a receipt or refusal, as it runs in a browser', () => {
  const audits = keptDocuments.filter(({ kind }) => kind === 'receipt_audit').map(({ name }) => name);

  it.each(audits)('checks all of %s but the chain, both second signatures included', async name => {
    const { verdict, headline, checks } = await runPage(receiptPage(document(name), program));
    const failed = checks.filter(([status]) => status === 'failed');
    expect(failed).toEqual([]);
    expect(checks.filter(([, word]) => word === 'Passed').length).toBeGreaterThan(20);
    expect(verdict).toBe(name.endsWith('router_broadcast') ? 'open' : 'passed');
    expect(headline).toMatch(/^Signed as shown\. (Paid|Nothing was paid)/);
  });

  it('says that the transfer is not checkable there, and of nothing else', async () => {
    const { checks } = await runPage(receiptPage(document('receipt_audit_payment_base'), program));
    expect(checks.filter(([, word]) => word === 'Not checkable here')).toEqual([
      [
        'open',
        'Not checkable here',
        expect.stringMatching(/^Transfer base:0x[0-9a-f]{64}: look it up on the chain\.$/),
      ],
    ]);
    const by_key = await runPage(receiptPage(document('receipt_audit_api_key'), program));
    expect(by_key.checks.filter(([, word]) => word === 'Not checkable here')).toEqual([]);
  });

  it.each([
    ['that reorder text', 'small\u202e1-egral', 'small\\u202e1-egral'],
    ['of a script that runs from right to left', 'אבג 12', '<bdi>אבג 12</bdi>'],
  ])('checks a receipt with characters %s: shown apart, and embedded as they were signed', async (_, model, shown) => {
    const audit = await makeAuditDocument({ ...paidCall, model });
    const page = receiptPage(audit, program);
    expect(page).toContain(`<dd data-fact="Model">${shown}</dd>`);
    const [, evidence = ''] = /id="evidence">(.*?)<\/script>/s.exec(page) ?? [];
    expect(evidence).toBe(JSON.stringify(audit).replaceAll('<', '\\u003c'));
    const [, listed = ''] = /<pre[^>]*>(.*?)<\/pre>/s.exec(page) ?? [];
    expect(listed).not.toContain('\u202e');
    const { checks, verdict } = await runPage(page);
    expect(checks).toContainEqual(['passed', 'Passed', 'The facts above are the signed ones.']);
    expect(verdict).toBe('passed');
  });

  it('leads to the explorer of the chain, and nowhere where a chain stood in', async () => {
    const page = receiptPage(await makeAuditDocument({ ...paidCall, profile: 'production' }), program);
    const ref = String(paidCall.payment?.ref);
    expect(page).toContain(
      `<span data-fact="Transaction">${ref}</span> <a href="https://basescan.org/tx/${ref.slice('base:'.length)}" rel="noreferrer noopener">Look it up on BaseScan</a>`,
    );
    expect((await runPage(page)).verdict).toBe('passed');
    expect(receiptPage(await makeAuditDocument(paidCall), program)).not.toContain('basescan');
  });

  it('checks a refusal', async () => {
    const said = await runPage(refusalPage(document('refusal_audit'), program));
    expect(said).toMatchObject({ verdict: 'passed', headline: 'Every check that can be made here passed' });
  });

  const pending = async (lane: JsonObject = {}) => {
    const audit = await makeAuditDocument({
      ...paidCall,
      settled_by: 'receipt',
      payment: paidCall.payment && { ...paidCall.payment, transfer_index: null },
    });
    return { ...audit, receipt: { ...(audit.receipt as JsonObject), ...lane }, lane: {} };
  };

  it.each<[what: string, lane: JsonObject, headline: string]>([
    ['pending', {}, 'Payment pending: 0.002 USDC'],
    [
      'given up',
      { proof_outcome: 'unverified', omission_rule: 'no_ingress_receipt_at_cutoff' },
      'Payment not found: 0.002 USDC',
    ],
  ])('of a payment that is %s is valid and not green', async (_, lane, headline) => {
    const said = await runPage(receiptPage(await pending(lane), program));
    expect(said).toMatchObject({ verdict: 'open', headline: `Signed as shown. ${headline}` });
  });

  it.each<[member: string, value: Json]>([
    ['delegation_hash', `0x${'0'.repeat(64)}`],
    ['session_expiry', 1],
    ['valid_after', 1],
    ['settled_by', 'receipt'],
    ['amount', '1'],
    ['payload.hub', 'other'],
    ['co_signature.value', '0x00'],
    ['signature.value', 'AA'],
    ['discount', '1'],
  ])('fails with another %s', async (member, value) => {
    const forged = alter(document('receipt_audit_payment_base'), ['receipt', ...member.split('.')], () => value);
    const { verdict, headline } = await runPage(receiptPage(forged as JsonObject, program));
    expect([verdict, headline]).toEqual(['failed', 'Do not trust this page: it fails its checks']);
  });

  it.each<[what: string, change: (html: string) => string]>([
    ['the payment shown', html => html.replace('data-fact="Payment">Paid: 0.002', 'data-fact="Payment">Paid: 0.001')],
    ['a fact left out', html => html.replace(/<dt>Model<\/dt><dd[^>]*>[^<]*<\/dd>/, '')],
    ['the profile left out', html => html.replace(/<p class="profile".*?<\/p>/s, '')],
    ['no evidence', html => html.replace(/(id="evidence">)\{/, '$1[')],
  ])('fails with %s altered', async (_, change) => {
    const html = receiptPage(document('receipt_audit_payment_base'), program);
    expect(change(html)).not.toBe(html);
    expect((await runPage(change(html))).verdict).toBe('failed');
  });
});
