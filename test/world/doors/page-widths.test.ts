import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { everyDoor } from '../../../rest-compat/every-door.ts';
import type { JsonObject } from '../../../schema/canonical-json.ts';
import { approvalDoorsOf } from '../../harness/doors/approvals.ts';
import { openEmptyPage } from '../../harness/doors/browser/open-browser.ts';
import { ownersPageOf, walletOf } from '../../harness/doors/browser/owners-page.ts';
import { expectToFit as expectPageToFit } from '../../harness/doors/browser/page-fit.ts';
import { ask, openService, type Service } from '../../harness/doors/open-service.ts';
import { policyDoorsOf } from '../../harness/doors/policies.ts';
import { webhookDoorsOf } from '../../harness/doors/webhooks.ts';
import { ROOT } from '../../harness/root.ts';
import { ownFolder } from '../../harness/scratch.ts';
import { openReceiver } from '../../harness/webhook/receiver.ts';

/* Every page for people, at the widths of a phone, a tablet and a laptop. No part may be wider than the screen. */

/** The longest word that a caller may use. */
const LONG_WORD = 'i'.repeat(128);

let service: Service;
let page: Page;
beforeAll(async () => {
  [service, page] = await Promise.all([
    openService({ NODE_ENV: 'test' }, { meant: /the chain cannot be reached/ }),
    openEmptyPage(),
  ]);
});

const { cautious, callToApprove } = approvalDoorsOf(() => service);
const { putForApprovals } = webhookDoorsOf(() => service);
const { open, untilStatusText } = ownersPageOf(() => ({ service, page }));

const expectToFit = (name: string) => expectPageToFit(page, name);

async function buyWithLongIntent() {
  const agent = await service.newAgent();
  const headers = { 'X-SVC-Session': agent.session, 'X-SVC-Intent': LONG_WORD, 'X-SVC-Attempt': '0' };
  const { svc } = (await service.buy(agent.account, ask(), headers)).body;
  return { agent, svc };
}

/** Shows and measures each state of a page, by the name of the endpoint's operation or another name of the page. */
const pages: Readonly<Record<string, () => Promise<void>>> = {
  async get_receipt() {
    const { svc } = await buyWithLongIntent();
    await page.goto(svc.verify_url);
    await page.getByText('Signed as shown').waitFor();
    await expectToFit('receipt');
    await page.locator('summary').click();
    await expectToFit('receipt-evidence');
    await page.goto(`${service.url}/receipt/task_${'0'.repeat(26)}`);
    await expectToFit('receipt-not-found');
  },

  async get_refusal() {
    const book = policyDoorsOf(service);
    await page.goto(String((await book.chatToRefusal(await book.newBlockedAgent())).heard.body.refusal_url));
    await page.getByText('Every check that can be made here passed').waitFor();
    await expectToFit('refusal');
    await page.goto(String((await callToApprove(await cautious(), 'What to do')).heard.body.refusal_url));
    await page.getByRole('link', { name: 'this page' }).waitFor();
    await expectToFit('refusal-approval');
    await page.goto(`${service.url}/refusal/refusal_${'0'.repeat(26)}`);
    await expectToFit('refusal-not-found');
  },

  async get_approve_page() {
    const [agent, receiver] = [await cautious(), await openReceiver()];
    await putForApprovals(agent, `${receiver.url}/in`);
    await callToApprove(agent, `${LONG_WORD} by the link`, { 'X-SVC-Note': LONG_WORD });
    const [message] = await receiver.untilMessages(1);
    await page.goto(String(message?.body.approval_link));
    await page.getByRole('button', { name: 'Approve' }).waitFor();
    await expectToFit('approve');
  },

  async get_approvals_page() {
    await page.goto(`${service.url}/approvals`);
    await page.getByLabel('Agent id').waitFor();
    await expectToFit('approvals-closed');
    const agent = await cautious();
    await callToApprove(agent, `${LONG_WORD} by the wallet`, { 'X-SVC-Note': LONG_WORD });
    await open(agent, [walletOf(agent), walletOf(agent, LONG_WORD)]);
    await page.locator('article').waitFor();
    await expectToFit('approvals');
    await page.getByLabel('Own').check();
    await page.locator('article').getByRole('button', { name: 'Deny' }).click();
    await untilStatusText('Denied');
    await expectToFit('approvals-denied');
  },

  async export_book() {
    const { agent } = await buyWithLongIntent();
    const book = policyDoorsOf(service);
    await book.set(agent, 'kill_switch', true);
    await book.chatToRefusal(agent);
    await page.setExtraHTTPHeaders({ 'X-SVC-Session': agent.session });
    await page.goto(`${service.url}/v1/agents/${agent.agent_id}/book/export?format=html`);
    await page.setExtraHTTPHeaders({});
    await page.locator('.rows').waitFor();
    await expectToFit('export');
  },

  async offer() {
    await page.goto(`${service.url}/v1/chat/completions`);
    await page.getByText('0.002 USDC for each request').waitFor();
    await expectToFit('offer');
  },

  async graphiql() {
    await page.goto(`${service.url}/graphql`);
    await page.locator('.graphiql-container').first().waitFor();
    await expectToFit('graphiql');
  },

  async verifier() {
    const folder = await ownFolder();
    await promisify(execFile)(process.execPath, ['gateway/commands/build-client.ts', folder], { cwd: ROOT });
    const { svc } = await buyWithLongIntent();
    const audit = JSON.stringify((await service.get<JsonObject>(`/receipt/${svc.task_id}?format=auditor`)).body);
    await page.goto(pathToFileURL(join(folder, 'verify/verify.html')).href);
    await page.locator('body[data-ready=true]').waitFor();
    await expectToFit('verifier');
    await page.locator('#text').fill(audit);
    await page.getByRole('button', { name: 'Verify' }).click();
    await page.locator('section.document').waitFor();
    await expectToFit('verifier-document');
    await page.locator('#text').fill(Array.from({ length: 25 }, () => audit).join('\n'));
    await page.getByRole('button', { name: 'Verify' }).click();
    await page.locator('tbody tr').nth(20).waitFor();
    await expectToFit('verifier-table');
  },
};

describe('the table of pages', () => {
  it('has each endpoint that answers with HTML', () => {
    const shown = everyDoor.filter(({ media, other_media }) =>
      [media, ...other_media].some(one => one.startsWith('text/html')),
    );
    expect(Object.keys(pages).sort()).toEqual(
      [...shown.map(({ name }) => name), 'offer', 'graphiql', 'verifier'].sort(),
    );
  });

  it('knows each source that begins a page: a new one needs a row above', async () => {
    const { stdout } = await promisify(execFile)(
      'grep',
      [
        '-rlE',
        '--include=*.ts',
        '--include=*.js',
        '<!doctype html|openingTags\\(',
        'gateway',
        'rest-compat',
        'schema',
        'subgraphs',
      ],
      { cwd: ROOT },
    );
    expect(stdout.trim().split('\n').sort()).toEqual([
      'gateway/http/serve-pages.ts',
      'gateway/verifier-page/page.ts',
      'rest-compat/book/approval-pages/pages.ts',
      'rest-compat/client/examples/dashboard-apollo.ts',
      'rest-compat/offer-page.ts',
      'rest-compat/receipt/page/fault-page.ts',
      'rest-compat/receipt/page/layout.ts',
      'subgraphs/book/export/html.ts',
    ]);
  });
});

describe('no page is wider than the screen', () => {
  it.each(Object.entries(pages))('%s', async (_, show) => {
    await show();
  });
});
