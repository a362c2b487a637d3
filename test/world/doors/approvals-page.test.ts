import type { Page } from 'playwright-core';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type ApprovalAnswer, approvalDoorsOf } from '../../harness/doors/approvals.ts';
import type { InjectedWallet } from '../../harness/doors/browser/inject-wallets.ts';
import { openEmptyPage } from '../../harness/doors/browser/open-browser.ts';
import { ownersPageOf, walletOf } from '../../harness/doors/browser/owners-page.ts';
import { openService, type Service } from '../../harness/doors/open-service.ts';

let service: Service;
let page: Page;
beforeAll(async () => {
  service = await openService();
});
beforeEach(async () => {
  page = await openEmptyPage();
});

const { newest, list, cautious, callToApprove, decide } = approvalDoorsOf(() => service);
type Agent = Awaited<ReturnType<typeof cautious>>;
const STILL_OPEN = 'The request was not answered: the call is still open.';
const newKey = () => privateKeyToAccount(generatePrivateKey());
const { open, press, untilStatusText, factsOf } = ownersPageOf(() => ({ service, page }));

/** Changes members of the listed requests before the page receives them. */
const showAltered = ({ agent_id }: Agent, change: Partial<ApprovalAnswer>) =>
  page.route(`**/v1/agents/${agent_id}/book/approvals`, async route => {
    const response = await route.fetch();
    const shown = (await response.json()) as { approvals: ApprovalAnswer[] };
    await route.fulfill({ response, json: { ...shown, approvals: shown.approvals.map(it => ({ ...it, ...change })) } });
  });

const signedText = (decision: string, { approval_id, request_hash }: ApprovalAnswer) =>
  expect.stringMatching(
    RegExp(`^svc\\.approval\\.${decision}\\|${service.url}\\|${approval_id}\\|${request_hash}\\|\\d{10}$`),
  );

it('the page of a refusal for want of an approval leads there', async () => {
  const { heard } = await callToApprove(await cautious(), 'Where to');
  await page.goto(String(heard.body.refusal_url));
  await page.getByRole('link', { name: 'this page' }).click();
  await page.getByLabel('Agent id').waitFor();
  expect(page.url()).toBe(`${service.url}/approvals`);
});

describe('the wallet of the agent, asked by the page', () => {
  it('approves: every fact is shown, that very text is signed, and the call passes once', async () => {
    const agent = await cautious();
    const call = await callToApprove(agent, 'By the wallet', { 'X-SVC-Note': 'a trifle' });
    const texts = await open(agent, [walletOf(agent)]);
    await page.getByText(`Book of agent ${agent.agent_id}: 1 call is waiting for an answer.`).waitFor();
    const { request } = call;
    expect(await factsOf()).toMatchObject({
      'Text of the request': 'user: By the wallet\n\n{"model":"svc/auto","stream":false}',
      'Note of the caller, not checked': 'a trifle',
      Status: 'Waiting for an answer',
      'Why it needs an approval': 'It costs more than the book allows without an approval.',
      Payer: request.payer,
      Amount: '0.002 USDC',
      Model: request.model,
      Endpoint: request.doors.join(', '),
      'Can be answered until': `${request.open_until.slice(0, 19).replace('T', ' ')} UTC`,
      'Hash of the request': request.request_hash,
      'Id of this approval request': request.approval_id,
    });
    expect(texts).toEqual([]);
    await press('Approve');
    await untilStatusText('Approved: this call is allowed once.');
    expect(texts).toEqual([signedText('approve', request)]);
    expect(await page.locator('article').getByRole('button').count()).toBe(0);
    expect(await newest(agent)).toMatchObject({ status: 'approved', decided_by: 'wallet' });
    expect((await call.send()).status).toBe(200);
    expect((await newest(agent)).status).toBe('passed');
    // Even an identical call needs a new approval if it is paid for again.
    await callToApprove(agent, 'By the wallet');
    await page.getByText(`Book of agent ${agent.agent_id}: no call is waiting for an answer.`).waitFor();
    await page.getByRole('button', { name: 'Refresh' }).click();
    await expect
      .poll(async () => (await factsOf())['Id of this approval request'])
      .toBe((await newest(agent)).approval_id);
    expect(await page.locator('article').count()).toBe(1);
  });

  it('denies, at window.ethereum where none announces itself; other requests stay as they are', async () => {
    const agent = await cautious();
    const first = await callToApprove(agent, 'First');
    await callToApprove(agent, 'Second');
    const texts = await open(agent, [{ ...walletOf(agent), silent: true }]);
    await press('Deny', 1);
    await untilStatusText('Denied: the call stays refused.');
    expect(texts).toEqual([signedText('deny', first.request)]);
    expect((await list(agent)).map(({ status }) => status)).toEqual(['open', 'denied']);
    expect((await first.send()).status).toBe(403);
  });

  it('is asked by its own account, whichever of those that it shows is selected, and however it spells it', async () => {
    const agent = await cautious();
    const { request } = await callToApprove(agent, 'The second account');
    const { address } = agent.account;
    const shows = [newKey().address, address.toLowerCase()];
    const texts = await open(agent, [{ ...walletOf(agent), shows }]);
    await page.getByText(`Wallet of the agent: ${address}`).waitFor();
    await press('Approve');
    await untilStatusText('Approved: this call is allowed once.');
    expect(texts).toEqual([signedText('approve', request)]);
  });

  it('is asked for no signature by another account', async () => {
    const agent = await cautious();
    await callToApprove(agent, 'Not connected');
    const texts = await open(agent, [{ name: 'Other', account: newKey() }]);
    await press('Approve');
    await untilStatusText(
      `Connect ${agent.account.address} to this page in the wallet, and press again. ${STILL_OPEN}`,
    );
    expect(texts).toEqual([]);
  });

  it('is asked where slashes stand at the end of the address', async () => {
    const agent = await cautious();
    await callToApprove(agent, 'Slashes');
    await open(agent, [walletOf(agent)], '/approvals/');
    await press('Approve');
    await untilStatusText('Approved: this call is allowed once.');
  });

  it('is chosen where there is more than one', async () => {
    const agent = await cautious();
    const { request } = await callToApprove(agent, 'Two wallets');
    const texts = await open(agent, [{ name: 'Other', account: newKey() }, walletOf(agent)]);
    await press('Approve');
    await untilStatusText(`There are several wallets: choose one above, and press again. ${STILL_OPEN}`);
    expect(texts).toEqual([]);
    await page.getByLabel('Own (test.wallet)').check();
    await press('Approve');
    await untilStatusText('Approved: this call is allowed once.');
    expect(texts).toEqual([signedText('approve', request)]);
  });
});

