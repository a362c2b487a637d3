import { beforeAll, describe, expect, it } from 'vitest';
import { receiptPage } from '../../rest-compat/receipt/page/receipt-page.ts';
import { canonicalJson, type JsonObject } from '../../schema/canonical-json.ts';
import { ask, openService, type Service } from '../harness/doors/open-service.ts';
import { policyDoorsOf } from '../harness/doors/policies.ts';
import { issue, issuer } from '../harness/receipt/issue.ts';
import { paidCall } from '../harness/vectors/receipt-facts.ts';

const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';

let service: Service;
let receipt_url: string;
let refusal_url: string;
beforeAll(async () => {
  service = await openService();
  const agent = await service.newAgent();
  receipt_url = (await service.buy(agent.account, ask(), { 'X-SVC-Session': agent.session })).body.svc.verify_url;
  const book = policyDoorsOf(service);
  refusal_url = String((await book.chatToRefusal(await book.newBlockedAgent())).heard.body.refusal_url);
});

const pathOf = (url: string) => url.replace(service.url, '');

describe('what is asked for', () => {
  const kinds = () => [receipt_url, refusal_url].map(pathOf);

  it.each<[what: string, suffix: string, accept: string | undefined, media: string]>([
    ['a browser', '', BROWSER, 'text/html; charset=utf-8'],
    ['whoever cannot set Accept', '?format=html', undefined, 'text/html; charset=utf-8'],
    ['a program', '', '*/*', 'application/json; charset=utf-8'],
    ['nobody in particular', '', undefined, 'application/json; charset=utf-8'],
    ['a browser that says JSON', '?format=json', BROWSER, 'application/json; charset=utf-8'],
    ['an auditor', '?format=auditor', BROWSER, 'application/json; charset=utf-8'],
  ])('%s', async (_, suffix, accept, media) => {
    for (const path of kinds()) {
      const heard = await service.get(path + suffix, accept === undefined ? {} : { accept });
      expect([heard.status, heard.headers.get('content-type')]).toEqual([200, media]);
      expect(heard.headers.get('vary')?.toLowerCase()).toContain('accept');
      expect(heard.headers.get('cache-control')).toBe('no-store');
    }
  });

  it('by .json is JSON, whatever a browser would rather have', async () => {
    for (const path of kinds()) {
      const heard = await service.get(`${path}.json`, { accept: BROWSER });
      expect([heard.status, heard.headers.get('content-type')]).toEqual([200, 'application/json; charset=utf-8']);
    }
  });

  it('a page comes under a policy that lets it run its own script and reach nobody', async () => {
    const { headers, text } = await service.get<string>(`${pathOf(receipt_url)}?format=html`);
    const policy = headers.get('content-security-policy') ?? '';
    expect(policy).toMatch(/^default-src 'none'; script-src 'sha256-[^']+'; style-src 'sha256-[^']+';/);
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toMatch(/https?:|unsafe|\*|connect-src/);
    expect([headers.get('referrer-policy'), headers.get('x-content-type-options')]).toEqual(['no-referrer', 'nosniff']);
    expect(Buffer.byteLength(text)).toBeLessThan(340_000);
  });
});

it('what strangers call their models is text, wherever it stands', async () => {
  const hostile = `</script><script>globalThis.hurt=1</script><img src=x onerror="globalThis.hurt=1">"'><b>&amp;<!--`;
  const receipt = await issue({ ...paidCall, hub: hostile, model: hostile, job_kind: hostile });
  const page = receiptPage(
    {
      schema: 'svc402.receipt_audit.v1',
      receipt,
      preimage: canonicalJson(receipt.payload as JsonObject),
      keys: issuer.jwks,
      issuer_history: issuer.historySnapshot({}),
      receipt_policy: { policy: {} },
      transfer: { network: hostile, expect: hostile },
      lane: { proof_outcome: hostile },
      proves: [hostile],
      does_not_prove: [hostile],
    },
    'globalThis.checked = true;',
  );
  expect(page).toContain('&lt;img src=x onerror=&quot;globalThis.hurt=1&quot;&gt;');
  expect(page).not.toMatch(/<img|<!--|<script>globalThis/);
  // One contains the evidence, the other one checks it.
  expect(page.match(/<script/g)).toHaveLength(2);
});
