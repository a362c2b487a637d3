import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../schema/canonical-json.ts';
import { approvalDoorsOf } from '../../harness/doors/approvals.ts';
import { openEmptyPage } from '../../harness/doors/browser/open-browser.ts';
import { ownersPageOf, walletOf } from '../../harness/doors/browser/owners-page.ts';
import { ask, openService, type Service } from '../../harness/doors/open-service.ts';
import { refusing } from '../../harness/doors/refusing.ts';
import { webhookDoorsOf } from '../../harness/doors/webhooks.ts';
import { ROOT } from '../../harness/root.ts';
import { openReceiver } from '../../harness/webhook/receiver.ts';

/* Every page that the service shows a person, on a phone, a tablet and a screen: nothing sticks out of any of them. */

const widths = [360, 1024, 1920];
/** As wide as a caller may make a word. */
const LONG_WORD = 'i'.repeat(128);

let service: Service;
let page: Page;
let receipt: JsonObject;
beforeAll(async () => {
  [service, page] = await Promise.all([
    openService({ NODE_ENV: 'test' }, { meant: /the chain cannot be reached/ }),
    openEmptyPage(),
  ]);
});

const { cautious, asked } = approvalDoorsOf(() => service);
const { putToldOfApprovals } = webhookDoorsOf(() => service);
const { open, told } = ownersPageOf(() => ({ service, page }));

/** How far each thing on the page sticks out of it, by its beginning. */
const OVERFLOW = `(() => {
  const width = document.documentElement.clientWidth;
  const wide = [...document.querySelectorAll('body *')].filter(it => it.checkVisibility() && it.getBoundingClientRect().right > width + 0.5);
  return { by: document.documentElement.scrollWidth - width, wide: wide.slice(0, 3).map(it => it.outerHTML.slice(0, 160)) };
})()` as unknown as () => { by: number; wide: string[] };

async function expectToFit(name: string): Promise<void> {
  for (const width of widths) {
    await page.setViewportSize({ width, height: 800 });
    const to = process.env.SVC_TEST_SCREENSHOTS;
    if (to) await page.screenshot({ path: join(to, `${name}-${width}.png`), fullPage: true });
    const { by, wide } = await page.evaluate(OVERFLOW);
    expect.soft(by, `${name} at ${width}: ${wide.join('\n')}`).toBe(0);
  }
}

describe('no page is wider than the screen', () => {
  it('of a receipt, with its evidence open', async () => {
    const agent = await service.newAgent();
    const headers = { 'X-SVC-Session': agent.session, 'X-SVC-Intent': LONG_WORD, 'X-SVC-Attempt': '0' };
    const { svc } = (await service.buy(agent.account, ask(), headers)).body;
    receipt = (await service.get<JsonObject>(`/receipt/${svc.task_id}?format=auditor`)).body;
    await page.goto(svc.verify_url);
    await page.getByText('Signed as shown').waitFor();
    await page.locator('summary').click();
    await expectToFit('receipt');
  });

  it('of a refusal', async () => {
    const book = refusing(service);
    await page.goto(String((await book.refused(await book.killed())).heard.body.refusal_url));
    await page.getByText('Every check that can be made here passed').waitFor();
    await expectToFit('refusal');
  });

  it('of a refusal for want of an approval', async () => {
    await page.goto(String((await asked(await cautious(), 'What to do')).heard.body.refusal_url));
    await page.getByRole('link', { name: 'this page' }).waitFor();
    await expectToFit('refusal-approval');
  });

  it('of a receipt that is not there', async () => {
    await page.goto(`${service.url}/receipt/task_${'0'.repeat(26)}`);
    await expectToFit('missing');
  });

  it('of the link by which a call is approved', async () => {
    const [agent, receiver] = [await cautious(), await openReceiver()];
    await putToldOfApprovals(agent, `${receiver.url}/in`);
    await asked(agent, `${LONG_WORD} by the link`, { 'X-SVC-Note': LONG_WORD });
    const [message] = await receiver.heard(1);
    await page.goto(String(message?.body.approval_link));
    await page.getByText('Approve this call?').waitFor();
    await expectToFit('approve');
  });

  it('of the calls that wait for the wallet of an agent, before and after its book is open, and while a wallet is asked', async () => {
    await page.goto(`${service.url}/approvals`);
    await page.getByLabel('Agent id').waitFor();
    await expectToFit('approvals-closed');
    const agent = await cautious();
    await asked(agent, `${LONG_WORD} by the wallet`, { 'X-SVC-Note': LONG_WORD });
    await open(agent, [walletOf(agent), walletOf(agent, LONG_WORD)]);
    await page.getByText('1 call waits').waitFor();
    await expectToFit('approvals');
    await page.getByLabel('Own').check();
    await page.locator('article').getByRole('button', { name: 'Deny' }).click();
    await told('Denied');
    await expectToFit('approvals-denied');
  });

  it('of an export', async () => {
    const agent = await service.newAgent();
    const headers = { 'X-SVC-Session': agent.session, 'X-SVC-Intent': LONG_WORD, 'X-SVC-Attempt': '0' };
    await service.buy(agent.account, ask(), headers);
    await page.setExtraHTTPHeaders({ 'X-SVC-Session': agent.session });
    await page.goto(`${service.url}/v1/agents/${agent.agent_id}/book/export?format=html`);
    await page.setExtraHTTPHeaders({});
    await page.getByText('Audit export').waitFor();
    await expectToFit('export');
  });

  it('of the offline verifier, with a document and with many', async () => {
    await page.goto(pathToFileURL(join(ROOT, 'dist/verify/verify.html')).href);
    await page.locator('body[data-ready=true]').waitFor();
    await expectToFit('verifier');
    await page.locator('#text').fill(JSON.stringify(receipt));
    await page.getByRole('button', { name: 'Verify' }).click();
    await page.locator('section.document').waitFor();
    await expectToFit('verifier-document');
    await page.locator('#text').fill(Array.from({ length: 25 }, () => JSON.stringify(receipt)).join('\n'));
    await page.getByRole('button', { name: 'Verify' }).click();
    await page.locator('tbody tr').nth(20).waitFor();
    await expectToFit('verifier-table');
  });

  it('of GraphiQL', async () => {
    await page.goto(`${service.url}/graphql`);
    await page.locator('.graphiql-container').first().waitFor();
    await expectToFit('graphiql');
  });
});