describe('what does not come about is told, and leaves the call open', () => {
  it.each<[what: string, wallets: (agent: Agent) => readonly InjectedWallet[], says: string]>([
    [
      'what is signed is not believed',
      ({ account: { address } }) => [{ name: 'Other', account: { ...newKey(), address } }],
      'A contract wallet must be on Base.',
    ],
    ['the person rejects', agent => [{ ...walletOf(agent), rejects: { code: 4001 } }], 'You rejected the request'],
    [
      'the wallet asks already',
      agent => [{ ...walletOf(agent), rejects: { code: -32002 } }],
      'The wallet has an open question already',
    ],
    ['the wallet fails', agent => [{ ...walletOf(agent), rejects: { code: -32603 } }], 'The wallet could not sign'],
    ['there is no wallet', () => [], 'Firefox may block an older wallet'],
    ['the wallet shows no account', agent => [{ ...walletOf(agent), shows: [] }], 'The wallet shows no account'],
  ])('where %s', async (_, wallets, says) => {
    const agent = await cautious();
    await callToApprove(agent, 'Stays open');
    await open(agent, wallets(agent));
    await press('Approve');
    await untilStatusText(says);
    await untilStatusText(STILL_OPEN);
    expect((await newest(agent)).status).toBe('open');
    expect(await page.locator('article').getByRole('button', { disabled: false }).count()).toBe(2);
  });

  it('where the service is away, and the same press counts once it is back', async () => {
    const agent = await cautious();
    await callToApprove(agent, 'Away');
    await open(agent, [walletOf(agent)]);
    const path = '**/book/approvals/*';
    await page.route(path, route => route.abort());
    await press('Approve');
    await untilStatusText('The service could not be reached');
    expect((await newest(agent)).status).toBe('open');
    await page.unroute(path);
    await press('Approve');
    await untilStatusText('Approved: this call is allowed once.');
  });

  it('where what was signed is of another time', async () => {
    const agent = await cautious();
    await callToApprove(agent, 'Late');
    await page.clock.setFixedTime(Date.now() - 3_600_000);
    await open(agent, [walletOf(agent)]);
    await press('Approve');
    await untilStatusText('the clock of this computer is wrong');
    expect((await newest(agent)).status).toBe('open');
  });
});

describe('what is over is told', () => {
  it('where it was answered otherwise meanwhile', async () => {
    const agent = await cautious();
    const { request } = await callToApprove(agent, 'Denied meanwhile');
    await open(agent, [walletOf(agent)]);
    await page.locator('article').waitFor();
    await decide(agent, request, 'deny');
    await press('Approve');
    await untilStatusText('It was denied in the meantime: the call stays refused.');
    expect(await page.locator('article').getByRole('button').count()).toBe(0);
  });

  it('where its time is over', async () => {
    const agent = await cautious({ approval_ttl: 1 });
    await callToApprove(agent, 'Too late');
    await expect.poll(async () => (await newest(agent)).status).toBe('expired');
    // The page gets the list as it was before the request expired.
    await showAltered(agent, { status: 'open' });
    await open(agent, [walletOf(agent)]);
    await press('Approve');
    await untilStatusText('It has expired: the call stays refused.');
    expect(await page.locator('article').getByRole('button').count()).toBe(0);
  });
});

it('what the service and a wallet say is text, whatever it looks like', async () => {
  const agent = await cautious();
  await callToApprove(agent, 'Planted');
  const planted = '<b id="planted">svc/auto</b>';
  await showAltered(agent, { model: planted, request_text: planted, request_text_characters: 5_000 });
  await open(agent, [{ ...walletOf(agent, planted), rejects: { code: 4001 } }, walletOf(agent)]);
  await page.locator('article').waitFor();
  const facts = await factsOf();
  expect(facts.Model).toBe(planted);
  // The page states that it shows only a part of the text.
  expect(facts[`The first ${planted.length} of 5000 characters of the request`]).toBe(planted);
  expect(facts['Not shown']).toBe(`${5_000 - planted.length} more characters, which would be approved too.`);
  await page.getByLabel(`${planted} (test.wallet)`).check();
  await press('Approve');
  await untilStatusText(STILL_OPEN);
  expect(await page.locator('#planted').count()).toBe(0);
});
